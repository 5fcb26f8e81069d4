"""How much memory a fit will need, and how much there is: known before the first epoch, and not by dying in the middle.

The estimate counts what is alive at the worst moment of the worst stage: copies of the hidden representation [rows, F]
that one training step holds, tensors of the graph and of the features, weights with their optimiser, and the teachers'
logits. Tasks and encoders say themselves what they need of a step (`Task.needs`, `Encoder.row_copies`); how many copies
that comes to was measured (`benchmarks/memory.py`; figures in results/benchmarks/memory.json).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.base.system import free_memory, held_memory, size_text
from agssl.config import PAPER_TASKS, WHOLE, Settings, TeacherSpec, parse_network
from agssl.data.graph import Graph
from agssl.encoders import Encoder, blueprint
from agssl.ops.plan import WORTHWHILE
from agssl.ops.subgraph import neighbour_entries
from agssl.pretext.needs import Needs, stored_entries
from agssl.pretext.prepare import make_task
from agssl.simple import is_simple
from agssl.train.setup import shape_of

FLOAT = 4  # bytes
PROCESS = 472 << 20  # Python, torch, scikit-learn and METIS, once they have run
# `Encoder.row_copies` are those of the hidden rows of one layer, in a step over them. Of these:
FURTHER = 3 / 4  # more, for every layer after the first, whose input learns and is dropped out
SKIP = 6.0  # copies more, for a skip connection
SHUFFLED = 9 / 8  # more, for a view with shuffled features
VIEW = 1.0  # more, for every further view, of the rows that it needs
EVALUATION = 3.0  # copies of all hidden rows in a pass without gradients
PREDICTING = 1.5  # copies of all hidden rows for a head that predicts something of every node
PER_EDGE = 48  # bytes of all arrays with an entry for each stored entry of A + I
PER_WEIGHT = 20  # bytes more of each, where edges have weights: the graph's, those of A + I, and what adds them up
PER_ENTRY = 32  # bytes for each stored entry of a sparse matrix of a task's own, with what it takes to make it
PER_VALUE = 56  # bytes of all arrays with an entry for each stored value of sparse features, beside the graph's own
DENSE = 3  # copies of dense features, beside the graph's own
SCORES = 4  # copies of the largest matrix of scores that a task makes
STATES = 5  # a weight, its gradient, two moments, its best value
WITH_OTHERS = 2  # times the nodes of a mini-batch: with labelled nodes and pairs, and their neighbours
SHARE_FREE = 0.9  # of the free memory that a fit may plan to take


@dataclass(frozen=True)
class Estimate:
    """Bytes at the peak of a fit, by what they are for."""

    process: int  # what the interpreter and its libraries take
    graph: int  # edges, features, and tensors made of them
    activations: int  # hidden representations of the largest step
    weights: int  # of the network and its heads, with gradients, moments and the best state; and of all teachers
    logits: int  # of teachers and student, for all nodes

    @property
    def total(self) -> int:
        """The whole process."""
        return self.process + self.graph + self.activations + self.weights + self.logits

    def needed(self, jobs: int = 1, held: int = 0) -> int:
        """Bytes to be had from the system: those of all jobs, less what a process that works alone holds already.

        What it holds beyond the interpreter's share may be anything, so it is not counted.
        """
        return self.total - min(held, self.process) if jobs == 1 else jobs * self.total


def estimate(graph: Graph, settings: Settings) -> Estimate:
    """The peak of one fit of a graph (with or without a split) by these settings; `auto` counts as full-batch."""
    if settings.method == "agssl" and settings.automatic:  # what would be too large is not tried
        return estimate(graph, settings.replace(teachers=(), tasks=PAPER_TASKS))
    if settings.method == "agssl" and settings.teachers:
        return _pool(graph, settings)
    groups = _groups(graph, settings)
    teachers = len(settings.tasks) if settings.method == "agssl" else 0
    folds = 1 if graph.split is None else len(graph.split.folds())
    rows, share, kind = _rows(graph, settings, groups), 1.0, blueprint(shape_of(graph, settings))
    if settings.batch in ("partition", "neighbour"):
        nodes = min(graph.num_nodes, WITH_OTHERS * settings.batch_nodes)
        views = max(sum(_view_copies(kind, needs) for needs in group) for group in groups)
        rows = nodes * settings.layers * (_copies(kind, settings.layers, shuffled=True) + views)
        share = nodes / graph.num_nodes
    matrices = max(sum(needs.entries for needs in group) for group in groups) * PER_ENTRY
    scores = max(sum(needs.scores for needs in group) for group in groups) * SCORES * FLOAT
    entries = stored_entries(graph) * share * kind.entry_numbers * FLOAT
    return Estimate(
        process=PROCESS,
        graph=int((_graph_bytes(graph) + matrices) * share + _made_bytes(graph, settings)),
        activations=int(rows * settings.hidden * FLOAT + scores + entries),
        weights=_weights(graph, settings, groups) * FLOAT * (STATES + teachers + 1) * folds,
        logits=(3 * teachers * folds + 6 + 2 * kind.head_hops) * graph.num_nodes * graph.num_classes * FLOAT,
    )


def _pool(graph: Graph, settings: Settings) -> Estimate:
    """That of the largest teacher or the student, with what is kept of all of them."""
    encoder, changes = parse_network(settings.student or settings.encoder)
    student = settings.replace(teachers=(), student="", tasks=PAPER_TASKS[:1], alpha=None).of_network(encoder, changes)
    taught = [text for text in settings.pool if not is_simple(TeacherSpec.parse(text).encoder)]
    found = [estimate(graph, student), *(estimate(graph, settings.of_teacher(text)) for text in taught)]
    largest, count = max(found, key=lambda one: one.total), len(settings.pool)
    folds = 1 if graph.split is None else len(graph.split.folds())
    kept = 3 * count * folds * graph.num_nodes * graph.num_classes * FLOAT
    graphs = len({TeacherSpec.parse(text).settings.get("view", settings.view) for text in settings.pool})
    return replace(largest, graph=largest.graph * (1 + graphs), logits=largest.logits + kept)


def _groups(graph: Graph, settings: Settings) -> list[list[Needs]]:
    """What the tasks of each network need that the method trains, one after the other."""
    needs = {text: make_task(text).needs(graph, settings.hidden) for text in settings.all_tasks}
    if settings.method not in ("agssl", "single"):
        return [list(needs.values())]
    student = [[needs[text] for text in settings.student_tasks or ()]] if settings.method == "agssl" else []
    return [[needs[text]] for text in settings.tasks] + student


def _rows(graph: Graph, settings: Settings, groups: list[list[Needs]]) -> float:
    """Rows of width F that the largest step holds."""
    n, layers, kind = graph.num_nodes, settings.layers, blueprint(shape_of(graph, settings))
    last = n * (EVALUATION + 2 * (layers - 1))  # every network ends with a pass over all nodes
    steps = [_step(graph, kind, layers, settings.norm == "batch", group) for group in groups]
    if settings.method == "agssl":
        steps[-1] = _step(graph, kind, layers, True, groups[-1])  # the student's every step is one, too
    return max(last, *steps)


def _step(graph: Graph, kind: Encoder, layers: int, whole: bool, tasks: list[Needs]) -> float:
    """Rows that one step with these tasks holds."""
    read = [needs.nodes for needs in tasks]
    own = _reach(graph, kind, None if whole or None in read else sum(nodes or 0 for nodes in read))
    predicting = sum(needs.nodes is None and not needs.shuffles for needs in tasks)
    views = sum(
        _view_copies(kind, needs) * _reach(graph, kind, None if whole else needs.view_nodes, labels=False)
        for needs in tasks
    )
    copies = _copies(kind, layers, any(needs.shuffles for needs in tasks))
    return own * copies + views + graph.num_nodes * PREDICTING * predicting


def _copies(kind: Encoder, layers: int, shuffled: bool) -> float:
    """Copies of the hidden rows that the encoder's own pass holds, for each of its layers on average."""
    return _row_copies(kind) * (1 + FURTHER * (layers - 1) / layers + SHUFFLED * shuffled)


