"""Kinds of settings: how each is written on the command line, and which values it may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from agssl.base.errors import SettingsError, unknown_name

Alpha = float | str | Mapping[str, float] | None


@dataclass(frozen=True)
class Kind:
    """What a setting may be.

    Args:
        optional: whether it may be None, too.
    """

    metavar: ClassVar[str] = "NAME"  # stands for the value in the help of the command line
    optional: bool = False

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """The value that a text stands for; ValueError or SettingsError where it stands for none."""
        return text

    def check(self, name: str, value: Any) -> Any:
        """The value as it is kept, so that equal settings look equal: 1 and 1.0. One that makes no sense is refused.

        Args:
            name: of the setting, for the error.
            value: as it was given.
        """
        raise NotImplementedError

    def refuse(self, name: str, value: Any) -> SettingsError:
        """The error for a value that makes no sense."""
        return SettingsError(f"{name} = {value!r}, but it must be {self.words}")


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few names.

    >>> Choice(names=("jt", "pf")).words
    'one of jt, pf'
    """

    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return f"one of {', '.join(self.names)}"

    def check(self, name: str, value: Any) -> str:
        """A name that is not among them gets the nearest ones."""
        if value not in self.names:
            raise unknown_name(name, str(value), self.names)
        return str(value)


@dataclass(frozen=True)
class Name(Kind):
    """A name that a registry knows, with settings after colons; the registry says what is wrong with it."""

    example: str = ""

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return f"a name, e.g. {self.example}"

    def check(self, name: str, value: Any) -> str:
        """Any text will do."""
        if not isinstance(value, str):
            raise self.refuse(name, value)
        return value


@dataclass(frozen=True)
class Names(Kind):
    """Several such names; with `some`, a text without any is refused."""

    metavar: ClassVar[str] = "NAME,NAME"
    some: bool = False

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "a list of names, e.g. ('par', 'clu')"

    def parse(self, text: str) -> tuple[str, ...]:
        """The names between commas."""
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        if self.some and not names:
            raise SettingsError(f"the list {text!r} names nobody; name one at least, or leave the option out")
        return names

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """Any list of texts will do."""
        listed = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        if not listed or not all(isinstance(item, str) for item in value):
            raise self.refuse(name, value)
        return tuple(value)


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number. Where it may be None, files and the command line write 0 for that."""

    metavar: ClassVar[str] = "N"
    least: int = 1

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return f"a whole number of at least {self.least}"

    def parse(self, text: str) -> int:
        """The number."""
        return int(text)

    def check(self, name: str, value: Any) -> int:
        """True is no number, and neither is 2.0."""
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.least:
            raise self.refuse(name, value)
        return int(value)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number: 0 or above, unless 0 itself is left out.

    >>> Number(below=1).words, Number(zero=False, hint="0.01 is usual").words
    ('a number in [0, 1)', 'a number above 0 (0.01 is usual)')
    """

    metavar: ClassVar[str] = "X"
    below: float = float("inf")
    zero: bool = True
    hint: str = ""

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        if self.below < float("inf"):
            span = f"in {'[' if self.zero else '('}0, {self.below:g})"
        else:
            span = "0 or above" if self.zero else "above 0"
        return f"a number {span}" + (f" ({self.hint})" if self.hint else "")

    def parse(self, text: str) -> float:
        """The number."""
        return float(text)

    def check(self, name: str, value: Any) -> float:
        """NaN is in no range."""
        number = as_float(value)
        if not (0 < number < self.below or (self.zero and number == 0)):
            raise self.refuse(name, value)
        return number


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "true or false"

    def check(self, name: str, value: Any) -> bool:
        """Numbers are neither."""
        if not isinstance(value, bool):
            raise self.refuse(name, value)
        return value


@dataclass(frozen=True)
class TaskWeights(Kind):
    """A number for each of some tasks."""

    metavar: ClassVar[str] = "NAME=X"

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "a number for each task: par=1,clu=0.2"

    def parse(self, text: str) -> dict[str, float]:
        """As `parse_task_weights` has it."""
        return parse_task_weights(text)

    def check(self, name: str, value: Any) -> dict[str, float]:
        """Whether there are such tasks, the settings as a whole decide."""
        if not isinstance(value, Mapping):
            raise self.refuse(name, value)
        for task, weight in value.items():
            if not 0 <= as_float(weight) < float("inf"):
                raise SettingsError(f"{name}: {task} = {weight!r}, but it must be a number of 0 or above")
        return {task: float(weight) for task, weight in value.items()}


@dataclass(frozen=True)
class AlphaKind(Kind):
    """One number, one per task (or None there), or "auto"."""

    metavar: ClassVar[str] = "X"

    @property
    def words(self) -> str:
        """What a value must be, for people."""
        return "a number of 0 or above, one per task (par=10,clu=1), or auto"

    def parse(self, text: str) -> Alpha:
        """As `parse_alpha` has it."""
        return parse_alpha(text)

    def check(self, name: str, value: Any) -> Any:
        """Whether there are such tasks, the settings as a whole decide."""
        if isinstance(value, Mapping):
            return {task: None if one is None else self._number(task, one) for task, one in value.items()}
        return value if value == "auto" else self._number(name, value)

    def _number(self, name: str, value: Any) -> float:
        if not 0 <= as_float(value) < float("inf"):
            raise self.refuse(f"alpha of {name}", value)
        return float(value)


def as_float(value: Any) -> float:
    """A number as a float, infinite if too large for one; NaN, which is in no range, for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def parse_task_weights(text: str) -> dict[str, float]:
    """Task weights from the command line.

    >>> parse_task_weights("par=1,pairsim:target=feature=0.2")
    {'par': 1.0, 'pairsim:target=feature': 0.2}
    """
    try:
        pairs = [part.rsplit("=", 1) for part in text.split(",")]
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise SettingsError(f"task weights {text!r} are not understood; give one per task: par=1,clu=0.2") from None


def parse_alpha(text: str) -> Alpha:
    """Alpha from the command line: `10`, `auto`, or `par=10,clu=1`.

    >>> parse_alpha("par=10,clu=1")
    {'par': 10.0, 'clu': 1.0}
    """
    if text == "auto":
        return text
    try:
        if "=" not in text:
            return float(text)
        return {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise SettingsError(
            f"alpha {text!r} is not understood; give a number, auto, or one per task: par=10,clu=1"
        ) from None
