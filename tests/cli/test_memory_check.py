"""`agssl fit` asks for memory before it trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agssl.train import memory


def test_a_fit_too_large_for_the_memory_is_refused_unless_asked(
    agssl: Any, graph: Path, quick: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 50 << 20)
    monkeypatch.setattr(memory, "held_memory", lambda: 0)
    done = agssl("fit", graph, *quick, "--out", "run")
    assert done.code == 2
    assert "50 MB is free" in done.err and "--no-memory-check" in done.err and not Path("run").exists()
    assert agssl("fit", graph, *quick, "--out", "run", "--no-memory-check").code == 0
