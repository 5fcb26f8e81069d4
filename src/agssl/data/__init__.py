"""Graphs: the validated `Graph`, its splits, readers of files and of other packages' objects, named datasets."""
