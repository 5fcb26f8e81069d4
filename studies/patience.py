"""How long is a training worth watching? Rules of stopping and of choosing alphas, replayed on whole curves.

python studies/patience.py --datasets cora,citeseer --seeds 100-109

Every teacher (each alpha) and the first student train for all epochs, and each epoch is measured on labelled nodes
that nothing else reads: those outside the split where there are enough (Cora, Citeseer, Pubmed), else the test nodes of
these tuning seeds. A rule is then replayed on the curves: when it stops, which epoch it takes, which alpha goes on.
Records that are there are not made again; `--table` only shows them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import torch

from agssl import load_dataset
from agssl.base.rng import Rng
from agssl.fitting.fit import split_for
from agssl.shipped import settings_for
from agssl.store.checkpoints import Record
from agssl.train import distill, network
from agssl.train.context import Context
from agssl.train.evaluate import evaluate
from agssl.train.loop import Training
from agssl.train.methods import taught_by, train_teacher
from agssl.train.problem import Problem

RESULTS = Path(__file__).parent / "results/patience.jsonl"
ENOUGH = 500  # labelled nodes outside the split
# epochs of all alphas (None: to the end), patience, and over how many epochs scores are averaged to see them rise
Rule = tuple[int | None, int, int]
BEFORE: Rule = (100, 100, 1)
RULES: tuple[Rule, ...] = (
    BEFORE, (None, 100, 1), (100, 50, 1), (100, 30, 1), (100, 100, 20), (100, 50, 20), (100, 30, 20), (100, 20, 20),
    (50, 30, 20), (25, 30, 20),
)  # fmt: skip


def main() -> None:
    """Train what is missing, replay the rules, show them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="cora,citeseer", help="names, with commas (default: %(default)s)")
    parser.add_argument("--seeds", default="100-104", help="a range (default: %(default)s)")
    parser.add_argument("--integration", default="ts", help="of the student (default: %(default)s)")
    parser.add_argument("--curves", type=Path, help="folder to keep the curves in, to replay other rules")
    parser.add_argument("--table", action="store_true", help="show the records only")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.is_file() else []
    have = {(row["dataset"], row["seed"]) for row in rows}
    for dataset in () if args.table else args.datasets.split(","):
        for seed in range(first, last + 1):
            if (dataset, seed) not in have:
                line = json.dumps({"dataset": dataset, "seed": seed, "rules": replay(curves_of(dataset, seed, args))})
                rows.append(json.loads(line))
                with RESULTS.open("a") as file:
                    file.write(line + "\n")
    print(table(rows))


Curve = dict[str, list[float]]


def curves_of(dataset: str, seed: int, args: argparse.Namespace) -> dict[str, list[Curve]]:
    """The curves of every network: of a teacher one for each alpha."""
    kept = None if args.curves is None else args.curves / f"{dataset}-{seed}.json"
    if kept is not None and kept.is_file():
        found: dict[str, list[Curve]] = json.loads(kept.read_text())
        return found
    given = {"integration": args.integration, "teachers": ("paper",), "patience": None, "alpha_epochs": None}
    settings, _ = settings_for(dataset, given | {"generations": 1})
    graph = split_for(load_dataset(dataset), "auto", seed)
    assert graph.split is not None
    split = graph.split
    outside = np.setdiff1d(np.flatnonzero(graph.y >= 0), np.concatenate([split.train, split.val, split.test]))
    apart = outside if len(outside) >= ENOUGH else split.test
    truth, plans = torch.from_numpy(graph.y[apart]), {}
    curves: dict[str, list[Curve]] = {}
    now: dict[str, Any] = {}

    def watched(problems: Sequence[Problem], models: Sequence[Any]) -> Record:
        record = evaluate(problems, models)
        key = id(problems[0])
        plans.setdefault(key, (problems[0], problems[0].plans.fixed(apart)))
        with torch.no_grad():
            logits = models[0](*plans[key][1]).logits
        if id(models[0]) != now.get("model"):
            now["model"], now["kept"] = id(models[0]), models[0]
            curves.setdefault(now["name"], []).append({"val": [], "loss": [], "apart": []})
        curve = curves[now["name"]][-1]
        curve["val"].append(record["val_accuracy"])
        curve["loss"].append(record["val_loss"])
        curve["apart"].append((logits.argmax(1) == truth).float().mean().item())
        return record

    network.evaluate = distill.evaluate = watched
    cache = Path(os.environ["AGSSL_CACHE"]) if "AGSSL_CACHE" in os.environ else None
    context = Context.of(graph.hide_test(), settings, Training(), Rng(seed), cache)
    teachers = []
    for text in settings.pool:
        now["name"] = text
        teachers.append(train_teacher(context, text))
    now["name"] = "student"
    taught_by(context, teachers)
    network.evaluate = distill.evaluate = evaluate
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(curves))
    return curves


