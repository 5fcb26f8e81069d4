"""k-means against scikit-learn's, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from agssl.base.rng import Rng
from agssl.data.graph import Features
from agssl.ops.kmeans import kmeans, nearest_centre


def blobs(clusters: int = 5, rows: int = 400, columns: int = 30, spread: float = 1.0) -> np.ndarray:
    draw = np.random.default_rng(0)
    middles = draw.normal(size=(clusters, columns)) * 2
    x = middles[np.arange(rows) % clusters] + spread * draw.normal(size=(rows, columns))
    return np.where(np.abs(x) > 2, x, 0).astype(np.float32)


def inertia(x: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> float:
    return float(np.square(x - centres[labels]).sum())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_centres_are_as_good_as_those_of_scikit_learn(kind: type) -> None:
    x = blobs()
    given: Features = kind(x)
    theirs = KMeans(5, n_init=1, random_state=0).fit(x).inertia_
    ours = min(inertia(x, centres := kmeans(given, 5, Rng(seed)), nearest_centre(given, centres)) for seed in range(3))
    assert ours <= 1.02 * theirs


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_rows_belong_to_the_nearest_centre_and_centres_are_their_means(kind: type) -> None:
    x = blobs(spread=0.3)
    centres = kmeans(kind(x), 5, Rng(1))
    labels = nearest_centre(kind(x), centres)
    for row, label in zip(x, labels, strict=True):
        assert label == np.argmin([np.square(row - centre).sum() for centre in centres])
    for number, centre in enumerate(centres):
        np.testing.assert_allclose(centre, x[labels == number].mean(0), atol=1e-4)


def test_the_same_stream_gives_the_same_centres_and_another_one_others() -> None:
    x = blobs()
    np.testing.assert_array_equal(kmeans(x, 4, Rng(3)), kmeans(x, 4, Rng(3)))
    assert not np.array_equal(kmeans(x, 4, Rng(3)), kmeans(x, 4, Rng(4)))


def test_fewer_different_rows_than_clusters() -> None:
    x = np.repeat(np.eye(2, dtype=np.float32), 10, axis=0)
    labels = nearest_centre(x, kmeans(x, 4, Rng(0)))
    assert len(set(labels[:10])) == len(set(labels[10:])) == 1 and labels[0] != labels[-1]
