"""What AutoSSL's whole run costs: search and final training, in multiples of one GCN training of the same epochs.

    python studies/autossl.py --datasets cora --clock cpu --json

Search (one epoch: a step of the network, a step of lambda) and final training, five tasks, one alpha, the same number
of epochs for both and for the plain GCN they are compared with, no early stopping, each in a fresh process. METIS,
k-means of the features and the breadth-first searches are done before and are not timed. `search_ms`, `final_ms` and
`gcn_ms` are medians of an epoch, `whole_ratio` is the seconds of the whole run over those of one GCN training.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from agssl.config import Settings
from agssl.train.methods import train_method

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
from workers import CLOCKS, Reply, Worker, arguments, benchmark_graph, machine, peak_mb, say, show, single_thread

# The public implementation on Cora, measured once on this kind of machine with one thread; it needs old packages, so it
# is not run here.
PUBLIC = {"cpu_seconds_per_epoch": 10.7, "peak_mb": 6900.0}
COLUMNS = (
    "dataset",
    "hidden",
    "autossl_objective",
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
    now, graph = CLOCKS[clock], benchmark_graph(dataset)
    ticks: dict[str, list[float]] = {}
    train_method(graph, Settings(**(settings | {"epochs": 1})), 0, cache=Path(folder))  # warms up
    start = now()
    train_method(
        graph,
        Settings(**settings),
        0,
        watch=lambda stage, record: ticks.setdefault(stage, []).append(now()),
        cache=Path(folder),
    )
    seconds = now() - start
    each = {stage: [after - before for before, after in pairwise(times)] for stage, times in ticks.items()}
    reply({"seconds": seconds, "each": each, "peak_mb": peak_mb()})


def measure(dataset: str, folder: str, hidden: int, objective: str, options: Any) -> dict[str, Any]:
    """The row of one dataset, width and objective of the search."""
    how = {"hidden": hidden, "epochs": options.epochs, "patience": None, "strategy": options.strategy, "alpha": 1.0}
    here = {"dataset": dataset, "folder": folder, "clock": options.clock}
    ours: dict[str, Any] = {}
    for method in ("gcn", "autossl"):
        say(f"{dataset}, hidden {hidden}, {objective}: {method}")
        settings = how | {"method": method, "autossl_objective": objective}
        with Worker("autossl:side", settings=settings, **here) as worker:
            ours[method] = worker.first
    epochs = {stage: median(seconds) for stage, seconds in (ours["gcn"]["each"] | ours["autossl"]["each"]).items()}
    row = {"dataset": dataset, "hidden": hidden, "autossl_objective": objective, "strategy": options.strategy}
    row["epochs"] = options.epochs
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
            objectives = options.autossl_objective.split(",")
            for width in map(int, options.widths.split(",")):
                rows += [measure(dataset, folder, width, objective, options) for objective in objectives]
    show(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
