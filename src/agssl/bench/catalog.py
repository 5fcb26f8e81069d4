"""Everything that `agssl bench` can make, by name, in the paper's order, then what goes beyond it."""

from __future__ import annotations

from agssl.base.registry import Registry
from agssl.bench import (
    accuracy,
    authors,
    beyond,
    claims,
    cost,
    embeddings,
    fair,
    graphs,
    ranking,
    redundancy,
    schemes,
    trust,
    weights,
)
from agssl.bench.artifacts import Artifact

ARTIFACTS: Registry[Artifact] = Registry("table or figure", "agssl.bench")
ARTIFACTS.add("table1", accuracy.TABLE1)
ARTIFACTS.add("table2", accuracy.TABLE2)
ARTIFACTS.add("table-a2", schemes.TABLE_A2)
ARTIFACTS.add("table-a3", cost.TABLE_A3)
ARTIFACTS.add("fig1", ranking.FIG1)
ARTIFACTS.add("fig5", weights.FIG5)
ARTIFACTS.add("fig6", weights.FIG6)
ARTIFACTS.add("fig7", weights.FIG7)
ARTIFACTS.add("fig8", schemes.FIG8)
ARTIFACTS.add("theory", claims.THEORY)
ARTIFACTS.add("graphs", graphs.GRAPHS)
ARTIFACTS.add("trust", trust.TRUST)
ARTIFACTS.add("table1-authors", authors.TABLE1)
ARTIFACTS.add("table2-authors", authors.TABLE2)
ARTIFACTS.add("equal", fair.EQUAL_LABELS)
ARTIFACTS.add("rivals", fair.RIVALS)
ARTIFACTS.add("redundancy", redundancy.REDUNDANCY)
ARTIFACTS.add("embeddings", embeddings.EMBEDDINGS)
ARTIFACTS.add("beyond", beyond.BEYOND)
