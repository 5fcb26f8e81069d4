"""Ways to fit lambda, compared with the same teachers on nodes that no result is reported on.

    python studies/integration.py --datasets cora,citeseer --seeds 100-102

One JSON record per dataset and seed goes to studies/results/integration; finished ones are not run again, so an
interrupted run goes on where it was. Accuracy is measured on the labelled nodes that are in no part of the split:
design decisions are made there and on validation nodes, on other seeds, so that the test nodes stay unread until the
end.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import t

from agssl.base.atomic import write_json
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.datasets import load_dataset
from agssl.data.graph import Graph
from agssl.train.context import Context, Teacher
from agssl.train.loop import Training
from agssl.train.setup import problem_of, schedule_of
from agssl.train.students import distil
from agssl.train.teachers import collect_knowledge, train_teacher

RECORDS = Path(__file__).resolve().parent / "results"
STUDENTS: dict[str, dict[str, Any]] = {  # how lambda is made
    "average": {"integration": "average"},
    "average temperature": {"integration": "average", "calibrate": "temperature"},
    "average uncalibrated": {"integration": "average", "calibrate": "none"},
    "random": {"integration": "random", "calibrate": "none"},
    "weighted": {"integration": "weighted", "weights_from": "train"},
    "lf": {"integration": "lf"},
    "ts": {"integration": "ts"},
    "lf temperature": {"integration": "lf", "calibrate": "temperature"},
    "ts temperature": {"integration": "ts", "calibrate": "temperature"},
    "lf train": {"integration": "lf", "weights_from": "train"},
    "ts train": {"integration": "ts", "weights_from": "train"},
    "lf crossfit": {"integration": "lf", "weights_from": "crossfit"},
    "ts crossfit": {"integration": "ts", "weights_from": "crossfit"},
    "lf uncalibrated": {"integration": "lf", "calibrate": "none"},
    "lf shrinkage": {"integration": "lf", "shrinkage": 0.1},
    "lf student gradient": {"integration": "lf", "student_gradient": True},
}


def cell(dataset: str, seed: int, students: tuple[str, ...], settings: Settings) -> dict:
    """Train everything for one seed and measure it outside the split."""
    torch.set_num_threads(1)
    graph = load_dataset(dataset, seed=seed)
    assert graph.split is not None
    problem = problem_of(graph, settings)
    context = Context(problem, settings, Training(schedule_of(settings)), Rng(seed))
    started = time.perf_counter()
    networks = {"gcn": context.network((), context.rng.child("gcn"), "gcn")}
    gcn_seconds = time.perf_counter() - started
    shifted = collect_knowledge(context, (Teacher("gcn", 0.0, networks["gcn"]),)).logits[0]
    teachers = tuple(train_teacher(context, text) for text in settings.tasks)
    teacher_seconds = time.perf_counter() - started - gcn_seconds
    networks |= {teacher.name: teacher.network for teacher in teachers}
    weights, temperatures, seconds = {}, {}, {"gcn": gcn_seconds, "teachers": teacher_seconds}
    for name in students:
        started = time.perf_counter()
        one = replace(context, settings=settings.replace(**STUDENTS[name]))
        knowledge = collect_knowledge(one, teachers)
        if knowledge.calibration is not None:
            temperatures[name] = knowledge.calibration.temperatures.tolist()
        for stage, student in distil(one, [knowledge]).items():
            networks[name + stage.removeprefix("student")] = student.network
            weights[name] = student.weights.mean(0).tolist()
        seconds[name] = time.perf_counter() - started
    nodes = rest(graph)
    truth = graph.y[nodes]
    logits = {"gcn": networks["gcn"].logits, "gcn calibrated": shifted} | {n: f.logits for n, f in networks.items()}
    return {
        "dataset": dataset,
        "seed": seed,
        "nodes": len(nodes),
        "settings": {k: v for k, v in asdict(settings).items() if v is not None},
        "accuracy": {n: float((z.argmax(1).numpy()[nodes] == truth).mean()) for n, z in logits.items()},
        "validation": {n: f.best["val_accuracy"] for n, f in networks.items()},
        "alpha": {teacher.name: teacher.alpha for teacher in teachers},
        "lambda": weights,
        "temperature": temperatures,
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
    }


def rest(graph: Graph) -> np.ndarray:
    """Labelled nodes in no part of the split."""
    assert graph.split is not None
    used = np.concatenate([graph.split.train, graph.split.val, graph.split.test])
    return np.setdiff1d(np.flatnonzero(graph.y >= 0), used)


def summary(records: list[dict]) -> str:
    """Mean and deviation a dataset and method, and the paired gain over GCN with its 95% interval."""
    lines = ["| dataset | method | accuracy | gain over GCN | seeds |", "|---|---|---|---|---|"]
    for dataset in dict.fromkeys(r["dataset"] for r in records):
        of = [r for r in records if r["dataset"] == dataset]
        names = list(dict.fromkeys(name for r in of for name in r["accuracy"]))
        for name in names:
            pairs = [(r["accuracy"][name], r["accuracy"]["gcn"]) for r in of if name in r["accuracy"]]
            ours, gcn = 100 * np.array(pairs).T
            n, gain = len(ours), ours - gcn
            half = t.ppf(0.975, n - 1) * gain.std(ddof=1) / n**0.5 if n > 1 else float("nan")
            spread = ours.std(ddof=1) if n > 1 else 0.0
            lines.append(
                f"| {dataset} | {name} | {ours.mean():.2f} ± {spread:.2f} | {gain.mean():+z.2f} ± {half:.2f} | {n} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora,citeseer")
    parser.add_argument("--seeds", default="100-102", help="0-4 or 100,101")
    parser.add_argument("--students", default=",".join(STUDENTS), help="with commas (default: all)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RECORDS / "integration")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a setting, e.g. beta=5")
    parser.add_argument("--summary", action="store_true", help="only print what is there")
    args = parser.parse_args()
    first, dash, last = args.seeds.partition("-")
    seeds = range(int(first), int(last) + 1) if dash else [int(s) for s in args.seeds.split(",")]
    settings = Settings().replace(**{k: json.loads(v) for k, v in (text.split("=", 1) for text in args.set)})
    todo = [(dataset, seed) for seed in seeds for dataset in args.datasets.split(",")]
    paths = {(d, s): args.out / f"{d}-{s}.json" for d, s in todo}
    missing = [key for key in todo if not paths[key].exists()]
    if missing and not args.summary:
        with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
            students = tuple(args.students.split(","))
            futures = {pool.submit(cell, *key, students, settings): key for key in missing}
            for future in as_completed(futures):
                key = futures[future]
                write_json(paths[key], future.result())
                print("done", *key, file=sys.stderr, flush=True)
    print(summary([json.loads(paths[key].read_text()) for key in todo if paths[key].exists()]))


if __name__ == "__main__":
    main()
