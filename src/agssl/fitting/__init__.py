"""The one way from a graph and settings to a fitted model, for one seed or many."""
