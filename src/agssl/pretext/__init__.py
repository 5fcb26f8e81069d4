"""Pretext tasks: each import below registers one under its name."""

from agssl.pretext import bgrl, clu, dgi, gca, grace, graphmae, pairdis, pairsim, par
from agssl.pretext.base import ALPHA_GRID, TASKS, Batch, Task, View, Views

__all__ = [
    "ALPHA_GRID",
    "TASKS",
    "Batch",
    "Task",
    "View",
    "Views",
    "bgrl",
    "clu",
    "dgi",
    "gca",
    "grace",
    "graphmae",
    "pairdis",
    "pairsim",
    "par",
]
