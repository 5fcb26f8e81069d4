"""What AutoSSL's whole run costs: search and final training, in multiples of one GCN training of the same epochs.

    python benchmarks/autossl.py --datasets cora --clock cpu --json

See README.md beside this file for what is compared and how to read it.
"""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from workers import CLOCKS, Reply, Worker, arguments, benchmark_graph, machine, peak_mb, say, show, single_thread

# The public implementation on Cora, measured once on this kind of machine with one thread; it needs old packages, so it
# is not run here.
PUBLIC = {"cpu_seconds_per_epoch": 10.7, "peak_mb": 6900.0}
COLUMNS = (
    "dataset",
    "hidden",
    "outer",
    "strategy",
    "search_ms",
    "final_ms",
    "gcn_ms",
    "whole_ratio",
    "public_epoch_ratio",
    "peak_mb",
    "public_memory_ratio",
)


def side(reply: Reply, dataset: str, folder: str, clock: str, settings: dict[str, Any]) -> None:
    """One fit in this process; answers its seconds, those of each epoch by stage, and the peak."""
    single_thread()
    from agssl.config import Settings
    from agssl.train.methods import train_method

    now, graph = CLOCKS[clock], benchmark_graph(dataset)
    ticks: dict[str, list[float]] = {}
    train_method(graph, Settings(**(settings | {"epochs": 1})), 0, cache=Path(folder))  # warms up
    start = now()
    train_method(
        graph, Settings(**settings), 0, lambda stage, record: ticks.setdefault(stage, []).append(now()), Path(folder)
    )
    seconds = now() - start
    each = {stage: [after - before for before, after in pairwise(times)] for stage, times in ticks.items()}
    reply({"seconds": seconds, "each": each, "peak_mb": peak_mb()})


def measure(dataset: str, folder: str, hidden: int, outer: str, options: Any) -> dict[str, Any]:
    """The row of one dataset, width and outer objective."""
    how = {"hidden": hidden, "epochs": options.epochs, "patience": None, "strategy": options.strategy, "alpha": 1.0}
    here = {"dataset": dataset, "folder": folder, "clock": options.clock}
    ours: dict[str, Any] = {}
    for method in ("gcn", "autossl"):
        say(f"{dataset}, hidden {hidden}, {outer}: {method}")
        with Worker("autossl:side", settings=how | {"method": method, "outer": outer}, **here) as worker:
            ours[method] = worker.first
    epochs = {stage: median(seconds) for stage, seconds in (ours["gcn"]["each"] | ours["autossl"]["each"]).items()}
    row = {"dataset": dataset, "hidden": hidden, "outer": outer, "strategy": options.strategy, "epochs": options.epochs}
    row |= {"clock": options.clock, "gcn_seconds": ours["gcn"]["seconds"], "seconds": ours["autossl"]["seconds"]}
    row |= {f"{name}_ms": 1e3 * epochs[stage] for name, stage in (("gcn", "gcn"), ("search", "search"))}
    row["final_ms"] = 1e3 * sum(seconds for stage, seconds in epochs.items() if stage.startswith("autossl"))
    row["whole_ratio"] = ours["autossl"]["seconds"] / ours["gcn"]["seconds"]
    row |= {"peak_mb": ours["autossl"]["peak_mb"], "gcn_peak_mb": ours["gcn"]["peak_mb"]}
    if dataset == "cora":
        row["public"] = PUBLIC
        row["public_epoch_ratio"] = PUBLIC["cpu_seconds_per_epoch"] / epochs["search"]
        row["public_memory_ratio"] = PUBLIC["peak_mb"] / row["peak_mb"]
    return row | {"machine": machine()}


def main() -> None:
    parser = arguments("What AutoSSL's whole run costs.", "cora")
    parser.add_argument("--widths", default="64,256", help="widths of the hidden layer (default: %(default)s)")
    parser.add_argument(
        "--autossl-objective", default="labels,homophily", help="objectives of the search (default: %(default)s)"
    )
    parser.add_argument("--strategy", default="jt", choices=("jt", "pf"), help="default: %(default)s")
    parser.add_argument("--epochs", type=int, default=100, help="of each stage (default: %(default)s)")
    options = parser.parse_args()
    rows = []
    for dataset in options.datasets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            with Worker("pipeline_sides:prepare", dataset=dataset, folder=folder):
                pass  # METIS, k-means and the searches of PAIRDIS are done once, and not timed
            for width in map(int, options.widths.split(",")):
                rows += [measure(dataset, folder, width, outer, options) for outer in options.outer.split(",")]
    show(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
