"""Draw the gains over GCN from the records of `agssl bench table1` into docs/gains.png: python benchmarks/figure.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agssl.bench.cells import Records
from agssl.bench.methods import METHODS
from agssl.bench.scope import DATASETS, Scope, title_of
from agssl.config import TASKS
from agssl.explain.plots import COLOURS

ROOT = Path(__file__).resolve().parent.parent
SERIES = {"mean single teacher": TASKS, "Average": ("average",), "AGSSL-LF": ("agssl-lf",), "AGSSL-TS": ("agssl-ts",)}


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
        errors = [g.std(ddof=1) / len(g) ** 0.5 if len(g) > 1 else 0 for g in found]
        axes.bar(
            at, [g.mean() for g in found], width * 0.92, yerr=errors, label=label, color=COLOURS[number], capsize=2
        )
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
