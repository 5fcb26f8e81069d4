"""Is trust right, and what is it worth? Integrations with the same teachers, and a GCN that reads the same labels.

    python studies/trust.py --datasets cora,texas --seeds 100-102 --pools paper,auto
    python studies/trust.py --table --seeds 0-9
    python studies/trust.py --summary --seeds 0-9     # the table of docs/trust.md

Each arm of a cell (graph, seed, pool) is one record of studies/results/trust.jsonl; what is there is not run again, and
teachers that were trained are kept in `--keep`, so an interrupted run goes on. Graphs are named datasets or those of
AGSSL_DATA/practice, with the split `benchmark`.

| arm | what it is | validation labels |
|---|---|---|
| an integration | AGSSL | choose epochs, calibrate teachers, weigh them, calibrate the student |
| `gcn` | the plain GCN | choose the epoch, calibrate by a temperature |
| `gcn calibrated` | its logits calibrated with a shift for each class | the same, and the shifts |
| `gcn correct & smooth` | its probabilities corrected by train and validation labels | the same, and are spread |
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import t as student_t

from agssl.base.atomic import append_json
from agssl.base.jsonl import read_json_lines
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.resolve import open_graph
from agssl.data.splits import make_split
from agssl.fitting.fit import Resources, fitted_model, use_threads
from agssl.fitting.job import measure
from agssl.integrate.calibration import Confidence, calibration
from agssl.integrate.sets import USUAL, Conformal, measure_sets
from agssl.metrics import evaluate, softmax
from agssl.shipped import settings_for
from agssl.simple.correct import cross_smoothed, left_out
from agssl.store.checkpoints import CheckpointStore
from agssl.train.context import MethodResult
from agssl.train.methods import train_method

RECORDS = Path(__file__).resolve().parent / "results" / "trust.jsonl"
SEVEN = ("cora", "citeseer", "pubmed", "photo", "computers", "cs", "physics")
INTEGRATIONS = ("average", "lf", "ts", "local", "stack", "both")
BASELINES = ("gcn", "gcn calibrated", "gcn correct & smooth")
FIGURES = ("accuracy", "log_loss", "ece")
Record = dict[str, Any]


def graph_of(name: str, seed: int) -> Graph:
    """A graph with the split of a seed."""
    path = Path(os.environ["AGSSL_DATA"]) / "practice" / f"{name}.npz"
    graph = open_graph(str(path) if path.exists() else name, split=None)
    return graph.with_split(make_split("benchmark", graph, Rng(seed).child("split")))


def trained(name: str, seed: int, pool: str, method: str, integration: str, where: Resources) -> Record:
    """One fit: what its student, its integrated teacher and its trust are worth on test nodes."""
    graph = graph_of(name, seed)
    given: dict[str, Any] = {"method": method}
    if method == "agssl":
        given |= {"integration": integration, "teachers": (pool,)}
    settings, _ = settings_for(name, given)
    with use_threads(where.threads):
        result = train_method(graph.hide_test(), settings, seed, cache=where.cache, checkpoints=where.checkpoints)
    fitted = fitted_model(result, graph, settings, seed)
    metrics, test = measure(fitted, graph), fitted.logits[_test(graph)]
    raw = evaluate(graph.y[_test(graph)], softmax(test))
    found = {key: metrics["test"][key] for key in FIGURES} | {f"raw_{key}": raw[key] for key in ("log_loss", "ece")}
    found |= {"sets": metrics["sets"], "trust": metrics["trust"], "temperature": metrics["temperature"]}
    if method == "agssl":
        return found | {"teachers": list(fitted.task_names), "integrated": _integrated(result, graph)}
    return found | {arm: _again(arm, fitted.logits, graph) for arm in BASELINES[1:]}


def _test(graph: Graph) -> np.ndarray:
    assert graph.split is not None
    return graph.split.test


def _integrated(result: MethodResult, graph: Graph) -> Record:
    """What the student was told of the test nodes."""
    assert result.integrator is not None
    assert result.knowledge is not None
    assert result.weights is not None
    nodes, known = torch.from_numpy(_test(graph)), result.knowledge
    says = torch.softmax(known.logits[:, nodes].double(), -1)
    p = result.integrator.answer(result.weights[nodes].double(), says, nodes, 1.0).double().numpy()
    found = evaluate(graph.y[nodes.numpy()], p / p.sum(1, keepdims=True))
    return {key: found[key] for key in FIGURES}


def _again(arm: str, logits: np.ndarray, graph: Graph) -> Record:
    """The GCN with more made of the validation labels."""
    split, y = graph.split, graph.y
    assert split is not None
    if arm == "gcn calibrated":
        z = torch.from_numpy(logits)[None]
        found = calibration("classes", z[:, split.val], torch.from_numpy(y[split.val]))
        assert found is not None
        logs = found(z)[0].numpy()
        held = logs[split.val]
    else:
        sure = Confidence.fitted(logits[split.val], y[split.val])(logits)
        known, told = graph.hide_test(), np.concatenate([split.train, split.val])
        found = cross_smoothed(known, sure, told, left_out(known, sure, split.train, split.val))
        logs, held = np.log(found.found), np.log(found.apart[split.val])
    confidence = Confidence.fitted(held, y[split.val])
    p = confidence(logs)
    sets = Conformal.fitted(p, graph, split.val, confidence(held)).sets(p, graph)
    measured = evaluate(y[split.test], p[split.test])
    return {key: measured[key] for key in FIGURES} | {"sets": measure_sets(sets[split.test], y[split.test], USUAL)}


def run(datasets: list[str], seeds: list[int], pools: list[str], arms: list[str], keep: Path) -> None:
    """Measure what is asked for and not there yet."""
    torch.set_num_threads(1)
    done = {_key(record) for record in stored()}
    for seed in seeds:
        for name in datasets:
            for pool in pools:
                for arm in arms:
                    key = (name, seed, "" if arm == "gcn" else pool, arm)
                    if key in done:
                        continue
                    done.add(key)
                    begun = time.perf_counter()
                    where = Resources(keep / "targets", CheckpointStore(keep / f"{name}-{seed}-{pool}"))
                    method = "gcn" if arm == "gcn" else "agssl"
                    found = trained(name, seed, pool, method, arm, where)
                    record = {"graph": name, "seed": seed, "pool": key[2], "arm": arm, **found}
                    append_json(RECORDS, record | {"seconds": round(time.perf_counter() - begun, 1)})
                    print(f"{key}: {found['accuracy']:.3f}", file=sys.stderr, flush=True)


def stored() -> list[Record]:
    """What was measured."""
    return [record for _, record in read_json_lines(RECORDS)] if RECORDS.exists() else []


def _key(record: Record) -> tuple[str, int, str, str]:
    return record["graph"], record["seed"], record["pool"], record["arm"]


def _rows(seeds: list[int], pool: str) -> dict[tuple[str, str], dict[int, Record]]:
    """Records by graph and arm, then seed; the GCN's further arms are part of its record."""
    found: dict[tuple[str, str], dict[int, Record]] = {}
    for record in stored():
        if record["seed"] in seeds and record["pool"] in ("", pool):
            found.setdefault((record["graph"], record["arm"]), {})[record["seed"]] = record
            for arm in BASELINES[1:]:
                if arm in record:
                    found.setdefault((record["graph"], arm), {})[record["seed"]] = record[arm]
    return found


