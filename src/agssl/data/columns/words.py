"""TF-IDF of a column of text, as scikit-learn's `TfidfVectorizer` computes it, on Arrow arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from agssl.data.columns.parse import Texts

MOST_WORDS = 1000  # features of one column of text
LEAST_ROWS = 2  # a word of one row says nothing about others


def fit_words(found: Texts) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The words that occur in most rows, in alphabetical order, and their inverse document frequencies."""
    parents, words = found.words
    encoded = words.dictionary_encode()
    counts = _counts(parents, encoded.indices.to_numpy(), len(found.values), len(encoded.dictionary))
    rows = np.repeat(found.counts, np.diff(counts.indptr))
    frequency = np.bincount(counts.indices, weights=rows, minlength=counts.shape[1])
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    often = np.flatnonzero(frequency >= LEAST_ROWS).tolist()
    kept = sorted(often, key=lambda word: (-frequency[word], names[word]))[:MOST_WORDS]
    kept.sort(key=lambda word: names[word])
    idf = np.log((1 + len(found.codes)) / (1 + frequency[kept])) + 1
    return tuple(names[kept].tolist()), tuple(idf.tolist())


def tf_idf(found: Texts, words: tuple[str, ...], idf: tuple[float, ...]) -> sp.csr_matrix:
    """Rows of unit L2 norm, float32 [N, words]; zeros where no word is known."""
    parents, tokens = found.words
    index = pc.fill_null(pc.index_in(tokens, value_set=pa.array(words, pa.large_string())), -1)
    codes = index.to_numpy(zero_copy_only=False)
    known = codes >= 0
    counts = _counts(parents[known], codes[known], len(found.values) + 1, len(words))  # the last row is of no text
    counts.data *= np.asarray(idf, dtype=np.float32)[counts.indices]
    norms = np.sqrt(counts.multiply(counts).sum(axis=1)).A1
    counts.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(counts.indptr))
    return counts.astype(np.float32, copy=False)[found.codes]


def _counts(rows: np.ndarray, columns: np.ndarray, height: int, width: int) -> sp.csr_matrix:
    ones = np.ones(len(rows), dtype=np.float32)
    counts = sp.csr_matrix((ones, (rows, columns.astype(np.int32, copy=False))), shape=(height, width))
    counts.sum_duplicates()
    return counts
