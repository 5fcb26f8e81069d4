"""From records to numbers: means and deviations, differences to the paper and to GCN, average ranks."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agssl.bench.cells import Cell
from agssl.bench.paper import Published
from agssl.bench.records import CellRecord, Records

MISSING = "missing"
_ACCURACY = "test accuracy in %"


@dataclass(frozen=True)
class Entry:
    """One place of a table, over seeds; accuracies and differences in points of percent."""

    row: str
    column: str
    wanted: int  # seeds asked for
    scores: Mapping[int, float] = field(default_factory=dict)  # by seed, those that are there
    gains: tuple[float, ...] = ()  # ours minus the baseline's, for every seed that both have
    paper: Published | None = None
    block: str = ""  # jt or pf, or whatever else divides the table

    @property
    def values(self) -> tuple[float, ...]:
        """One per seed."""
        return tuple(self.scores.values())

    @property
    def mean(self) -> float | None:
        """Over seeds."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def std(self) -> float | None:
        """The sample standard deviation; None for fewer than two seeds."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper[0]

    @property
    def gain(self) -> float | None:
        """Mean paired difference to the baseline."""
        return statistics.fmean(self.gains) if self.gains else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95% interval by Student's t; None for fewer than two pairs."""
        return interval(self.gains)

    def filled(self, records: Records, cells: Sequence[Cell], baseline: Sequence[Cell]) -> Entry:
        """With the accuracies of some cells, paired with the baseline's on the seeds that both have."""
        ours, base = accuracies(records.of(cells)), accuracies(records.of(baseline))
        gains = tuple(value - base[seed] for seed, value in ours.items() if seed in base)
        return replace(self, scores=ours, gains=gains)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for CSV and JSON."""
        low, high = self.interval or (None, None)
        mean, std = self.paper or (None, None)
        return {
            "block": self.block,
            "row": self.row,
            "column": self.column,
            "seeds": len(self.values),
            "wanted": self.wanted,
            "mean": self.mean,
            "std": self.std,
            "paper_mean": mean,
            "paper_std": std,
            "difference": self.difference,
            "gain": self.gain,
            "gain_low": low,
            "gain_high": high,
        }


def interval(differences: Sequence[float]) -> tuple[float, float] | None:
    """The 95% t-interval of the mean of paired differences."""
    if len(differences) < 2:
        return None
    from scipy.stats import t

    middle = statistics.fmean(differences)
    half = float(t.ppf(0.975, len(differences) - 1)) * statistics.stdev(differences) / len(differences) ** 0.5
    return middle - half, middle + half


def accuracies(records: Iterable[CellRecord]) -> dict[int, float]:
    """Test accuracy in percent by seed."""
    return {record["seed"]: 100 * record["test"]["accuracy"] for record in records if record["test"] is not None}


Scores = Mapping[int, float]  # by seed


def average_ranks(scores: Mapping[str, Mapping[str, Scores]]) -> tuple[dict[str, float], list[str]]:
    """The mean rank of each row (1: highest) over columns, and those columns.

    Like is compared with like: a row sets the columns and seeds, those that it has, and is ranked among the rows that
    have all of them, too. Of all such choices, the one that compares most numbers: a row that was hardly run gets no
    rank, rather than have the ranks of all rest on little.

    Args:
        scores: by row and column.
    """
    from scipy.stats import rankdata

    choices = []
    for own in scores.values():
        seeds = {column: set(found) for column, found in own.items() if found}
        rows = [row for row, has in scores.items() if all(some <= set(has[c]) for c, some in seeds.items())]
        if seeds and len(rows) > 1:
            choices.append((rows, seeds))
    if not choices:
        return {}, []
    rows, seeds = max(choices, key=lambda choice: (len(choice[0]) * sum(map(len, choice[1].values())), len(choice[1])))
    ranks = [
        rankdata([-statistics.fmean(scores[row][c][seed] for seed in some) for row in rows])
        for c, some in seeds.items()
    ]
    return {row: float(statistics.fmean(r[i] for r in ranks)) for i, row in enumerate(rows)}, list(seeds)


@dataclass(frozen=True)
class Sheet:
    """A table as text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()  # (row, column) to stand out
    words: int = 0  # so many of the last columns are text, not numbers


