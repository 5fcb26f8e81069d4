"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from agssl.data.graph import Graph
from agssl.data.splits import Split

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job; commands under test must hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


sys.path.insert(0, str(Path(__file__).parent))  # the naive oracles: `from reference import ...`

# for tests that do not say themselves how often: a few examples, or 200 with --hypothesis-profile=torture
settings.register_profile("quick", max_examples=12, deadline=None)
settings.register_profile("torture", max_examples=200, deadline=None)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """`agssl fit` in this process starts no others unless a test asks for them: most fits here are over in a second."""
    monkeypatch.setattr("agssl.cli.fit.cores", lambda: 1)


@pytest.fixture
def data_root() -> Path:
    """The folder with the raw datasets; tests that need it are skipped where there is none."""
    folder = os.environ.get("AGSSL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set AGSSL_DATA to the folder with the raw datasets to run this test")
    return Path(folder)


@pytest.fixture
def tiny_graph() -> Graph:
    """Twelve nodes in three rings of four, one class each, linked in a chain; node 11 is unlabelled."""
    ring = [(4 * r + i, 4 * r + (i + 1) % 4) for r in range(3) for i in range(4)]
    edges = np.array([*ring, (3, 4), (7, 8)]).T
    y = np.repeat([0, 1, 2], 4)
    x = np.eye(3, 5, dtype=np.float32)[y] + np.linspace(0, 1, 60, dtype=np.float32).reshape(12, 5)
    y[11] = -1
    split = Split(np.array([0, 4, 8]), np.array([1, 5, 9]), np.array([2, 3, 6, 7, 10]))
    return Graph.from_arrays(edges, x, y, classes=["a", "b", "c"], split=split, name="tiny", notify=False)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright; without one of them, the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    from reference.tab import CHROMIUM

    if CHROMIUM is None:
        pytest.skip("needs Chromium, as by: apt-get install chromium")
    with playwright.sync_playwright() as run:
        found = run.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()
