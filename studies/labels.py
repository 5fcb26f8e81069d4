"""What a fit makes of the labels it is given: the default split against setting nodes aside, on nodes that are hidden.

    python studies/labels.py --datasets cora_ml,acm --labels 80% --seeds 300-301 --arms all
    python studies/labels.py --datasets cora_ml,acm,actor,twitch_en,blogcatalog --labels 10,20,50,100,200 --seeds 0-2
    python studies/labels.py --table
    python studies/labels.py --plot docs/figures/few-labels

A fifth of the labelled nodes of a graph of AGSSL_DATA/practice is hidden, class by class; of the others all (80%) or a
given number, at least one per class, are labels. Each arm fits them and is measured on the hidden nodes:

| arm | what it is |
|---|---|
| `default` | `agssl fit` as it is: the automatic pool, no label set aside for good |
| `quick` | the same with `--effort quick` |
| `before` | the paper's pool: 20 per class train, 500 validate, 1,000 test, or 60/20/20 where these are too many |
| `gcn` | a GCN on the same labels, a quarter of them to validate |
| `logistic regression` | scikit-learn's, on the features, trained on all labels |

One JSON line per cell goes to studies/results/labels.jsonl; what is there is not run again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agssl.base.atomic import append_json
from agssl.base.jsonl import read_json_lines
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.readers import read_graph
from agssl.data.splits import make_split
from agssl.fitting.baselines import logistic_regression
from agssl.fitting.fit import fit
from agssl.metrics import wilson_interval
from agssl.store.fitted import judged

RECORDS = Path(__file__).resolve().parent / "results" / "labels.jsonl"
ARMS = ("default", "quick", "before", "gcn", "logistic regression")
SETTINGS = {
    "default": Settings(),
    "quick": Settings(effort="quick"),
    "before": Settings(teachers=("paper",), integration="ts", alpha_epochs=None),
    "gcn": Settings(method="gcn"),
}
Record = dict[str, Any]


def hidden(graph: Graph, seed: int) -> np.ndarray:
    """A fifth of the labelled nodes, class by class."""
    split = make_split("fraction:0.6/0.2/0.2", graph, Rng(seed).child("hidden"))
    return split.test


def with_few(graph: Graph, nodes: np.ndarray, labels: str, seed: int) -> Graph:
    """The graph without the labels of the hidden nodes; of the others it keeps all, or so many."""
    visible = np.setdiff1d(np.flatnonzero(graph.y >= 0), nodes)
    if labels != "80%":
        order = Rng(seed).child("labels", labels).numpy().permutation(visible)
        first = [np.flatnonzero(graph.y[order] == c)[0] for c in np.unique(graph.y[order])]
        rest = np.setdiff1d(np.arange(len(order)), first)
        visible = order[np.concatenate([np.sort(first), rest])[: int(labels)]]
    y = np.full_like(graph.y, -1)
    y[visible] = graph.y[visible]
    return Graph.from_arrays(graph.adjacency(), graph.x, y, classes=graph.classes, name=graph.name, notify=False)


def measure(name: str, labels: str, seed: int, arm: str) -> Record:
    """One fit."""
    torch.set_num_threads(1)
    graph = read_graph(Path(os.environ["AGSSL_DATA"]) / "practice" / f"{name}.npz")
    nodes = hidden(graph, seed)
    known = with_few(graph, nodes, labels, seed)
    truth, start = graph.y[nodes], time.perf_counter()
    if arm == "logistic regression":
        predicted = logistic_regression(known, np.flatnonzero(known.y >= 0), nodes).argmax(1)
        found: Record = {"accuracy": float((predicted == truth).mean())}
    else:
        split = {"before": "benchmark", "gcn": "fraction:0.75/0.249/0.001"}.get(arm, "auto")
        known = known.with_split(make_split(split, known, Rng(seed).child("split")))
        found = fitted(known, SETTINGS[arm], seed, nodes, truth)
    return {"graph": name, "labels": labels, "seed": seed, "arm": arm, **found, "seconds": time.perf_counter() - start}


def fitted(graph: Graph, settings: Settings, seed: int, nodes: np.ndarray, truth: np.ndarray) -> Record:
    """The accuracy of one fit on the hidden nodes and, with a split that holds nodes out, what it thinks of itself."""
    model = fit(graph, settings, seed).fitted
    found: Record = {"accuracy": float((model.logits[nodes].argmax(1) == truth).mean())}
    assert graph.split is not None
    if graph.split.fold is not None:
        said = judged(model, graph.split, "val")
        estimate = float((said.logits.argmax(1) == graph.y[said.nodes]).mean())
        low, high = wilson_interval(estimate, len(said.nodes))
        found |= {"folds": len(graph.split.folds()), "estimate": estimate, "low": low, "high": high}
    return found


def stored() -> list[Record]:
    """What was measured."""
    return [record for _, record in read_json_lines(RECORDS)] if RECORDS.exists() else []


def table() -> str:
    """Means over seeds, in per cent, and how often the interval of the estimate held the truth."""
    lines = ["| graph | labels | seeds | " + " | ".join(ARMS) + " | interval holds |", "|---" * (len(ARMS) + 4) + "|"]
    found = stored()
    cells = sorted({(r["graph"], r["labels"]) for r in found}, key=lambda c: (c[0], len(c[1]), c[1]))
    for graph, labels in cells:
        here = [r for r in found if (r["graph"], r["labels"]) == (graph, labels)]
        by_arm = {arm: [r for r in here if r["arm"] == arm] for arm in ARMS}
        counts = {arm: len(rs) for arm, rs in by_arm.items()}
        most = max(counts.values())
        means = [
            f"{100 * np.mean([r['accuracy'] for r in rs]):.1f}" + (f" ({counts[arm]})" if counts[arm] < most else "")
            if rs
            else ""
            for arm, rs in by_arm.items()
        ]
        judged_ = [r for arm in ("default", "quick") for r in by_arm[arm] if "low" in r]
        holds = f"{sum(r['low'] <= r['accuracy'] <= r['high'] for r in judged_)} of {len(judged_)}" if judged_ else ""
        lines.append(f"| {graph} | {labels} | {most} | " + " | ".join(means) + f" | {holds} |")
    return "\n".join(lines)


def plot(path: Path) -> None:
    """Accuracy on hidden nodes against the number of labels: a panel for each graph, a line for each arm."""
    from agssl.bench.style import MARKERS, new_figure, tidy
    from agssl.explain.plots import COLOURS

    found = [record for record in stored() if record["labels"] != "80%"]
    graphs = sorted({record["graph"] for record in found})
    figure = new_figure(2.7 * len(graphs), 2.9)
    panels = figure.subplots(1, len(graphs), squeeze=False)[0]
    for graph, panel in zip(graphs, panels, strict=True):
        for arm, colour, marker in zip(ARMS, COLOURS, MARKERS, strict=False):
            here = [record for record in found if (record["graph"], record["arm"]) == (graph, arm)]
            sizes = sorted({int(record["labels"]) for record in here})
            means = [100 * np.mean([r["accuracy"] for r in here if int(r["labels"]) == size]) for size in sizes]
            if len(sizes) > 1:
                panel.plot(sizes, means, label=arm, color=colour, marker=marker, markersize=4)
        panel.set_xscale("log")
        panel.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
        panel.minorticks_off()
        tidy(panel, graph, "labels in all", "accuracy on hidden nodes, %" if panel is panels[0] else "")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(ARMS), fontsize=8)
    for ending in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{ending}"))


def main() -> None:
    """Measure what is asked for and not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora_ml,acm,blogcatalog,twitch_en")
    parser.add_argument("--labels", default="80%", help="80%%, or numbers such as 10,20,50")
    parser.add_argument("--seeds", default="0-4", help="first and last")
    parser.add_argument("--arms", default="all", help="names, separated by commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print the table and leave")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw FILE.png and FILE.svg of the records with numbers of labels"
    )
    args = parser.parse_args()
    if args.table:
        print(table())
        return
    if args.plot:
        plot(Path(args.plot))
        return
    first, _, last = args.seeds.partition("-")
    arms = ARMS if args.arms == "all" else tuple(args.arms.split(","))
    asked = [
        (graph, labels, seed, arm)
        for seed in range(int(first), int(last or first) + 1)
        for graph in args.datasets.split(",")
        for labels in args.labels.split(",")
        for arm in arms
    ]
    done = {(r["graph"], r["labels"], r["seed"], r["arm"]) for r in stored()}
    left = [cell for cell in asked if cell not in done]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(measure, *cell) for cell in left]
        for number, future in enumerate(as_completed(waiting), 1):
            record = future.result()
            append_json(RECORDS, record)
            print(f"{number} of {len(left)}: {record}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
