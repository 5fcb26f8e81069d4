"""The tables under examples/ are what their script makes, and are read as the documentation says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from agssl.data.readers import read_graph

TABLES = Path(__file__).resolve().parent.parent / "examples" / "tables"


def test_the_script_makes_the_tables_that_are_there(tmp_path: Path) -> None:
    runpy.run_path(str(TABLES / "make.py"))["main"](tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert len(made) == 5
    assert all((tmp_path / path).read_bytes() == (TABLES / path).read_bytes() for path in made)
    assert sum((TABLES / path).stat().st_size for path in made) < 300_000


@pytest.mark.parametrize(
    ("name", "options", "lines"),
    [
        ("employees", {"encoding": "latin-1"}, ["rating: standardised, decimal comma", "company: dropped (constant)"]),
        ("products", {"id": "sku", "label": "fraud"}, ["stock: scaled", "brand: categories, hashed to 128 features"]),
        ("papers/papers.gml", {"label": "field"}, ["year: standardised", "venue: 3 categories"]),
    ],
)
def test_every_example_is_read(name: str, options: dict[str, str], lines: list[str]) -> None:
    graph = read_graph(TABLES / name, **options)  # type: ignore[arg-type]
    assert graph.columns is not None and set(lines) <= set(graph.columns.lines())
