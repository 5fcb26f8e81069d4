"""Names, and values of feature_norm and head, that files written before version 0.1.0 may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "setting": "strategy",
    "scaling": "feature_norm",
    "self_weight": "skip_weight",
    "lambda_fit": "weights_from",
    "outer": "autossl_objective",
    "search": "autossl_search",
    "search_budget": "autossl_budget",
    "lambda_lr": "autossl_lr",
}
_NORMS = {"given": "none", "unit": "l2"}


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a file has them, under the names of today.

    >>> renamed({"scaling": "unit", "hidden": 64})
    {'feature_norm': 'l2', 'hidden': 64}
    """
    found = {_NAMES.get(name, name): value for name, value in values.items()}
    if "scaling" in values and isinstance(values["scaling"], str):
        found["feature_norm"] = _NORMS.get(values["scaling"], values["scaling"])
    if found.get("head") == "gcn":
        found["head"] = "conv"
    return found
