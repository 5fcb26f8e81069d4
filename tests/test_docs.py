"""The guide: its pages are reached, its code runs as it is written, and every parameter is described."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import agssl
from agssl.cli.main import main
from agssl.serve.requests import PredictRequest
from reference.plugins import forget_plugins

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the docs are not here")
BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.M | re.S)
NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8") if DOCS.exists() else ""
GUIDES = re.findall(r"(?<=: )\S+\.md", NAV.partition("- Start:")[2].partition("- Reference:")[0])  # and the start pages
SETUP = {"pip", "python3", ".", "docker"}  # programs that set up a machine; test_package.py installs
MISSING = [name for name in ("mlflow",) if find_spec(name) is None]  # packages that the extra `dev` leaves out
QUICK = ("--epochs", "2", "--hidden", "8", "--jobs", "1")  # enough to see that it works


def blocks(path: Path) -> list[tuple[str, str, str]]:
    return BLOCK.findall(path.read_text(encoding="utf-8"))


@pytest.fixture
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own, and fits of a moment."""
    forget_plugins(monkeypatch)
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write_my_graph(tmp_path / "my-graph")
    fit = agssl.AGSSL.fit

    def quick(self: Any, *args: Any, **more: Any) -> Any:
        epochs, hidden = self.epochs, self.hidden
        found = fit(self.set_params(epochs=2, hidden=8), *args, **more)
        return found.set_params(epochs=epochs, hidden=hidden)

    monkeypatch.setattr(agssl.AGSSL, "fit", quick)
    return


def write_my_graph(folder: Path) -> None:
    """What the pages call the user's own graph."""
    folder.mkdir()
    rows = (f"x{i},{20 + i},{('Rome', 'Bonn')[i % 2]},{('no', 'yes')[i % 2] if i < 24 else ''}" for i in range(30))
    (folder / "nodes.csv").write_text("\n".join(["id,age,city,label", *rows]))
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(f"x{i},x{(i + 2) % 30}" for i in range(30)))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The services that `agssl serve` would have run until it is stopped."""
    server = pytest.importorskip("agssl.serve.server", reason="needs the extra serve")
    apps: list[Any] = []
    monkeypatch.setattr(server, "serve", lambda app, *_: apps.append(app))
    return apps


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("page", GUIDES)
def test_every_block_of_a_guide_runs(page: str, served: list[Any], capfd: pytest.CaptureFixture[str]) -> None:
    path, names = DOCS / page, dict[str, Any]()
    for language, title, code in blocks(path):
        if title:
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(code, encoding="utf-8")
        elif language == "python":
            if not any(f"import {name}" in code for name in MISSING):
                exec(compile(code, f"{path.name}", "exec"), names)
        elif language == "bash" and code.startswith("curl "):
            asked = PredictRequest.parse(shlex.split(code)[-1].encode(), most=1000)
            (answer,) = served[-1].service.predict([asked])
            assert not isinstance(answer, Exception), answer
        elif language == "bash":
            for line in code.replace("\\\n", " ").splitlines():
                program, *words = shlex.split(line, comments=True)
                if program not in SETUP:
                    assert program == "agssl", line
                    words += {"fit": QUICK, "serve": ("--port", "0")}.get(words[0], ())
                    assert main(words) == 0, f"{line}\n{capfd.readouterr().err}"
        else:
            assert language == "text", f"{path.name} has a block of {language or 'no language'}, which nothing runs"


def test_the_start_page_answers_ten_questions_in_one_click() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+\? \| \[[^\]]+\]\(([^)]*)\) \|$", text, re.M)
    assert len(rows) == 10
    for target in rows:
        page, _, anchor = target.partition("#")
        body = (DOCS / (page or "index.md")).read_text(encoding="utf-8")
        heads = [
            re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
            for head in re.findall(r"^#+ (.*)$", body, re.M)
        ]
        assert not anchor or anchor in heads, target


def parameters(thing: Any) -> list[str]:
    skipped = {"self", "cls"}
    return [name for name in inspect.signature(thing).parameters if name not in skipped]


def test_all_start_pages_and_guides_are_run() -> None:
    assert {f"guides/{path.name}" for path in (DOCS / "guides").glob("*.md")} < set(GUIDES)
    assert {"index.md", "start.md", "reading.md", "install.md", "serving.md"} < set(GUIDES)


def members(cls: type) -> list[tuple[str, Any]]:
    found = [(cls.__name__, cls)]
    for name, value in vars(cls).items():
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not name.startswith("_") and inspect.isfunction(inner):
            found.append((f"{cls.__name__}.{name}", inner))
    return found


def public(name: str) -> list[tuple[str, Any]]:
    thing = getattr(agssl, name)
    if not callable(thing):  # a registry: one class for all
        thing = type(thing)
    return members(thing) if inspect.isclass(thing) else [(name, thing)]


PUBLIC = sorted(
    {found for name in agssl.__all__ if name != "__version__" for found in public(name)}, key=lambda one: one[0]
)


@pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_parameter_of_a_public_name_is_described(name: str, thing: Any) -> None:
    text = inspect.getdoc(thing) or ""
    missing = [one for one in parameters(thing) if not re.search(rf"^\s+{one}: |`{one}`", text, re.M)]
    assert not missing, f"{name} says nothing of {', '.join(missing)}"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocstrings", reason="needs the extra docs")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/reference/api/index.html").read_text(encoding="utf-8")
    assert "random_state" in page and "{settings}" not in page


def test_the_version_is_the_same_wherever_it_stands() -> None:
    version = agssl.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_readme_fits_a_screen_and_links_to_what_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 45
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert len(targets) > 8 and all((ROOT / target).exists() for target in targets)
