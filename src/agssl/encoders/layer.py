"""A layer of an encoder: it projects rows and then combines them along the edges.

It has two parts, so that one definition serves whole graphs, plans with few rows, several views of a step, and
inference block by block on graphs that don't fit into memory:

- `weights` are what rows are multiplied by, h -> h W, wherever the rows are (sparse features or hidden);
- `combine` makes the sums of the next level of what was projected: Â (h W) in a GCN, its own row and the mean of its
  neighbours' in GraphSAGE. Every row of a level may be pruned away but those that a node and its neighbours need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.ops.features import Inputs
from agssl.ops.plan import Hop

Tiles = tuple[Tensor, ...]  # column tiles of one matrix


class Layer(nn.Module):
    """One convolution: weights from `inputs` to `outputs` columns, and a bias that is added to its sums.

    Rows are multiplied by all of its weights, [inputs, outputs] each; a subclass names them and combines the products.
    """

    weights: ClassVar[tuple[str, ...]] = ("weight",)
    reads_every_row: ClassVar[bool] = False  # whether `combine` touches all rows it is given, those without edges too
    hops: int = 1  # propagations, one after another; several only in a class head

    def __init__(self, inputs: int, outputs: int, rng: Rng) -> None:
        super().__init__()
        self.outputs = outputs
        for name in self.weights:
            weight = nn.Parameter(torch.empty(inputs, outputs))
            glorot(weight, rng if len(self.weights) == 1 else rng.child(name))
            self.register_parameter(name, weight)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The sums [rows above, columns] of some of the output columns.

        Args:
            hop: the edges. An entry of `hop.matrix` with value 0 is none; `hop.own` has the nodes' own rows.
            projected: rows below times these columns of each weight, side by side: `chunk` takes them apart. Other
                views may read it too, so it must stay as it is.
        """
        raise NotImplementedError

    def further(self, number: int, hop: Hop, sums: Tensor, projected: Tensor) -> Tensor:
        """The sums of a further hop, where a layer has several.

        Args:
            number: of the hop; that of `combine` is 0.
            hop: the edges.
            sums: of the hop before.
            projected: as `combine` had it, of the rows below this hop.
        """
        raise NotImplementedError

    def along(self, hops: Sequence[Hop], projected: Tensor) -> Tensor:
        """The sums after all hops."""
        sums = self.sums(hops[0], projected)
        for number, hop in enumerate(hops[1:], start=1):
            projected = hops[number - 1].own(projected)
            sums = self.further(number, hop, sums, projected)
        return sums

    def sums(self, hop: Hop, projected: Tensor) -> Tensor:
        """What `combine` gives, as a tensor that may be changed in place."""
        found = self.combine(hop, projected)
        return found.clone() if found.data_ptr() == projected.data_ptr() else found

    def matrices(self, tile: int, multiple: int = 1) -> list[Tensor]:
        """The weights side by side, for each tile of so many output columns.

        With a `multiple`, columns of zeros fill each weight up to a multiple of so many columns.
        """
        parts = tuple(getattr(self, name) for name in self.weights)
        if self.outputs % multiple:
            parts = tuple(F.pad(part, (0, -self.outputs % multiple)) for part in parts)
        tiles = zip(
            *(part.split(part.shape[1] if tile >= self.outputs else tile, dim=1) for part in parts), strict=True
        )
        return [group[0].contiguous() if len(group) == 1 else torch.cat(group, dim=1) for group in tiles]

    def project(self, rows: Tensor) -> Tensor:
        """Rows times the whole matrix."""
        (matrix,) = self.matrices(self.outputs)
        return rows @ matrix

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """The sums of a first layer, from the features of the rows below, in column tiles."""
        return tuple(self.sums(hop, part) for part in x.times(self.matrices(tile), key=self))


class WithSkip(Layer):
    """A layer with a skip connection: h S is added to its sums, of each node's own row h.

    Args:
        inner: the layer, whose bias gives way to one of both.
        rng: of the initial S.
    """

    weights: ClassVar[tuple[str, ...]] = ("skip",)
    reads_every_row: ClassVar[bool] = True  # it takes the products apart, which copies them
    skip: Tensor

    def __init__(self, inner: Layer, rng: Rng) -> None:
        super().__init__(len(inner.matrices(inner.outputs)[0]), inner.outputs, rng)
        del inner.bias
        self.inner = inner

    def matrices(self, tile: int, multiple: int = 1) -> list[Tensor]:
        """Those of the layer, each with its columns of S."""
        pairs = zip(self.inner.matrices(tile, multiple), super().matrices(tile, multiple), strict=True)
        return [torch.cat(pair, dim=1) for pair in pairs]

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The layer's sums and the node's own row."""
        width = projected.shape[1] // (len(self.inner.weights) + 1)
        inner, own = projected.split([projected.shape[1] - width, width], dim=1)
        return self.inner.combine(hop, inner.contiguous()) + hop.own(own)

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """The layer's own way, which may be to propagate features first, and X S apart."""
        sums = self.inner.from_features(x, hop, tile)
        parts = [part.contiguous() for part in self.skip.split([part.shape[1] for part in sums], dim=1)]
        return tuple(part.add_(hop.own(own)) for part, own in zip(sums, x.times(parts, key=self), strict=True))


def glorot(weight: Tensor, rng: Rng) -> None:
    """Fill a matrix uniformly in +- sqrt(6 / (rows + columns)); one that is only a shape (device `meta`) stays so."""
    if weight.is_meta:
        return
    bound = (6 / sum(weight.shape)) ** 0.5
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=rng.torch())