def _mean(records: dict[int, Record], *path: str) -> float | None:
    values = []
    for record in records.values():
        value: Any = record
        for name in path:
            value = None if value is None else value.get(name)
        values += [value] if value is not None else []
    return float(np.mean(values)) if values else None


def interval(values: list[float]) -> str:
    """The mean of paired differences with its 95% interval, in points."""
    mean = 100 * float(np.mean(values))
    if len(values) < 2:
        return f"{mean:+.2f}"
    half = 100 * student_t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:+.2f} ± {half:.2f}"


def _line(name: str, values: list[float | None], form: str) -> str:
    cells = " | ".join("" if value is None else format(value, form) for value in values)
    return f"| {name} | {cells} |"


def table(seeds: list[int], pool: str) -> str:
    """Trust, accuracy, probabilities and sets, means over seeds."""
    found = _rows(seeds, pool)
    graphs = list(dict.fromkeys(graph for graph, _ in found))
    every, head = (*INTEGRATIONS, *BASELINES), "|---" * (len(INTEGRATIONS) + 1) + "|"
    wide = "|---" * (len(every) + 1) + "|"

    def of(arms: tuple[str, ...], graph: str, *path: str) -> list[float | None]:
        return [_mean(found.get((graph, arm), {}), *path) for arm in arms]

    lines = [f"pool {pool}, seeds {min(seeds)} to {max(seeds)}", "", "pairs right, and nodes in disagreement", ""]
    lines += ["| | " + " | ".join(INTEGRATIONS) + " | nodes |", head + "---|"]
    for graph in graphs:
        count = _mean(found.get((graph, "both"), {}), "trust", "nodes")
        cell = "" if count is None else f" {count:.0f} |"
        lines.append(_line(graph, of(INTEGRATIONS, graph, "trust", "pairs_right"), ".2f") + cell)
    lines += [
        "",
        "where teachers disagree, with `both`: accuracy in % of",
        "",
        "| | most trusted | best single | majority |",
    ]
    lines += ["|---|---|---|---|"]
    for graph in graphs:
        values = [
            _mean(found.get((graph, "both"), {}), "trust", k) for k in ("most_trusted", "best_single", "majority")
        ]
        lines.append(_line(graph, [None if v is None else 100 * v for v in values], ".1f"))
    lines += ["", "integrated teacher against Average, points of accuracy with 95% interval over seeds", ""]
    others = INTEGRATIONS[1:]
    lines += ["| | " + " | ".join(others) + " |", "|---" * (len(others) + 1) + "|"]
    for graph in graphs:
        base, cells = found.get((graph, "average"), {}), []
        for arm in others:
            here = found.get((graph, arm), {})
            both = [here[s]["integrated"]["accuracy"] - base[s]["integrated"]["accuracy"] for s in here if s in base]
            cells.append(interval(both) if both else "")
        lines.append(f"| {graph} | " + " | ".join(cells) + " |")
    for title, path, form in (
        ("test accuracy of the student", ("accuracy",), ".3f"),
        ("log-loss, calibrated", ("log_loss",), ".3f"),
        ("log-loss, as trained", ("raw_log_loss",), ".3f"),
        ("ECE, calibrated", ("ece",), ".3f"),
        ("ECE, as trained", ("raw_ece",), ".3f"),
        ("coverage at 0.9", ("sets", "coverage"), ".3f"),
        ("mean size of the sets", ("sets", "mean_size"), ".2f"),
    ):
        lines += ["", title, "", "| | " + " | ".join(every) + " |", wide]
        lines += [_line(graph, of(every, graph, *path), form) for graph in graphs]
    return "\n".join(lines)


