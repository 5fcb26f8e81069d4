"""Fair comparisons: baselines that read as many labels as AGSSL does, and rivals as their own papers have them."""

from __future__ import annotations

from dataclasses import replace

from agssl.bench import paper
from agssl.bench.accuracy import AccuracyTable
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.methods import (
    AUTOSSL,
    AVERAGE,
    BEST,
    CROSSFIT,
    EQUAL,
    GCN,
    JOAO,
    LF,
    MIXED,
    TABLE_METHODS,
    TS,
    VANILLA,
)
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, Scope

DATASETS = tuple(name for name in PAPER_DATASETS if name != "ogbn-arxiv")
_EQUAL = AccuracyTable("Equal labels", (GCN, *EQUAL, AVERAGE, LF, TS, *CROSSFIT), paper.table1, pretrained=False)
_RIVALS = AccuracyTable(
    "Rivals",
    (GCN, JOAO, VANILLA, AUTOSSL, *MIXED, LF, TS, *BEST),
    paper.rival,
    whose="the published figures",
    pretrained=False,
    chosen=False,
)


def _seven(scope: Scope) -> Scope:
    return replace(scope, datasets=scope.datasets_or(DATASETS))


def _render_rivals(scope: Scope, records: Records) -> Rendered:
    rendered = _RIVALS.render(_seven(scope), records)
    sources = "; ".join(f"{TABLE_METHODS[name].title}: {text}" for name, text in paper.rival_sources().items())
    notes = [*rendered.table.notes, f"Published figures and settings: {sources.rstrip('.')}. Others: the paper's."]
    return replace(rendered, table=replace(rendered.table, notes=notes))


EQUAL_LABELS = Artifact(
    "Equal labels: baselines that read validation labels for as much as AGSSL does, and AGSSL that reads them for less",
    lambda scope: _EQUAL.cells(_seven(scope)),
    lambda scope, records: _EQUAL.render(_seven(scope), records),
)
RIVALS = Artifact(
    "Rivals at their best, with the settings of their papers where these are published",
    lambda scope: _RIVALS.cells(_seven(scope)),
    _render_rivals,
)
