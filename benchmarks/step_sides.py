"""The two sides of `step.py`: one training step of a two-layer GCN, ours and plain PyG's.

A side answers three questions: ("check", weights) gives logits and gradients with dropout off, ("turn", input_dropout)
the times of some training steps, ("peak", None) the most memory it has held.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from workers import CLOCKS, Reply, benchmark_graph, peak_mb, single_thread

DROPOUT = 0.5

Checked = tuple[np.ndarray, list[np.ndarray]]  # logits, and gradients of W1, b1, W2, b2


def ours(reply: Reply, dataset: str, hidden: int, clock: str, turn_seconds: float, driver: Path, pruned: bool) -> None:
    """Our GCN under our training loop, by the class `Ours` of the file `driver`."""
    single_thread()
    from agssl.ops.memory import keep_freed_memory

    keep_freed_memory()
    graph, make = benchmark_graph(dataset), _load(driver).Ours
    network = make(graph, hidden, DROPOUT, DROPOUT, pruned)

    def check(weights: None) -> Checked:
        logits = network.logits()
        network.loss(logits).backward()
        gradients = [parameter.grad.numpy().copy() for parameter in network.parameters()]
        for parameter in network.parameters():
            parameter.grad = None
        return logits.detach().numpy(), gradients

    def stepper(input_dropout: float) -> Callable[[], object]:
        trained = network if input_dropout == DROPOUT else make(graph, hidden, DROPOUT, input_dropout, pruned)
        return trained.steps().__next__

    facts = {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features}
    facts |= {"train": network.train_nodes, "weights": [p.detach().numpy() for p in network.parameters()]}
    _serve_steps(reply, facts, check, stepper, clock, turn_seconds)


def plain_pyg(reply: Reply, dataset: str, hidden: int, clock: str, turn_seconds: float, tuned_malloc: bool) -> None:
    """`GCNConv(cached=True)` on `edge_index` with dense features, `F.dropout` and torch's default Adam."""
    import torch
    import torch.nn.functional as F
    from plain_pyg import Gcn, load

    single_thread()
    if tuned_malloc:
        from agssl.ops.memory import keep_freed_memory

        keep_freed_memory()
    data = load(benchmark_graph(dataset))

    def check(weights: list[np.ndarray]) -> Checked:
        model = Gcn(data, hidden).eval()
        first, first_bias, second, second_bias = (torch.from_numpy(w) for w in weights)
        with torch.no_grad():
            model.conv1.lin.weight.copy_(first.t())
            model.conv1.bias.copy_(first_bias)
            model.conv2.lin.weight.copy_(second.t())
            model.conv2.bias.copy_(second_bias)
        logits = model(data.x, data.edge_index)
        F.cross_entropy(logits[data.train], data.y[data.train]).backward()
        gradients = [model.conv1.lin.weight.grad.t(), model.conv1.bias.grad]
        gradients += [model.conv2.lin.weight.grad.t(), model.conv2.bias.grad]
        return logits.detach().numpy(), [g.numpy() for g in gradients]

    def stepper(input_dropout: float) -> Callable[[], object]:
        model = Gcn(data, hidden, dropout=DROPOUT, input_dropout=input_dropout)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

        def step() -> None:
            optimizer.zero_grad()
            logits = model(data.x, data.edge_index)
            F.cross_entropy(logits[data.train], data.y[data.train]).backward()
            optimizer.step()

        return step

    _serve_steps(reply, {}, check, stepper, clock, turn_seconds)


def _load(path: Path) -> Any:
    """The module in a file."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _serve_steps(
    reply: Reply,
    facts: dict[str, Any],
    check: Callable[[Any], Checked],
    stepper: Callable[[float], Callable[[], object]],
    clock: str,
    turn_seconds: float,
) -> None:
    now = CLOCKS[clock]
    steppers: dict[float, Callable[[], object]] = {}
    question, value = reply(facts)
    while True:
        answer: Any
        if question == "check":
            answer = check(value)
        elif question == "peak":
            answer = peak_mb()
        else:
            if value not in steppers:
                steppers.clear()  # the model of another setting would only hold memory
                steppers[value] = stepper(value)
            answer = _turn(steppers[value], now, turn_seconds)
        question, value = reply(answer)


def _turn(step: Callable[[], object], now: Callable[[], float], seconds: float) -> list[float]:
    """Seconds of each step of a turn; the first one found the other side's data in the cache, so it goes if it can."""
    times: list[float] = []
    while not times or sum(times) < seconds:
        start = now()
        step()
        times.append(now() - start)
    return times[1:] or times
