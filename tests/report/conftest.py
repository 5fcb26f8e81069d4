"""Runs of a small graph, and the page of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agssl.cli.main import main
from agssl.store.run import Run
from reference.page import TASKS, Page, write_graph
from reference.tab import Tab, opened


@pytest.fixture(scope="session")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Fit the small graph, with a moment of training."""
    base = tmp_path_factory.mktemp("report")
    graph = write_graph(base / "graph")
    found: dict[tuple[str, ...], Run] = {}

    def run(*options: str) -> Run:
        if options not in found:
            out = base / f"run-{len(found)}"
            quick = ("--epochs", "6", "--hidden", "8", "--folds", "2", "--split", "per-class:5/5")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("AGSSL_CACHE", str(base / "cache"))
                assert main(["fit", str(graph), *quick, "--out", str(out), *options]) == 0
            found[options] = Run.open(out)
        return found[options]

    return run


@pytest.fixture(scope="session")
def run(fit: Callable[..., Run]) -> Run:
    """AGSSL, two seeds."""
    return fit("--tasks", TASKS, "--seeds", "2")


@pytest.fixture(scope="session")
def gcn(fit: Callable[..., Run]) -> Run:
    """The plain GCN on the same splits."""
    return fit("--method", "gcn", "--seeds", "2")


@pytest.fixture(scope="session")
def page_path(run: Run, gcn: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the second seed, with the GCN beside it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["report", str(run.path), "--seed", "1", "--baseline", str(gcn.path), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="session")
def page(page_path: Path) -> Page:
    """The same, taken apart."""
    return Page.read(page_path)


@pytest.fixture
def tab(browser: Any, page_path: Path) -> Iterator[Tab]:
    """The page, opened from disk; at the end nothing may have gone wrong, and no request have left it."""
    found = opened(browser, page_path, color_scheme="light")
    yield found
    assert found.troubles == []
    assert [url for url in found.requests if not url.startswith(("data:", "blob:"))] == [page_path.resolve().as_uri()]
    found.page.close()
