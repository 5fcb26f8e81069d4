"""AGSSL in plain PyG, as one would write it without this package: the reference of the benchmarks.

Five teachers (PAR, CLU, DGI, PAIRDIS, PAIRSIM), each trained jointly with the labels, and a student that distils them
with TS integration. Dense features, `GCNConv` on `edge_index` (its normalisation cached wherever the graph stays the
same), `F.dropout`, torch's default Adam, and a whole forward pass per epoch to evaluate. The traps that are known are
avoided: the bilinear score of DGI is (H W) s and not `nn.Bilinear`, labels index rows and not masks, no N x N matrix.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import negative_sampling

PAIRS = 400  # pairs per epoch of PAIRDIS; masked edges, and as many non-edges, of PAIRSIM
CONTRASTED = 2000  # nodes that DGI contrasts on graphs above 5000 nodes


@dataclass(frozen=True)
class Data:
    """A graph as PyG takes it."""

    x: Tensor  # [N, d], dense
    edge_index: Tensor  # [2, 2E], both directions
    y: Tensor
    train: Tensor
    val: Tensor
    classes: int


def load(graph: Any) -> Data:
    """From our own `Graph`."""
    x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
    source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edge_index = np.stack([source, graph.indices.astype(np.int64)])
    train, val = (torch.from_numpy(np.sort(part)) for part in (graph.split.train, graph.split.val))
    y = torch.from_numpy(graph.y)
    return Data(torch.from_numpy(x), torch.from_numpy(edge_index), y, train, val, graph.num_classes)


class Gcn(nn.Module):
    """The usual two-layer GCN."""

    def __init__(
        self, data: Data, hidden: int, dropout: float = 0.5, input_dropout: float = 0.5, cached: bool = True
    ) -> None:
        super().__init__()
        self.conv1 = GCNConv(data.x.shape[1], hidden, cached=cached)
        self.conv2 = GCNConv(hidden, data.classes, cached=cached)
        self.dropout, self.input_dropout = dropout, input_dropout

    def encode(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(x, self.input_dropout, self.training)
        return F.relu(self.conv1(x, edge_index))

    def classify(self, hidden: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(F.dropout(hidden, self.dropout, self.training), edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.classify(self.encode(x, edge_index), edge_index)


class Labels(nn.Module):
    """PAR and CLU: cross-entropy on the METIS part or the k-means cluster of every node."""

    def __init__(self, hidden: int, labels: Tensor) -> None:
        super().__init__()
        self.labels = labels
        self.head = nn.Linear(hidden, int(labels.max()) + 1)

    def forward(self, model: Gcn, data: Data) -> tuple[Tensor, Tensor]:
        h = model.encode(data.x, data.edge_index)
        return model.classify(h, data.edge_index), F.cross_entropy(self.head(h), self.labels)


class Dgi(nn.Module):
    """DGI: nodes of the graph against nodes of the graph with shuffled features, by the mean of the former (JSD)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, hidden)))

    def forward(self, model: Gcn, data: Data) -> tuple[Tensor, Tensor]:
        n = len(data.x)
        h = model.encode(data.x, data.edge_index)
        corrupted = model.encode(data.x[torch.randperm(n)], data.edge_index)
        summary = torch.sigmoid(h.mean(0))
        some = torch.arange(n) if n <= 5000 else torch.randperm(n)[:CONTRASTED]
        clean, shuffled = (h[some] @ self.weight) @ summary, (corrupted[some] @ self.weight) @ summary
        scores, truth = torch.cat([clean, shuffled]), torch.cat([torch.ones(len(some)), torch.zeros(len(some))])
        return model.classify(h, data.edge_index), F.binary_cross_entropy_with_logits(scores, truth)


class PairDistance(nn.Module):
    """PAIRDIS: 1, 2, 3, or more hops; pairs are drawn from pools of known distance, as many of each."""

    def __init__(self, hidden: int, pools: list[Tensor]) -> None:
        super().__init__()
        self.pools = pools
        self.head = nn.Linear(hidden, len(pools))

    def forward(self, model: Gcn, data: Data) -> tuple[Tensor, Tensor]:
        each = PAIRS // len(self.pools)
        pairs = torch.cat([pool[:, torch.randint(pool.shape[1], (each,))] for pool in self.pools], dim=1)
        truth = torch.arange(len(self.pools)).repeat_interleave(each)
        h = model.encode(data.x, data.edge_index)
        scores = self.head((h[pairs[0]] - h[pairs[1]]).abs())
        return model.classify(h, data.edge_index), F.cross_entropy(scores, truth)


