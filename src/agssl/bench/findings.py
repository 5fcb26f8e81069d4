"""The findings that the records support: each a sentence, its numbers, its figure and the command behind it.

Texts are templates whose numbers are filled from records. To add one: a function here and its name in `FINDINGS`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agssl.bench import paper
from agssl.bench.accuracy import ChosenScheme, choose_scheme
from agssl.bench.artifacts import Draw
from agssl.bench.authors import on_authors
from agssl.bench.contenders import AUTO
from agssl.bench.fair import DATASETS
from agssl.bench.graphs import DEFAULT, labels, outcomes_of
from agssl.bench.methods import AVERAGE, EQUAL, GCN
from agssl.bench.outcomes import BEST, difference
from agssl.bench.points import Point, draw_points
from agssl.bench.records import Records
from agssl.bench.scope import Scope, title_of
from agssl.bench.tables import Entry, interval
from agssl.bench.trust import draw_trust, trust_of

_DIFFERENCE = "difference in points of test accuracy, with its 95% interval"
CLOSE = 0.5  # points within which the paper's accuracy counts as reached


@dataclass(frozen=True)
class Finding:
    """One of the things that a reader should take away."""

    title: str
    text: str
    figure: tuple[str, Draw]  # its file's name, without ending
    command: str  # after `agssl bench`
    page: str  # where the whole table is


def _chosen(scope: Scope, records: Records, strategy: str = "jt") -> list[ChosenScheme]:
    """AGSSL on each of the paper's graphs that have it and a GCN."""
    every = [choose_scheme(scope, records, name, strategy, paper.table1) for name in scope.datasets_or(DATASETS)]
    return [one for one in every if one.scheme is not None and one.entry.gain is not None]


def _point(values: Sequence[float]) -> Point:
    mean = statistics.fmean(values)
    return Point(mean, *(interval(values) or (mean, mean)))


def _points(entries: Iterable[Entry]) -> dict[str, Point]:
    return {entry.column: _point(entry.gains) for entry in entries if entry.gains}


def _listed(names: Sequence[str]) -> str:
    return "none" if not names else " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _above(entries: Sequence[Entry]) -> list[str]:
    """The graphs where the 95% interval of the difference is above 0."""
    return [entry.column for entry in entries if entry.interval is not None and entry.interval[0] > 0]


def gain_over_gcn(scope: Scope, records: Records) -> Finding | None:
    """What AGSSL brings over a GCN with the same labels."""
    entries = [one.entry for one in _chosen(scope, records)]
    if not entries:
        return None
    gains = {entry.column: entry.gain for entry in entries if entry.gain is not None}
    ahead = sum(value > 0 for value in gains.values())
    text = (
        "AGSSL with the paper's five teachers (LF or TS, as validation nodes choose) and a plain GCN were "
        f"fitted on the same seeds and splits. The difference is {min(gains.values()):+.2f} to "
        f"{max(gains.values()):+.2f} points of test accuracy; its 95% interval is above 0 on "
        f"{_listed(_above(entries))}."
    )
    series = {"over GCN": _points(entries)}
    fair = _over_equal(scope, records)
    if fair:
        means = {name: statistics.fmean(values) for name, values in fair.items()}
        series["over the GCN that reads as many labels"] = {name: _point(values) for name, values in fair.items()}
        text += (
            " Over a GCN that reads validation labels for as much as AGSSL does (the better of calibrated and smoothed "
            f"on validation nodes) it is {min(means.values()):+.2f} to {max(means.values()):+.2f} on "
            f"{_listed(list(means))} ([equal labels](equal.md))."
        )
    return Finding(
        f"AGSSL is above a GCN on {ahead} of {len(gains)} graphs",
        text,
        ("finding-gain", lambda: draw_points(series, _DIFFERENCE)),
        "table1; agssl bench equal" if fair else "table1",
        "table1.md",
    )


