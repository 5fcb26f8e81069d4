"""`agssl bench graphs`: AGSSL, with the paper's pool and with one that it finds, against simple baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell, file_stem
from agssl.bench.contenders import CONTENDERS, Contender
from agssl.bench.critical import critical_difference, draw_ranks
from agssl.bench.graph_sheets import entries_of, sheets_of, titles_of
from agssl.bench.outcomes import BEST, Outcome, Outcomes, best_simple
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, PRACTICE, Scope, title_of
from agssl.bench.tables import Table, average_ranks

DEFAULT = (*(name for name in PAPER_DATASETS if name != "ogbn-arxiv"), *PRACTICE)
_RULES = (
    "Each baseline has four settings, of which validation nodes of the same seed and split choose one; test nodes are "
    f"read once, for that one. `{BEST}` is the baseline with the best mean on validation nodes over a graph's seeds. "
    "AGSSL has the same settings on all graphs; with the paper's pool, those of the paper's tables. Time is that of "
    "one fit, without the choice of settings."
)


def _contenders(scope: Scope) -> list[Contender]:
    return [one for one in CONTENDERS.values() if scope.methods is None or one.name in scope.methods]


def _cells(scope: Scope) -> list[Cell]:
    graphs = scope.datasets_or(DEFAULT)
    return [cell for graph in graphs for one in _contenders(scope) for cell in one.cells(scope, graph)]


def outcomes_of(scope: Scope, records: Records, graph: str) -> Outcomes:
    """What there is of a graph, by the title of a method; the best simple baseline among them."""
    metric = str(scope.changes.get("metric", "accuracy"))
    found = {one.title: Outcome.of(records.of(one.cells(scope, graph)), metric) for one in _contenders(scope)}
    found = {title: outcome for title, outcome in found.items() if outcome.records}
    best = best_simple(found)
    return found | ({} if best is None else {BEST: best})


def labels(graphs: Iterable[str], short: Callable[[str], str]) -> dict[str, str]:
    """A short name for each graph; of two that would have the same one, the whole path.

    >>> labels(["a/x.npz", "b/x.npz", "b/y.npz"], file_stem)
    {'a/x.npz': 'a/x.npz', 'b/x.npz': 'b/x.npz', 'b/y.npz': 'y'}
    """
    found = {graph: short(graph) for graph in graphs}
    counts = Counter(found.values())
    return {graph: name if counts[name] == 1 else graph for graph, name in found.items()}


def _render(scope: Scope, records: Records) -> Rendered:
    named = labels(scope.datasets_or(DEFAULT), title_of)
    found = {title: own for graph, title in named.items() if (own := outcomes_of(scope, records, graph))}
    if not found:
        return Rendered(Table(notes=["Nothing was run yet."]))
    titles = [title for title in titles_of(found) if title != BEST]
    scores = {t: {g: own[t].scores if t in own else {} for g, own in found.items()} for t in titles}
    ranks, ranked = average_ranks(scores)
    notes = [_RULES]
    if len(ranked) > 1:
        limit = critical_difference(len(ranks), len(ranked))
        notes.append(
            f"Average ranks are over {len(ranked)} graphs; they differ if by more than {limit:.2f} (Nemenyi, 5%)."
        )
    figures = {"graphs": lambda: draw_ranks(ranks, len(ranked))} if len(ranked) > 1 else {}
    metric = str(scope.changes.get("metric", "accuracy"))
    return Rendered(Table(sheets_of(found, ranks, metric), entries_of(found), notes), figures)


def _listing(scope: Scope, records: Records) -> list[dict[str, Any]]:
    """One value per graph, method and seed, as a fraction; the best simple baseline's once more by that name."""
    names = {one.title: one.name for one in CONTENDERS.values()} | {BEST: BEST.replace(" ", "-")}
    return [
        {
            "graph": name,
            "method": names[title],
            "seed": seed,
            "value": record["test"][outcome.metric],
            "metric": outcome.metric,
            "seconds": outcome.seconds()[seed],
        }
        for graph, name in labels(scope.datasets_or(DEFAULT), file_stem).items()
        for title, outcome in outcomes_of(scope, records, graph).items()
        for seed, record in outcome.records.items()
    ]


GRAPHS = Artifact(
    "Graphs: automatic AGSSL against simple baselines",
    _cells,
    _render,
    figures=True,
    methods=tuple(CONTENDERS),
    listing=_listing,
)
