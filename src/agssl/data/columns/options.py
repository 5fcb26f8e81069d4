"""How to read a table: which columns are what, how the file is written, and what to make of the features."""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agssl.base.errors import SettingsError, unknown_name

LISTS = ("drop", "categorical", "numeric", "text")


@dataclass(frozen=True)
class TableOptions:
    """What may be said about tables; whatever is not said is guessed where that is safe.

    Args:
        id: the column of `nodes` with the nodes' ids.
        source: the column of `edges` where an edge begins.
        target: the column of `edges` where an edge ends.
        sep: what separates cells.
        encoding: of the characters, "utf-8" by default.
        drop: columns to leave out.
        categorical: columns of categories, whatever they look like.
        numeric: columns of numbers.
        text: columns of text, to be turned to TF-IDF.
        encode: False takes numbers as they are and refuses anything else.

    >>> TableOptions.of({"drop": "a, b", "sep": ";"}).given()
    {'sep': ';', 'drop': ['a', 'b']}
    """

    id: str | None = None
    source: str | None = None
    target: str | None = None
    sep: str | None = None
    encoding: str = "utf-8"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    encode: bool = True

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> TableOptions:
        """Checked options; lists of columns may be texts with commas."""
        names = [f.name for f in dataclasses.fields(cls)]
        for name in options:
            if name not in names:
                raise unknown_name("option", str(name), names)
        values = {name: value for name, value in options.items() if value is not None}
        made = cls(**(values | {name: _names(values[name], name) for name in LISTS if name in values}))
        made._check()
        return made

    def _check(self) -> None:
        for name in ("id", "source", "target", "sep", "encoding"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise SettingsError(f"{name} = {value!r}, but it must be text")
        if self.sep is not None and (len(self.sep) != 1 or not self.sep.isascii() or self.sep in '"\n\r\0'):
            raise SettingsError(f"sep = {self.sep!r}, but cells are separated by one character: , ; | or a tab (\\t)")
        try:
            text_codec = codecs.lookup(self.encoding)._is_text_encoding
        except (LookupError, ValueError):
            text_codec = False
        if not text_codec:
            raise SettingsError(f"encoding = {self.encoding!r} is not known; give utf-8, latin-1, cp1252, utf-16 ...")
        if not isinstance(self.encode, bool):
            raise SettingsError(f"encode = {self.encode!r}, but it is true or false")
        seen: dict[str, str] = {}
        for kind in LISTS:
            for name in getattr(self, kind):
                if seen.setdefault(name, kind) != kind:
                    raise SettingsError(f"the column {name!r} is in {seen[name]} and in {kind}; leave it in one")

    def given(self) -> dict[str, Any]:
        """What is not as by default, ready for JSON."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        given = {f.name: values[f.name] for f in dataclasses.fields(self) if values[f.name] != f.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    def kind_of(self, name: str) -> str | None:
        """In which list a column is, if any."""
        return next((kind for kind in LISTS if name in getattr(self, kind)), None)

    def check_names(self, names: Iterable[str], where: str) -> None:
        """Insist that every column that is named is there."""
        known = list(names)
        for kind in LISTS:
            for name in getattr(self, kind):
                if name not in known:
                    error = unknown_name("column", name, known)
                    raise SettingsError(f"{kind}: {error} (the feature columns of {where})")


def _names(value: Any, option: str) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise SettingsError(f"{option} = {value!r}, but it must be names of columns, with commas between them")
    return tuple(name.strip() for name in names if name.strip())
