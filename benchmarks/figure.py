"""Draw the gains over GCN, with 95% intervals, from the records of `agssl bench table1` into docs/gains.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agssl.bench.cells import Records
from agssl.bench.methods import METHODS
from agssl.bench.scope import DATASETS, Scope, title_of
from agssl.bench.style import look
from agssl.bench.tables import interval
from agssl.config import TASKS

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"Average": "average", "AGSSL-LF": "agssl-lf", "AGSSL-TS": "agssl-ts"}
SERIES = {"mean single teacher": TASKS} | {label: (method,) for label, method in NAMES.items()}


def main() -> None:
    records, scope = Records(ROOT / "results" / "bench"), Scope(settings=("jt",))
    gains = {name: gains_on(dataset, scope, records) for dataset in DATASETS if (name := title_of(dataset))}
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
        colour = look(label)["color"] if label in NAMES else "#bbbbbb"
        axes.bar(at, means, width * 0.92, yerr=errors, label=label, color=colour, capsize=2)
    axes.axhline(0, color="k", linewidth=0.8)
    axes.set_xticks(range(len(gains)), gains)
    axes.set_ylabel("gain over GCN, points of test accuracy")
    axes.legend(frameon=False, fontsize=8, ncols=len(SERIES))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(ROOT / "docs" / "gains.png")


def gains_on(dataset: str, scope: Scope, records: Records) -> dict[str, np.ndarray]:
    """The gain of each series on every seed that has all of them, in points."""

    def accuracy(method: str) -> dict[int, float]:
        found = records.of(scope.cells(METHODS[method], dataset))
        return {record["seed"]: 100 * record["test"]["accuracy"] for record in found}

    of = {method: accuracy(method) for method in ("gcn", *(m for methods in SERIES.values() for m in methods))}
    seeds = sorted(set.intersection(*(set(found) for found in of.values())))
    return {
        label: np.array([np.mean([of[m][seed] for m in methods]) - of["gcn"][seed] for seed in seeds])
        for label, methods in SERIES.items()
    }


if __name__ == "__main__":
    main()
