"""What README, docs/pool.md and docs/results.md show of records: writes their tables, and docs/gains.png.

    python benchmarks/readme.py [--readme FILE] [--page FILE] [--pool FILE] [--picture FILE]

All are made of the records in results/bench. A dataset that lacks one of the table's methods is left out.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agssl.bench import paper
from agssl.bench.accuracy import choose_scheme
from agssl.bench.graphs import outcomes_of
from agssl.bench.methods import TABLE_METHODS
from agssl.bench.outcomes import BEST, difference
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, Scope, title_of
from agssl.bench.style import line_style
from agssl.bench.tables import Entry, accuracies, interval
from agssl.config import PAPER_TASKS

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"Average": "average", "AGSSL-LF": "agssl-lf", "AGSSL-TS": "agssl-ts"}
HEADER = (
    "| | seeds | GCN | single teachers | Average | LF | TS | chosen | over GCN | over Average | minus the paper "
    "| paper: GCN, LF, TS |"
)
SHORT_HEADER = (
    "| | seeds | logistic regression | GCN | AGSSL | AGSSL, `--effort quick` | AGSSL over the best simple baseline |"
)
SHORT_NAMES = ("logistic, X", "GCN", "AGSSL auto", "AGSSL quick")
SHORT = ("cora", "citeseer", "practice/acm.npz", "practice/blogcatalog.npz", "practice/texas.npz")
POOL_HEADER = "| | best simple | paper's pool | auto | quick | auto over best simple |"
POOL_GRAPHS = (
    *(f"practice/{name}.npz" for name in ("texas", "wisconsin", "chameleon_filtered", "actor", "twitch_en")),
    *(f"practice/{name}.npz" for name in ("minesweeper", "blogcatalog", "cora_ml", "acm")),
    *("cora", "citeseer"),
)
SEVEN_HEADER = "| | seeds | GCN | paper's pool | auto | quick | auto over paper's pool |"
SEVEN = ("cora", "citeseer", "pubmed", "photo", "cs", "physics", "computers")
SERIES = {"mean single teacher": PAPER_TASKS} | {label: (method,) for label, method in NAMES.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md", help="the file with the short table")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "results.md", help="the file with the whole table")
    pool = ROOT / "docs" / "pool.md"
    parser.add_argument("--pool", type=Path, default=pool, help="the file with the tables of the pool")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "gains.png", help="the picture to draw")
    args = parser.parse_args()
    records, scope = Records(ROOT / "results" / "bench"), Scope(strategies=("jt",))
    put(args.page, HEADER, [table_row(dataset, scope, records) for dataset in PAPER_DATASETS])
    put(args.readme, SHORT_HEADER, [short_row(graph, records) for graph in SHORT])
    put(args.pool, POOL_HEADER, [pool_row(graph, records) for graph in POOL_GRAPHS])
    put(args.pool, SEVEN_HEADER, [seven_row(graph, scope, records) for graph in SEVEN])
    draw(scope, records, args.picture)


def put(path: Path, header: str, rows: list[str | None]) -> None:
    """Write a table in place of the one with the same header; a row that is None is left out."""
    table = "\n".join([header, "|---" * (header.count("|") - 1) + "|", *filter(None, rows)]) + "\n"
    text, count = re.subn(rf"{re.escape(header)}\n(\|.*\n)+", lambda match: table, path.read_text(encoding="utf-8"))
    if count != 1:
        raise SystemExit(f"{path} has the table's header {count} times, not once")
    path.write_text(text, encoding="utf-8")


def short_row(graph: str, records: Records) -> str | None:
    """A line of README's table, means over the seeds that all of its methods have; None where there are none."""
    found = outcomes_of(Scope(), records, graph)
    if not {*SHORT_NAMES, BEST} <= found.keys():
        return None
    shown = [found[name].scores for name in SHORT_NAMES]
    seeds = sorted(set.intersection(*map(set, shown)))
    if not seeds:
        return None
    means = (f"{np.mean([scores[seed] for seed in seeds]):.1f}" for scores in shown)
    best, over = found[BEST], difference(found["AGSSL auto"], found[BEST])
    return f"| {' | '.join([title_of(graph), str(len(seeds)), *means, f'{over} ({best.chosen})'])} |"


def pool_row(graph: str, records: Records) -> str | None:
    """A line of the pool's table; in brackets how many seeds there are, where these are not five."""
    found = outcomes_of(Scope(), records, graph)
    if not {BEST, "AGSSL auto"} <= found.keys():
        return None

    def mean(title: str) -> str:
        scores = found[title].scores if title in found else {}
        return f"{np.mean(list(scores.values())):.1f}" + f" ({len(scores)})" * (len(scores) != 5) if scores else ""

    best = found[BEST]
    means = [f"{best.mean:.1f} ({best.chosen})", *map(mean, ("AGSSL paper", "AGSSL auto", "AGSSL quick"))]
    return f"| {' | '.join([title_of(graph), *means, str(difference(found['AGSSL auto'], best))])} |"