def _over_equal(scope: Scope, records: Records) -> dict[str, list[float]]:
    """AGSSL minus the better (on validation nodes) of the baselines with equal labels, by seed."""
    found: dict[str, list[float]] = {}
    for one in _chosen(scope, records):
        rivals = [records.of(scope.cells(method, one.dataset)) for method in EQUAL]
        if not all(len(rival) == len(one.entry.scores) for rival in rivals):
            continue
        best = max(rivals, key=lambda rival: statistics.fmean(record["val"]["accuracy"] for record in rival))
        scores = {record["seed"]: 100 * record["test"]["accuracy"] for record in best}
        both = [value - scores[seed] for seed, value in one.entry.scores.items() if seed in scores]
        if both:
            found[title_of(one.dataset)] = both
    return found


def worth_of_weights(scope: Scope, records: Records) -> Finding | None:
    """How much of the gain comes without any choice of teachers."""
    both = []
    for one in _chosen(scope, records):
        blank = Entry("Average", title_of(one.dataset), len(scope.seeds_of(one.dataset)))
        mean = blank.filled(records, scope.cells(AVERAGE, one.dataset), scope.cells(GCN, one.dataset))
        if mean.gain is not None and one.over_average.gain is not None:
            both.append((one, mean))
    if not both:
        return None
    over = [one.over_average for one, _ in both]
    whole = statistics.fmean(one.entry.gain or 0.0 for one, _ in both)
    equal = statistics.fmean(mean.gain or 0.0 for _, mean in both)
    text = (
        f"A student of the plain average of the same teachers gains {equal:.2f} points over the GCN in the mean over "
        f"{len(both)} graphs, one with a weight for each node and teacher {whole:.2f}. The difference of the two is "
        f"{min(e.gain or 0.0 for e in over):+.2f} to {max(e.gain or 0.0 for e in over):+.2f}; its 95% interval is "
        f"above 0 on {_listed(_above(over))}."
    )
    if equal > whole / 2:
        text += " So most of the gain comes of several teachers, their calibration and distillation, not of weights."
    series = {"average, over GCN": _points(m for _, m in both), "AGSSL, over the average": _points(over)}
    return Finding(
        f"Of {whole:.1f} points, {equal:.1f} come with equal weights for all teachers",
        text,
        ("finding-weights", lambda: draw_points(series, _DIFFERENCE)),
        "table1",
        "integration.md",
    )


def against_the_paper(scope: Scope, records: Records) -> Finding | None:
    """Where the paper's accuracy is reached."""
    ours = {title_of(one.dataset): one.entry for one in _chosen(scope, records)}
    ours = {name: entry for name, entry in ours.items() if entry.difference is not None}
    if not ours:
        return None
    reached = [name for name, entry in ours.items() if (entry.difference or 0.0) >= -CLOSE]
    short = [f"{name} ({e.difference:+.2f})" for name, e in ours.items() if (e.difference or 0.0) < -CLOSE]
    series = {"AGSSL": _differences(ours.values())}
    gcn = [
        Entry("GCN", title_of(name), 1, paper=paper.table1(name, "jt", "gcn")).filled(
            records, scope.cells(GCN, name), []
        )
        for name in scope.datasets_or(DATASETS)
    ]
    series["GCN"] = _differences(gcn)
    text = (
        f"After joint training AGSSL is above the paper's better scheme or within {CLOSE} points of it on "
        f"{_listed(reached)}; it is further below on {_listed(short)}."
    )
    here = on_authors(scope)
    fixed = {title_of(one.dataset): one.entry for one in _chosen(here, records)} if here.datasets else {}
    fixed = {name: entry for name, entry in fixed.items() if entry.difference is not None}
    if fixed:
        series["AGSSL, authors' split"] = _differences(fixed.values())
        parts = _listed([f"{name} ({entry.difference:+.2f})" for name, entry in fixed.items()])
        text += f" On the one split that the paper's authors ship it is {parts} ([authors' split](authors.md))."
    text += " [What is short, and why](shortfalls.md)."
    return Finding(
        f"The paper's accuracy is reached on {len(reached)} of {len(ours)} graphs",
        text,
        ("finding-paper", lambda: draw_points(series, "ours minus the paper's, in points (intervals: ours)")),
        "table1; agssl bench table1-authors" if fixed else "table1",
        "shortfalls.md",
    )


