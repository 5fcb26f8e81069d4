"""A pretext task and an encoder of your own, in a file: two classes, two lines to register them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from agssl import AGSSL, ENCODERS, TASKS, Encoder, Task
from agssl.data.synthetic import Synthetic, generate
from agssl.encoders import Layer
from agssl.ops.csr import multiply
from agssl.pretext.base import linear


class DegreeRank(Task):
    """Predict the logarithm of a node's degree."""

    name = "degree"
    alphas = (0.5,)  # its weights to choose from

    def prepare(self, graph, rng):  # once; shared by all seeds
        return {"degree": np.log1p(graph.degree).astype(np.float32)}

    def head(self, width, targets, rng):  # reads hidden representations of this width
        return linear(width, 1, rng)

    def loss(self, head, views, sample, targets):  # one step
        predicted = head(views.hidden()).squeeze(1)
        return F.mse_loss(predicted, torch.from_numpy(targets["degree"]).to(predicted.device))


class OwnAndMean(Layer):
    """What a node has, plus half of what its neighbours have on average."""

    def combine(self, hop, projected):  # rows below the hop to rows above it
        return hop.own(projected) + 0.5 * multiply(hop.matrix, projected)


class Gentle(Encoder):
    """Layers that trust a node more than its neighbours."""

    name = "gentle"
    propagation = "mean"  # what hop.matrix holds

    def layer(self, inputs, outputs, rng):
        return OwnAndMean(inputs, outputs, rng)


def main() -> dict[str, float]:
    TASKS.add("degree", DegreeRank)
    ENCODERS.add("gentle", Gentle)
    graph = generate(Synthetic(nodes=200, edges=800, classes=3, features=16, split="fraction:0.2/0.3/0.5"))
    model = AGSSL(tasks=("clu", "degree"), encoder="gentle", alpha=0.5, hidden=16, epochs=30, generations=1).fit(graph)
    found = dict(zip(model.task_names_, model.task_weights_.mean(0).tolist(), strict=True))
    print(f"{model.score():.1%} of the test nodes right; mean trust:", found)
    return found


if __name__ == "__main__":
    main()
