"""One training step of our GCN against plain PyG's, interleaved in one run, one thread.

    python benchmarks/step.py --datasets cora,cs --json

See README.md beside this file for what is compared and how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
from workers import Worker, arguments, machine, say, show

DATASETS = "cora,citeseer,pubmed,photo,computers,cs,physics,arxiv"
TOLERANCE = 1e-3  # of logits and gradients, relative to the largest; float32 sums of a million terms differ by 1e-4
COLUMNS = (
    "dataset",
    "ratio",
    "pruned_ratio",
    "ratio_without_input_dropout",
    "pruned_ratio_without_input_dropout",
    "ratio_tuned_malloc",
    "memory_ratio",
    "max_logit_difference",
    "max_gradient_difference",
)


def measure(dataset: str, hidden: int, steps: int, clock: str) -> dict[str, Any]:
    """The row of one dataset."""
    common = {"dataset": dataset, "hidden": hidden, "clock": clock}
    row: dict[str, Any] = {"dataset": dataset, "hidden": hidden, "steps": steps, "clock": clock}
    say(f"{dataset}: starting")
    with Worker("step_sides:ours", form="full", **common) as full:
        row |= {name: full.first[name] for name in ("nodes", "edges", "features")}
        with (
            Worker("step_sides:ours", form="pruned", **common) as pruned,
            Worker("step_sides:plain_pyg", tuned_malloc=False, **common) as pyg,
        ):
            row |= differences(full, pruned, pyg)
            sides = {"pyg": pyg, "ours": full, "pruned": pruned}
            seconds = alternate(sides, steps, 0.5)
            row |= {"ratio": seconds["pyg"] / seconds["ours"], "pruned_ratio": seconds["pyg"] / seconds["pruned"]}
            row |= {f"{side}_ms": 1e3 * value for side, value in seconds.items()}
            peaks = {side: worker.ask(("peak", None)) for side, worker in sides.items()}
            row |= {f"{side}_peak_mb": peak for side, peak in peaks.items()}
            row["memory_ratio"] = peaks["pyg"] / peaks["ours"]
            row["pruned_memory_ratio"] = peaks["pyg"] / peaks["pruned"]
            say(f"{dataset}: {row['ratio']:.1f}x, pruned {row['pruned_ratio']:.1f}x; without input dropout next")
            seconds = alternate(sides, steps, 0.0)
            row["ratio_without_input_dropout"] = seconds["pyg"] / seconds["ours"]
            row["pruned_ratio_without_input_dropout"] = seconds["pyg"] / seconds["pruned"]
        with Worker("step_sides:plain_pyg", tuned_malloc=True, **common) as tuned:
            seconds = alternate({"pyg": tuned, "ours": full}, steps, 0.5)
            row["ratio_tuned_malloc"] = seconds["pyg"] / seconds["ours"]
    return row | {"machine": machine()}


def alternate(sides: Mapping[str, Worker], turns: int, input_dropout: float, warm_up: int = 2) -> dict[str, float]:
    """Median seconds of a step of each side; the sides take turns."""
    times: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(warm_up + turns):
        for side, worker in sides.items():
            measured = worker.ask(("turn", input_dropout))
            if turn >= warm_up:
                times[side] += measured
    return {side: median(values) for side, values in times.items()}


def differences(full: Worker, pruned: Worker, pyg: Worker) -> dict[str, float]:
    """The largest differences of logits and gradients, over both forms, relative to the largest value of PyG's."""
    logits, gradients = pyg.ask(("check", full.first["weights"]))
    train = full.first["train"]
    of_logits, of_gradients = [], []
    for worker, truth in ((full, logits), (pruned, logits[train])):
        our_logits, our_gradients = worker.ask(("check", None))
        of_logits.append(_relative(our_logits, truth))
        of_gradients += [_relative(a, b) for a, b in zip(our_gradients, gradients, strict=True)]
    row = {"max_logit_difference": max(of_logits), "max_gradient_difference": max(of_gradients)}
    if not max(row.values()) <= TOLERANCE:
        raise SystemExit(f"the two sides do not compute the same: {row}")
    return row


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def main() -> None:
    parser = arguments("One training step of our GCN against plain PyG's.", DATASETS)
    parser.add_argument("--steps", type=int, default=10, help="turns of each side (default: %(default)s)")
    options = parser.parse_args()
    names = options.datasets.split(",")
    rows = [measure(name, options.hidden, options.steps, options.clock) for name in names]
    show(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
