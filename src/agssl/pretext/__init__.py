"""Pretext tasks: each import below registers one under its name."""

from agssl.pretext import clu, dgi, pairdis, pairsim, par
from agssl.pretext.base import ALPHA_GRID, TASKS, Batch, Task, Views

__all__ = ["ALPHA_GRID", "TASKS", "Batch", "Task", "Views", "clu", "dgi", "pairdis", "pairsim", "par"]
