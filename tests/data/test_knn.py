"""k-nearest-neighbour edges."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.errors import SettingsError
from agssl.data.knn import knn_edges


def naive(x: np.ndarray, k: int, metric: str) -> list[set[int]]:
    if metric == "cosine":
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        distance = 1 - unit @ unit.T
    else:
        distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    return [set(row[:k].tolist()) for row in np.argsort(distance, axis=1)]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("width", [3, 40])
def test_the_nearest_are_found(metric: str, make: type, width: int) -> None:
    x = np.random.default_rng(0).normal(size=(60, width))
    source, target = knn_edges(make(x), 4, metric)
    assert source.tolist() == np.repeat(np.arange(60), 4).tolist()
    assert [set(row.tolist()) for row in target.reshape(60, 4)] == naive(x, 4, metric)


def test_a_node_is_never_its_own_neighbour_even_among_duplicates() -> None:
    source, target = knn_edges(np.ones((7, 3)), 3, "euclidean")
    assert (source != target).all()


@pytest.mark.parametrize(
    ("k", "metric"), [(0, "cosine"), (-1, "cosine"), (5, "cosine"), (True, "cosine"), (2, "cosin")]
)
def test_settings_that_make_no_sense_are_refused(k: int, metric: str) -> None:
    with pytest.raises(SettingsError):
        knn_edges(np.eye(5), k, metric)


def test_ties_are_broken_alike_whatever_the_number_of_threads() -> None:
    x = np.random.default_rng(0).integers(0, 3, size=(1500, 6)).astype(np.float32)  # many equal distances
    code = "import sys, numpy as np; from agssl.data.knn import knn_edges; import hashlib;"
    code += "x = np.random.default_rng(0).integers(0, 3, size=(1500, 6)).astype(np.float32);"
    code += "print(hashlib.sha256(knn_edges(x, 5, 'euclidean').tobytes()).hexdigest())"
    here = hashlib.sha256(knn_edges(x, 5, "euclidean").tobytes()).hexdigest()
    for threads in ("1", "2"):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == here
