"""Teacher weights, of one node and of groups of nodes, and the results of a fit."""
