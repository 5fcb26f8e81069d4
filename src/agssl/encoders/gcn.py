"""GCN: H = relu(Â X W + b), once per layer (Kipf & Welling 2017); the paper's encoder."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder
from agssl.encoders.layer import Layer, Tiles
from agssl.ops.csr import multiply
from agssl.ops.features import Inputs
from agssl.ops.plan import Hop


class GraphConvolution(Layer):
    """Â (h W): rows are projected first, since hidden layers are narrower than features."""

    weight: Tensor

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """Â times what was projected."""
        return multiply(hop.matrix, projected)

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """Â (X W), or (Â X) W where that is cheaper; dropout of features then comes after Â."""
        if x.aggregates_first(hop.matrix, self.outputs):
            return x.aggregated(hop.matrix).times((self.weight,))
        return super().from_features(x, hop, tile)


class Gcn(Encoder):
    """Graph convolutions with the renormalised adjacency: neighbours are averaged, so they should be alike."""

    name: ClassVar[str] = "gcn"
    propagates_features: ClassVar[bool] = True

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One graph convolution."""
        return GraphConvolution(inputs, outputs, rng)


ENCODERS.add("gcn", Gcn)