def summary(seeds: list[int], pool: str) -> str:
    """One table of what matters, graphs side by side: means over the seeds that `both`, Average and the GCN have."""
    found = _rows(seeds, pool)
    common = {
        name: sorted(set.intersection(*(set(found.get((name, arm), {})) for arm in ("both", "average", "gcn"))))
        for name in dict.fromkeys(graph for graph, _ in found)
    }
    graphs = [name for name, here in common.items() if here]

    def mean(graph: str, arm: str, *path: str) -> float | None:
        here = found.get((graph, arm), {})
        return _mean({seed: here[seed] for seed in common[graph] if seed in here}, *path)

    def cells(arm: str, *paths: tuple[str, ...], form: str = ".3f", scale: float = 1) -> list[str]:
        each = [[mean(graph, arm, *path) for path in paths] for graph in graphs]
        return [", ".join("" if v is None else format(scale * v, form) for v in values) for values in each]

    def gained(graph: str) -> str:
        both, average = found[graph, "both"], found[graph, "average"]
        return interval(
            [both[s]["integrated"]["accuracy"] - average[s]["integrated"]["accuracy"] for s in common[graph]]
        )

    there = [("trust", key) for key in ("most_trusted", "best_single", "majority")]
    sets = (("sets", "coverage"), ("sets", "mean_size"))
    rows = {
        "seeds": [str(len(common[graph])) for graph in graphs],
        "pairs right, `ts`": cells("ts", ("trust", "pairs_right"), form=".2f"),
        "pairs right, `both`": cells("both", ("trust", "pairs_right"), form=".2f"),
        "there, in %: most trusted, best single, majority": cells("both", *there, form=".1f", scale=100),
        "teachers together, `both` minus `average`, points": [gained(graph) for graph in graphs],
    }
    for arm in ("average", "lf", "ts", "both"):
        rows[f"accuracy of the student, `{arm}`"] = cells(arm, ("accuracy",), form=".1f", scale=100)
    for arm, title in zip(BASELINES, ("GCN", "GCN calibrated", "GCN with Correct & Smooth"), strict=True):
        rows[title] = cells(arm, ("accuracy",), form=".1f", scale=100)
    rows["ECE of `both`, as trained and calibrated"] = cells("both", ("raw_ece",), ("ece",))
    rows["log-loss of `both`, as trained and calibrated"] = cells("both", ("raw_log_loss",), ("log_loss",))
    rows["log-loss of `ts`, as trained and calibrated"] = cells("ts", ("raw_log_loss",), ("log_loss",))
    rows["sets of `both` at 0.9: coverage, mean size"] = cells("both", *sets, form=".2f")
    rows["sets of the GCN calibrated"] = cells("gcn calibrated", *sets, form=".2f")
    lines = ["| | " + " | ".join(graphs) + " |", "|---" * (len(graphs) + 1) + "|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(row)} |" for name, row in rows.items()])


def main() -> None:
    """Measure, or print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(SEVEN))
    parser.add_argument("--seeds", default="100", help="first and last")
    parser.add_argument("--pools", default="paper", help="paper, auto, or both by a comma")
    parser.add_argument("--arms", default=",".join((*INTEGRATIONS, "gcn")))
    parser.add_argument("--keep", type=Path, default=Path("runs/trust-study"), help="where trained teachers are kept")
    parser.add_argument("--table", action="store_true", help="print the tables and leave")
    parser.add_argument("--summary", action="store_true", help="print one short table and leave")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds, pools = list(range(int(first), int(last or first) + 1)), args.pools.split(",")
    if args.summary:
        print("\n\n".join(summary(seeds, pool) for pool in pools))
        return
    if args.table:
        print("\n\n".join(table(seeds, pool) for pool in pools))
        return
    run(args.datasets.split(","), seeds, pools, args.arms.split(","), args.keep)


if __name__ == "__main__":
    main()
