"""Edge weights on entry: which are taken, and what becomes of duplicates and of directions that differ.

Weights are positive and finite. Those of duplicates of an edge are summed, as SciPy and PyG do; where both directions
are given, the larger one counts, as in Kipf & Welling's code; an edge given in one direction has that weight in both.
Weights that are all equal count as none.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import GraphError

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger("agssl")

COLUMN = "weight"  # of an edge list, attribute of GraphML and NetworkX edges
DRAWN = ("id", "key", "label", "viz")  # what files for drawing have of every edge
LEAST, MOST = 1e-15, 1e15  # what lies between has inverses, roots and sums of rows in 32-bit floats
_CURE = "correct it or drop the edge, or ignore all weights (--unweighted, in Python unweighted=True)"


def weight_name(names: Iterable[str]) -> str | None:
    """Which column or attribute has the weights where none is named: `weight` or `weights`, in any case.

    >>> weight_name(["source", "target", "Weight"])
    'Weight'
    """
    called = [name for name in names if name.lower() in (COLUMN, f"{COLUMN}s")]
    return COLUMN if COLUMN in called else next(iter(called), None)


def say_unread(where: object, names: Sequence[str]) -> None:
    """Tell of columns of edges, or attributes, that nothing is made of."""
    if names:
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        one = len(names) == 1
        cure = "if it is the weight of the edges" if one else "if one of them is the weight of the edges"
        log.warning(f"{where}: {some} {'is' if one else 'are'} not read; {cure}, name it: --weight {names[0]}")


class WeightChoice(NamedTuple):
    """Which edge weights a reader takes."""

    column: str | None = None  # column of an edge list, or attribute; None: see `weight_name`
    ignored: bool = False  # take none


def check_weights(weights: Any, ends: tuple[np.ndarray, np.ndarray], names: np.ndarray | None = None) -> np.ndarray:
    """One positive and finite weight per edge, float64 [E]; the first that is not is named.

    Args:
        weights: numbers, [E] or [E, 1].
        ends: sources and targets, [E] each.
        names: of the nodes, for the message.
    """
    array = np.asarray(weights)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != ends[0].shape:
        raise GraphError(
            f"the edge weights have shape {array.shape}, but there are {len(ends[0])} edges; give one weight per edge"
        )
    if array.dtype.kind not in "fiub":
        raise GraphError(f"the edge weights have the type {array.dtype}, expected real numbers; {_CURE}")
    values = array.astype(np.float64)
    bad = np.flatnonzero(~((values >= LEAST) & (values <= MOST)))  # NaN is neither
    if len(bad):
        edge, value = int(bad[0]), values[bad[0]]
        source, target = (int(end[edge]) if names is None else repr(str(names[end[edge]])) for end in ends)
        raise GraphError(f"edge {edge}, of nodes {source} and {target}, has the weight {value:g}{_why(value)}; {_CURE}")
    return values


def _why(value: float) -> str:
    if 0 < value < LEAST or MOST < value < np.inf:
        return f", but weights must lie in {LEAST:g} .. {MOST:g}"
    return ", but weights must be positive and finite"


def all_equal(weights: np.ndarray) -> bool:
    """Whether the weights say nothing: all are the same, or there are none."""
    return not len(weights) or bool((weights == weights[0]).all())


def symmetric_weights(
    source: np.ndarray, target: np.ndarray, weights: np.ndarray, num_nodes: int
) -> tuple[np.ndarray | None, int]:
    """The weights of the symmetric adjacency in the order of its sorted CSR, float32 [2E]; None: all are equal.

    Args:
        source: of every edge as it was given, no self-loops, [n].
        target: the same.
        weights: float64 [n].
        num_nodes: N.

    Returns:
        The weights, and how many edges had two directions of different weight.
    """
    one_way = sp.csr_matrix((weights, (source, target)), shape=(num_nodes, num_nodes))
    one_way.sum_duplicates()
    turned = one_way.T.tocsr()
    unequal = int(((one_way != turned).multiply(one_way).multiply(turned)).nnz) // 2
    both = one_way.maximum(turned).tocsr()
    both.sort_indices()
    found = np.minimum(both.data, MOST).astype(np.float32)
    return (None if all_equal(found) else found), unequal


def weight_column(table: pa.Table, name: str, path: Path) -> np.ndarray | None:
    """The column of weights of an edge list as float64, if there; what is no number, or empty, is named by its line."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name not in table.column_names:
        return None
    column = table[name]
    try:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
        numbers = pc.cast(column, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        numbers = pa.array([as_number(value) for value in column.to_pylist()], pa.float64())
    values = numbers.to_numpy(zero_copy_only=False) if isinstance(numbers, pa.Array) else numbers.to_numpy()
    bad = np.flatnonzero(~((values >= LEAST) & (values <= MOST)))
    if not len(bad):
        return values
    row, given = int(bad[0]), column[int(bad[0])].as_py()
    where = f"{path} line {row + 2}: edge {row}"
    if given is None or str(given) == "":
        raise GraphError(f"{where} has no {name}, but others have; {_CURE.replace('correct it', 'fill it in')}")
    why = ", which is no number" if as_number(given) is None else _why(float(values[row]))
    raise GraphError(f"{where} has the {name} {str(given)[:60]!r}{why}; {_CURE}")


def as_number(value: Any) -> float | None:
    """What a cell says as a number; None where it is none."""
    try:
        return None if "_" in str(value) else float(value)  # Python reads 1_000, tables do not
    except (TypeError, ValueError, OverflowError):
        return None


def network_weights(graph: Any, weight: str | None) -> np.ndarray | None:
    """The weights of a NetworkX graph's edges, in their order; None where no edge has one and none was asked for."""
    names = list(dict.fromkeys(str(name) for *_, values in graph.edges(data=True) for name in values))
    key = weight or weight_name(names)
    if key is None:
        first: dict[str, Any] = next((values for *_, values in graph.edges(data=True)), {})
        say_unread("edges", [name for name in names if name not in DRAWN and as_number(first.get(name)) is not None])
        return None
    found = [(u, v, values.get(key)) for u, v, values in graph.edges(data=True)]
    if all(value is None for *_, value in found):
        if weight is not None and found:
            raise GraphError(f"no edge has the attribute {weight!r}; name another, or leave the weight out")
        return None
    numbers = np.empty(len(found))
    for edge, (u, v, value) in enumerate(found):
        where = f"edge {edge}, of nodes {str(u)!r} and {str(v)!r},"
        if value is None:
            raise GraphError(f"{where} has no {key!r}, but others have; add it, or ignore weights with unweighted")
        try:
            numbers[edge] = float(value)
        except (TypeError, ValueError, OverflowError):
            cure = "write a number, or ignore weights with unweighted"
            raise GraphError(f"{where} has the {key} {str(value)[:60]!r}, which is no number; {cure}") from None
    return numbers
