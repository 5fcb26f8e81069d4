"""Learning curves: what labels are worth that are chosen in one way or another.

    python studies/suggest.py --datasets cora_ml,acm --seeds 0-9 --arms all --jobs 2
    python studies/suggest.py --table

A fifth of the labelled nodes of a graph of AGSSL_DATA/practice is hidden, class by class, and measures. Two nodes of
each class of the others are labels to begin with. Then fit, choose a batch among the others, label it by the truth, and
so on up to 200 labels. The arms differ in the choice alone:

| arm | the batch |
|---|---|
| `suggest` | `agssl suggest` |
| `random` | drawn evenly |
| `uncertainty` | the least sure ones, by calibrated probability |
| `degree` | those with the most neighbours |
| `kmeans` | of as many clusters of hidden rows, the node nearest to each centre |

Fits are `--effort quick` with the default split, or plain GCNs (`--fit gcn`). One JSON line per fit, with the labels it
had, goes to studies/results/suggest.jsonl; a curve goes on from the last one that is there.
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
from sklearn.cluster import KMeans

from agssl import AGSSL
from agssl.base.atomic import append_json
from agssl.base.jsonl import read_json_lines
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.readers import read_graph
from agssl.data.splits import make_split
from agssl.label.suggest import suggest

RECORDS = Path(__file__).resolve().parent / "results" / "suggest.jsonl"
ARMS = ("suggest", "random", "uncertainty", "degree", "kmeans")
FITS: dict[str, dict[str, Any]] = {"quick": {"effort": "quick"}, "gcn": {"method": "gcn"}}
FIRST = 2  # labels of each class to begin with
Record = dict[str, Any]


def choose(arm: str, model: AGSSL, graph: Graph, free: np.ndarray, count: int, rng: Rng) -> np.ndarray:
    """The next nodes to label, among those that are free."""
    if arm == "random":
        return rng.numpy().choice(free, count, replace=False)
    said = model.predict_proba()
    if arm == "uncertainty":
        return free[np.argsort(said[free].max(1), kind="stable")[:count]]
    if arm == "degree":
        return free[np.argsort(-graph.degree[free], kind="stable")[:count]]
    hidden = model.embed()
    if arm == "kmeans":
        return nearest_to_centres(hidden[free], free, count, rng)
    found = suggest([model.fitted_], said, hidden, graph, count, among=free)
    return np.array([one.index for one in found])


def nearest_to_centres(rows: np.ndarray, nodes: np.ndarray, count: int, rng: Rng) -> np.ndarray:
    """Of each cluster's centre the nearest node, none of them twice."""
    centres = KMeans(count, n_init=1, random_state=rng.key() % 2**32).fit(rows).cluster_centers_
    chosen: list[int] = []
    for centre in centres:
        far = np.linalg.norm(rows - centre, axis=1)
        far[chosen] = np.inf
        chosen.append(int(far.argmin()))
    return nodes[chosen]


def step(name: str, seed: int, arm: str, fit: str, before: Record | None, batch: int) -> Record:
    """One more fit of a curve: label a batch by what the last fit chose, fit, measure, and choose again."""
    graph = read_graph(Path(os.environ["AGSSL_DATA"]) / "practice" / f"{name}.npz")
    hidden = make_split("fraction:0.6/0.2/0.2", graph, Rng(seed).child("hidden")).test
    visible = np.setdiff1d(np.flatnonzero(graph.y >= 0), hidden)
    if before is None:
        order = Rng(seed).child("first").numpy().permutation(visible)
        labelled = np.concatenate([order[graph.y[order] == c][:FIRST] for c in np.unique(graph.y[order])])
    else:
        labelled = np.array(before["labelled"] + before["chosen"])
    y = np.full_like(graph.y, -1)
    y[labelled] = graph.y[labelled]
    known = Graph.from_arrays(graph.adjacency(), graph.x, y, classes=graph.classes, name=graph.name, notify=False)
    start = time.perf_counter()
    model = AGSSL(**FITS[fit], random_state=seed).fit(known)
    accuracy = float((model.fitted_.decide(model.predict_proba())[hidden] == graph.y[hidden]).mean())
    free = np.setdiff1d(visible, labelled)
    rng = Rng(seed).child("choose", arm, len(labelled))
    chosen = choose(arm, model, known, free, min(batch, len(free)), rng)
    cell = {"graph": name, "seed": seed, "arm": arm, "fit": fit, "batch": batch, "labels": len(labelled)}
    lists = {"labelled": labelled.tolist(), "chosen": chosen.tolist()}
    return cell | {"accuracy": accuracy, "seconds": time.perf_counter() - start} | lists


def stored() -> list[Record]:
    """What was measured."""
    return [record for _, record in read_json_lines(RECORDS)] if RECORDS.exists() else []


def table(fit: str) -> str:
    """Mean accuracies over the seeds that all arms have, in per cent, by graph and number of labels."""
    lines = ["| graph | labels | seeds | " + " | ".join(ARMS) + " |", "|---" * (3 + len(ARMS)) + "|"]
    found = {(r["graph"], r["labels"], r["seed"], r["arm"]): r["accuracy"] for r in stored() if r["fit"] == fit}
    for graph, labels in sorted({(graph, labels) for graph, labels, _, _ in found}):
        here = {(seed, arm) for g, n, seed, arm in found if (g, n) == (graph, labels)}
        seeds = [s for s in sorted({s for s, _ in here}) if all((s, arm) in here for arm in ARMS)]
        if seeds:
            means = [f"{100 * np.mean([found[graph, labels, s, arm] for s in seeds]):.1f}" for arm in ARMS]
            lines.append(f"| {graph} | {labels} | {len(seeds)} | " + " | ".join(means) + " |")
    return "\n".join(lines)


def main() -> None:
    """Go on with the curves that are asked for, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora_ml,acm,blogcatalog,twitch_en,actor")
    parser.add_argument("--seeds", default="0-9", help="first and last")
    parser.add_argument("--arms", default="all", help="names, separated by commas")
    parser.add_argument("--fit", choices=FITS, default="quick")
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--most", type=int, default=200, help="labels")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print the table and leave")
    args = parser.parse_args()
    if args.table:
        print(table(args.fit))
        return
    first, _, last = args.seeds.partition("-")
    arms = ARMS if args.arms == "all" else tuple(args.arms.split(","))
    newest: dict[tuple[str, int, str], Record] = {}
    for one in sorted(stored(), key=lambda record: record["labels"]):
        if (one["fit"], one["batch"]) == (args.fit, args.batch):
            newest[one["graph"], one["seed"], one["arm"]] = one
    curves = [
        (graph, seed, arm)
        for seed in range(int(first), int(last or first) + 1)
        for graph in args.datasets.split(",")
        for arm in arms
    ]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:

        def more(curve: tuple[str, int, str]) -> list[Any]:
            before = newest.get(curve)
            if before is not None and (before["labels"] >= args.most or not before["chosen"]):
                return []
            room = args.most - (before["labels"] if before else 0)
            short = None if before is None else before | {"chosen": before["chosen"][:room]}
            return [pool.submit(step, *curve, args.fit, short, args.batch)]

        waiting = [future for curve in curves for future in more(curve)]
        while waiting:
            future = next(as_completed(waiting))
            waiting.remove(future)
            record = future.result()
            append_json(RECORDS, record)
            newest[record["graph"], record["seed"], record["arm"]] = record
            shown = {key: value for key, value in record.items() if key not in ("labelled", "chosen")}
            print(shown, file=sys.stderr, flush=True)
            waiting += more((record["graph"], record["seed"], record["arm"]))


if __name__ == "__main__":
    main()