@dataclass(frozen=True)
class Table:
    """Everything there is to show of one table or figure but pictures."""

    sheets: list[Sheet] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)  # the same in long form, for CSV and JSON
    notes: list[str] = field(default_factory=list)


def accuracy_sheets(
    title: str,
    entries: Sequence[Entry],
    paper_too: bool = True,
    whose: str = "the paper's",
    what: str = _ACCURACY,
) -> list[Sheet]:
    """Ours with the average rank; the paper's (or whose else) and the difference; the paired difference to GCN."""
    rows = list(dict.fromkeys(e.row for e in entries))
    columns = list(dict.fromkeys(e.column for e in entries))
    at = {(e.row, e.column): e for e in entries}
    ranks, ranked = average_ranks({row: {c: at[row, c].scores for c in columns} for row in rows})
    best = {(_best([at[row, c] for row in rows]), number + 1) for number, c in enumerate(columns)}
    ours = Sheet(
        f"{title}: {what}",
        ("", *columns, f"average rank{_over(ranked, columns)}"),
        tuple((row, *(mean_text(at[row, c]) for c in columns), _rank(ranks, row)) for row in rows),
        frozenset((r, c) for r, c in best if r is not None),
    )
    published, known = average_ranks({row: {c: _published(at[row, c]) for c in columns} for row in rows})
    of_paper = whose == "the paper's"
    absent, where = ("not in the paper", "in the paper") if of_paper else ("not published", f"of {whose}")
    theirs = Sheet(
        f"{title}: ours minus {whose} ({whose} in brackets)",
        ("", *columns, f"average rank {where}{_over(known, columns)}"),
        tuple((row, *(paper_text(at[row, c], absent) for c in columns), _rank(published, row)) for row in rows),
    )
    difference = "paired difference" if what == _ACCURACY else f"{what}, paired difference"
    gains = Sheet(
        f"{title}: {difference} to GCN on the same seeds and splits, with its 95% interval",
        ("", *columns),
        tuple((row, *(gain_text(at[row, c]) for c in columns)) for row in rows if row != "GCN"),
    )
    return [ours, *([theirs] if paper_too else []), *([gains] if gains.rows else [])]


def _over(ranked: Sequence[str], columns: Sequence[str]) -> str:
    return "" if len(ranked) in (0, len(columns)) else f" (over {len(ranked)})"


def _best(entries: Sequence[Entry]) -> int | None:
    """Which is highest, of those that have the most seeds; None where there is nothing to compare."""
    most = max(len(entry.scores) for entry in entries)
    known = {number: entry.mean for number, entry in enumerate(entries) if most and len(entry.scores) == most}
    return max(known, key=lambda number: known[number] or 0.0) if len(known) > 1 else None


def _published(entry: Entry) -> Scores:
    return {} if entry.paper is None else {0: entry.paper[0]}


def _rank(ranks: Mapping[str, float], row: str) -> str:
    return f"{ranks[row]:.2f}" if row in ranks else "–"


def mean_text(entry: Entry) -> str:
    """Mean ± deviation, with the number of seeds where some are missing."""
    if entry.mean is None:
        return MISSING
    spread = "" if entry.std is None else f" ± {entry.std:.2f}"
    return f"{entry.mean:.2f}{spread}{some_seeds(len(entry.scores), entry.wanted)}"


def some_seeds(seeds: int, wanted: int) -> str:
    """How many seeds there are, where not all are."""
    return "" if seeds == wanted else f" ({seeds} of {wanted} seeds)"


def paper_text(entry: Entry, absent: str = "not in the paper") -> str:
    """The difference to the paper, and the paper's number, with the number of seeds where some are missing."""
    if entry.paper is None:
        return absent
    spread = "" if entry.paper[1] is None else f" ± {entry.paper[1]:.2f}"
    theirs = f" ({entry.paper[0]:.2f}{spread})"
    if entry.difference is None:
        return MISSING + theirs
    return f"{entry.difference:+z.2f}{theirs}{some_seeds(len(entry.scores), entry.wanted)}"


def gain_text(entry: Entry) -> str:
    """The paired difference and its interval, with the number of seeds where some are missing."""
    if entry.gain is None:
        return MISSING
    ends = entry.interval
    middle = "" if ends is None else f" [{ends[0]:+z.2f}, {ends[1]:+z.2f}]"
    return f"{entry.gain:+z.2f}{middle}{some_seeds(len(entry.gains), entry.wanted)}"
