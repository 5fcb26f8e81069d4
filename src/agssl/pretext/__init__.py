"""Pretext tasks: each import below registers one under its name."""

from agssl.pretext import bgrl, cg3, clu, dgi, gca, gmi, grace, grand, graphmae, joao, mvgrl, pairdis, pairsim, par
from agssl.pretext.base import ALPHA_GRID, NO_NODES, TASKS, Needs, Task, TaskSample, View, Views

__all__ = [
    "ALPHA_GRID",
    "NO_NODES",
    "TASKS",
    "Needs",
    "Task",
    "TaskSample",
    "View",
    "Views",
    "bgrl",
    "cg3",
    "clu",
    "dgi",
    "gca",
    "gmi",
    "grace",
    "grand",
    "graphmae",
    "joao",
    "mvgrl",
    "pairdis",
    "pairsim",
    "par",
]
