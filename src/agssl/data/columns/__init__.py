"""Columns of a table to features: decided per column, fitted as plain data, applied by name."""

from agssl.data.columns.apply import apply_columns
from agssl.data.columns.fit import fit_columns
from agssl.data.columns.options import TableOptions
from agssl.data.columns.plain import Column, Columns

__all__ = ["Column", "Columns", "TableOptions", "apply_columns", "fit_columns"]
