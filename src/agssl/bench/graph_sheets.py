"""The tables of `agssl bench graphs`: results, paired differences, time, and what pools of teachers are worth."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agssl.bench.contenders import AUTO, CONTENDERS, PAPER, QUICK
from agssl.bench.outcomes import BEST, Difference, Outcome, Outcomes, difference
from agssl.bench.tables import Sheet

NOTHING = "–"
PAIRS = (  # what is compared with what
    (AUTO.title, BEST),
    (AUTO.title, PAPER.title),
    (PAPER.title, BEST),
    (QUICK.title, BEST),
    (QUICK.title, AUTO.title),
)
_POOLED = tuple(one for one in CONTENDERS.values() if not one.simple)
By = Mapping[str, Outcomes]  # by the title of a graph


def titles_of(found: By) -> list[str]:
    """The columns that some graph has: baselines, the best of them, AGSSL."""
    simple = [one.title for one in CONTENDERS.values() if one.simple]
    return [
        name for name in (*simple, BEST, *(one.title for one in _POOLED)) if any(name in own for own in found.values())
    ]


def results_sheet(found: By, ranks: Mapping[str, float], metric: str) -> Sheet:
    """Mean ± deviation of each method on each graph, the mean over graphs that all were run on, and average ranks."""
    titles = titles_of(found)
    rows = [(graph, *(_spread(own.get(name)) for name in titles), _seeds(own.values())) for graph, own in found.items()]
    best = set()
    for row, own in enumerate(found.values()):
        most = max(len(outcome.records) for outcome in own.values())
        means = {n: own[n].mean for n in titles if n != BEST and n in own and len(own[n].records) == most}
        if len(means) > 1:
            best.add((row, 1 + titles.index(max(means, key=lambda name: means[name]))))
    whole = [own for own in found.values() if all(name in own for name in titles)]
    if len(whole) > 1:
        means_of = [f"{statistics.fmean(own[name].mean for own in whole):.1f}" for name in titles]
        rows.append((f"mean of {len(whole)} graphs", *means_of, ""))
    if ranks:
        rows.append(("average rank", *(f"{ranks[n]:.2f}" if n in ranks else "" for n in titles), ""))
    what = "minus log_loss, times 100" if metric == "log_loss" else f"{metric.replace('_', ' ')} in %"
    return Sheet(f"Graphs: test {what}", ("", *titles, "seeds"), tuple(rows), frozenset(best))


def _spread(outcome: Outcome | None) -> str:
    if outcome is None:
        return NOTHING
    scores = list(outcome.scores.values())
    return f"{outcome.mean:.1f}" + (f" ± {statistics.stdev(scores):.1f}" if len(scores) > 1 else "")


def _seeds(outcomes: Collection[Outcome]) -> str:
    """How many seeds the methods of a row have."""
    low, high = (pick(len(one.records) for one in outcomes) for pick in (min, max))
    return str(high) if low == high else f"{low} to {high}"


def differences_sheet(found: By) -> Sheet:
    """Paired differences on each graph, and their mean over graphs."""
    pairs = [pair for pair in PAIRS if any(difference(own.get(pair[0]), own.get(pair[1])) for own in found.values())]
    rows: list[tuple[str, ...]] = []
    over: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
    for graph, own in found.items():
        here = {pair: difference(own.get(pair[0]), own.get(pair[1])) for pair in pairs}
        for pair, one in here.items():
            over[pair] += [] if one is None else [one.mean]
        if any(here.values()):
            best = own[BEST].chosen if BEST in own else NOTHING
            rows.append((graph, best, *(NOTHING if one is None else str(one) for one in here.values())))
    if len(rows) > 1:
        rows.append(("mean over graphs", "", *(str(Difference.of(over[pair])) for pair in pairs)))
        rows.append(("least", "", *(f"{min(over[pair]):+z.2f}" for pair in pairs)))
    header = ("", f"{BEST} is", *(f"{ours} minus {theirs}" for ours, theirs in pairs))
    return Sheet("Graphs: paired differences in points ± standard error, over seeds", header, tuple(rows))


def time_sheet(found: By) -> Sheet:
    """Seconds of a fit, and what the automatic pool takes for each second of the paper's, by the wall and by itself."""
    titles = [name for name in titles_of(found) if name != BEST]
    both = {graph: own for graph, own in found.items() if AUTO.title in own and PAPER.title in own}
    ratios = {
        words: {graph: _median(own[AUTO.title], what) / _median(own[PAPER.title], what) for graph, own in both.items()}
        for words, what in _TIMES.items()
        if both
    }
    rows = [
        (
            graph,
            *(f"{_median(own[name]):.1f}" if name in own else NOTHING for name in titles),
            *(f"{ratio[graph]:.2f}" if graph in ratio else NOTHING for ratio in ratios.values()),
        )
        for graph, own in found.items()
    ]
    if len(both) > 1:
        means = [f"{statistics.geometric_mean(ratio.values()):.2f}" for ratio in ratios.values()]
        rows.append(("geometric mean", *("" for _ in titles), *means))
    return Sheet("Graphs: seconds of a fit, median over seeds", ("", *titles, *ratios), tuple(rows))


