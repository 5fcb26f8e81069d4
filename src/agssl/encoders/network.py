"""A network: an encoder and a class head, as every teacher, student and rival has them.

Encoder f: H from X. Head g: Z from dropout(H). A pretext head reads H before dropout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.encoders.base import ENCODERS, Encoder, Pass, Shape
from agssl.encoders.head import ClassHead
from agssl.encoders.layer import Tiles
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan


@dataclass(frozen=True, eq=False)
class Output:
    """What a forward pass gives; hidden representations come in column tiles."""

    hidden: Tiles  # each [n_hidden, tile]
    corrupted: Tiles | None  # the same for the row-shuffled features
    logits: Tensor | None  # [n_outputs, C]


class Network(nn.Module):
    """Encoder and head, initialised from `rng`: Glorot weights, zero biases."""

    def __init__(self, shape: Shape, rng: Rng) -> None:
        super().__init__()
        self.shape = shape
        self.encoder: Encoder = Spec.parse(shape.encoder).build(ENCODERS, shape=shape, rng=rng)
        self.head = ClassHead(shape, self.encoder, rng)

    @property
    def sees(self) -> int | None:
        """How many edges away from a node its logits depend on others; None: any number."""
        hops = self.encoder.read_hops
        return (
            None if hops is None else hops + self.encoder.reach + (self.head.layer.hops if self.head.propagates else 0)
        )

    def forward(
        self,
        inputs: Inputs,
        plan: ForwardPlan,
        rng: Rng | None = None,
        permutation: tuple[Tensor, Tensor] | None = None,
    ) -> Output:
        """One pass over a plan.

        Args:
            inputs: features of all nodes; the plan picks its rows.
            plan: what to compute.
            rng: source of dropout masks; None switches dropout off (and batch norm to its running averages).
            permutation: a shuffle of the rows and its inverse; asks for the corrupted view as well.
        """
        x = inputs.take(plan.inputs)
        if rng is not None:
            x = x.dropout(self.shape.input_dropout, rng.child("input"))
        if permutation is not None:
            x = x.sharing({})
        hidden = self.encoder(x, plan, Pass(rng))
        corrupted = None
        if permutation is not None:
            corrupted = self.encoder(x.permuted(*permutation), plan, Pass(rng, real=False, stream="corrupted"))
        return Output(hidden, corrupted, self.head(hidden, plan.head, rng) if plan.head else None)


def blueprint(shape: Shape) -> Encoder:
    """An encoder of this shape without weights: what it propagates with, and how far, is known before training."""
    return _blueprint(ENCODERS[Spec.parse(shape.encoder).name].__qualname__, shape)


@lru_cache(maxsize=64)
def _blueprint(kind: str, shape: Shape) -> Encoder:
    """The one of a shape; `kind` tells classes apart that had one name in turn."""
    with torch.device("meta"):
        return Spec.parse(shape.encoder).build(ENCODERS, shape=shape, rng=Rng(0))
