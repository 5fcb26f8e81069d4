"""What CONTRIBUTING.md shows works as it is written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from agssl.cli.main import main
from reference.plugins import forget_plugins

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
FILE = re.compile(r"As `(\w+\.py)`[^\n]*:\n\n```python\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"```bash\n(.*?)```", re.DOTALL)

FILES = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
LINES = [line for block in COMMANDS.findall(PAGE.read_text(encoding="utf-8")) for line in block.splitlines()]


@pytest.fixture(autouse=True)
def _beside_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_plugins(monkeypatch)
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


def test_the_page_has_a_task_and_an_integration_and_a_fit_of_each() -> None:
    assert {"degree.py", "confident.py"} <= set(FILES)
    for name in FILES:
        assert any(line.startswith("agssl fit") and f"--plugin {name}" in line for line in LINES), name


def test_every_code_block_is_a_file_that_a_command_uses() -> None:
    assert PAGE.read_text(encoding="utf-8").count("```python") == len(FILES)


def test_a_task_takes_thirty_lines() -> None:
    assert len(FILES["degree.py"].splitlines()) <= 30


@pytest.mark.parametrize("line", LINES)
def test_a_command_runs_as_written(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(line)
    assert program == "agssl"
    assert main(words) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    plugin = Path(words[words.index("--plugin") + 1]).stem
    assert plugin in printed
