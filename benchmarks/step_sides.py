"""The two sides of `step.py`: one training step of a two-layer GCN, ours and plain PyG's.

A side answers three questions: ("check", weights) gives logits and gradients with dropout off, ("turn", input_dropout)
the times of some training steps, "peak" the most memory it has held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workers import CLOCKS, Reply, benchmark_graph, peak_mb, single_thread

TURN = 0.25  # seconds: a turn is one step, or as many as fit
DROPOUT = 0.5

Checked = tuple[np.ndarray, list[np.ndarray]]  # logits, and gradients of W1, b1, W2, b2


def ours(reply: Reply, dataset: str, hidden: int, form: str, clock: str) -> None:
    """Our `Gcn` under our training loop.

    `full` computes the logits of all nodes, as PyG does; `pruned` only those that the loss reads, which is how
    `agssl.train.network` trains a GCN.
    """
    import torch

    from agssl.base.rng import Rng
    from agssl.encoders import Shape
    from agssl.ops.memory import keep_freed_memory
    from agssl.store.checkpoints import Best
    from agssl.train.loop import Schedule, train
    from agssl.train.network import forward
    from agssl.train.problem import Problem

    single_thread()
    keep_freed_memory()
    graph = benchmark_graph(dataset)

    def parts(input_dropout: float) -> tuple[Problem, Gcn, Callable]:
        shape = Shape(graph.num_features, hidden, graph.num_classes, dropout=DROPOUT, input_dropout=input_dropout)
        problem = Problem.of(graph, shape)
        model = Gcn(shape, Rng(0).child("model"))
        labelled = torch.from_numpy(problem.train_nodes)

        def objective(epoch: int, rng: Rng) -> dict[str, torch.Tensor]:
            if form == "pruned":
                logits = forward(problem, model, (), True, rng)[0].logits
            else:
                logits = model(problem.inputs, problem.plans.whole, rng.child("dropout")).logits.index_select(
                    0, labelled
                )
            assert logits is not None
            return {"loss": problem.task_loss(logits)}

        return problem, model, objective

    problem, model, objective = parts(DROPOUT)

    def check(weights: list[np.ndarray] | None) -> Checked:
        parameters = (
            model.encoder.layers[0].weight,
            model.encoder.layers[0].bias,
            model.head.layer.weight,
            model.head.layer.bias,
        )
        if form == "pruned":
            logits = model(*problem.plans.training).logits
            loss = problem.task_loss(logits)
        else:
            logits = model(problem.inputs, problem.plans.whole).logits
            loss = problem.task_loss(logits[torch.from_numpy(problem.train_nodes)])
        loss.backward()
        gradients = [p.grad.numpy().copy() for p in parameters if p.grad is not None]
        model.zero_grad()
        return logits.detach().numpy(), gradients

    def stepper(input_dropout: float) -> Callable[[], object]:
        _, network, losses = (problem, model, objective) if input_dropout == DROPOUT else parts(input_dropout)
        schedule = Schedule(epochs=1 << 40)
        steps = train(
            network, list(network.parameters()), losses, lambda r: {}, lambda r: (0.0, 0.0), schedule, Rng(1), Best()
        )
        return lambda: next(steps)

    weights = [
        p.detach().numpy()
        for p in (
            model.encoder.layers[0].weight,
            model.encoder.layers[0].bias,
            model.head.layer.weight,
            model.head.layer.bias,
        )
    ]
    facts = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "train": problem.train_nodes,
        "weights": weights,
    }
    _serve_steps(reply, facts, check, stepper, clock)


def plain_pyg(reply: Reply, dataset: str, hidden: int, tuned_malloc: bool, clock: str) -> None:
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

    _serve_steps(reply, {}, check, stepper, clock)


def _serve_steps(
    reply: Reply,
    facts: dict[str, Any],
    check: Callable[[Any], Checked],
    stepper: Callable[[float], Callable[[], object]],
    clock: str,
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
            answer = _turn(steppers[value], now)
        question, value = reply(answer)


def _turn(step: Callable[[], object], now: Callable[[], float]) -> list[float]:
    """Seconds of each step of a turn; the first one found the other side's data in the cache, so it goes if it can."""
    times: list[float] = []
    while not times or sum(times) < TURN:
        start = now()
        step()
        times.append(now() - start)
    return times[1:] or times