class PairSimilarity(nn.Module):
    """PAIRSIM: masked edges against non-edges; the graph of every step is another, so nothing is cached."""

    def __init__(self, hidden: int, data: Data) -> None:
        super().__init__()
        self.once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
        self.head = nn.Linear(hidden, 1)

    def forward(self, model: Gcn, data: Data) -> tuple[Tensor, Tensor]:
        order = torch.randperm(self.once.shape[1])
        masked, kept = self.once[:, order[:PAIRS]], self.once[:, order[PAIRS:]]
        edge_index = torch.cat([kept, kept.flip(0)], dim=1)
        others = negative_sampling(data.edge_index, len(data.x), masked.shape[1])
        pairs = torch.cat([masked, others], dim=1)
        truth = torch.zeros(pairs.shape[1])
        truth[: masked.shape[1]] = 1
        h = model.encode(data.x, edge_index)
        scores = self.head((h[pairs[0]] - h[pairs[1]]).abs()).squeeze(1)
        return model.classify(h, edge_index), F.binary_cross_entropy_with_logits(scores, truth)


def make_task(name: str, data: Data, hidden: int, targets: Mapping[str, np.ndarray]) -> nn.Module:
    """A task by name; `targets` has METIS parts, k-means clusters and pairs by distance, which took one computation."""
    if name == "par":
        return Labels(hidden, torch.from_numpy(targets["par"]))
    if name == "clu":
        return Labels(hidden, torch.from_numpy(targets["clu"]))
    if name == "dgi":
        return Dgi(hidden)
    if name == "pairdis":
        pools = [torch.from_numpy(targets[f"pairdis{c}"]) for c in range(4)]
        return PairDistance(hidden, [pool for pool in pools if pool.shape[1]])
    return PairSimilarity(hidden, data)


@dataclass
class Run:
    """A trained network: its logits at the best validation epoch, and the seconds of each epoch."""

    logits: Tensor
    seconds: list[float]


def train(
    model: Gcn,
    extra: nn.Module,
    loss: Callable[[], Tensor],
    data: Data,
    epochs: int,
    now: Callable[[], float] = time.perf_counter,
) -> Run:
    """The loop of every stage: a step, an evaluation, the best weights kept."""
    optimizer = torch.optim.Adam([*model.parameters(), *extra.parameters()], lr=0.01, weight_decay=5e-4)
    best, state, seconds = (-1.0, 0.0), copy.deepcopy(model.state_dict()), []
    for _ in range(epochs):
        start = now()
        model.train()
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        score = evaluate(model, data)
        if score > best:
            best, state = score, copy.deepcopy(model.state_dict())
        seconds.append(now() - start)
    model.load_state_dict(state)
    model.eval()
    with torch.no_grad():
        return Run(model(data.x, data.edge_index), seconds)


@torch.no_grad()
def evaluate(model: Gcn, data: Data) -> tuple[float, float]:
    """Validation accuracy and, to break ties, minus the validation loss."""
    model.eval()
    logits, truth = model(data.x, data.edge_index)[data.val], data.y[data.val]
    return (logits.argmax(1) == truth).float().mean().item(), -F.cross_entropy(logits, truth).item()


def train_teacher(
    name: str,
    data: Data,
    targets: Mapping[str, np.ndarray],
    hidden: int,
    epochs: int,
    input_dropout: float = 0.5,
    now: Callable[[], float] = time.perf_counter,
) -> Run:
    """One task, jointly with the labels: L_task + L_ssl."""
    model = Gcn(data, hidden, input_dropout=input_dropout, cached=name != "pairsim")
    task = make_task(name, data, hidden, targets)

    def loss() -> Tensor:
        logits, pretext = task(model, data)
        return F.cross_entropy(logits[data.train], data.y[data.train]) + pretext

    return train(model, task, loss, data, epochs, now)


def train_student(
    teachers: Tensor,
    data: Data,
    hidden: int,
    epochs: int,
    input_dropout: float = 0.5,
    now: Callable[[], float] = time.perf_counter,
) -> Run:
    """Distillation from teachers [K, N, C], integrated by TS (Eq. 4 and 8), tau = beta = 1; L_W teaches lambda."""
    model = Gcn(data, hidden, input_dropout=input_dropout)
    matching = nn.Linear(data.classes, data.classes, bias=False)
    nn.init.eye_(matching.weight).data.mul_(0.1)
    probabilities, labels = teachers.softmax(-1), data.y[data.train]

    def integrated(student: Tensor, rows: Any) -> Tensor:
        scores = torch.einsum("nc,knc->nk", matching(student), matching(teachers[:, rows]))
        return torch.einsum("nk,knc->nc", scores.softmax(1), probabilities[:, rows])

    def loss() -> Tensor:
        logits = model(data.x, data.edge_index)
        with torch.no_grad():
            target = integrated(logits, slice(None))
        distill = F.kl_div(logits.log_softmax(1), target, reduction="batchmean")
        labelled = logits[data.train]
        weights = F.nll_loss(integrated(labelled.detach(), data.train).clamp_min(1e-12).log(), labels)
        return F.cross_entropy(labelled, labels) + distill + weights

    return train(model, matching, loss, data, epochs, now)
