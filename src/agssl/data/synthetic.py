"""Graphs of any size with known labels: a degree-corrected block model with class-dependent features.

Node i has a class y_i and a weight theta_i, which follows a power law. An edge starts at i with probability in
proportion to theta_i; it ends in the same class with probability `homophily`, else in another; there, at j in
proportion to theta_j. Self-loops and duplicates are dropped, and so many more edges drawn that as many are expected to
stay as were asked for, within classes and between them. Weights stop at the structural cut-off, where two of the
heaviest nodes of a class expect one edge.

Everything is drawn block by block, each from a stream of its own, so that a graph in memory (`generate`) and one
streamed to disk (`generate_packed`) are the same for one seed. Time is O(N + E); streaming needs some 50 bytes per node
plus one block, whatever the number of edges and features. docs/synthetic.md has measurements.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.atomic import atomic_folder
from agssl.base.errors import SettingsError, unknown_name
from agssl.base.rng import Rng
from agssl.data.block_model import EdgeTargets, cutoff, draws
from agssl.data.build import AdjacencyBuilder
from agssl.data.graph import Graph
from agssl.data.packed import ArrayWriter, seal
from agssl.data.splits import make_split
from agssl.data.validate import SPARSE_BELOW

KINDS = ("gaussian", "binary")
NODE_BLOCK = 1 << 16  # nodes drawn at a time
EDGE_BLOCK = 1 << 21  # edges drawn at a time, about


@dataclass(frozen=True)
class Synthetic:
    """What to generate."""

    nodes: int
    edges: int  # undirected
    classes: int = 5
    homophily: float = 0.8  # share of the edges that stay within a class
    degree_exponent: float = 2.5  # of the power law of degrees, above 2; inf: all nodes alike
    features: int = 64
    kind: str = "gaussian"
    signal: float = 1.0  # gaussian: length of the class means (noise has deviation 1); binary: share of class words
    words: int = 10  # binary: words drawn a node
    imbalance: float = 1.0  # size of the largest class over that of the smallest
    split: str = "benchmark"  # see agssl.data.splits
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low in (("nodes", 2), ("edges", 0), ("classes", 2), ("features", 1), ("words", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) < 2**40:
                raise SettingsError(f"{name} = {value!r}, but it must be a whole number of at least {low}")
        if self.kind not in KINDS:
            raise unknown_name("kind of features", str(self.kind), KINDS)
        top = 1.0 if self.kind == "binary" else math.inf
        for name, good, must in (
            ("homophily", lambda v: 0 <= v <= 1, "in 0..1"),
            ("degree_exponent", lambda v: v > 2, "above 2 (inf: degrees are Poisson)"),
            ("signal", lambda v: 0 <= v <= top and v < math.inf, "of 0 or above (with binary features, in 0..1)"),
            ("imbalance", lambda v: 1 <= v < math.inf, "of 1 or above"),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not good(value):
                raise SettingsError(f"{name} = {value!r}, but it must be a number {must}")
        if self.nodes >= 2**31:
            raise SettingsError(f"nodes = {self.nodes}, but node ids have 32 bits; ask for fewer than {2**31:,}")
        if self.kind == "binary" and self.words >= SPARSE_BELOW * self.features:
            raise SettingsError(
                f"words = {self.words}, but sparse features need fewer than {SPARSE_BELOW:.0%} of the "
                f"{self.features} columns; ask for fewer words or more features"
            )
        if self.edges > 0.1 * self.nodes * (self.nodes - 1) / 2:
            raise SettingsError(
                f"edges = {self.edges}, which is more than a tenth of all pairs of {self.nodes} nodes; ask for fewer"
            )

    @property
    def name(self) -> str:
        """What to call the graph."""
        return f"synthetic-{self.nodes}"


def generate(spec: Synthetic) -> Graph:
    """The graph, in memory.

    >>> graph = generate(Synthetic(nodes=500, edges=1500, classes=3))
    >>> graph.num_nodes, graph.num_classes, graph.x.shape
    (500, 3, (500, 64))
    """
    model = _Model(spec)
    builder = AdjacencyBuilder(spec.nodes, spec.edges)
    for source, target in model.edges():
        builder.add(source, target)
    counts, indices = zip(*builder.rows(), strict=True)
    blocks = list(model.features())
    x = np.concatenate(blocks) if spec.kind == "gaussian" else sp.vstack(blocks, format="csr")
    return model.graph(_pointers(np.concatenate(counts)), np.concatenate(indices), x)


def generate_packed(spec: Synthetic, folder: str | os.PathLike[str]) -> None:
    """The graph, streamed to a packed folder (see `agssl.data.packed`)."""
    model = _Model(spec)
    with atomic_folder(folder) as staging:
        with ArrayWriter(staging / "y.npy", np.int64) as file:
            file.append(model.y)
        builder = AdjacencyBuilder(spec.nodes, spec.edges, staging)
        for source, target in model.edges():
            builder.add(source, target)
        del model.__dict__["targets"]  # done with; what is left to do needs no more than labels
        counts = []
        with ArrayWriter(staging / "indices.npy", np.int32) as file:
            for count, indices in builder.rows():
                counts.append(count)
                file.append(indices)
        indptr = _pointers(np.concatenate(counts))
        with ArrayWriter(staging / "indptr.npy", np.int64) as file:
            file.append(indptr)
        _stream_features(model, staging)
        stored = np.load(staging / "indices.npy", mmap_mode="r") if indptr[-1] else np.empty(0, dtype=np.int32)
        shape = np.broadcast_to(np.float32(0), (spec.nodes, spec.features))
        settings = {k: str(v) if v == math.inf else v for k, v in dataclasses.asdict(spec).items()}
        seal(staging, model.graph(indptr, stored, shape), {"generator": "degree-corrected block model"} | settings)


def _stream_features(model: _Model, folder: Path) -> None:
    spec = model.spec
    if spec.kind == "gaussian":
        with ArrayWriter(folder / "x.npy", np.float32, (spec.features,)) as file:
            for block in model.features():
                file.append(block)
        return
    wide = np.int32 if spec.nodes * spec.words < 2**31 else np.int64  # one type for both, as SciPy wants it
    with (
        ArrayWriter(folder / "x_indptr.npy", wide) as indptr,
        ArrayWriter(folder / "x_indices.npy", wide) as indices,
        ArrayWriter(folder / "x_data.npy", np.float32) as data,
    ):
        indptr.append(np.zeros(1, dtype=wide))
        for block in model.features():
            indptr.append(block.indptr[1:].astype(np.int64) + data.length)
            indices.append(block.indices)
            data.append(block.data)


def _pointers(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class _Model:
    """The draws: labels and weights at once, edges and features block by block."""

    def __init__(self, spec: Synthetic) -> None:
        self.spec, self.rng = spec, Rng(spec.seed).child("synthetic")
        shares = spec.imbalance ** -np.linspace(0, 1, spec.classes)
        bounds = np.cumsum(shares / shares.sum())[:-1]
        self.y = np.empty(spec.nodes, dtype=np.int64)
        self.theta = np.empty(spec.nodes)
        limit = cutoff(spec)
        for number, start, stop in _blocks(spec.nodes, NODE_BLOCK):
            generator = self.rng.child("nodes", number).numpy()
            self.y[start:stop] = np.searchsorted(bounds, generator.random(stop - start), side="right")
            power = generator.random(stop - start) ** (-1 / (spec.degree_exponent - 1))
            self.theta[start:stop] = np.minimum(power, limit)

    def graph(self, indptr: np.ndarray, indices: np.ndarray, x: np.ndarray | sp.csr_matrix) -> Graph:
        """The graph of these arrays with our labels and a split, which from now on comes with the data."""
        classes = tuple(f"class-{number}" for number in range(self.spec.classes))
        graph = Graph(indptr, indices, x, self.y, classes, name=self.spec.name)
        split = make_split(self.spec.split, graph, self.rng.child("split"))
        return graph.with_split(dataclasses.replace(split, origin="public"))

    @cached_property
    def targets(self) -> EdgeTargets:
        """How to draw nodes by weight."""
        return EdgeTargets(self.theta, self.y, self.spec.classes)

    def edges(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sources and targets, int64, with self-loops and duplicates still among them."""
        spec, targets = self.spec, self.targets
        if not spec.edges:
            return
        within, between = draws(spec, self.theta, self.y)
        rate = (within + between) / self.theta.sum()
        share = within / (within + between)
        width = max(1, int(EDGE_BLOCK * spec.nodes / max(1, spec.edges)))
        for number, start, stop in _blocks(spec.nodes, width):
            generator = self.rng.child("edges", number).numpy()
            counts = generator.poisson(rate * self.theta[start:stop])
            source = np.repeat(np.arange(start, stop, dtype=np.int64), counts)
            inside = generator.random(len(source)) < share
            yield source, targets.draw(self.y[source], inside, generator)

    def features(self) -> Iterator[Any]:
        """Features of consecutive nodes, dense or CSR."""
        spec = self.spec
        if spec.kind == "gaussian":
            means = self.rng.child("means").numpy().standard_normal((spec.classes, spec.features))
            means = (spec.signal * means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        for number, start, stop in _blocks(spec.nodes, NODE_BLOCK):
            generator = self.rng.child("features", number).numpy()
            y = self.y[start:stop]
            if spec.kind == "gaussian":
                yield means[y] + generator.standard_normal((stop - start, spec.features), dtype=np.float32)
            else:
                yield _words(spec, y, generator)


def _words(spec: Synthetic, y: np.ndarray, generator: np.random.Generator) -> sp.csr_matrix:
    """Bags of words: each is of the class's own part of the vocabulary with probability `signal`, else any."""
    shape = (len(y), spec.words)
    own = spec.features // spec.classes
    words = generator.integers(0, spec.features, shape)
    if own:
        topical = y[:, None] * own + generator.integers(0, own, shape)
        words = np.where(generator.random(shape) < spec.signal, topical, words)
    words.sort(axis=1)
    new = np.ones(shape, dtype=bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    indices = words[new].astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int32)
    return sp.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=(len(y), spec.features))


def _blocks(total: int, width: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of consecutive blocks."""
    for number, start in enumerate(range(0, total, width)):
        yield number, start, min(start + width, total)
