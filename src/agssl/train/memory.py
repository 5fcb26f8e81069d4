"""How much memory a fit will need, and how much there is: known before the first epoch, and not by dying in the middle.

The estimate counts what is alive at the worst moment of the worst stage: copies of the hidden representation [rows, F]
that one training step holds, tensors of the graph and of the features, weights with their optimiser, and the teachers'
logits. How many copies was measured (`benchmarks/memory.py`; figures in results/benchmarks/memory.json).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.base.system import free_memory, held_memory, size_text
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.ops.subgraph import neighbour_entries

FLOAT = 4  # bytes
PROCESS = 460 << 20  # Python, torch and scikit-learn, once they have run
TRAINING = 8.0  # copies of the hidden rows of one layer, in a step over them
SHUFFLED = 9.0  # more of them for a view with shuffled features
EVALUATION = 2.5  # copies of all hidden rows in a pass without gradients
PREDICTING = 1.5  # copies of all hidden rows for a head that predicts something of every node
PER_EDGE = 48  # bytes of all arrays with an entry for each stored entry of A + I
PER_VALUE = 56  # bytes of all arrays with an entry for each stored value of sparse features, beside the graph's own
DENSE = 3  # copies of dense features, beside the graph's own
STATES = 5  # a weight, its gradient, two moments, its best value
WITH_OTHERS = 2  # times the nodes of a mini-batch: with labelled nodes and pairs, and their neighbours
SHARE_FREE = 0.9  # of the free memory that a fit may plan to take

_SHUFFLING = ("dgi",)
_SAMPLING = ("pairdis", "pairsim")  # these read few nodes a step; any other task counts as reading all


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
    tasks = tuple(Spec.parse(text).name for text in settings.all_tasks)
    teachers = len(settings.tasks) if settings.method == "agssl" else 0
    rows, share = _rows(graph, settings, tasks), 1.0
    if settings.batch in ("partition", "neighbour"):
        nodes = min(graph.num_nodes, WITH_OTHERS * settings.batch_nodes)
        rows, share = nodes * settings.layers * (TRAINING + SHUFFLED), nodes / graph.num_nodes
    return Estimate(
        process=PROCESS,
        graph=int(_graph_bytes(graph) * share),
        activations=int(rows * settings.hidden * FLOAT + _wide_head(graph, tasks)),
        weights=_weights(graph, settings, tasks) * FLOAT * (STATES + teachers + 1),
        logits=(3 * teachers + 8) * graph.num_nodes * graph.num_classes * FLOAT,
    )


def _rows(graph: Graph, settings: Settings, tasks: tuple[str, ...]) -> float:
    """Rows of width F that the largest step holds."""
    n, layers = graph.num_nodes, settings.layers
    last = n * (EVALUATION + 2 * (layers - 1))  # every network ends with a pass over all nodes
    if settings.method == "agssl":
        own = tuple(Spec.parse(text).name for text in settings.student_tasks or ())
        last = max(last, _step(graph, layers, True, own))  # so does the student's every step
    groups = [tasks] if settings.method in ("gcn", "joint") else [(task,) for task in tasks]
    return max(last, *(_step(graph, layers, settings.norm == "batch", group) for group in groups))


def _step(graph: Graph, layers: int, whole: bool, tasks: tuple[str, ...]) -> float:
    """Rows that one step with these tasks holds."""
    sampled = not whole and all(task in _SAMPLING for task in tasks)
    rows = _reach(graph, layers, bool(tasks)) if sampled else graph.num_nodes * layers
    shuffled = any(task in _SHUFFLING for task in tasks)
    predicting = sum(task not in _SAMPLING and task not in _SHUFFLING for task in tasks)
    return rows * (TRAINING + SHUFFLED * shuffled) + graph.num_nodes * PREDICTING * predicting


def _reach(graph: Graph, layers: int, pairs: bool) -> int:
    """Rows of all layers that a step on the labels (and on pairs of a thousand nodes or so) must compute."""
    n = graph.num_nodes
    draw = Rng(0).child("memory").numpy()
    seen = np.zeros(n, dtype=bool)
    labelled = graph.split.train if graph.split is not None else np.flatnonzero(graph.y >= 0)
    seen[labelled] = True
    if pairs:
        seen[draw.integers(n, size=min(n, 1600))] = True
    total = 0
    for _ in range(layers):
        seen[neighbour_entries(graph, np.flatnonzero(seen))[0]] = True
        total += int(seen.sum())
    return total


def _graph_bytes(graph: Graph) -> int:
    entries = len(graph.indices) + graph.num_nodes
    if isinstance(graph.x, np.ndarray):
        return entries * PER_EDGE + graph.x.size * FLOAT * (DENSE + 1)
    return entries * PER_EDGE + graph.x.nnz * (PER_VALUE + 8)


def _weights(graph: Graph, settings: Settings, tasks: tuple[str, ...]) -> int:
    """Numbers that learn in the largest network."""
    width = settings.hidden
    network = graph.num_features * width + (settings.layers - 1) * width**2 + width * graph.num_classes
    heads = [width**2 if task in _SHUFFLING else 4 * width if task in _SAMPLING else 1000 * width for task in tasks]
    return network + (sum(heads) if settings.method == "joint" else max(heads, default=0))


def _wide_head(graph: Graph, tasks: tuple[str, ...]) -> int:
    """Scores of the block of nodes that a predicting head works on at a time."""
    reads_all = any(task not in _SAMPLING and task not in _SHUFFLING for task in tasks)
    return 4 * min(graph.num_nodes, 2048) * 1000 * FLOAT if reads_all else 0


def batch_mode(graph: Graph, settings: Settings, jobs: int = 1) -> str:
    """What `--batch auto` comes to: `full` where the whole graph fits into the free memory (or the method needs it)."""
    free = free_memory()
    if free is None or settings.method == "autossl":
        return "full"
    return "full" if estimate(graph, settings).needed(jobs, held_memory()) <= SHARE_FREE * free else "partition"


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
    if settings.batch == "full" and settings.method != "autossl" and fits(settings.replace(batch="partition")):
        return f"{first}train in parts (--batch partition)"
    width = settings.hidden // 2
    while width >= 8:
        if fits(settings.replace(hidden=width)):
            return f"{first}lower --hidden to {width}"
        width //= 2
    lean = tuple(task for task in settings.tasks if Spec.parse(task).name not in _SHUFFLING)
    if settings.layers > 1 and fits(settings.replace(layers=1, hidden=min(settings.hidden, 64))):
        return f"{first}lower --layers to 1 and --hidden to {min(settings.hidden, 64)}"
    several = settings.method in ("agssl", "joint") and lean and lean != settings.tasks
    if several and fits(settings.replace(tasks=lean, hidden=min(settings.hidden, 32))):
        return f"{first}leave out a task (--tasks {','.join(lean)}) and lower --hidden to 32"
    return f"{first}use a smaller graph or a machine with more memory"
