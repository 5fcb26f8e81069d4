"""A fitted model in use: answers for known and new nodes, over HTTP if need be."""
