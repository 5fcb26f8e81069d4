"""Settings for fits that take a moment."""

from __future__ import annotations

from agssl.config import Settings

FIVE = ("par", "clu", "dgi", "pairdis", "pairsim")


def quick(**changes: object) -> Settings:
    """Three epochs, eight hidden units, two folds, the paper's tasks and TS, and what else is asked for."""
    tasks = {} if "teachers" in changes else {"tasks": FIVE, "integration": "ts"}
    return Settings(**(tasks | {"epochs": 3, "hidden": 8, "folds": 2, "alpha": 1.0} | changes))  # type: ignore[arg-type]