def _row_copies(kind: Encoder) -> float:
    return kind.row_copies + SKIP * kind.shape.residual


def _view_copies(kind: Encoder, needs: Needs) -> float:
    """The same for the further passes of a task."""
    return _row_copies(kind) * VIEW * needs.views + EVALUATION * needs.frozen_views


def _reach(graph: Graph, kind: Encoder, count: int | None, labels: bool = True) -> int:
    """Rows of all layers that a pass for `count` nodes (None: all) and for the labels must compute."""
    n = graph.num_nodes
    if count is None:
        return n * kind.hops
    draw = Rng(0).child("memory").numpy()
    seen = np.zeros(n, dtype=bool)
    if labels:
        seen[graph.split.train if graph.split is not None else np.flatnonzero(graph.y >= 0)] = True
    seen[draw.integers(n, size=min(n, count))] = True
    total = 0
    for _ in range(kind.hops):
        if kind.reach:
            seen[neighbour_entries(graph, np.flatnonzero(seen))[0]] = True
        rows = int(seen.sum())
        total += n if rows > WORTHWHILE * n else rows
    return total


def _graph_bytes(graph: Graph) -> int:
    edges = stored_entries(graph) * (PER_EDGE + (0 if graph.weights is None else PER_WEIGHT))
    if isinstance(graph.x, np.ndarray):
        return edges + graph.x.size * FLOAT * (DENSE + 1)
    return edges + graph.x.nnz * (PER_VALUE + 8)


