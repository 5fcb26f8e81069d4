"""The glossary of the page and that of the docs are one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agssl.report.page import glossary

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"


def test_the_docs_list_the_words_of_the_page() -> None:
    if not PAGE.exists():
        pytest.skip("the docs are not here")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.M)[1:]
    listed = {name.strip("`"): text for name, text in rows if not name.startswith("-")}
    assert listed == glossary()


def test_meanings_are_one_line() -> None:
    assert all(text.endswith(".") and "\n" not in text and len(text) < 170 for text in glossary().values())