def seven_row(graph: str, scope: Scope, records: Records) -> str | None:
    """A line of the paper's graphs: the pools beside LF or TS of Table 1, whichever validation chooses."""
    found = outcomes_of(Scope(), records, graph)
    if not {"AGSSL auto", "AGSSL quick"} <= found.keys():
        return None
    auto, quick = found["AGSSL auto"].scores, found["AGSSL quick"].scores
    scheme = choose_scheme(scope, records, graph, "jt", paper.table1).scheme
    assert scheme is not None
    theirs = {
        name: {r["seed"]: 100 * r["test"]["accuracy"] for r in records.of(scope.cells(TABLE_METHODS[name], graph))}
        for name in ("gcn", scheme.name)
    }
    seeds = sorted(set(auto) & set(quick) & set(theirs["gcn"]) & set(theirs[scheme.name]))
    means = [float(np.mean([of[s] for s in seeds])) for of in (theirs["gcn"], theirs[scheme.name], auto, quick)]
    over = np.array([auto[s] - theirs[scheme.name][s] for s in seeds])
    error = f" ± {over.std(ddof=1) / len(over) ** 0.5:.2f}" if len(over) > 1 else ""
    shown = [f"{mean:.1f}" for mean in means]
    shown[1] += f" ({scheme.title.removeprefix('AGSSL-')})"
    return f"| {' | '.join([title_of(graph), str(len(seeds)), *shown, f'{over.mean():+.2f}{error}'])} |"


def table_row(dataset: str, scope: Scope, records: Records) -> str | None:
    """A line of the table; None where a method is missing. Whether LF or TS is chosen, validation accuracy says."""
    names = ("gcn", *PAPER_TASKS, *NAMES.values())
    found = {name: accuracies(records.of(scope.cells(TABLE_METHODS[name], dataset))) for name in names}
    if not all(found.values()):
        return None
    mean = {name: float(np.mean(list(values.values()))) for name, values in found.items()}
    single = sorted(mean[task] for task in PAPER_TASKS)
    seeds = {len(values) for values in found.values()}
    chosen = choose_scheme(scope, records, dataset, "jt", paper.table1)
    assert chosen.scheme is not None
    assert chosen.entry.difference is not None
    theirs = [paper.table1(dataset, "jt", name) for name in ("gcn", "agssl-lf", "agssl-ts")]
    cells = [
        title_of(dataset),
        "/".join(map(str, sorted(seeds))),
        f"{mean['gcn']:.2f}",
        f"{single[0]:.2f} to {single[-1]:.2f}",
        *(f"{mean[name]:.2f}" for name in NAMES.values()),
        chosen.scheme.title.removeprefix("AGSSL-"),
        gain(chosen.entry),
        gain(chosen.over_average),
        f"{chosen.entry.difference:+z.2f}",
        ", ".join(f"{one[0]:.2f}" for one in theirs if one is not None),
    ]
    return f"| {' | '.join(cells)} |"


def gain(entry: Entry) -> str:
    """The mean of paired differences and half of its interval."""
    assert entry.gain is not None
    assert entry.interval is not None
    return f"{entry.gain:+z.2f} ± {entry.interval[1] - entry.gain:.2f}"


def draw(scope: Scope, records: Records, path: Path) -> None:
    """The picture of gains."""
    gains = {name: gains_on(dataset, scope, records) for dataset in PAPER_DATASETS if (name := title_of(dataset))}
    gains = {name: found for name, found in gains.items() if all(len(values) for values in found.values())}
    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=130)
    axes = figure.subplots()
    width = 0.8 / len(SERIES)
    for number, label in enumerate(SERIES):
        found = [of[label] for of in gains.values()]
        at = np.arange(len(found)) + (number - (len(SERIES) - 1) / 2) * width
        means = [g.mean() for g in found]
        ends = [interval(g.tolist()) or (m, m) for g, m in zip(found, means, strict=True)]
        errors = [high - m for (_, high), m in zip(ends, means, strict=True)]
        colour = line_style(label)["color"] if label in NAMES else "#bbbbbb"
        axes.bar(at, means, width * 0.92, yerr=errors, label=label, color=colour, capsize=2)
    axes.axhline(0, color="k", linewidth=0.8)
    axes.set_xticks(range(len(gains)), gains)
    axes.set_ylabel("gain over GCN, points of test accuracy")
    axes.legend(frameon=False, fontsize=8, ncols=len(SERIES))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def gains_on(dataset: str, scope: Scope, records: Records) -> dict[str, np.ndarray]:
    """The gain of each series on every seed that has all of them, in points."""

    def accuracy(method: str) -> dict[int, float]:
        found = records.of(scope.cells(TABLE_METHODS[method], dataset))
        return {record["seed"]: 100 * record["test"]["accuracy"] for record in found}

    of = {method: accuracy(method) for method in ("gcn", *(m for methods in SERIES.values() for m in methods))}
    seeds = sorted(set.intersection(*(set(found) for found in of.values())))
    return {
        label: np.array([np.mean([of[m][seed] for m in methods]) - of["gcn"][seed] for seed in seeds])
        for label, methods in SERIES.items()
    }


if __name__ == "__main__":
    main()
