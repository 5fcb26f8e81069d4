"""The student: distillation from the integrated teachers (Eq. 4, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.rng import Rng
from agssl.base.world import World, wrap_ddp
from agssl.encoders import Network
from agssl.integrate.base import Integrator, Knowledge, mixed, shrinkage, weight_loss
from agssl.store.checkpoints import Best, Record
from agssl.train.loop import Objective, Training, train
from agssl.train.network import Trained, WeightedTask, after_step, forward, make_heads, pretext_losses
from agssl.train.problem import Problem

BLOCK = 1 << 16  # nodes that lambda is worked out for at a time, after training


def distill_kl(logits: Tensor, target: Tensor, tau: float) -> Tensor:
    """tau^2/N sum_i KL(p_i || softmax(z_i / tau)) (Eq. 4; direction as in App. B), p detached from the graph."""
    # tau**2 gives back the gradient scale that softening took
    return tau**2 * F.kl_div(torch.log_softmax(logits / tau, dim=1), target, reduction="batchmean")


@dataclass(frozen=True)
class Distillation:
    """How to distil."""

    beta: float = 1.0
    tau: float = 1.0
    shrinkage: float = 0.0  # pull of lambda toward equal weights
    student_gradient: bool = False  # whether L_W also moves the student


@dataclass(frozen=True, eq=False)
class Student:
    """A distilled network and its per-node teacher weights."""

    network: Trained
    weights: Tensor  # lambda [N, K], at the best validation epoch
    integrator: Integrator


def train_student(
    problem: Problem,
    knowledge: Knowledge,
    integrator: Integrator,
    how: Distillation,
    training: Training,
    rng: Rng,
    *,
    stage: str = "student",
    previous: Tensor | None = None,
    tasks: Sequence[WeightedTask] = (),
) -> Student:
    """Distil the teachers into a fresh network while lambda learns from L_W.

    `previous` are the logits [N, C] of a student of an earlier generation, which joins the teachers at half the weight.
    With `tasks`, the student trains with them as well. What was kept of an earlier training is not trained again.
    """
    model = Network(problem.shape, rng.child("model")).to(problem.device)
    heads = make_heads(problem, model, tasks, rng)
    learns = torch.nn.ModuleDict({"model": model, "integrator": integrator, "heads": heads})
    elder = None if previous is None else torch.softmax(previous / how.tau, dim=1)
    probabilities = torch.softmax(knowledge.logits / how.tau, dim=-1) if problem.batches is None else None
    # What each node was last told. An epoch's figures are of the nodes in its steps: nothing else is known of it.
    teachers, nodes, classes = knowledge.logits.shape
    weights_now, target_now = torch.full((nodes, teachers), 1 / teachers), torch.full((nodes, classes), 1 / classes)
    seen_now = torch.zeros(nodes, dtype=torch.bool)  # in this epoch, by this process; at its end, by any
    heldout_nodes = knowledge.nodes.cpu().numpy() if integrator.learns else None

    def losses_of(part: Problem, rng: Rng) -> Mapping[str, Tensor]:
        here, known = _within(knowledge, part.nodes)
        own = [weighted.restrict_to(part) for weighted in tasks]
        output, views, samples = forward(part, model, own, True, rng, everywhere=True)
        logits = output.logits
        assert logits is not None
        seen = logits if how.student_gradient else logits.detach()
        integrator.step(rng.child("integrator"))
        weights = integrator(seen, here.logits, known)
        # Detached: lambda learns from L_W alone, or the teachers would be chosen for being easy to follow.
        says = torch.softmax(here.logits / how.tau, dim=-1) if probabilities is None else probabilities
        target = mixed(weights.detach(), says)
        if elder is not None:
            target = (target + (elder if known is None else elder.index_select(0, known))) / 2
        at = slice(None) if known is None else known
        weights_now[at], target_now[at], seen_now[at] = weights.detach().cpu(), target.cpu(), True
        train_at = torch.from_numpy(part.train_nodes).to(problem.device)
        losses = {
            "task": part.task_loss(logits.index_select(0, train_at)),
            "distill": distill_kl(logits, target, how.tau),
        }
        losses |= pretext_losses(heads, own, views, samples)
        total = losses["task"] + how.beta * losses["distill"]
        for weighted in tasks:
            total = total + weighted.weight * losses[weighted.name]
        if integrator.learns:
            heldout = integrator(seen.index_select(0, here.nodes), here.heldout)
            losses["weights"] = weight_loss(heldout, here.heldout, here.labels, how.tau)
            total = total + losses["weights"] + how.shrinkage * shrinkage(weights)
        return losses | {"loss": total}

    world, step_of = World.current(), wrap_ddp(learns, losses_of)

    def losses(epoch: int, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        seen_now.zero_()
        for part, step in problem.steps(rng, True, lambda rng: [w.extra_nodes(rng) for w in tasks], heldout_nodes):
            yield step_of(part, step)
            after_step(model, heads, tasks)
        world.sync_buffers(learns)
        world.average_rows(seen_now, weights_now, target_now)

    buckets = degree_buckets(problem.graph.degree)

    def evaluate(record: Record) -> Record:
        measured = problem.evaluate(model)
        for part, nodes in (("train", problem.train_nodes), ("val", problem.val_nodes)):
            at = torch.from_numpy(nodes)
            at = at[seen_now[at]]
            truth = F.one_hot(problem.labels[at].cpu(), problem.shape.classes)
            if len(at):
                measured[f"{part}_mse"] = (target_now[at] - truth).square().sum(1).mean().item()
        return measured | _weights_record(weights_now[seen_now], buckets[seen_now.numpy()])

    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            learns,
            problem=problem.fingerprint,
            knowledge=knowledge,
            integrator=type(integrator).__name__,
            how=how,
            previous=previous,
            tasks=[weighted.cache_key for weighted in tasks],
            schedule=training.schedule,
            rng=rng,
        )
    best, history = Best(), []
    objective = Objective(losses, problem.score, evaluate)
    epochs = train(
        learns,
        list(learns.parameters()),
        objective,
        training.schedule,
        rng,
        best,
        checkpoint=checkpoint,
        stage=stage,
    )
    for record in epochs:
        history.append(record)
        training.watch(stage, record)
    learns.load_state_dict(best.state)
    logits = world.broadcast(lambda: problem.logits(model))
    integrator.eval()
    with torch.no_grad():
        blocks = torch.arange(nodes, device=logits.device).split(BLOCK)
        weights = torch.cat([integrator(logits[at], knowledge.logits[:, at], at) for at in blocks])
    return Student(Trained(model, logits, best.record, history), weights, integrator)


def _within(knowledge: Knowledge, nodes: np.ndarray | None) -> tuple[Knowledge, Tensor | None]:
    """What is known of these sorted nodes, in their numbering, and where they are; all, where there is no part."""
    if nodes is None:
        return knowledge, None
    heldout_nodes = knowledge.nodes.cpu().numpy()
    place = np.minimum(np.searchsorted(nodes, heldout_nodes), len(nodes) - 1)
    which = np.flatnonzero(nodes[place] == heldout_nodes)
    device = knowledge.logits.device
    at, places, some = (torch.from_numpy(array).to(device) for array in (nodes, place[which], which))
    here = Knowledge(knowledge.logits.index_select(1, at), places, knowledge.labels[some], knowledge.heldout[:, some])
    return here, at


BUCKETS = (0, 1, 2, 3, 4, 7, 11, 21)  # lowest degree of each bucket


def degree_buckets(degree: np.ndarray) -> np.ndarray:
    """The degree bucket of each node, int64 [N]."""
    return np.searchsorted(BUCKETS, degree, side="right") - 1


def _weights_record(weights: Tensor, buckets: np.ndarray) -> Record:
    """Mean lambda of each teacher, over all nodes and by degree bucket."""
    at = torch.from_numpy(buckets).to(weights.device)
    count = torch.bincount(at, minlength=len(BUCKETS)).to(weights.dtype)
    sums = weights.new_zeros(len(BUCKETS), weights.shape[1]).index_add_(0, at, weights)
    record = {f"lambda{k}": value for k, value in enumerate(weights.mean(0).tolist())}
    for bucket in np.unique(buckets):
        for k, value in enumerate((sums[bucket] / count[bucket]).tolist()):
            record[f"lambda{k}_degree{BUCKETS[bucket]}"] = value
    return record
