"""RESULTS.md: every table and figure, from the records that are there, each with what made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agssl.base.atomic import write_text
from agssl.bench.artifacts import Artifact
from agssl.bench.cells import unique
from agssl.bench.output import text_of, write_figures
from agssl.bench.records import CellRecord, Records
from agssl.bench.scope import Scope

_HEAD = """\
# Results

Written by `agssl bench results` from the records of `agssl bench`; not edited by hand. Accuracies are percentages on
test nodes, mean ± sample standard deviation over seeds. Settings are defaults, or come from the package's configs,
which were tuned by validation nodes alone on seeds other than those reported; no test label is read before the one
final measurement. Where a cell says *missing*, it has not been run. "The paper" is *Automated Graph Self-supervised
Learning via Multi-teacher Knowledge Distillation*; its numbers are quoted for comparison.
"""


def write_results(
    artifacts: dict[str, Artifact], scope: Scope, records: Records, home: Path, pictures: str = "docs/figures"
) -> list[Path]:
    """Write RESULTS.md into a folder, and the figures below it; gives the files.

    Args:
        artifacts: what to show, by name, in order.
        scope: usually the default: everything.
        records: what there is.
        home: the folder.
        pictures: where the figures go, below it.
    """
    parts, paths = [_HEAD], []
    for name, artifact in artifacts.items():
        rendered = artifact.render(scope, records)
        cells = unique(artifact.cells(scope))
        found = records.of(cells) or rendered.sources
        parts.append(f"## {artifact.title}\n\n{provenance(name + scope.options, len(cells), found)}\n")
        paths += write_figures(home / pictures, rendered.figures)
        parts += [f"[![{artifact.title}]({pictures}/{f}.png)]({pictures}/{f}.svg)\n" for f in rendered.figures]
        parts.append(text_of(rendered.table))
    write_text(home / "RESULTS.md", "\n".join(parts))
    return [home / "RESULTS.md", *paths]


def provenance(what: str, wanted: int, found: Sequence[CellRecord]) -> str:
    """How a table was made: command, cells, seeds, commits, versions, machine kinds.

    Args:
        what: the command, after `agssl bench`.
        wanted: cells that belong to it; 0 if its numbers don't come from cells.
        found: the records that there are.
    """
    lines = [f"`agssl bench {what}`"]
    if wanted:
        lines[0] += f": all {wanted} cells" if len(found) == wanted else f": {len(found)} of {wanted} cells"
    if found:
        lines.append(f"seeds {_seeds(found)}")
        lines.append("commit " + _listed(record["commit"] or "unknown" for record in found))
        lines.append("agssl " + _listed(record["agssl"] for record in found))
        lines.append(_listed(_machine(record) for record in found))
        configs = {record["config"] for record in found} - {None}
        lines.append(f"settings from {_listed(configs)}, else defaults" if configs else "default settings")
    return "; ".join(lines) + "."


def _seeds(found: Iterable[CellRecord]) -> str:
    """Which datasets had which seeds."""
    by_dataset: dict[str, set[int]] = {}
    for record in found:
        by_dataset.setdefault(record["dataset"], set()).add(record["seed"])
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


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _machine(record: CellRecord) -> str:
    kind = record["machine"]
    threads = f"{kind['threads']} thread{'s' * (kind['threads'] > 1)} per cell"
    return f"{kind['processor']}, {kind['cores']} cores, {threads}, torch {kind['torch']}"
