"""Settings in files: TOML, and the names that earlier versions wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError, unknown_name
from agssl.config.fields import DESCRIBED
from agssl.config.kinds import Whole
from agssl.config.old_names import renamed
from agssl.config.settings import Settings

RUN_KEYS = ("split", "seeds")  # what a config file may set beside the settings


def read_toml(path: str | Path, also: Iterable[str] = ()) -> dict[str, Any]:
    """The settings in a TOML file: names as in `Settings`, dashes or underscores; unknown ones are refused.

    Args:
        path: the file.
        also: further names that the caller understands; their values come back unchecked.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"can't read the config {path}: {error.strerror}; check the path") from error
    except (ValueError, RecursionError) as error:  # tomllib's own error is a ValueError, as is one of UTF-8
        raise SettingsError(f"the config {path} is not valid TOML: {error}") from error
    values = none_for_zero(renamed({name.replace("-", "_"): value for name, value in values.items()}))
    known = set(DESCRIBED) | set(also)
    for name in values:
        if name not in known:
            raise unknown_name("setting", name, known)
    Settings().replace(**{name: value for name, value in values.items() if name not in also})
    return values


def none_for_zero(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as files and the command line write them, which know no None: there it is 0, of a whole number.

    >>> none_for_zero({"patience": 0, "beta": 0})
    {'patience': None, 'beta': 0}
    """
    found = dict(values)
    for name, value in values.items():
        kind = DESCRIBED[name].kind if name in DESCRIBED else None
        if isinstance(kind, Whole) and kind.optional and value == 0:
            found[name] = None
    return found