def taken(curve: Curve, patience: int, over: int, upto: int | None = None) -> tuple[int, int, tuple[float, float]]:
    """The epoch that is taken, how many are trained, and the score of the epoch."""
    scores = list(zip(curve["val"], (-loss for loss in curve["loss"]), strict=True))[:upto]
    best, top, mean = 0, 0, (-math.inf, -math.inf)
    for epoch, score in enumerate(scores):
        if upto is None and epoch - top > patience:
            return best, epoch, scores[best]
        last = scores[max(0, epoch + 1 - over) : epoch + 1]
        now = fmean(one for one, _ in last), fmean(tie for _, tie in last)
        if now > mean:
            top, mean = epoch, now
        if score > scores[best]:
            best = epoch
    return best, len(scores), scores[best]


def replay(curves: dict[str, list[Curve]]) -> list[dict[str, Any]]:
    """What each rule makes of each network: accuracy apart, and epochs trained, those of the other alphas included."""
    rows = []
    for rule in RULES:
        rung, patience, over = rule
        for name, alphas in curves.items():
            tops = [taken(curve, patience, over, rung)[2] for curve in alphas]
            which = max(range(len(alphas)), key=tops.__getitem__)
            epoch, trained, _ = taken(alphas[which], patience, over)
            others = [curve for k, curve in enumerate(alphas) if k != which]
            spent = trained + sum(taken(curve, patience, over)[1] if rung is None else rung for curve in others)
            rows.append({"rule": rule, "name": name, "apart": round(alphas[which]["apart"][epoch], 5), "epochs": spent})
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Points gained over the rule before, with their standard error over seeds, and the share of its epochs."""
    header = ["", "seeds", "epochs of all alphas", "patience", "mean of", "teachers", "epochs", "student", "epochs"]
    lines = [header, ["---"] * len(header)]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row["rules"] for row in rows if row["dataset"] == dataset]
        for rule in RULES[1:]:
            cells = []
            for student in (False, True):
                pairs = [compared(rules, rule, student) for rules in mine]
                points = [one for one, _ in pairs]
                error = f" ± {stdev(points) / len(points) ** 0.5:.2f}" if len(points) > 1 else ""
                cells += [f"{fmean(points):+.2f}{error}", f"{fmean(share for _, share in pairs):.0%}"]
            about = [dataset, len(mine), "to the end" if rule[0] is None else rule[0], *rule[1:]]
            lines.append([*map(str, about), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def compared(rules: Sequence[dict[str, Any]], rule: Rule, student: bool) -> tuple[float, float]:
    """Points and share of epochs of one seed, in the mean of its teachers, or of its student."""
    here = [row for row in rules if (row["name"] == "student") == student]
    now, before = ([row for row in here if row["rule"] == list(one)] for one in (rule, BEFORE))
    points = fmean(100 * (one["apart"] - other["apart"]) for one, other in zip(now, before, strict=True))
    return points, sum(row["epochs"] for row in now) / sum(row["epochs"] for row in before)


if __name__ == "__main__":
    main()
