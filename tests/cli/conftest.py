"""A small graph on disk, and the command line as a function."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import agssl as agssl_package
from agssl.cli.main import main

QUICK = ("--epochs", "5", "--hidden", "8", "--tasks", "clu:clusters=3,pairdis", "--folds", "2")


@dataclass(frozen=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str


Agssl = Callable[..., Done]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    # commands that a test starts must find the package from another folder
    monkeypatch.setenv("PYTHONPATH", str(Path(agssl_package.__file__).parents[1]), prepend=os.pathsep)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def agssl(capfd: pytest.CaptureFixture[str]) -> Agssl:
    """Run a command line in this process."""

    def run(*argv: object) -> Done:
        capfd.readouterr()
        code = main([str(word) for word in argv])
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return run


def write_graph(folder: Path, split: bool = False) -> Path:
    """Forty nodes, x0 to x39, in two classes that their features and most of their edges tell apart."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 4)) + 2 * y[:, None]
    ends = rng.integers(0, 40, size=(2, 160))
    keep = (ends[0] < ends[1]) & ((y[ends[0]] == y[ends[1]]) | (rng.random(160) < 0.2))
    folder.mkdir(parents=True, exist_ok=True)
    # both ways, so that reading it gives no notice
    edges = dict.fromkeys(line for a, b in ends[:, keep].T for line in (f"x{a},x{b}", f"x{b},x{a}"))
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    parts = ["train", "train", "val", "val"]
    rows = [
        f"x{i},{','.join(f'{v:.4f}' for v in x[i])},{'ab'[y[i]]}" + (f",{parts[i % 4]}" if split else "")
        for i in range(40)
    ]
    header = "id,f0,f1,f2,f3,label" + (",split" if split else "")
    (folder / "nodes.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A folder with a small graph."""
    return write_graph(tmp_path / "small")


@pytest.fixture
def graph_without_test(tmp_path: Path) -> Path:
    """The same graph with a split that has no test nodes."""
    return write_graph(tmp_path / "no-test", split=True)


@pytest.fixture
def quick() -> tuple[str, ...]:
    """Options that make a fit take a moment."""
    return QUICK


@pytest.fixture(scope="session")
def fitted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small graph and a run of AGSSL on it with two seeds."""
    folder = tmp_path_factory.mktemp("fitted")
    words = ["fit", write_graph(folder / "small"), *QUICK, "--seeds", 2, "--jobs", 1, "--out", folder / "run"]
    with pytest.MonkeyPatch.context() as here:
        here.setenv("AGSSL_CACHE", str(folder / "cache"))
        assert main([str(word) for word in words]) == 0
    return folder


@pytest.fixture
def fitted(fitted_once: Path, graph: Path) -> Path:
    """A run of AGSSL on the small graph with two seeds: a copy, as if fitted here."""
    run = Path(shutil.copytree(fitted_once / "run", "fitted")).resolve()
    for name in ("run.json", "metrics.json", "MODEL_CARD.md"):
        text = (run / name).read_text()
        text = text.replace(str(fitted_once / "small"), str(graph)).replace(str(fitted_once / "run"), str(run))
        (run / name).write_text(text)
    return run
