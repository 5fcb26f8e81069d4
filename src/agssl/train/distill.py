"""The student: distillation from the integrated teachers (Eq. 4, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.rng import Rng
from agssl.base.world import World, wrap_ddp
from agssl.encoders import Network
from agssl.integrate.base import Integrator, Knowledge, all_weights, shrinkage, weight_loss
from agssl.ops.softmax import kl_divergence, softmax
from agssl.store.checkpoints import Best, Record
from agssl.train.evaluate import evaluate
from agssl.train.loop import Objective, Training, by_epoch, train
from agssl.train.network import Trained, WeightedTask, after_step, forward, make_heads, pretext_losses, streams
from agssl.train.problem import Problem


def distill_kl(logits: Tensor, target: Tensor, tau: float) -> Tensor:
    """tau^2/N sum_i KL(p_i || softmax(z_i / tau)) (Eq. 4; direction as in App. B), p detached from the graph."""
    # tau**2 gives back the gradient scale that softening took
    return tau**2 / len(logits) * kl_divergence(logits / tau, target)


TINY = 1e-12  # of a probability, before its logarithm is taken


@dataclass(frozen=True)
class Distillation:
    """How to distil."""

    beta: float = 1.0
    tau: float = 1.0
    shrinkage: float = 0.0  # pull of lambda toward equal weights
    student_gradient: bool = False  # whether L_W also moves the student


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one student is taught: a problem, what the teachers know, and who weighs them."""

    problem: Problem
    knowledge: Knowledge
    integrator: Integrator
    previous: Tensor | None = None  # logits [N, C] of an earlier student, which joins the teachers at half the weight


@dataclass(frozen=True, eq=False)
class Student:
    """A distilled network and its per-node teacher weights; of a split with folds, one per fold, weights averaged."""

    network: Trained
    weights: Tensor  # lambda [N, K], at the best validation epoch
    integrator: Integrator  # of the first
    fold_weights: tuple[Tensor, ...]  # lambda of each
    taught: tuple[Tensor, ...]  # of each, what its teachers say together, as log-probabilities [N, C]


def train_student(
    lessons: Sequence[Lesson],
    how: Distillation,
    training: Training,
    rng: Rng,
    *,
    stage: str = "student",
    tasks: Sequence[WeightedTask] = (),
    fixed_epochs: int | None = None,
) -> Student:
    """Distil the teachers into a fresh network while lambda learns from L_W.

    With several lessons (one per fold) it is one network each, side by side, and each is taken at the epoch that is
    best for the others. With `tasks`, students train with them as well. With `fixed_epochs`, they train for that many
    epochs and the last one is taken: nothing is chosen. What was kept of an earlier training is not trained again.
    """
    problems = [lesson.problem for lesson in lessons]
    pupils = [
        _Pupil(lesson, how, tasks, stream) for lesson, stream in zip(lessons, streams(rng, problems), strict=True)
    ]
    learns = torch.nn.ModuleList(pupil.learns for pupil in pupils)
    buckets = torch.from_numpy(degree_buckets(problems[0].graph.degree))
    schedule, score = training.schedule, problems[0].score
    if fixed_epochs is not None:
        schedule, score = replace(schedule, epochs=fixed_epochs, patience=None, least=0), by_epoch

    def losses(epoch: int, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        for pupil, stream in zip(pupils, streams(rng, problems), strict=True):
            yield from pupil.epoch(stream)

    def measured(record: Record) -> Record:
        figures: Record = {}
        if fixed_epochs is None:
            figures = evaluate(problems, [pupil.model for pupil in pupils]) | _squared_errors(pupils)
        weights = torch.cat([pupil.weights_now[pupil.seen_now] for pupil in pupils])
        return figures | _weights_record(weights, torch.cat([buckets[pupil.seen_now] for pupil in pupils]))

    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            learns,
            problem=[problem.fingerprint for problem in problems],
            knowledge=[lesson.knowledge for lesson in lessons],
            integrator=type(lessons[0].integrator).__name__,
            how=how,
            previous=[lesson.previous for lesson in lessons],
            tasks=[weighted.cache_key for weighted in tasks],
            schedule=schedule,
            rng=rng,
        )
    best, history = Best(folds=len(lessons)), []
    epochs = train(
        learns,
        list(learns.parameters()),
        Objective(losses, score, measured),
        schedule,
        rng,
        best,
        checkpoint=checkpoint,
        stage=stage,
    )
    for record in epochs:
        history.append(record)
        training.watch(stage, record)
    learns.load_state_dict(best.state)
    network = Trained.of(problems, [pupil.model for pupil in pupils], best.record, history)
    weights = [pupil.weights(logits) for pupil, logits in zip(pupils, network.fold_logits, strict=True)]
    mean = weights[0] if len(weights) == 1 else torch.stack(weights).mean(0)
    taught = [pupil.taught(own) for pupil, own in zip(pupils, weights, strict=True)]
    return Student(network, mean, lessons[0].integrator, tuple(weights), tuple(taught))


