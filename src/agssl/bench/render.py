"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from agssl.bench.tables import Sheet

_LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}
_LATEX |= {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "α": r"$\alpha$"}
_LATEX |= {"β": r"$\beta$", "λ": r"$\lambda$", "<": r"$<$", ">": r"$>$"}


def markdown(sheet: Sheet) -> str:
    """One table of Markdown, its title above."""
    numbers = len(sheet.header) - 1 - sheet.words
    lines = [f"**{sheet.title}**", "", _row(sheet.header), _row(["---", *["---:"] * numbers, *["---"] * sheet.words])]
    for r, cells in enumerate(sheet.rows):
        lines.append(_row([f"**{cell}**" if (r, c) in sheet.best else cell for c, cell in enumerate(cells)]))
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def latex(sheet: Sheet) -> str:
    """One table of LaTeX (package booktabs)."""
    rows = [
        [f"\\textbf{{{_tex(cell)}}}" if (r, c) in sheet.best else _tex(cell) for c, cell in enumerate(cells)]
        for r, cells in enumerate(sheet.rows)
    ]
    body = [" & ".join(cells) + r" \\" for cells in rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(sheet.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(sheet.header) - 1)}}}",
            r"\toprule",
            " & ".join(_tex(cell) for cell in sheet.header) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows in long form, whatever columns they have; a number that is not there is empty."""
    buffer = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
