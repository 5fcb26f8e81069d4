"""Writing what a table or figure shows: Markdown, CSV, LaTeX, and pictures as PNG and SVG."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from agssl.base.atomic import write_bytes, write_text
from agssl.bench.artifacts import Draw, Rendered
from agssl.bench.render import csv_of, latex, markdown
from agssl.bench.tables import Table


def text_of(table: Table) -> str:
    """A table in Markdown, its notes below."""
    return "\n".join([*map(markdown, table.sheets), *(f"{note}\n" for note in table.notes)])


def write_rendered(folder: Path, name: str, rendered: Rendered) -> list[Path]:
    """Write everything below a folder; gives the files."""
    table = rendered.table
    texts = {
        f"{name}.md": text_of(table),
        f"{name}.csv": csv_of(table.entries),
        f"{name}.tex": "\n".join(map(latex, table.sheets)),
    }
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts] + write_figures(folder, rendered.figures)


def write_figures(folder: Path, figures: Mapping[str, Draw]) -> list[Path]:
    """Draw figures as PNG and SVG; gives the files."""
    if not figures:
        return []
    from agssl.explain.plots import check_plotting

    check_plotting()
    import matplotlib

    paths = []
    # text stays text, and the same numbers give the same file
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "agssl"}):
        for name, draw in figures.items():
            figure = draw()
            for ending, about in (("png", {"Software": None}), ("svg", {"Date": None})):
                buffer = io.BytesIO()
                figure.savefig(buffer, format=ending, metadata=about)
                write_bytes(folder / f"{name}.{ending}", buffer.getvalue())
                paths.append(folder / f"{name}.{ending}")
    return paths
