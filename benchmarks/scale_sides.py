"""What `scale.py` measures, each in a process of its own: preparing, epochs, the whole of AGSSL."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")


class Peak:
    """The largest anonymous and resident memory of this process while the block runs, looked at all the time."""

    def __enter__(self) -> Peak:
        self.most = {"RssAnon": 0, "VmRSS": 0}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self._look()

    def _look(self) -> None:
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in self.most:
                self.most[name] = max(self.most[name], int(rest.split()[0]))

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def megabytes(self) -> dict[str, int]:
        return {"peak_mb": self.most["RssAnon"] // 1024, "resident_mb": self.most["VmRSS"] // 1024}


class Times:
    """When epochs ended, by the clock and in processor time, in a file that is added to when a run is begun again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.run = path, time.time()

    def add(self, peak: Peak, stage: str, record: dict[str, float]) -> None:
        """The end of an epoch, and the memory so far."""
        row = {"run": self.run, "stage": stage, "at": clocks(), "most": peak.most}
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def found(self, peak: Peak) -> dict[str, tuple[float, float]]:
        """Seconds of an epoch of each stage, by both clocks; the first epoch of a stage in a run is not counted."""
        ends: dict[str, dict[float, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
        for line in self.path.read_text().splitlines():
            row = json.loads(line)
            ends[row["stage"]][row["run"]].append(row["at"])
            peak.most = {name: max(most, row["most"][name]) for name, most in peak.most.items()}
        seconds = {}
        for stage, runs in ends.items():
            spans = [(b[0] - a[0], b[1] - a[1]) for at in runs.values() for a, b in pairwise(at)]
            if spans:
                seconds[stage] = (mean(wall for wall, _ in spans), mean(cpu for _, cpu in spans))
        return seconds


def clocks() -> tuple[float, float]:
    """The time, and the processor time of this process and of those that it waited for."""
    spent = os.times()
    return time.perf_counter(), time.process_time() + spent.children_user + spent.children_system


def prepare(folder: str, cache: str, mode: str, nodes: int, note: str, tasks: Sequence[str] = TASKS) -> dict[str, Any]:
    """Targets and partition, once; what was measured is in the file `note`, and not done again."""
    from agssl.data.packed import open_packed
    from agssl.pretext.prepare import make_task, prepared
    from agssl.train.batches import Batches

    graph, path = open_packed(folder), Path(note)
    found: dict[str, Any] = {"prepare_seconds": {}, "prepare_cpu_seconds": {}}
    found |= json.loads(path.read_text()) if path.exists() else {}
    whole = [name for name in tasks if mode == "full" or make_task(name).needs_whole]
    steps: dict[str, Callable[[], object]] = {"fingerprint": lambda: graph.fingerprint}
    steps |= {name: partial(prepared, make_task(name), graph, Path(cache)) for name in whole}
    if mode == "partition":
        steps["partition"] = lambda: Batches(graph, mode, nodes, 1, Path(cache)).parts
    for name, step in steps.items():
        if name in found["prepare_seconds"]:
            continue
        with Peak() as peak:
            start = clocks()
            step()
            wall, processor = (round(b - a, 2) for a, b in zip(start, clocks(), strict=True))
        found["prepare_seconds"][name], found["prepare_cpu_seconds"][name] = wall, processor
        most = peak.megabytes()
        found["prepare"] = {kind: max(value, found.get("prepare", most)[kind]) for kind, value in most.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


def epochs(folder: str, cache: str, mode: str, nodes: int, count: int, tasks: Sequence[str] = TASKS) -> dict[str, Any]:
    """A few epochs of every teacher and of the student.

    Networks and the times of their epochs are kept beside the cache until all is done: begun again after it was
    stopped, this goes on with the epoch that it was in.
    """
    from agssl.config import Settings
    from agssl.data.packed import open_packed
    from agssl.store.checkpoints import CheckpointStore
    from agssl.train.methods import train_method

    graph = open_packed(folder)
    how: dict[str, Any] = {"teachers": tuple(tasks), "integration": "ts", "alpha": 1.0, "generations": 1}
    settings = Settings(**how, epochs=count, patience=None, batch=mode, batch_nodes=nodes)
    kept = Path(cache) / "-".join(["epochs", Path(folder).name, mode, str(nodes), str(count), *tasks])
    times = Times(kept / "times.jsonl")
    with Peak() as peak:
        store = CheckpointStore(kept / "checkpoints")
        watch = partial(times.add, peak)
        train_method(graph, settings, watch=watch, cache=Path(cache), checkpoints=store)
    found = times.found(peak)
    shutil.rmtree(kept)
    by_stage, cpu = ({stage: by_clock[clock] for stage, by_clock in found.items()} for clock in range(2))
    wall, processor = mean(by_stage.values()), mean(cpu.values())
    return {
        "mode": mode,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "tasks": list(tasks),
        "seconds_per_epoch": round(wall, 4),
        "microseconds_per_edge": round(1e6 * wall / graph.num_edges, 4),
        "cpu_microseconds_per_edge": round(1e6 * processor / graph.num_edges, 4),
        "counted_epochs": count - 1,
        **peak.megabytes(),
        "stages": {stage: round(value, 4) for stage, value in by_stage.items()},
        "cpu_stages": {stage: round(value, 4) for stage, value in cpu.items()},
    }


def whole(folder: str, cache: str, mode: str, nodes: int, seed: int, changes: dict[str, Any]) -> dict[str, Any]:
    """All of AGSSL by its defaults with some changes, and its accuracy."""
    from agssl.cli.progress import Progress
    from agssl.config import Settings
    from agssl.data.packed import open_packed
    from agssl.fitting.job import Job, fit_seed

    graph, settings = (
        open_packed(folder),
        Settings(teachers=("paper",), integration="ts", batch=mode, batch_nodes=nodes, **changes),
    )
    start = time.perf_counter()
    with Peak() as peak, Progress(1, settings.epochs, True) as progress:
        metrics = fit_seed(Job(graph, settings, cache=Path(cache), threads=2), seed, progress.watch(seed))
    return {
        "mode": mode,
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "settings": changes,
        "threads": 2,
        "seconds": round(time.perf_counter() - start, 1),
        **peak.megabytes(),
        "epochs": metrics["epochs"],
        "test_accuracy": metrics["test"]["accuracy"],
        "teachers": {teacher["task"]: teacher["test_accuracy"] for teacher in metrics["teachers"]},
    }
