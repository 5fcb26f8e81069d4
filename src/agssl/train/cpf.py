"""CPF: a student of label propagation that learns and of a perceptron, taught by a network (Yang et al., WWW 2021).

With what the perceptron says of a node alone, p_v = softmax(MLP(x_v)), and the labels of the training nodes, K times

    f_v <- a_v sum_{u in N(v) and v} w_uv f_u + (1 - a_v) p_v,   w_uv = exp(c_u) / sum_{u' in N(v) and v} exp(c_u')

where f starts as p, training nodes are set to their labels before each step and at the end, and a_v = sigmoid(.) and
c_v are numbers of each node that learn (CPF-tra). The student minimises sum_v |f_v - t_v|_2 over all other nodes, t
being the probabilities of the teacher: the encoder trained on the labels. Its numbers belong to nodes, so it answers
for the fitted graph; of other graphs the perceptron speaks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.config import parse_network
from agssl.encoders import Network
from agssl.ops.adjacency import Adjacency
from agssl.ops.attention import attend
from agssl.ops.csr import Csr
from agssl.store.checkpoints import Best, Record
from agssl.train.context import Context, MethodResult
from agssl.train.evaluate import validation
from agssl.train.loop import Objective, Training, train
from agssl.train.problem import Problem

STUDENT = "mlp:head=linear:weight_decay=0.01:input_dropout=0.6:dropout=0.6"  # where none is named
TINY = 1e-12  # of a probability, before its logarithm is taken


def propagate_labels(
    edges: Csr, alone: Tensor, labels: Tensor, known: Tensor, scores: Tensor, balance: Tensor, steps: int
) -> Tensor:
    """f [N, C] after K steps; differentiable in the perceptron's probabilities, the scores and the balance.

    Args:
        edges: A + I, [N, N]; its values multiply the weights, so those of a row without edge weights must be alike.
        alone: p [N, C].
        labels: one-hot, [n, C], of the known nodes.
        known: these nodes, [n].
        scores: c [N].
        balance: [N], whose sigmoid is a.
        steps: K.
    """
    share, nobody = torch.sigmoid(balance)[:, None], torch.zeros_like(scores)[:, None]
    found = alone
    for _ in range(steps):
        found = found.index_copy(0, known, labels)
        # a slope of 1 makes leaky ReLU the identity
        found = share * attend(edges, found, scores[:, None], nobody, slope=1.0) + (1 - share) * alone
    return found.index_copy(0, known, labels)


def distance(said: Tensor, taught: Tensor) -> Tensor:
    """sum_v |f_v - t_v|_2 of rows of probabilities [n, C].

    A sum and no mean: each number of a node has but this node's neighbourhood to learn from, and weight decay would
    outweigh a share of 1/n of it.
    """
    return (said - taught).square().sum(1).clamp_min(TINY).sqrt().sum()


class Propagation(nn.Module):
    """The student: a perceptron, and two numbers of each node."""

    def __init__(self, problem: Problem, steps: int, rng: Rng) -> None:
        super().__init__()
        self.problem, self.steps = problem, steps
        self.network = Network(problem.shape, rng).to(problem.device)
        nodes = problem.graph.num_nodes
        self.scores, self.balance = (nn.Parameter(torch.zeros(nodes, device=problem.device)) for _ in range(2))
        self.edges = Adjacency.of(problem.graph, norm="walk").normalised.to(problem.device)
        self.known = torch.from_numpy(problem.train_nodes).to(problem.device)
        self.labels = F.one_hot(problem.train_labels, problem.shape.classes).float()

    def forward(self, rng: Rng | None = None) -> Tensor:
        """Probabilities of all nodes, [N, C]; with dropout where there is an `rng`."""
        logits = self.network(self.problem.inputs, self.problem.plans.whole, rng).logits
        assert logits is not None
        alone = torch.softmax(logits, dim=1)
        return propagate_labels(self.edges, alone, self.labels, self.known, self.scores, self.balance, self.steps)

    @torch.no_grad()
    def logits(self) -> Tensor:
        """Log-probabilities of all nodes in evaluation mode."""
        return self().clamp_min(TINY).log()


def fit_cpf(context: Context) -> MethodResult:
    """The encoder on the labels, then the student that it teaches; each at its best validation epoch."""
    if len(context.folds) > 1 or context.trains_again:
        raise SettingsError(
            "method cpf chooses by validation nodes of their own, but the split holds labels out in turn; ask for "
            "another one, as in --split fraction:0.6/0.2/0.2"
        )
    teacher = context.network((), context.rng.child("gcn"), "teacher")
    here = context.with_network(*parse_network(context.settings.student or STUDENT))
    rng = context.rng.child("cpf")
    student = Propagation(here.problem, context.settings.cpf_steps, rng.child("model"))
    taught = torch.softmax(teacher.logits, dim=1)
    best, history = _train(student, taught, here.training, rng.child("train"))
    logits = student.logits()
    return MethodResult(student.network, logits, best, {"teacher": teacher.history, "cpf": history})


def _train(student: Propagation, taught: Tensor, training: Training, rng: Rng) -> tuple[Record, list[Record]]:
    """Train a student; it is left at its best validation epoch."""
    problem = student.problem
    others = np.setdiff1d(np.arange(problem.graph.num_nodes), problem.train_nodes)
    at, val = (torch.from_numpy(nodes).to(problem.device) for nodes in (others, problem.val_nodes))

    def losses(epoch: int, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        yield {"loss": distance(student(rng.child("dropout")).index_select(0, at), taught.index_select(0, at))}

    def measured(record: Record) -> Record:
        return validation(problem, student.logits().index_select(0, val), problem.labels[val])

    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            student,
            problem=problem.fingerprint,
            taught=taught,
            steps=student.steps,
            schedule=training.schedule,
            rng=rng,
        )
    best, history = Best(), []
    run = partial(train, student, list(student.parameters()), Objective(losses, problem.score, measured))
    for record in run(training.schedule, rng, best, checkpoint=checkpoint, stage="cpf"):
        history.append(record)
        training.watch("cpf", record)
    student.load_state_dict(best.state)
    return best.record, history
