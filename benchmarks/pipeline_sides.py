"""The sides of `pipeline.py`: the whole of AGSSL, by this package and in plain PyG (see `plain_pyg.py`).

Our side is one call of `agssl.train.methods.train_method`, watched from outside: it stops between the stages until the
parent wants the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from workers import CLOCKS, Reply, benchmark_graph, peak_mb, single_thread

TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")
PAPER: dict[str, Any] = {"teachers": ("paper",), "integration": "ts", "alpha_epochs": None}


def prepare(reply: Reply, dataset: str, folder: str) -> None:
    """METIS parts, k-means clusters and pairs by distance, once for both sides, into `folder`."""
    from agssl.pretext.prepare import make_task, prepared

    graph = benchmark_graph(dataset)
    targets = {name: prepared(make_task(name), graph, Path(folder)) for name in TASKS}
    arrays: dict[str, Any] = {"par": targets["par"]["labels"], "clu": targets["clu"]["labels"]}
    arrays |= {f"pairdis{c}": targets["pairdis"][f"class{c}"] for c in range(4)}
    np.savez(Path(folder) / "plain.npz", **arrays)
    reply({"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features})


def ours(
    reply: Reply, dataset: str, folder: str, rounds: int, epochs: int, clock: str, settings: dict[str, Any]
) -> None:
    """Answers (stage, seconds of each epoch but the first, peak) for every stage, then "end"."""
    single_thread()
    from agssl.config import Settings
    from agssl.train.methods import train_method

    now, graph = CLOCKS[clock], benchmark_graph(dataset)
    stage, ticks = "", list[float]()

    def watch(name: str, record: dict[str, float]) -> None:
        nonlocal stage, ticks
        if record["epoch"] == 0:  # a new stage; its first epoch is over, and is not counted
            if ticks:
                reply((stage, np.diff(ticks).tolist(), peak_mb()))
            stage, ticks = name, []
        ticks.append(now())

    reply("ready")
    for number in range(rounds):
        how = Settings(**(PAPER | settings), epochs=epochs, patience=None)
        train_method(graph, how, number, watch=watch, cache=Path(folder))
    reply((stage, np.diff(ticks).tolist(), peak_mb()))
    reply(("end", [], peak_mb()))


def converge(reply: Reply, dataset: str, folder: str, clock: str, settings: dict[str, Any]) -> None:
    """A whole fit with the package's own stopping rule; answers its seconds, epochs and peak."""
    single_thread()
    from agssl.config import Settings
    from agssl.train.methods import train_method

    now, graph = CLOCKS[clock], benchmark_graph(dataset)
    epochs = 0

    def watch(stage: str, record: dict[str, float]) -> None:
        nonlocal epochs
        epochs += 1

    start = now()
    train_method(graph, Settings(**(PAPER | settings)), 0, watch=watch, cache=Path(folder))
    reply({"seconds": now() - start, "epochs": epochs, "peak_mb": peak_mb()})


def plain_pyg(
    reply: Reply,
    dataset: str,
    folder: str,
    hidden: int,
    epochs: int,
    input_dropout: float,
    tuned_malloc: bool,
    clock: str,
) -> None:
    """Asked for a stage, answers the seconds of each epoch and the peak; teachers are kept for the student."""
    single_thread()
    import torch
    from plain_pyg import load, train_student, train_teacher

    if tuned_malloc:
        from agssl.ops.memory import keep_freed_memory

        keep_freed_memory()
    now = CLOCKS[clock]
    data = load(benchmark_graph(dataset))
    with np.load(Path(folder) / "plain.npz") as stored:
        targets = {name: stored[name] for name in stored.files}
    torch.manual_seed(0)
    teachers: dict[str, torch.Tensor] = {}
    stage = reply("ready")
    while True:
        if stage == "student":
            logits = torch.stack([teachers[name] for name in TASKS])
            run = train_student(logits, data, hidden, epochs, input_dropout, now)
        else:
            run = train_teacher(stage, data, targets, hidden, epochs, input_dropout, now)
            teachers[stage] = run.logits
        # the first epoch fills caches, and our side has no time for it either
        stage = reply((run.seconds[1:], peak_mb()))
