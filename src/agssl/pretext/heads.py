"""What the tasks' heads are made of, and how their settings are checked."""

from __future__ import annotations

import scipy.sparse as sp
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.ops.csr import Csr, from_scipy
from agssl.pretext.base import Targets, linear


def perceptron(width: int, hidden: int, outputs: int, activation: nn.Module, rng: Rng) -> nn.Sequential:
    """Two layers with an activation between."""
    return nn.Sequential(linear(width, hidden, rng.child(0)), activation, linear(hidden, outputs, rng.child(1)))


def mean_length(hidden: Tensor) -> Tensor:
    """The mean length of the rows, at least one; a constant to divide scores by.

    Where features are many ones, as in Photo, scores would be so large that their first gradients silence every hidden
    unit for good; so representations that are long on average are scaled to mean L2 norm one.
    """
    return hidden.detach().norm(dim=1).mean().clamp_min(1.0)


class Matrices:
    """Sparse matrices among a task's targets, as tensors.

    Those of the last targets are remembered with all that they know, such as their transposes: the targets of a whole
    graph are the same in every step, those of mini-batches change.
    """

    def __init__(self) -> None:
        self._targets: Targets | None = None
        self._made: dict[str, Csr] = {}

    def get(self, targets: Targets, prefix: str, columns: int, symmetric: bool = False) -> Csr:
        """The matrix with the arrays `<prefix>indptr`, `<prefix>indices` and `<prefix>values`."""
        if targets is not self._targets:
            self._targets, self._made = targets, {}
        if prefix not in self._made:
            parts = tuple(targets[f"{prefix}{part}"] for part in ("values", "indices", "indptr"))
            shape = (len(parts[2]) - 1, columns)
            self._made[prefix] = from_scipy(sp.csr_matrix(parts, shape), symmetric)
        return self._made[prefix]


def check_share(task: str, **settings: float) -> None:
    """Each is a probability below one."""
    for name, value in settings.items():
        if isinstance(value, str) or not 0 <= value < 1:
            raise SettingsError(f"{task}: {name} = {value}, but it must be a share in [0, 1)")


def check_positive(task: str, **settings: float) -> None:
    """Each is a number above zero."""
    for name, value in settings.items():
        if isinstance(value, str) or not 0 < value < float("inf"):  # a text is what did not parse as a number
            raise SettingsError(f"{task}: {name} = {value}, but it must be a number above 0")


def check_count(task: str, **settings: int) -> None:
    """Each is a whole number of at least one."""
    for name, value in settings.items():
        if not isinstance(value, int) or value < 1:
            raise SettingsError(f"{task}: {name} = {value}, but it must be a whole number of at least 1")


def check_choice(task: str, known: tuple[str, ...], **settings: str) -> None:
    """Each is one of the known names."""
    for name, value in settings.items():
        if value not in known:
            raise SettingsError(f"{task}: unknown {name} {value!r}; choose one of {', '.join(known)}")
