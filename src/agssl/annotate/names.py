"""Names of classes that people type."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from agssl.base.errors import GraphError, SettingsError
from agssl.data.labels import MISSING, clean_labels

LONGEST = 200  # characters


def class_name(text: str, known: Iterable[str] = ()) -> str:
    """The name, trimmed; one that could not be read again as a class is refused.

    Args:
        text: what was typed.
        known: the classes that there are.

    >>> class_name("  red   fox "), class_name("1")
    ('red fox', '1')
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    known = set(known)
    if name in known:
        return name
    if not name:
        raise SettingsError("a class needs a name; type one")
    if len(name) > LONGEST:
        raise SettingsError(f"the name has {len(name)} characters, but {LONGEST} are the most; shorten it")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise SettingsError(f"the name {name!r} has characters that can't be shown; leave them out")
    if name == "-1" or name.lower() in MISSING:
        raise SettingsError(f"{name!r} is taken for no label when the file is read; choose another name")
    try:
        clean_labels(3 * [*known, name], required=len(known) > 0)  # numbers that are there once would be measurements
    except GraphError as error:
        raise SettingsError(f"{name!r} can't be a class: {error}") from error
    return name
