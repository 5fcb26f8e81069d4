"""Why a node is predicted as it is: which features and which nodes moved it, by gradient times input.

The margin of a node is the logit of its first class less that of its second. Its gradient with respect to what the
first layer reads, times what is there, says how much each value adds to the margin, to first order:

    r_jf = x_jf * d(z_first - z_second) / d x_jf

summed over nodes for a feature, over features for a node. One pass back over the rows that the node can see: exact
gradients, no draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.data.feature_norm import scaled
from agssl.data.graph import Graph
from agssl.encoders import Network, Pass
from agssl.ops.adjacency import take_rows
from agssl.ops.csr import identity
from agssl.ops.features import Inputs
from agssl.ops.graph_views import viewed
from agssl.ops.plan import pruned_plan
from agssl.ops.subgraph import StoredAdjacency

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Reasons:
    """What moved the margin of a node between its two likeliest classes; positive is towards the first."""

    first: int
    second: int
    features: np.ndarray  # [d], by feature of the graph
    nodes: np.ndarray  # int64 [n], those that it reads, itself among them
    by_node: np.ndarray  # [n]
    work: float  # multiplications that it took, about


class Reasoner:
    """Explains nodes of one graph by one network.

    Args:
        model: the network.
        graph: as its user has it.
    """

    def __init__(self, model: Network, graph: Graph) -> None:
        self.model, shape = model.to("cpu"), model.shape
        self.graph = scaled(viewed(graph, shape.view), shape.feature_norm)
        encoder = model.encoder
        self.x = encoder.read(self.graph)
        propagation = encoder.propagation if encoder.reach or model.head.propagates else "none"
        self.adjacency = StoredAdjacency(self.graph, shape.skip_weight, propagation)
        named = torch.arange(graph.num_features, dtype=torch.float64)
        self.columns = encoder.widened(named, -1.0).long().numpy()  # the feature behind each column that is read
        self.reads_nodes = bool(encoder.reach or model.head.propagates)

    def explain(self, node: int, first: int | None = None) -> Reasons:
        """The reasons of one node; `first` is the class that it was given, by default the likeliest."""
        model, at = self.model, np.array([node])
        linear = not model.head.propagates
        head = take_rows(identity(self.adjacency.rows), at) if linear else self.adjacency.take(at)
        encoder = model.encoder
        plan = pruned_plan(self.adjacency, encoder.reach, (head, at), _NONE, 1, 1 if linear else encoder.head_hops)
        assert plan.inputs is not None
        rows = self.x[plan.inputs]
        probes: list[tuple[Tensor, Tensor]] = []

        def probe(product: Tensor, weight: Tensor) -> Tensor:
            """Zeros added to X W: their gradient is that of X W."""
            zeros = torch.zeros_like(product, requires_grad=True)
            probes.append((zeros, weight.detach()))
            return product.detach() + zeros

        inputs = replace(Inputs.over(rows), edits=(probe,))
        logits = model.head(encoder(inputs, plan, Pass()), plan.head, None)[0]
        order = torch.argsort(logits.detach(), descending=True, stable=True).tolist()
        first = order[0] if first is None else first
        second = next(k for k in order if k != first)
        gradients = torch.autograd.grad(logits[first] - logits[second], [zeros for zeros, _ in probes])
        pairs = zip(gradients, probes, strict=True)
        slope = sum(g.double() @ weight.double().T for g, (_, weight) in pairs)  # [rows, columns]
        assert isinstance(slope, Tensor)
        moved = sp.csr_array(rows).multiply(slope.numpy()).tocsr() if sp.issparse(rows) else rows * slope.numpy()
        by_column, by_row = (np.asarray(moved.sum(axis)).ravel() for axis in (0, 1))
        features = np.zeros(self.graph.num_features)
        known = self.columns >= 0
        np.add.at(features, self.columns[known], by_column[known])
        width = sum(weight.shape[1] for _, weight in probes)
        work = float(slope.numel() * width + width * sum(block.values.numel() for block in plan.blocks))
        nodes, by_node = (plan.inputs, by_row) if self.reads_nodes else (at, by_row.sum(keepdims=True))
        return Reasons(first, second, features, nodes, by_node, work)
