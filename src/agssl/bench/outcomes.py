"""What the records of `agssl bench graphs` say: by graph and method, seed by seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agssl.bench.contenders import BASELINES
from agssl.bench.records import CellRecord
from agssl.metrics import gain

BEST = "best simple"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The records of a method on a graph, by seed."""

    records: Mapping[int, CellRecord]
    metric: str
    chosen: str = ""  # of the best simple baseline, which it is

    @classmethod
    def of(cls, records: Sequence[CellRecord], metric: str) -> Outcome:
        """Those that were measured on test nodes."""
        return cls({record["seed"]: record for record in records if record["test"] is not None}, metric)

    @property
    def scores(self) -> dict[int, float]:
        """The metric on test nodes by seed, in points of percent, such that more is better."""
        return {seed: 100 * gain(self.metric, record["test"][self.metric]) for seed, record in self.records.items()}

    @property
    def mean(self) -> float:
        """Of the scores."""
        return statistics.fmean(self.scores.values())

    def seconds(self, what: str = "seconds") -> dict[int, float]:
        """The time of a fit by seed, without tuning; `cpu_seconds` are those of the processor."""
        return {seed: record["fit_seconds" if "chosen" in record else what] for seed, record in self.records.items()}

    def validation(self, seeds: Sequence[int]) -> tuple[float, float]:
        """Mean score on validation nodes, and mean likelihood there, to choose by."""
        found = [self.records[seed]["val"] for seed in seeds]
        score = statistics.fmean(gain(self.metric, val[self.metric]) for val in found)
        return score, -statistics.fmean(val["log_loss"] for val in found)

    def pools(self, what: str) -> list:
        """What the fits say of their pools, where they have any."""
        pools = [record["pool"] for record in self.records.values() if "pool" in record]
        return [pool[what] for pool in pools if pool[what] is not None]


Outcomes = dict[str, Outcome]  # of one graph, by the title of a method


def best_simple(outcomes: Outcomes) -> Outcome | None:
    """The baseline with the best mean on validation nodes (of equals, the likeliest), on the seeds that all have."""
    simple = {one.title: outcomes[one.title] for one in BASELINES if one.title in outcomes}
    if not simple:
        return None
    seeds = sorted(set.intersection(*(set(outcome.records) for outcome in simple.values())))
    if not seeds:
        return None
    title = max(simple, key=lambda name: simple[name].validation(seeds))
    return Outcome(simple[title].records, simple[title].metric, title)


@dataclass(frozen=True)
class Difference:
    """Paired by seed, in points."""

    mean: float
    error: float | None  # the standard error of the mean; None for one pair
    pairs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Difference | None:
        """The mean of differences; None without any."""
        if not values:
            return None
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
        return cls(statistics.fmean(values), error, len(values))

    def __str__(self) -> str:
        return f"{self.mean:+z.2f}" + ("" if self.error is None else f" ± {self.error:.2f}")


def difference(ours: Outcome | None, theirs: Outcome | None) -> Difference | None:
    """Ours minus theirs, on the seeds that both have."""
    if ours is None or theirs is None:
        return None
    base = theirs.scores
    return Difference.of([score - base[seed] for seed, score in ours.scores.items() if seed in base])
