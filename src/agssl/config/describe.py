"""How a field of the settings is described: once, beside its default, for all who need to know."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from agssl.config.kinds import Kind

T = TypeVar("T")
Value = float | str


@dataclass(frozen=True)
class SearchRange:
    """What `agssl tune` tries for a setting, in order.

    Args:
        values: smallest first, where they are numbers.
        per_task: whether each task has its own.
        on_request: whether it is searched only where it is named.
        useful: whether settings leave anything to choose.
    """

    values: tuple[Value, ...]
    per_task: bool = False
    on_request: bool = False
    useful: Callable[[Any], bool] = lambda settings: True


@dataclass(frozen=True)
class Description:
    """Everything there is to know of a setting but its name.

    Args:
        default: its value where nothing is said.
        kind: what it may be.
        help: what it is, in one line.
        methods: those that read it; None: all.
        search: what to try for it; None: it is not searched.
        counts: whether settings as a whole leave it any part in the result.
    """

    default: Any
    kind: Kind
    help: str
    methods: tuple[str, ...] | None = None
    search: SearchRange | None = None
    counts: Callable[[Any], bool] = lambda settings: True

    def read_by(self, method: str) -> bool:
        """Whether a method's result may depend on it."""
        return self.methods is None or method in self.methods

    def check(self, name: str, value: Any) -> Any:
        """The value as it is kept; see `Kind.check`."""
        return None if value is None and self.kind.optional else self.kind.check(name, value)

    @property
    def default_text(self) -> str:
        """The default as one writes it on the command line; "" for None."""
        value = self.default
        return "" if value is None else ",".join(value) if isinstance(value, tuple) else str(value)


def setting(
    *,
    default: T,
    kind: Kind,
    help: str,
    methods: tuple[str, ...] | None = None,
    search: SearchRange | None = None,
    counts: Callable[[Any], bool] = lambda settings: True,
    kw_only: bool = True,
) -> T:
    """A field with its description; `kw_only` is false for those that the estimator also takes by position."""
    about = Description(default, kind, help, methods, search, counts)
    field: Any = dataclasses.field(default=default, kw_only=kw_only, metadata={"setting": about})
    return field


@dataclass_transform(kw_only_default=True, field_specifiers=(setting, dataclasses.field))
def described(cls: type[T]) -> type[T]:
    """Make a dataclass of such fields; type checkers and `inspect.signature` see an `__init__` with all of them."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


def documented(cls: type[T]) -> type[T]:
    """Put what is known of each setting in place of `{settings}` in the docstring of a class with such fields."""
    if cls.__doc__ is not None:
        cls.__doc__ = cls.__doc__.replace("{settings}", "\n        ".join(_lines(descriptions(cls))))
    return cls


def descriptions(cls: Any) -> dict[str, Description]:
    """The descriptions of a class's fields, by name; fields without one are left out."""
    fields = dataclasses.fields(cls)
    return {field.name: field.metadata["setting"] for field in fields if "setting" in field.metadata}


def _lines(found: dict[str, Description]) -> Iterable[str]:
    for name, about in found.items():
        words = about.kind.words + (", or None" if about.kind.optional else "")
        read = f" Read by {', '.join(about.methods)}." if about.methods else ""
        text = f"{name}: {about.help}. {words[0].upper()}{words[1:]}, by default {about.default!r}.{read}"
        yield textwrap.fill(text, 110, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False)