def _made_bytes(graph: Graph, settings: Settings) -> float:
    """What the encoder makes of the graph, and mini-batches take their rows of."""
    values, dense = blueprint(shape_of(graph, settings)).made(graph)
    return values * (2 * FLOAT if dense else PER_VALUE + 8)


def _weights(graph: Graph, settings: Settings, groups: list[list[Needs]]) -> int:
    """Numbers that learn in the largest network."""
    encoder = _encoder(graph, settings)
    heads = (sum(needs.parameters + needs.encoders * encoder for needs in group) for group in groups)
    return encoder + settings.hidden * graph.num_classes + max(heads)


def _encoder(graph: Graph, settings: Settings) -> int:
    """Numbers that learn in the encoder."""
    return sum(parameter.numel() for parameter in blueprint(shape_of(graph, settings)).parameters())


def batch_mode(graph: Graph, settings: Settings, jobs: int = 1) -> str:
    """What `--batch auto` comes to: `full` where the whole graph fits into the free memory (or the method needs it)."""
    free = free_memory()
    if free is None or settings.method in WHOLE:
        return "full"
    return "full" if estimate(graph, settings).needed(jobs, held_memory()) <= SHARE_FREE * free else "partition"


def jobs_that_fit(graph: Graph, settings: Settings, most: int) -> int:
    """How many processes there is free memory for, each with a fit of its own: at least one, at most `most`."""
    free = free_memory()
    if free is None or most == 1:
        return most
    return max(1, min(most, int(SHARE_FREE * free) // estimate(graph, settings).total))


def check_memory(graph: Graph, settings: Settings, jobs: int = 1) -> Estimate:
    """Refuse a fit that would not fit into the free memory; the error says which setting to lower.

    Where the system does not tell how much is free, everything fits.
    """
    expected = estimate(graph, settings)
    free = free_memory()
    needed = expected.needed(jobs, held_memory())
    if free is not None and needed > SHARE_FREE * free:
        raise SettingsError(
            f"this fit needs about {size_text(needed)} of memory"
            + (f" ({jobs} jobs of {size_text(expected.total)})" if jobs > 1 else "")
            + f", but {size_text(free)} is free; {_cure(graph, settings, jobs, int(SHARE_FREE * free))}, "
            "or try it all the same with --no-memory-check"
        )
    return expected


def _cure(graph: Graph, settings: Settings, jobs: int, room: int) -> str:
    """The setting whose lowering helps most, with a value that fits where there is one."""

    def fits(changed: Settings, jobs: int = 1) -> bool:
        return estimate(graph, changed).needed(jobs, held_memory()) <= room

    for fewer in range(jobs - 1, 0, -1):
        if fits(settings, fewer):
            return f"lower --jobs to {fewer}"
    first = "lower --jobs to 1 and " if jobs > 1 else ""
    if settings.batch == "full" and settings.method not in WHOLE and fits(settings.replace(batch="partition")):
        return f"{first}train in parts (--batch partition)"
    width = settings.hidden // 2
    while width >= 8:
        if fits(settings.replace(hidden=width)):
            return f"{first}lower --hidden to {width}"
        width //= 2
    lean = tuple(text for text in settings.tasks if _lean(make_task(text).needs(graph, settings.hidden)))
    if settings.layers > 1 and fits(settings.replace(layers=1, hidden=min(settings.hidden, 64))):
        return f"{first}lower --layers to 1 and --hidden to {min(settings.hidden, 64)}"
    several = settings.method in ("agssl", "joint") and lean and lean != settings.tasks
    if several and fits(settings.replace(tasks=lean, hidden=min(settings.hidden, 32))):
        return f"{first}leave out a task (--tasks {','.join(lean)}) and lower --hidden to 32"
    return f"{first}use a smaller graph or a machine with more memory"


def _lean(needs: Needs) -> bool:
    """Whether a step makes no further view of the whole graph."""
    return not needs.shuffles and (not needs.views or needs.view_nodes is not None)
