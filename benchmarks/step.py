"""One training step of our GCN against plain PyG's, interleaved in one run, one thread.

    python benchmarks/step.py --datasets cora,cs --json
    python benchmarks/step.py --datasets cora,cs --against 7c586cd   # and against our own of another revision

See README.md beside this file for what is compared and how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from revisions import ROOT, commit_of, source_of
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
AGAINST = (  # shown in place of these where another revision takes part
    "dataset",
    "pyg_ms",
    "ours_ms",
    "before_ms",
    "ratio_over_before",
    "pruned_ms",
    "before_pruned_ms",
    "pruned_ratio_over_before",
    "ratio_over_before_without_input_dropout",
    "pruned_ratio_over_before_without_input_dropout",
)


def measure(dataset: str, options: Any, before: Path | None) -> dict[str, Any]:
    """The row of one dataset; `before` has the source of another revision."""
    settings = {"hidden": options.hidden, "clock": options.clock, "turn_seconds": options.turn_seconds}
    common = {"dataset": dataset} | settings
    row: dict[str, Any] = common | {"steps": options.steps}
    say(f"{dataset}: starting")
    with ours(ROOT, False, common) as full:
        row |= {name: full.first[name] for name in ("nodes", "edges", "features")}
        with ExitStack() as stack:
            sides = {
                "pyg": stack.enter_context(Worker("step_sides:plain_pyg", tuned_malloc=False, **common)),
                "ours": full,
                "pruned": stack.enter_context(ours(ROOT, True, common)),
            }
            if before is not None:
                sides["before"] = stack.enter_context(ours(before, False, common))
                sides["before_pruned"] = stack.enter_context(ours(before, True, common))
            row |= differences(sides)
            seconds = alternate(sides, options.steps, 0.5)
            row |= ratios(seconds) | {f"{side}_ms": 1e3 * value for side, value in seconds.items()}
            peaks = {side: worker.ask(("peak", None)) for side, worker in sides.items()}
            row |= {f"{side}_peak_mb": peak for side, peak in peaks.items()}
            row["memory_ratio"] = peaks["pyg"] / peaks["ours"]
            row["pruned_memory_ratio"] = peaks["pyg"] / peaks["pruned"]
            say(f"{dataset}: {row['ratio']:.1f}x, pruned {row['pruned_ratio']:.1f}x; without input dropout next")
            without = ratios(alternate(sides, options.steps, 0.0))
            row |= {f"{name}_without_input_dropout": ratio for name, ratio in without.items()}
        with Worker("step_sides:plain_pyg", tuned_malloc=True, **common) as tuned:
            seconds = alternate({"pyg": tuned, "ours": full}, options.steps, 0.5)
            row["ratio_tuned_malloc"] = seconds["pyg"] / seconds["ours"]
    return row | {"machine": machine()}


def ours(code: Path, pruned: bool, common: Mapping[str, Any]) -> Worker:
    """Our side by the package in a folder, driven by its own `step_ours.py` if it has one."""
    driver = code / "benchmarks" / "step_ours.py"
    if not driver.exists():
        driver = ROOT / "benchmarks" / "step_7c586cd.py"
    return Worker("step_sides:ours", code / "src", driver=driver, pruned=pruned, **common)


def alternate(sides: Mapping[str, Worker], turns: int, input_dropout: float, warm_up: int = 2) -> dict[str, float]:
    """Median seconds of a step of each side; they take turns, there and back, so that none profits from its place."""
    times: dict[str, list[float]] = {side: [] for side in sides}
    for turn in range(warm_up + turns):
        for side in sides if turn % 2 else reversed(list(sides)):
            measured = sides[side].ask(("turn", input_dropout))
            if turn >= warm_up:
                times[side] += measured
    return {side: median(values) for side, values in times.items()}


def ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """How many times faster ours is than plain PyG, and than that of another revision if it is there."""
    row = {"ratio": seconds["pyg"] / seconds["ours"], "pruned_ratio": seconds["pyg"] / seconds["pruned"]}
    if "before" in seconds:
        row["ratio_over_before"] = seconds["before"] / seconds["ours"]
        row["pruned_ratio_over_before"] = seconds["before_pruned"] / seconds["pruned"]
    return row


def differences(sides: Mapping[str, Worker]) -> dict[str, float]:
    """The largest differences of logits and gradients over all of ours, relative to the largest value of PyG's."""
    weights, train = (sides["ours"].first[name] for name in ("weights", "train"))
    logits, gradients = sides["pyg"].ask(("check", weights))
    of_logits, of_gradients = [], []
    for side in sides.keys() - {"pyg"}:
        our_logits, our_gradients = sides[side].ask(("check", None))
        of_logits.append(_relative(our_logits, logits[train] if side.endswith("pruned") else logits))
        of_gradients += [_relative(a, b) for a, b in zip(our_gradients, gradients, strict=True)]
    row = {"max_logit_difference": max(of_logits), "max_gradient_difference": max(of_gradients)}
    if not max(row.values()) <= TOLERANCE:
        raise SystemExit(f"the sides do not compute the same: {row}")
    return row


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def main() -> None:
    parser = arguments("One training step of our GCN against plain PyG's.", DATASETS)
    parser.add_argument("--steps", type=int, default=10, help="turns of each side (default: %(default)s)")
    parser.add_argument(
        "--turn-seconds", type=float, default=0.25, help="a turn is one step, or as many as fit (default: %(default)s)"
    )
    parser.add_argument("--against", metavar="REV", help="a revision whose own GCN takes part, e.g. 7c586cd")
    options = parser.parse_args()
    about = {} if options.against is None else {"against": commit_of(options.against)}
    with nullcontext() if options.against is None else source_of(options.against) as before:
        rows = [measure(name, options, before) | about for name in options.datasets.split(",")]
    show(rows, COLUMNS if before is None else AGAINST, options.json)


if __name__ == "__main__":
    main()
