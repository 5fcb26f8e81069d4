"""What might make a step or a preparation faster: kernels side by side, processor milliseconds, one thread.

python studies/kernels.py --datasets photo,computers

Products of sparse features with and without a dense copy, the order of dropped values, the rows that PAR's head takes
at a time, passes of METIS over its cut, and k-means beside scikit-learn's.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agssl import load_dataset
from agssl.base.provenance import commit, machine
from agssl.base.rng import Rng
from agssl.data.synthetic import Synthetic, generate
from agssl.ops import linear_loss
from agssl.ops.csr import from_scipy, product
from agssl.ops.features import Inputs
from agssl.ops.kmeans import kmeans, nearest_centre

RESULTS = Path(__file__).parent / "results/kernels.json"
WIDTH = 64
Figures = dict[str, float]


def main() -> None:
    """Time all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="photo,computers", help="names, with commas (default: %(default)s)")
    parser.add_argument("--clusters", default="cora,photo,physics", help="of k-means (default: %(default)s)")
    parser.add_argument("--edges", type=int, default=1_000_000, help="of the graph for METIS (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the records (default: %(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, Any] = {"commit": commit(), "machine": machine(1)}
    found["features"] = {name: features(name) for name in args.datasets.split(",")}
    found["head"] = {f"{rows}x{classes}": head(rows, classes) for rows, classes in ((2708, 400), (3327, 956))}
    found["k-means"] = {name: clusters(name) for name in args.clusters.split(",")}
    found["metis"] = metis(args.edges)
    args.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


def milliseconds(work: Callable[[], object], repeats: int = 15) -> float:
    """The median."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return round(1000 * median(times), 2)


def features(dataset: str) -> Figures:
    """Forward and backward of dropout(X) W: X as it is stored, and dense without the columns that a block loses."""
    x = load_dataset(dataset).x
    assert not isinstance(x, np.ndarray)
    weight, grad = torch.randn(x.shape[1], WIDTH, requires_grad=True), torch.randn(x.shape[0], WIDTH)

    def step(inputs: Inputs) -> None:
        (out,) = inputs.dropout(0.5, Rng(0)).times([weight])
        torch.autograd.grad(out, weight, grad)

    sparse, dense = Inputs(from_scipy(x)), Inputs.over(x.toarray())
    matrix: Any = sparse.matrix
    order, bits = matrix._transpose[2], torch.ones(matrix.nnz, dtype=torch.uint8)
    full: Any = dense.matrix
    return {
        "density": round(x.nnz / (x.shape[0] * x.shape[1]), 3),
        "sparse_step": milliseconds(lambda: step(sparse)),
        "dense_step": milliseconds(lambda: step(dense)),
        "sparse_product": milliseconds(lambda: product(matrix, weight.detach())),
        "dense_product": milliseconds(lambda: full @ weight.detach()),
        "sparse_transposed_product": milliseconds(lambda: matrix.transposed_product(grad)),
        "dense_transposed_product": milliseconds(lambda: full.t() @ grad),
        "order_values": milliseconds(lambda: matrix.values.index_select(0, order)),
        "order_bytes": milliseconds(lambda: bits.index_select(0, order)),
        "order_bytes_and_multiply": milliseconds(lambda: matrix.values * bits.index_select(0, order)),
    }


def head(rows: int, classes: int) -> Figures:
    """The loss of a head with many classes, with so many rows at a time."""
    hidden, layer = torch.randn(rows, WIDTH, requires_grad=True), nn.Linear(WIDTH, classes)
    labels: Tensor = torch.randint(classes, (rows,))
    before, found = linear_loss.BLOCK, {}
    for block in (128, 256, 512, 1024, 2048):
        linear_loss.BLOCK = block
        found[str(block)] = milliseconds(lambda: linear_loss.linear_cross_entropy(layer, hidden, labels))
    linear_loss.BLOCK = before
    return found


def clusters(dataset: str) -> Figures:
    """Seconds of ten clusters by our k-means and by three starts of scikit-learn's, and how far ours are behind."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    x = load_dataset(dataset).x
    start = time.process_time()
    centres = kmeans(x, 10, Rng(0))
    nearest = nearest_centre(x, centres)
    ours = time.process_time() - start
    with threadpool_limits(1):
        theirs = KMeans(10, n_init=3, random_state=0).fit(x)
    took = time.process_time() - start - ours
    squares = float(x.multiply(x).sum()) if not isinstance(x, np.ndarray) else float(np.square(x).sum())
    along = np.asarray(x @ centres.T)[np.arange(len(nearest)), nearest].sum(dtype=np.float64)
    inertia = squares - 2 * along + np.square(centres).sum(1)[nearest].sum(dtype=np.float64)
    return {"seconds": round(ours, 2), "scikit_learn": round(took, 2), "inertia": round(inertia / theirs.inertia_, 4)}


def metis(edges: int) -> dict[str, Figures]:
    """Seconds and cut of 400 parts of a generated graph, by the passes that refine it."""
    import pymetis

    graph = generate(Synthetic(nodes=edges // 10, edges=edges))
    adjacency = pymetis.CSRAdjacency(adj_starts=graph.indptr.astype(np.int32), adjacent=graph.indices)
    source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    found = {}
    for passes in (10, 3, 1):  # METIS has 10 by default
        start = time.process_time()
        labels = np.asarray(pymetis.part_graph(400, adjacency, options=pymetis.Options(seed=0, niter=passes))[1])
        cut = float((labels[source] != labels[graph.indices]).mean())
        found[f"{passes} passes"] = {"seconds": round(time.process_time() - start, 2), "cut": round(cut, 4)}
    return found


if __name__ == "__main__":
    main()
