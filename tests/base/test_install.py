"""What a message says to install works."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from agssl.base import install
from agssl.base.errors import MissingExtraError
from agssl.base.install import install_line, missing_extra, packages

PROJECT = Path(__file__).resolve().parents[2]


def test_in_a_source_tree_the_folder_is_named() -> None:
    *pip, what = shlex.split(install_line("tune"))
    assert pip == ["pip", "install", "-e"]
    folder, extra = re.fullmatch(r"(.*)\[(\w+)\]", what).groups()
    assert extra == "tune" and Path(folder) == PROJECT


def test_elsewhere_the_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install, "ROOT", tmp_path)
    lines = ["numpy>=1.26", 'optuna>=4; extra == "tune"', "ray[train]>=2.51 ; extra == 'scale'"]
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    assert shlex.split(install_line("tune")) == ["pip", "install", "optuna>=4"]
    assert packages("scale") == ["ray[train]>=2.51"]
    assert str(missing_extra("tuning needs Optuna", "tune")) == (
        "tuning needs Optuna; install it with: pip install 'optuna>=4'"
    )
    assert isinstance(missing_extra("a", "tune"), MissingExtraError)


def test_every_extra_that_the_source_names_exists() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set()
    for path in (PROJECT / "src/agssl").rglob("*.py"):
        named |= set(re.findall(r'(?:missing_extra\(.*|install_line\()["\'](\w+)["\']\)', path.read_text()))
    assert named >= {"tune", "plot", "es", "pyg", "scale", "metis", "track"} and named <= set(extras)


def test_no_text_says_to_install_by_a_name_that_is_on_no_index() -> None:
    texts = [*(PROJECT / "docs").glob("*.md"), *PROJECT.glob("*.md"), *(PROJECT / "src/agssl").rglob("*.py")]
    wrong = [path.name for path in texts if re.search(r"pip install ['\"]?agssl", path.read_text())]
    assert texts and wrong == []
