"""The search space: the paper's (App. G), with dropout, one alpha a task, and what is read of features and teachers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from agssl.config import CALIBRATIONS, NORMS, SCALINGS, Settings
from agssl.errors import unknown_name

WEIGHTS = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)
DROPOUT = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
WHOLE = ("hidden", "generations")  # parameters that are whole numbers
Value = float | str
CHOICES: Mapping[str, tuple[Value, ...]] = {
    "scaling": SCALINGS,
    "self_weight": (0.0, 0.2, 0.4, 0.6),
    "norm": NORMS,
    "hidden": (32, 64, 128, 256, 512),
    "dropout": DROPOUT,
    "input_dropout": (0.0, *DROPOUT),
    "beta": WEIGHTS,
    "tau": (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0),
    "student_dropout": (0.0, *DROPOUT),
    "generations": (1, 2, 3),
    "calibrate": CALIBRATIONS,
}

Space = dict[str, tuple[Value, ...]]  # by parameter, what it may be, in order


def space_of(base: Settings, only: Iterable[str] | None = None) -> Space:
    """What there is to choose for a method.

    Args:
        base: the method, its tasks and its strategy; whatever is not searched stays as it is here.
        only: search these alone; `alpha` stands for all of them.
    """
    names = ["scaling", "self_weight", "norm", "hidden", "dropout", "input_dropout"]
    tasks = list(dict.fromkeys(text.split(":")[0] for text in base.tasks))
    # a network that pre-trains on one task alone has nothing to weigh it against
    weighed = base.method != "gcn" and (base.setting == "jt" or base.method not in ("agssl", "single"))
    names += [f"alpha.{task}" for task in tasks] if weighed else []
    names += ["beta", "tau", "student_dropout", "generations"] if base.method == "agssl" else []
    names += ["calibrate"] if base.method == "agssl" and base.lambda_fit != "train" else []
    space: Space = {name: WEIGHTS if name.startswith("alpha.") else CHOICES[name] for name in names}
    if only is None:
        return space
    wanted = set(only)
    for name in wanted:
        if name not in space and not (name == "alpha" and weighed):
            raise unknown_name("parameter", name, space)
    return {name: choices for name, choices in space.items() if name in wanted or name.split(".")[0] in wanted}


def settings_of(base: Settings, values: Mapping[str, Value]) -> Settings:
    """The settings with these parameters.

    >>> settings_of(Settings(), {"hidden": 128, "alpha.par": 5.0}).alpha
    {'par': 5.0}
    """
    changes: dict[str, Any] = {}
    alpha = dict(base.alpha) if isinstance(base.alpha, Mapping) else {}
    for name, value in values.items():
        if name.startswith("alpha."):
            alpha[name.removeprefix("alpha.")] = float(value)
        else:
            changes[name] = value if isinstance(value, str) else int(value) if name in WHOLE else float(value)
    if alpha:
        changes["alpha"] = alpha
    return base.replace(**changes)


def start(base: Settings, space: Space) -> dict[str, int]:
    """The positions in the space that are nearest to the settings themselves: where the search begins."""
    positions = {}
    for name, choices in space.items():
        value: Any = base.alpha if name.startswith("alpha.") else getattr(base, name)
        if value in choices:
            positions[name] = choices.index(value)
            continue
        if isinstance(value, Mapping):
            value = value.get(name.removeprefix("alpha."))
        if not isinstance(value, int | float):
            value = 1.0
        positions[name] = min(range(len(choices)), key=lambda i, v=value, c=choices: abs(c[i] - v))  # type: ignore[misc]
    return positions


def all_of(space: Space, most: int) -> list[dict[str, int]] | None:
    """Every position in the space, where there are `most` at most; None: it is larger than that.

    >>> all_of({"tau": (1.0, 2.0), "beta": (5.0,)}, 2)
    [{'tau': 0, 'beta': 0}, {'tau': 1, 'beta': 0}]
    """
    if math.prod(map(len, space.values())) > most:
        return None
    return [dict(zip(space, at, strict=True)) for at in itertools.product(*map(range, map(len, space.values())))]
