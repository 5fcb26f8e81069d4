"""`agssl bench trust`: do per-node weights point to the right teachers? On the graphs of `agssl bench graphs`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agssl.base.jsonl import read_json_lines
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.contenders import AUTO, PAPER, QUICK, Contender
from agssl.bench.graphs import DEFAULT, labels
from agssl.bench.points import Point, draw_points
from agssl.bench.records import CellRecord, Records
from agssl.bench.scope import Scope, title_of
from agssl.bench.tables import MISSING, Sheet, Table

POOLS = (PAPER, AUTO, QUICK)
STUDY = Path("studies/results/trust.jsonl")  # what studies/trust.py found, where the command is given in its folder
_SHARES = ("disagreement", "most_trusted", "best_single", "majority")
_NOTES = (
    "Measured on test nodes. Pairs right: of a right and a wrong teacher of one node, how often the right one weighs "
    "more (0.5 is a coin), mean ± standard error over nodes, mean over seeds. The accuracies are those of the nodes "
    "where teachers disagree: of the most trusted teacher, of the one that is best on held-out nodes, of a vote. "
    "Effective teachers: exp of the entropy of a node's weights, the mean over nodes; their number if all weigh alike.",
    "The paper's pool is weighed by `lf`, which reads logits alone; the automatic ones by `both`, which also asks "
    "labelled nodes near by.",
)


@dataclass(frozen=True)
class Trust:
    """What the fits of a pool on a graph say of their weights: means over seeds."""

    graph: str
    pool: str
    seeds: int
    teachers: float
    figures: dict[str, float]

    @classmethod
    def of(cls, graph: str, pool: str, records: Sequence[CellRecord]) -> Trust | None:
        """From records with more than one teacher; None where there are none."""
        found = [record for record in records if record.get("trust") and len(record["teachers"]) > 1]
        if not found:
            return None
        figures = {name: _mean(record["trust"][name] for record in found) for name in found[0]["trust"] if name in _ALL}
        known = {name: value for name, value in figures.items() if value is not None}
        return cls(graph, pool, len(found), statistics.fmean(len(one["teachers"]) for one in found), known)

    @property
    def pairs(self) -> Point | None:
        """How often the right teacher weighs more, with its standard error at both sides."""
        mean, error = self.figures.get("pairs_right"), self.figures.get("pairs_right_se", 0.0)
        return None if mean is None else Point(mean, mean - error, mean + error)


_ALL = ("pairs_right", "pairs_right_se", "effective_teachers", *_SHARES)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _pools(scope: Scope) -> list[Contender]:
    return [one for one in POOLS if scope.methods is None or one.name in scope.methods]


def _cells(scope: Scope) -> list[Cell]:
    return [cell for graph in scope.datasets_or(DEFAULT) for one in _pools(scope) for cell in one.cells(scope, graph)]


def trust_of(scope: Scope, records: Records) -> list[Trust]:
    """What there is, graph by graph."""
    named = labels(scope.datasets_or(DEFAULT), title_of)
    found = [
        Trust.of(title, pool.title, records.of(pool.cells(scope, graph)))
        for graph, title in named.items()
        for pool in _pools(scope)
    ]
    return [one for one in found if one is not None]


def _render(scope: Scope, records: Records) -> Rendered:
    found = trust_of(scope, records)
    sheets = [_sheet(found)] if found else []
    study = [record for _, record in read_json_lines(STUDY)] if STUDY.exists() else []
    sheets += [_study_sheet(study)] if study else []
    rows = [
        {"row": one.graph, "column": one.pool, "seeds": one.seeds, "teachers": one.teachers} | one.figures
        for one in found
    ]
    if not sheets:
        return Rendered(Table(notes=["Nothing was run yet."]))
    figures = {"trust": lambda: draw_trust(found)} if found else {}
    return Rendered(Table(sheets, rows, [*_NOTES]), figures)


def _sheet(found: Sequence[Trust]) -> Sheet:
    header = ("graph, pool", "seeds", "teachers", "effective teachers", "pairs right", "% disagree")
    return Sheet(
        "Trust: weights and which teachers are right",
        (*header, "most trusted, %", "best single, %", "majority, %"),
        tuple(
            (
                f"{one.graph}, {one.pool}",
                str(one.seeds),
                f"{one.teachers:.1f}".removesuffix(".0"),
                _number(one.figures.get("effective_teachers"), "{:.2f}"),
                _pairs_text(one.figures),
                *(_number(one.figures.get(name), "{:.1f}", 100) for name in _SHARES),
            )
            for one in found
        ),
    )


def _number(value: float | None, form: str, scale: float = 1) -> str:
    return "–" if value is None else form.format(scale * value)


def _pairs_text(figures: dict[str, float]) -> str:
    if "pairs_right" not in figures:
        return "–"
    error = figures.get("pairs_right_se")
    return f"{figures['pairs_right']:.3f}" + ("" if error is None else f" ± {error:.3f}")


def _study_sheet(study: Sequence[dict[str, Any]]) -> Sheet:
    """Pairs right of the paper's five teachers under each integration that was measured, on tuning seeds."""
    found: dict[tuple[str, str], list[float]] = {}
    seeds: dict[str, set[int]] = {}
    for record in study:
        value = (record.get("trust") or {}).get("pairs_right")
        if record["pool"] == "paper" and value is not None:
            found.setdefault((record["graph"], record["arm"]), []).append(value)
            seeds.setdefault(record["graph"], set()).add(record["seed"])
    arms = list(dict.fromkeys(arm for _, arm in found))
    return Sheet(
        "Trust: pairs right of the paper's five teachers by integration, on tuning seeds (`python studies/trust.py`)",
        ("", "seeds", *arms),
        tuple(
            (
                title_of(graph),
                ", ".join(map(str, sorted(seeds[graph]))),
                *(f"{statistics.fmean(found[graph, arm]):.3f}" if (graph, arm) in found else MISSING for arm in arms),
            )
            for graph in dict.fromkeys(graph for graph, _ in found)
        ),
    )


def draw_trust(found: Sequence[Trust]) -> Any:
    """How often the right one of two teachers weighs more, graph by graph and pool by pool."""
    series: dict[str, dict[str, Point]] = {}
    for one in found:
        if one.pairs is not None:
            series.setdefault(one.pool, {})[one.graph] = one.pairs
    return draw_points(series, "share of pairs in which the right teacher weighs more", 0.5)


TRUST = Artifact(
    "Trust: do weights point to the teachers that are right?",
    _cells,
    _render,
    figures=True,
    methods=tuple(one.name for one in POOLS),
)
