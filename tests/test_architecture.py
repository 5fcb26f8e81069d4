"""docs/architecture.md tells the truth, and the layers it shows are enforced."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "agssl"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0][
    "layers"
]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\b[a-z_]+/[a-z_]+\.py\b", PAGE))))
def test_a_file_that_the_page_names_is_there(path: str) -> None:
    assert (PACKAGE / path).is_file()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\b([a-z_]+/[a-z_]+\.[A-Za-z_]+)\b(?!\.py)", PAGE))))
def test_a_function_that_the_page_names_is_there(name: str) -> None:
    module, _, thing = name.partition(".")
    if thing in ("py", "csv"):
        return
    text = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
    assert re.search(rf"^(def|class) {thing}\b", text, re.MULTILINE), f"{module}.py has no {thing}"


def test_the_layers_of_the_page_are_those_that_are_enforced() -> None:
    section = PAGE.split("## Layers")[1].split("## Settings")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    shown = [sorted(re.findall(r"`([a-z]+)`", row)) for row in rows]
    assert shown == [sorted(layer.split(" | ")) for layer in LAYERS]


def test_an_import_from_above_breaks_the_contract(tmp_path: Path) -> None:
    pytest.importorskip("importlinter")
    shutil.copytree(PACKAGE, tmp_path / "agssl", ignore=shutil.ignore_patterns("__pycache__", "page"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with open(tmp_path / "agssl" / "ops" / "csr.py", "a", encoding="utf-8") as file:
        file.write("\n\ndef later() -> None:\n    from agssl.train import loop\n")
    command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "agssl.ops is not allowed to import agssl.train" in done.stdout
