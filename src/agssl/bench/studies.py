"""Cells that measure something else than how well a fit predicts, by name.

To add one: a function below, and `Cell(study=...)` where an artifact asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agssl.bench.embedded import embeddings_record
from agssl.bench.redundant import redundancy_record
from agssl.bench.tabular import beyond_record

Measure = Callable[..., dict[str, Any]]  # of a graph with its split, settings, seed, resources; further ones by name

STUDIES: Mapping[str, Measure] = {
    "redundancy": redundancy_record,
    "embeddings": embeddings_record,
    "beyond": beyond_record,
}
