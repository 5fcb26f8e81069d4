"""The numbers that the paper published, to compare with; they are never shown as ours."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

Published = tuple[float, float]  # mean and standard deviation in percent


@functools.cache
def _numbers() -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(files("agssl.bench").joinpath("paper.json").read_text(encoding="utf-8"))
    return numbers


def _pair(value: list[float] | None) -> Published | None:
    return None if value is None else (value[0], value[1])


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
