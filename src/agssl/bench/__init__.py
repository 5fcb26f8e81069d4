"""The paper's tables and figures: a grid of cells, one record per cell, and what is made of the records."""
