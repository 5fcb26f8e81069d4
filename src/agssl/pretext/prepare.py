"""From a name to a task that is ready to train: options parsed, targets computed once and cached on disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from agssl.base.array_cache import cached_arrays
from agssl.base.errors import SettingsError, unknown_name
from agssl.base.plugins import plugin_hashes
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.config import AUTO, LABELS, PAPER, Settings
from agssl.data.graph import Graph
from agssl.ops.partition import METIS, cut_by
from agssl.pretext.base import ALPHA_GRID, TASKS, Targets, Task

VERSION = 2  # raise it when a task's targets change their meaning


def make_task(text: str) -> Task:
    """A task by name, with settings after colons.

    >>> make_task("pairsim:target=feature:pairs=100").settings()
    {'target': 'feature', 'pairs': 100}
    """
    return Spec.parse(text).build(TASKS)


def check_tasks(settings: Settings) -> None:
    """Refuse tasks that do not exist, settings they do not have, and pre-training (`pf`) with one that needs labels."""
    for text in settings.teachers:
        name = Spec.parse(text.partition("@")[0]).name
        if name not in (LABELS, AUTO, PAPER) and name not in TASKS:
            known = (LABELS, *TASKS) if "@" in text else (AUTO, PAPER, LABELS, *TASKS)
            raise unknown_name("task" if "@" in text else "teacher", name, known)
    for text in settings.all_tasks:
        if make_task(text).needs_classes and settings.strategy == "pf" and text in settings.tasks:
            raise SettingsError(
                f"task {text!r} needs labels, but pre-training (strategy pf) has none; leave it out, or choose jt"
            )


def alphas_of(settings: Settings, text: str) -> tuple[float, ...]:
    """The loss weights of a task to choose from.

    >>> alphas_of(Settings(alpha=2), "par"), len(alphas_of(Settings(alpha="auto"), "par")) > 1
    ((2.0,), True)
    """
    task = make_task(text)
    alpha = settings.alpha_of(task.name)
    if alpha is None:
        return task.alphas
    return ALPHA_GRID if alpha == "auto" else (float(alpha),)


def partition_plan(settings: Settings, edges: int = 0) -> dict[str, str]:
    """What the plan of a fit says of partitions: nothing where METIS cuts them, or none are wanted.

    Args:
        settings: of the fit.
        edges: of the graph, since large ones are cut in another way.
    """
    wanted = settings.batch == "partition" or any(Spec.parse(text).name == "par" for text in settings.all_tasks)
    way = cut_by(edges)
    return {"partition": way} if wanted and way != METIS else {}


def prepared(task: Task, graph: Graph, cache: Path | None = None) -> Targets:
    """The task's targets on this graph; computed at most once for all seeds and runs where a cache folder is given.

    A cache file that can't be read is computed again: the cache is never worth an error.
    """
    path = cache / f"{task.name}-{_key(task, graph)}.npz" if cache is not None else None
    # The same targets whatever the seed of the run: they are a property of the graph.
    return cached_arrays(path, lambda: task.prepare(graph, Rng(0).child("prepare", task.name)))


def _key(task: Task, graph: Graph) -> str:
    about = [VERSION, graph.name, graph.fingerprint, task.name, task.settings_on(graph), *plugin_hashes(type(task))]
    text = json.dumps(about, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
