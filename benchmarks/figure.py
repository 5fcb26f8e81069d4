"""Draw the gains over GCN from results/accuracy into docs/gains.png: python benchmarks/figure.py"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agssl.explain.plots import COLOURS

ROOT = Path(__file__).resolve().parent.parent
TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")


def main() -> None:
    records = [json.loads(path.read_text()) for path in sorted((ROOT / "results" / "accuracy").glob("*.json"))]
    order = ("cora", "citeseer", "pubmed", "photo", "computers", "cs", "physics")
    datasets = [name for name in order if any(r["dataset"] == name for r in records)]
    series = {"mean single teacher": None, "Average": "average 2", "AGSSL-LF": "lf 2", "AGSSL-TS": "ts 2"}
    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=130)
    axes = figure.subplots()
    width = 0.8 / len(series)
    for number, (label, key) in enumerate(series.items()):
        gains = [_gains([r for r in records if r["dataset"] == name], key) for name in datasets]
        at = np.arange(len(datasets)) + (number - (len(series) - 1) / 2) * width
        errors = [g.std(ddof=1) / len(g) ** 0.5 if len(g) > 1 else 0 for g in gains]
        axes.bar(
            at, [g.mean() for g in gains], width * 0.92, yerr=errors, label=label, color=COLOURS[number], capsize=2
        )
    axes.axhline(0, color="k", linewidth=0.8)
    axes.set_xticks(range(len(datasets)), datasets)
    axes.set_ylabel("gain over GCN, points of test accuracy")
    axes.legend(frameon=False, fontsize=8, ncols=len(series))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(ROOT / "docs" / "gains.png")


def _gains(records: list[dict], key: str | None) -> np.ndarray:
    def accuracy(record: dict) -> float:
        scores = record["accuracy"]
        return float(np.mean([scores[task] for task in TASKS])) if key is None else scores[key]

    return 100 * np.array([accuracy(r) - r["accuracy"]["gcn"] for r in records])


if __name__ == "__main__":
    main()