def _differences(entries: Iterable[Entry]) -> dict[str, Point]:
    """Ours minus the paper's, with the interval of our mean."""
    known = [entry for entry in entries if entry.paper is not None and entry.values]
    return {e.column: _point([v - e.paper[0] for v in e.values]) for e in known if e.paper is not None}


def any_graph(scope: Scope, records: Records) -> Finding | None:
    """The automatic pool against the best of simple baselines."""
    found = {}
    for graph, name in labels(scope.datasets_or(DEFAULT), title_of).items():
        own = outcomes_of(scope, records, graph)
        one = difference(own.get(AUTO.title), own.get(BEST))
        if one is not None:
            found[name] = (one, own[BEST].chosen)
    if not found:
        return None
    means = [one.mean for one, _ in found.values()]
    below = [f"{name} ({one.mean:+.2f}, {best})" for name, (one, best) in found.items() if one.mean < 0]
    points = {n: Point(o.mean, o.mean - (o.error or 0.0), o.mean + (o.error or 0.0)) for n, (o, _) in found.items()}
    text = (
        "With the same settings on every graph, the pool that AGSSL finds by itself was compared with the best of "
        "several tuned baselines, chosen by validation nodes, on graphs where neighbours are alike and where they are "
        f"not. The mean difference over {len(found)} graphs is {statistics.fmean(means):+.2f} points, from "
        f"{min(means):+.2f} to {max(means):+.2f}. Below the baseline: {_listed(below)}."
    )
    ahead = sum(mean >= 0 for mean in means)
    return Finding(
        f"The automatic pool is at or above the best simple baseline on {ahead} of {len(means)} graphs",
        text,
        (
            "finding-graphs",
            lambda: draw_points({"": points}, "automatic pool minus best simple baseline, points ± standard error"),
        ),
        "graphs",
        "graphs.md",
    )


def trust_is_right(scope: Scope, records: Records) -> Finding | None:
    """Whether weights point to the right teachers."""
    found = [one for one in trust_of(scope, records) if one.pool == AUTO.title and one.pairs is not None]
    if not found:
        return None
    pairs = [one.figures["pairs_right"] for one in found]
    named = (("most trusted", "most_trusted"), ("best single", "best_single"), ("majority", "majority"))
    apart = [one.figures for one in found if all(key in one.figures for _, key in named)]
    shares = {name: 100 * statistics.fmean(one[key] for one in apart) for name, key in named} if apart else {}
    text = (
        "Of a right and a wrong teacher of one test node, the right one has the larger weight in "
        f"{100 * statistics.fmean(pairs):.0f}% of the cases (mean over {len(found)} graphs, {100 * min(pairs):.0f}% to "
        f"{100 * max(pairs):.0f}%; a coin has 50%), with the automatic pool. "
    )
    if shares:
        text += (
            f"Where its teachers disagree, the most trusted one is right at {shares['most trusted']:.0f}% of the "
            f"nodes, the teacher that is best on held-out nodes at {shares['best single']:.0f}%, a vote at "
            f"{shares['majority']:.0f}%."
        )
    every = trust_of(scope, records)
    return Finding(
        f"Weights point to the right teacher in {100 * statistics.fmean(pairs):.0f}% of the cases",
        text,
        ("finding-trust", lambda: draw_trust(every)),
        "trust",
        "trust.md",
    )


FINDINGS: tuple[Callable[[Scope, Records], Finding | None], ...] = (
    gain_over_gcn,
    worth_of_weights,
    against_the_paper,
    any_graph,
    trust_is_right,
)
