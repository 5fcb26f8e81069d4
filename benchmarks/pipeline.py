"""The whole of AGSSL (five teachers and a student, equal epochs) against the same in plain PyG, and against JOINT-T.

    python benchmarks/pipeline.py --datasets cora,cs --json

See README.md beside this file for what is compared and how to read it.
"""

from __future__ import annotations

import tempfile
from statistics import median
from typing import Any

from workers import Worker, arguments, machine, say, show

DATASETS = "cora,citeseer,pubmed,photo,computers,cs,physics"
EXTRAPOLATED = 500  # epochs a model, the package's and the paper's most
COLUMNS = (
    "dataset",
    "ratio",
    "memory_ratio",
    "joint_ratio",
    "joint_memory_ratio",
    "agssl_seconds_per_epoch",
    "pyg_seconds_per_epoch",
    "joint_seconds_per_epoch",
    "agssl_fit_seconds",
    "crossfit_fit_seconds",
    "joint_fit_seconds",
)


def measure(dataset: str, folder: str, options: Any) -> dict[str, Any]:
    """The row of one dataset."""
    here = {"dataset": dataset, "folder": folder}
    network = {"hidden": options.hidden, "input_dropout": options.input_dropout}
    joint = network | {"method": "joint", "strategy": "jt", "alpha": 1.0}
    agssl = joint | {"method": "agssl", "integration": "ts", "weights_from": "train", "generations": 1}
    timed = {"epochs": options.epochs + 1, "clock": options.clock}  # the first epoch of a stage warms up
    say(f"{dataset}: preparing targets")
    with Worker("pipeline_sides:prepare", **here) as worker:
        row = {"dataset": dataset, **worker.first, **network, "weights_from": "train"}
    row |= {"tuned_malloc": options.tuned_malloc, "clock": options.clock}
    row |= {"epochs_timed": options.epochs * options.rounds, "preparation": "the same for both sides, not timed"}

    times: dict[str, dict[str, list[float]]] = {"ours": {}, "pyg": {}, "joint": {}}
    with (
        Worker("pipeline_sides:ours", rounds=options.rounds, settings=agssl, **here, **timed) as ours,
        Worker("pipeline_sides:ours", rounds=options.rounds, settings=joint, **here, **timed) as rival,
        Worker("pipeline_sides:plain_pyg", tuned_malloc=options.tuned_malloc, **here, **network, **timed) as pyg,
    ):
        while True:
            name, seconds, row["agssl_peak_mb"] = ours.ask()
            if name == "end":
                break
            stage = name.removeprefix("teacher ")
            times["ours"].setdefault(stage, []).extend(seconds)
            seconds, row["pyg_peak_mb"] = pyg.ask(stage)
            times["pyg"].setdefault(stage, []).extend(seconds)
            if stage == "student":
                name, seconds, row["joint_peak_mb"] = rival.ask()
                times["joint"].setdefault(name, []).extend(seconds)
            say(f"{dataset}: {stage}: {median(times['pyg'][stage]) / median(times['ours'][stage]):.1f}x")
    row |= summary(times)
    row["memory_ratio"] = row["pyg_peak_mb"] / row["agssl_peak_mb"]
    row["joint_memory_ratio"] = row["joint_peak_mb"] / row["agssl_peak_mb"]
    if options.fit:
        for method, settings in (
            ("agssl", agssl),
            ("crossfit", agssl | {"weights_from": "crossfit"}),
            ("joint", joint),
        ):
            say(f"{dataset}: fitting {method} until it stops")
            with Worker("pipeline_sides:converge", clock=options.clock, settings=settings, **here) as worker:
                row |= {f"{method}_fit_{name}": value for name, value in worker.first.items()}
        row["joint_fit_ratio"] = row["joint_fit_seconds"] / row["agssl_fit_seconds"]
    return row | {"machine": machine()}


def summary(times: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Ratios from the seconds of every epoch, by side and stage; an epoch of AGSSL is one of each of its six models."""
    each = {side: {stage: median(values) for stage, values in by_stage.items()} for side, by_stage in times.items()}
    ours, pyg, joint = (sum(each[side].values()) for side in ("ours", "pyg", "joint"))
    return {
        "ratio": pyg / ours,
        "joint_ratio": joint / ours,
        "joint_epoch_ratio": joint / (ours / len(each["ours"])),
        "agssl_seconds_per_epoch": ours,
        "pyg_seconds_per_epoch": pyg,
        "joint_seconds_per_epoch": joint,
        "ratio_by_stage": {stage: each["pyg"][stage] / each["ours"][stage] for stage in each["ours"]},
        "seconds_per_epoch": {"ours": each["ours"], "pyg": each["pyg"]},
        "extrapolated_seconds": {
            "epochs": EXTRAPOLATED,
            "agssl": ours * EXTRAPOLATED,
            "pyg": pyg * EXTRAPOLATED,
            "joint": joint * EXTRAPOLATED,
        },
    }


def main() -> None:
    parser = arguments("The whole of AGSSL against the same in plain PyG, and against JOINT-T.", DATASETS)
    parser.add_argument("--epochs", type=int, default=5, help="timed epochs a model and round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="how often all stages are run (default: %(default)s)")
    parser.add_argument("--input-dropout", type=float, default=0.5, help="of both sides (default: %(default)s)")
    parser.add_argument("--tuned-malloc", action="store_true", help="give plain PyG our malloc settings as well")
    parser.add_argument("--fit", action="store_true", help="also time whole fits of AGSSL and JOINT-T, until they stop")
    options = parser.parse_args()
    rows = []
    for dataset in options.datasets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(dataset, folder, options))
    show(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
