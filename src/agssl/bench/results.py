"""`agssl bench results`: RESULTS.md and the pages below docs/research, from the records that are there.

Nothing in these pages is written by hand: numbers come from records, and each table has the command that makes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agssl.base.atomic import write_text
from agssl.bench.artifacts import Artifact, Draw
from agssl.bench.cells import unique
from agssl.bench.findings import FINDINGS
from agssl.bench.output import text_of, write_figures
from agssl.bench.records import CellRecord, Records
from agssl.bench.render import markdown
from agssl.bench.scope import Scope
from agssl.bench.shortfalls import shortfall_sheets
from agssl.bench.site import PAGES, Page
from agssl.bench.trim import trimmed

FOLDER, PICTURES = Path("docs/research"), Path("docs/figures")
_MADE = "*Written by `agssl bench results` from the records of `agssl bench`; not edited by hand.*"
_READ = """\
Accuracies are percentages on test nodes, mean ± sample standard deviation over seeds. Settings are defaults, or come
from the package's configs, which were tuned by validation nodes alone on seeds other than those reported; no test label
is read before the one final measurement. What was not run is left out, and named below its table. "The paper" is
*Automated Graph Self-supervised Learning via Multi-teacher Knowledge Distillation*; its numbers are quoted for
comparison. Which commit and machine made a number, its record says (`results/bench`, one line of JSON per fit;
[what a record holds](../bench.md#what-a-record-holds)).
"""
_NOTES = "- [Lab notes](notes.md): what was tried, by date, with the commands and records behind it"
_SHORT = "Where the paper's figures are not reached"


@dataclass(frozen=True)
class _Site:
    """What the pages are made of, and where they go."""

    artifacts: Mapping[str, Artifact]
    scope: Scope
    records: Records
    home: Path

    def picture(self, title: str, name: str) -> str:
        """A figure that was drawn, as pages show it."""
        where = os.path.relpath(PICTURES / name, FOLDER)
        return f"[![{title}]({where}.png)]({where}.svg)\n"

    def draw(self, figures: Mapping[str, Draw]) -> list[Path]:
        """Draw figures; gives their files."""
        return write_figures(self.home / PICTURES, figures)

    def write(self, file: str, parts: Sequence[str]) -> Path:
        """Write a page; gives its file."""
        path = self.home / FOLDER / file
        write_text(path, "\n".join(parts))
        return path

    @property
    def pages(self) -> list[Page]:
        """Those with something that was asked for."""
        return [page for page in PAGES if any(name in self.artifacts for name in page.artifacts)]


def write_results(artifacts: Mapping[str, Artifact], scope: Scope, records: Records, home: Path) -> list[Path]:
    """Write the pages and their figures below a folder; gives the files, RESULTS.md first.

    Args:
        artifacts: what to show, by name.
        scope: usually the default: everything.
        records: what there is.
        home: the folder.
    """
    site = _Site(artifacts, scope, records, home)
    paths = [*_start(site), site.write("shortfalls.md", _shortfalls(site))]
    for page in site.pages:
        paths += _tables(site, page)
    short = f"# Results\n\n{_MADE}\n\n[What was found]({FOLDER}/index.md), and every table:\n"
    path = home / "RESULTS.md"
    write_text(path, "\n".join([short, *_links(site, f"{FOLDER}/"), ""]))
    return [path, *paths]


def _links(site: _Site, folder: str = "") -> list[str]:
    links = [f"- [{page.title}]({folder}{page.file}): {page.about}" for page in site.pages]
    links.append(f"- [{_SHORT}]({folder}shortfalls.md), why, and what shows it")
    return [*links, _NOTES.replace("notes.md", f"{folder}notes.md")]


def _start(site: _Site) -> list[Path]:
    """The page with the findings, and their figures."""
    parts, paths = [f"# Findings\n\n{_MADE}\n"], []
    for number, finding in enumerate((found for one in FINDINGS if (found := one(site.scope, site.records))), 1):
        name, draw = finding.figure
        paths += site.draw({name: draw})
        parts.append(f"## {number}. {finding.title}\n\n{finding.text}\n")
        parts.append(site.picture(finding.title, name))
        parts.append(f"`agssl bench {finding.command}` ([all numbers]({finding.page})).\n")
    if not paths:
        parts.append("Nothing was run yet.\n")
    parts.append(f"## All tables\n\n{_READ}")
    return [site.write("index.md", [*parts, *_links(site), ""]), *paths]


def _shortfalls(site: _Site) -> list[str]:
    sheets = [markdown(sheet) for sheet in shortfall_sheets(site.scope, site.records)]
    about = (
        "Each row is a figure of the paper that was not found again, with the cause as far as it is known and what "
        "shows it. Rows are those of the records; causes are told in words, their numbers are in the "
        "[lab notes](notes.md).\n"
    )
    return [f"# {_SHORT}\n\n{_MADE}\n", about, *(sheets or ["Nothing that was run is below the paper.\n"])]


def _tables(site: _Site, page: Page) -> list[Path]:
    """A page with its tables and figures."""
    parts, paths = [f"# {page.title}\n\n{page.about}\n\n{_MADE} [How to read it](index.md#all-tables).\n"], []
    for name in page.artifacts:
        if name not in site.artifacts:
            continue
        artifact = site.artifacts[name]
        rendered = artifact.render(site.scope, site.records)
        found = site.records.of(unique(artifact.cells(site.scope))) or rendered.sources
        parts.append(f"## {artifact.title}\n\n{made_by(name + site.scope.options, found)}\n")
        if found:
            paths += site.draw(rendered.figures)
            parts += [site.picture(artifact.title, figure) for figure in rendered.figures]
        parts.append(text_of(trimmed(rendered.table)))
    return [site.write(page.file, parts), *paths]


def made_by(what: str, found: Sequence[CellRecord]) -> str:
    """How a table was made: command, fits, seeds, settings.

    Args:
        what: the command, after `agssl bench`.
        found: the records that there are.
    """
    parts = [f"`agssl bench {what}`"]
    if found:
        parts += [f"{len(found)} records", f"seeds {_seeds(found)}"]
        configs = {record["config"] for record in found} - {None}
        parts.append(f"settings from {', '.join(sorted(configs))}, else defaults" if configs else "default settings")
    return "; ".join(parts) + "."


def _seeds(found: Iterable[CellRecord]) -> str:
    """Which datasets had which seeds."""
    by_dataset: dict[str, set[int]] = {}
    for record in found:
        by_dataset.setdefault(Path(record["dataset"]).stem, set()).add(record["seed"])
    groups: dict[str, list[str]] = {}
    for dataset, seeds in by_dataset.items():
        groups.setdefault(_runs(sorted(seeds)), []).append(dataset)
    return ", ".join(f"{seeds} ({', '.join(names)})" for seeds, names in groups.items())


def _runs(numbers: list[int]) -> str:
    """Numbers in brief.

    >>> _runs([0, 1, 2, 5])
    '0-2 5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
