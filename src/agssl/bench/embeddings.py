"""`agssl bench embeddings`: hidden rows by k-means and link prediction, of single networks and of AGSSL's student."""

from __future__ import annotations

from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.fair import DATASETS
from agssl.bench.methods import AUTOSSL, GCN, LF, SINGLE, VANILLA, Method
from agssl.bench.points import Point, draw_points
from agssl.bench.records import Records
from agssl.bench.scope import Scope, title_of
from agssl.bench.tables import Entry, Table, accuracy_sheets, interval

STUDY, SEEDS = "embeddings", 3
# With a weight like this the labels choose the epoch, and count for nothing else.
DGI_ALONE = Method(
    "dgi-alone", "DGI alone", {"method": "single", "tasks": ("dgi",), "alpha": 1e4}, two_strategies=False
)
AUTO = Method("auto", "AGSSL auto", {"method": "agssl", "teachers": ("auto",), "integration": "both"}, False)
METHODS = (GCN, *SINGLE, DGI_ALONE, VANILLA, AUTOSSL, LF, AUTO)
_FIGURES = {
    "nmi": ("clusters", "NMI of k-means, in %"),
    "ari": ("clusters", "ARI of k-means, in %"),
    "auc": ("links", "AUC of held-out links, in %"),
    "ap": ("links", "average precision of held-out links, in %"),
}
_NOTES = (
    "Hidden rows are those below the class head of the network that a method ends with: the GCN, a teacher of one "
    "task, joint training, AutoSSL, AGSSL's student. DGI alone is the task with a weight of 10,000: labels choose the "
    "epoch, and count for nothing else. AGSSL auto has the pool that it finds, and a student with an encoder to match.",
    "k-means runs on the rows of all nodes, with as many clusters as there are classes and the tightest of ten starts; "
    "NMI and ARI are at the nodes whose labels no method was told (neither training nor validation nodes).",
    "For links, 10% of the edges are taken out before anything is prepared or trained, and as many pairs drawn that "
    "are no edge; all methods of a seed have the same. A pair's score is the cosine of its rows. Nothing is fitted on "
    "top, so that rows are compared and not what is made of them; a dot product would score long rows, not like ones.",
)


def _cells_of(scope: Scope, method: Method, dataset: str) -> list[Cell]:
    here = scope.at_most(SEEDS)
    return here.cells(method, dataset, study=STUDY)


def _asked(scope: Scope) -> tuple[Method, ...]:
    return tuple(method for method in METHODS if scope.methods is None or method.name in (*scope.methods, GCN.name))


def _cells(scope: Scope) -> list[Cell]:
    datasets = scope.datasets_or(DATASETS)
    return [cell for dataset in datasets for method in _asked(scope) for cell in _cells_of(scope, method, dataset)]


def _entries(scope: Scope, records: Records, figure: str) -> list[Entry]:
    """Of one figure, for each method and dataset, in percent and paired with the GCN."""
    part, _ = _FIGURES[figure]
    entries = []
    for dataset in scope.datasets_or(DATASETS):
        found = {
            method.name: {r["seed"]: 100 * r[part][figure] for r in records.of(_cells_of(scope, method, dataset))}
            for method in _asked(scope)
        }
        base = found[GCN.name]
        for method in _asked(scope):
            own = found[method.name]
            gains = tuple(value - base[seed] for seed, value in own.items() if seed in base)
            wanted = len(scope.at_most(SEEDS).seeds_of(dataset))
            entries.append(Entry(method.title, title_of(dataset), wanted, own, gains, block=figure))
    return entries


def _render(scope: Scope, records: Records) -> Rendered:
    found = {figure: _entries(scope, records, figure) for figure in _FIGURES}
    sheets = [
        sheet
        for figure, entries in found.items()
        for sheet in accuracy_sheets("Representations", entries, paper_too=False, what=_FIGURES[figure][1])
    ]
    rows = [entry.to_dict() for entries in found.values() for entry in entries]
    figures = {
        f"embeddings-{figure}": lambda entries=found[figure], words=_FIGURES[figure][1]: draw_points(
            _points(entries), f"{words}: minus the GCN's"
        )
        for figure in ("nmi", "auc")
    }
    return Rendered(Table(sheets, rows, [*_NOTES]), figures)


def _points(entries: list[Entry]) -> dict[str, dict[str, Point]]:
    """The differences to the GCN with their intervals, by method and dataset."""
    points: dict[str, dict[str, Point]] = {}
    for entry in entries:
        if entry.gain is not None and entry.row != GCN.title:
            points.setdefault(entry.row, {})[entry.column] = Point(
                entry.gain, *(interval(entry.gains) or (entry.gain, entry.gain))
            )
    return points


EMBEDDINGS = Artifact(
    "Representations: clusters and links",
    _cells,
    _render,
    figures=True,
    methods=tuple(method.name for method in METHODS),
)