def _median(outcome: Outcome, what: str = "seconds") -> float:
    return statistics.median(outcome.seconds(what).values())


_TIMES = {"auto / paper": "seconds", "auto / paper, processor time": "cpu_seconds"}
_WORDS = {
    "agreement": "two agree",
    "unanimous": "all agree",
    "oracle": "any is right",
    "best_teacher": "best teacher is right",
}


def pools_sheet(found: By) -> Sheet:
    """The teachers of each pool: how many, what they are worth together on test nodes, their time, the student."""
    rows = [
        (
            f"{graph}, {one.name}",
            _count(outcome.pools("teachers")),
            *(_percent(outcome.pools(what)) for what in _WORDS),
            f"{statistics.median(outcome.pools('seconds')):.1f}",
            _common(outcome.pools("student")),
        )
        for graph, own in found.items()
        for one in _POOLED
        if (outcome := own.get(one.title)) is not None
    ]
    header = ("graph, pool", "teachers", *_WORDS.values(), "seconds before students", "student")
    return Sheet("Graphs: pools of teachers, shares of test nodes in %", header, tuple(rows))


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * statistics.fmean(shares):.1f}" if shares else NOTHING


def _count(pools: Sequence[Sequence[str]]) -> str:
    return f"{statistics.fmean(map(len, pools)):.1f}".removesuffix(".0")


def _common(names: Sequence[str]) -> str:
    """The names, the most frequent first, each with its number of seeds where there are several."""
    counts = Counter(names).most_common()
    return ", ".join(name if len(counts) == 1 else f"{name} ({count})" for name, count in counts)


def kept_sheet(found: By) -> Sheet:
    """Which teachers the automatic pool kept, and on how many seeds."""
    rows = [
        (graph, _common([name for pool in own[AUTO.title].pools("teachers") for name in pool]))
        for graph, own in found.items()
        if AUTO.title in own
    ]
    return Sheet("Graphs: teachers that the automatic pool kept (seeds)", ("", "teachers"), tuple(rows))


def sheets_of(found: By, ranks: Mapping[str, float], metric: str) -> list[Sheet]:
    """All that have something to show."""
    sheets = [results_sheet(found, ranks, metric), differences_sheet(found), time_sheet(found)]
    sheets += [pools_sheet(found), kept_sheet(found)]
    return [sheet for sheet in sheets if sheet.rows]


def entries_of(found: By) -> list[dict[str, Any]]:
    """The same in long form."""
    rows: list[dict[str, Any]] = []
    for graph, own in found.items():
        for name, outcome in own.items():
            scores = list(outcome.scores.values())
            rows.append(
                {
                    "block": "result",
                    "row": graph,
                    "column": name,
                    "seeds": len(scores),
                    "mean": outcome.mean,
                    "std": statistics.stdev(scores) if len(scores) > 1 else None,
                    "seconds": _median(outcome),
                    "chosen": outcome.chosen or None,
                }
                | {what: _fraction(outcome.pools(what)) for what in _WORDS}
            )
        for ours, theirs in PAIRS:
            one = difference(own.get(ours), own.get(theirs))
            if one is not None:
                about = {"block": "difference", "row": graph, "column": f"{ours} minus {theirs}"}
                rows.append(about | {"seeds": one.pairs, "mean": one.mean, "standard_error": one.error})
    return rows


def _fraction(shares: Sequence[float]) -> float | None:
    return statistics.fmean(shares) if shares else None
