"""One HTML file that needs nothing else: the data, the style and the script inside, and no way to the network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from agssl.report.arrays import pack
from agssl.store.run_writer import plain


def page(data: Mapping[str, Any], arrays: Mapping[str, np.ndarray], title: str) -> str:
    """The page that shows this data.

    What comes from a user's files can't become markup: the script writes it as text only, and the policy lets no
    other script run.
    """
    where, packed = pack(arrays)
    script = _file("page.js")
    parts = {
        "TITLE": html.escape(title),
        "POLICY": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{_digest(script)}'",
        "STYLE": _file("style.css"),
        "DATA": embedded({**data, "glossary": glossary(), "arrays": where}),
        "ARRAYS": packed,
        "SCRIPT": script,
    }
    pieces = _file("page.html").split("@@")  # text, NAME, text, NAME, ..., text
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def glossary() -> dict[str, str]:
    """Words and their meanings, in a line each; what the page explains where they stand, and docs/glossary.md lists."""
    found: dict[str, str] = json.loads(_file("glossary.json"))
    return found


def embedded(value: Any) -> str:
    r"""JSON that can stand in a script element whatever its strings hold.

    >>> embedded("</script>")
    '"\\u003c/script>"'
    """
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _file(name: str) -> str:
    return (files("agssl.report") / "page" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
