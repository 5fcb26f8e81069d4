"""Which nodes to label next, and which labels to doubt."""