class _Pupil:
    """A student, the integration of its teachers and the heads of its tasks, while they train."""

    def __init__(self, lesson: Lesson, how: Distillation, tasks: Sequence[WeightedTask], rng: Rng) -> None:
        self.problem, self.knowledge, self.integrator = lesson.problem, lesson.knowledge, lesson.integrator
        self.how, self.tasks = how, tasks
        self.model = Network(self.problem.shape, rng.child("model")).to(self.problem.device)
        self.heads = make_heads(self.problem, self.model, tasks, rng)
        self.learns = torch.nn.ModuleDict({"model": self.model, "integrator": self.integrator, "heads": self.heads})
        self.elder = None if lesson.previous is None else torch.softmax(lesson.previous / how.tau, dim=1)
        logits = self.knowledge.logits
        self.probabilities = torch.softmax(logits / how.tau, dim=-1) if self.problem.batches is None else None
        self.always: tuple[Tensor, Tensor] | None = None  # lambda and target of all nodes, where neither changes
        # What each node was last told. An epoch's figures are of the nodes in its steps: nothing else is known of it.
        teachers, nodes, classes = logits.shape
        self.everyone = torch.arange(nodes, device=logits.device)
        self.weights_now = torch.full((nodes, teachers), 1 / teachers)
        self.target_now = torch.full((nodes, classes), 1 / classes)
        self.seen_now = torch.zeros(nodes, dtype=torch.bool)  # in this epoch, by this process; at its end, by any
        self.step_of = wrap_ddp(self.learns, self.losses)

    def losses(self, part: Problem, rng: Rng) -> Mapping[str, Tensor]:
        """The losses of a step."""
        how, integrator = self.how, self.integrator
        here, known = _within(self.knowledge, part.nodes)
        own = [weighted.restrict_to(part) for weighted in self.tasks]
        output, views, samples = forward(part, self.model, own, True, rng, everywhere=True)
        logits = output.logits
        assert logits is not None
        seen = logits if how.student_gradient else logits.detach()
        integrator.step(rng.child("integrator"))
        # lambda learns from L_W alone, or the teachers would be chosen for being easy to follow.
        with torch.set_grad_enabled(how.shrinkage > 0):
            weights, target = self.told(seen, here, known)
        here_at = slice(None) if known is None else known
        self.weights_now[here_at], self.target_now[here_at] = weights.detach().cpu(), target.cpu()
        self.seen_now[here_at] = True
        train_at = torch.from_numpy(part.train_nodes).to(part.device)
        losses = {
            "task": part.task_loss(logits.index_select(0, train_at)),
            "distill": distill_kl(logits, target, how.tau),
        }
        losses |= pretext_losses(self.heads, own, views, samples)
        total = losses["task"] + how.beta * losses["distill"]
        for weighted in self.tasks:
            total = total + weighted.weight * losses[weighted.name]
        if integrator.learns:
            heldout = integrator(seen.index_select(0, here.nodes), here.heldout)
            losses["weights"] = weight_loss(heldout, here.heldout, here.labels, how.tau)
            total = total + losses["weights"]
            if how.shrinkage > 0:
                total = total + how.shrinkage * shrinkage(weights)
        return losses | {"loss": total}

    def told(self, student: Tensor, here: Knowledge, known: Tensor | None) -> tuple[Tensor, Tensor]:
        """lambda [n, K], and what the student is told, [n, C], of the nodes of a step (`known`; None: all)."""
        if self.always is not None and known is None:
            return self.always
        integrator, tau = self.integrator, self.how.tau
        at = self.everyone if known is None else known
        weights = integrator(student, here.logits, at)
        says = softmax(here.logits / tau) if self.probabilities is None else self.probabilities
        target = integrator.answer(weights.detach(), says, at, tau)
        if self.elder is not None:
            target = (target + (self.elder if known is None else self.elder.index_select(0, known))) / 2
        if integrator.settled and known is None:
            self.always = weights.detach(), target
        return weights, target

    def epoch(self, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        """The losses of the steps of an epoch; each step is taken before the next is asked for."""
        world = World.current()
        self.seen_now.zero_()
        heldout_nodes = self.knowledge.nodes.cpu().numpy() if self.integrator.learns else None
        wanted = lambda rng: [w.extra_nodes(rng) for w in self.tasks]  # noqa: E731
        for part, step in self.problem.steps(rng, True, wanted, heldout_nodes):
            yield self.step_of(part, step)
            after_step(self.model, self.heads, self.tasks)
        world.sync_buffers(self.learns)
        world.average_rows(self.seen_now, self.weights_now, self.target_now)

    def weights(self, logits: Tensor) -> Tensor:
        """lambda [N, K] of all nodes, given the student's logits."""
        return all_weights(self.integrator, logits, self.knowledge.logits, fitted_nodes=True)

    @torch.no_grad()
    def taught(self, weights: Tensor) -> Tensor:
        """What the teachers say together of all nodes, given lambda [N, K], as log-probabilities [N, C]."""
        says = torch.softmax(self.knowledge.logits, dim=-1)
        return self.integrator.answer(weights.to(says.device), says, self.everyone, 1.0).clamp_min(TINY).log()


def _squared_errors(pupils: Sequence[_Pupil]) -> Record:
    """Mean squared distance of what nodes were told in this epoch to the truth, on training and validation nodes."""
    record: Record = {}
    for part in ("train", "val"):
        errors = []
        for pupil in pupils:
            problem = pupil.problem
            at = torch.from_numpy(problem.train_nodes if part == "train" else problem.val_nodes)
            at = at[pupil.seen_now[at]]
            truth = F.one_hot(problem.labels[at].cpu(), problem.shape.classes)
            errors.append((pupil.target_now[at] - truth).square().sum(1))
        if sum(map(len, errors)):
            record[f"{part}_mse"] = torch.cat(errors).mean().item()
    return record


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


def _weights_record(weights: Tensor, buckets: Tensor) -> Record:
    """Mean lambda of each teacher, over all nodes and by degree bucket."""
    count = torch.bincount(buckets, minlength=len(BUCKETS))
    sums = weights.new_zeros(len(BUCKETS), weights.shape[1]).index_add_(0, buckets, weights)
    record = {f"lambda{k}": value for k, value in enumerate(weights.mean(0).tolist())}
    means, counts = (sums / count[:, None].to(weights.dtype)).tolist(), count.tolist()
    for bucket in filter(counts.__getitem__, range(len(BUCKETS))):
        for k, value in enumerate(means[bucket]):
            record[f"lambda{k}_degree{BUCKETS[bucket]}"] = value
    return record
