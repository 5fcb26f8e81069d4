"""Kinds of settings that are about classes: one of them, their weights, the threshold between two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agssl.base.errors import SettingsError
from agssl.config.kinds import Kind, as_float, parse_task_weights

ClassWeight = str | Mapping[Any, float]
Threshold = str | float
PRECISION = "precision:"


def class_name(value: Any) -> str:
    """The name of a class that may be a number or a truth value, as a graph has it.

    >>> class_name(1.0), class_name(True), class_name("yes")
    ('1', 'True', 'yes')
    """
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


@dataclass(frozen=True)
class ClassName(Kind):
    """A class; whether there is one of that name, the graph decides."""

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "a class, e.g. yes"

    def check(self, name: str, value: Any) -> str:
        """A number or a truth value stands for the class of that name."""
        if not isinstance(value, str | int | float) and not hasattr(value, "dtype"):
            raise self.refuse(name, value)
        return class_name(value)


@dataclass(frozen=True)
class ClassWeights(Kind):
    """none, balanced, or a number for each of some classes."""

    metavar: ClassVar[str] = "NAME=X"

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "none, balanced, or weights above 0 for classes by name: yes=5,no=1"

    def parse(self, text: str) -> ClassWeight:
        """One of the two words, or weights.

        >>> ClassWeights().parse("yes=5,no=1")
        {'yes': 5.0, 'no': 1.0}
        """
        if "=" not in text:
            return text
        try:
            return parse_task_weights(text)
        except SettingsError:
            raise ValueError(text) from None

    def check(self, name: str, value: Any) -> Any:
        """Whether there are such classes, the graph decides."""
        if value is None:  # as scikit-learn has it
            return "none"
        if not isinstance(value, Mapping):
            if value not in ("none", "balanced"):
                raise self.refuse(name, value)
            return str(value)
        weights = {class_name(key): as_float(weight) for key, weight in value.items()}
        if not weights or len(weights) < len(value) or not all(0 < w < float("inf") for w in weights.values()):
            raise self.refuse(name, dict(value))
        return weights


@dataclass(frozen=True)
class ThresholdKind(Kind):
    """none, f1, a precision, or the probability itself."""

    metavar: ClassVar[str] = "HOW"

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "none, f1, a precision in (0, 1] as in precision:0.9, or a probability in (0, 1)"

    def parse(self, text: str) -> Threshold:
        """A word, or a number.

        >>> ThresholdKind().parse("f1"), ThresholdKind().parse("0.3")
        ('f1', 0.3)
        """
        try:
            return float(text)
        except ValueError:
            return text

    def check(self, name: str, value: Any) -> Threshold:
        """The form alone; it is for graphs of two classes."""
        if value in ("none", "f1"):
            return str(value)
        if isinstance(value, str) and value.startswith(PRECISION):
            try:
                wanted = float(value.removeprefix(PRECISION))
            except ValueError:
                raise self.refuse(name, value) from None
            if 0 < wanted <= 1:
                return f"{PRECISION}{wanted:g}"
        elif 0 < as_float(value) < 1:
            return float(value)
        raise self.refuse(name, value)
