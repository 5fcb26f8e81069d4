"""The arithmetic of the degree-corrected block model behind `agssl.data.synthetic`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agssl.base.errors import SettingsError

if TYPE_CHECKING:
    from agssl.data.synthetic import Synthetic


class EdgeTargets:
    """Draws nodes of a class, or of all the others, in proportion to their weight, in O(1) each.

    Nodes lie side by side on a line, class by class, each as long as its weight. A table says which node each of N
    equal cells of the line starts with; from there it is a step or two to the node at any point of the cell.
    """

    def __init__(self, theta: np.ndarray, y: np.ndarray, classes: int) -> None:
        self.order = np.argsort(y.astype(np.int32), kind="stable").astype(np.int32)
        self.ends = np.cumsum(theta[self.order])
        self.total = float(self.ends[-1])
        sizes = np.bincount(y, minlength=classes)
        after = np.concatenate([[0.0], self.ends])[np.cumsum(sizes)]
        self.start, self.length = np.concatenate([[0.0], after[:-1]]), np.diff(after, prepend=0.0)
        cells = np.arange(len(theta)) * (self.total / len(theta))
        self.table = np.searchsorted(self.ends, cells, side="right").astype(np.int32)

    def draw(self, label: np.ndarray, inside: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """One node for each entry: of that class where `inside`, of another class elsewhere."""
        start, length = self.start[label], self.length[label]
        point = generator.random(len(label)) * np.where(inside, length, self.total - length)
        # outside, the line has a gap where the class itself lies
        point += np.where(inside, start, np.where(point >= start, length, 0.0))
        last = len(self.table) - 1
        at = self.table[np.minimum((point * (len(self.table) / self.total)).astype(np.int64), last)].astype(np.int64)
        open_ = np.flatnonzero(self.ends[np.minimum(at, last)] <= point)
        while len(open_):
            at[open_] += 1
            open_ = open_[at[open_] < last]
            open_ = open_[self.ends[at[open_]] <= point[open_]]
        return self.order[np.minimum(at, last)].astype(np.int64)


def cutoff(spec: Synthetic) -> float:
    """The largest weight: two such nodes of a class expect one edge between them."""
    mean = 1.0 if spec.degree_exponent == math.inf else (spec.degree_exponent - 1) / (spec.degree_exponent - 2)
    within = max(spec.homophily * spec.classes, (1 - spec.homophily) * spec.classes / (spec.classes - 1))
    return max(1.0, mean * spec.nodes / math.sqrt(max(1.0, 2 * spec.edges * within)))


def draws(spec: Synthetic, theta: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """How many edges to draw within classes and between them, so that as many distinct ones stay as were asked for.

    Two nodes meet a Poisson number of times, so n draws leave sum over pairs of 1 - exp(-n r_ij) distinct edges. The
    sum is taken over groups of nodes of one class and nearly one weight, and solved for n by bisection.
    """
    per_class = max(2, 600 // spec.classes)
    top = math.log(float(theta.max())) + 1e-9
    group = y * per_class + np.minimum(np.log(theta) / top * per_class, per_class - 1).astype(np.int64)
    size = np.bincount(group, minlength=spec.classes * per_class)
    used = np.flatnonzero(size)
    size, mean = size[used], (np.bincount(group, theta)[used] / size[used])
    label = used // per_class
    weight = np.bincount(y, theta, spec.classes)
    total = weight.sum()
    outside = 1 / np.maximum(total - weight, 1e-300)
    same = label[:, None] == label[None, :]
    rate = np.where(same, 2 / weight[label][:, None], outside[label][:, None] + outside[label][None, :])
    rate *= np.outer(mean, mean) / total
    pairs = np.outer(size, size) / 2 - np.diag(size / 2)

    def solve(wanted: float, kind: np.ndarray) -> float:
        rates, room = rate[kind], pairs[kind]
        if wanted > 0.8 * room.sum():
            raise SettingsError(
                f"edges = {spec.edges} at homophily {spec.homophily}, but there are {room.sum():,.0f} such pairs of "
                f"{spec.nodes} nodes; ask for fewer edges"
            )
        low, high = wanted, wanted + 1
        while -(room * np.expm1(-high * rates)).sum() < wanted:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            enough = -(room * np.expm1(-middle * rates)).sum() >= wanted
            low, high = (low, middle) if enough else (middle, high)
        return high

    within = spec.homophily * spec.edges
    return solve(within, same) if within else 0.0, solve(spec.edges - within, ~same) if within < spec.edges else 0.0
