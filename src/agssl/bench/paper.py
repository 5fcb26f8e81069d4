"""The numbers that the paper published, to compare with; they are never shown as ours."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

Published = tuple[float, float | None]  # mean and standard deviation in percent; None where it is not given


@functools.cache
def _numbers(name: str = "paper") -> dict[str, Any]:
    text = files("agssl.bench").joinpath(f"{name}.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    return numbers


def _pair(value: list[float] | None) -> Published | None:
    return None if value is None else (value[0], value[1] if len(value) > 1 else None)


def table1(dataset: str, strategy: str, method: str) -> Published | None:
    """Table 1: accuracy by dataset, training strategy and method.

    >>> table1("cora", "jt", "agssl-ts")
    (85.32, 0.32)
    """
    return _pair(_numbers()["table1"].get(dataset, {}).get(strategy, {}).get(method))


def table2(dataset: str, strategy: str, method: str) -> Published | None:
    """Table 2: accuracy by dataset and method, joint training."""
    return _pair(_numbers()["table2"].get(method, {}).get(dataset)) if strategy == "jt" else None


def table_a2(dataset: str, scheme: str, teachers: int) -> Published | None:
    """Table A2: accuracy by dataset, integration scheme and number of teachers."""
    values = _numbers()["table-a2"].get(scheme, {}).get(dataset)
    return None if values is None else _pair(values[teachers - 1])


def table_a3(dataset: str, method: str, what: str) -> float | None:
    """Table A3: `seconds` or `peak_mb` of joint-t, agssl-lf and agssl-ts."""
    value: float | None = _numbers()["table-a3"].get(method, {}).get(what, {}).get(dataset)
    return value


def rival(dataset: str, strategy: str, method: str) -> Published | None:
    """A rival's accuracy in its own paper; of other methods, as in Table 1.

    >>> rival("citeseer", "jt", "grand-net"), rival("pubmed", "jt", "cpf-gcnii"), rival("cora", "jt", "gcn")
    ((75.4, 0.4), (83.2, None), (81.72, 0.52))
    """
    own = _numbers("rivals").get(method)
    return table1(dataset, strategy, method) if own is None else _pair(own["accuracy"].get(dataset))


def rival_settings(method: str) -> dict[str, dict[str, Any]]:
    """The settings that a rival's paper has, by dataset; those of `*` for any other."""
    found: dict[str, dict[str, Any]] = _numbers("rivals").get(method, {}).get("settings", {})
    return found


def rival_sources() -> dict[str, str]:
    """Where a rival's figures and settings come from, and how its evaluation differs, by method."""
    return {name: entry["source"] for name, entry in _numbers("rivals").items()}
