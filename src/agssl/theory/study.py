"""One draw of the block model measured, and the records of all draws: one line of JSON per seed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agssl.base.atomic import append_json
from agssl.base.jsonl import read_json_lines
from agssl.base.provenance import commit, machine
from agssl.base.rng import Rng
from agssl.base.version import __version__
from agssl.config import PAPER_TASKS, Settings, effective
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.integrate.base import mixed
from agssl.metrics import softmax
from agssl.pretext.prepare import make_task
from agssl.theory.csbm import Csbm, Posterior, gibbs, propagate_beliefs
from agssl.theory.distance import on_simplex, shared_weights
from agssl.theory.networks import BY_LABELS, MORE_TASKS, Networks, by_labels, train_networks
from agssl.theory.proposition import proposition
from agssl.theory.theorem import theorem
from agssl.train.loop import Training
from agssl.train.methods import Context, fit_gcn
from agssl.train.setup import problem_of, schedule_of

FORMAT, VERSION = "agssl-theory", 1
# One generation: p^t is the teachers' alone. Temperatures only: the model's classes are equally frequent.
SETTINGS = Settings(
    tasks=PAPER_TASKS,
    integration="ts",
    alpha_epochs=None,
    hidden=32,
    epochs=200,
    patience=40,
    generations=1,
    calibrate="temperature",
)
SPLIT = "random:20/200/700"

StudyRecord = dict[str, Any]


def run(
    seeds: Iterable[int],
    path: Path,
    model: Csbm | None = None,
    settings: Settings = SETTINGS,
    on_done: Callable[[StudyRecord], None] = lambda record: None,
) -> list[StudyRecord]:
    """The records of these seeds: those in the file are read, the others measured and appended.

    So are those of a version that had fewer schemes; the last record of a seed counts.
    """
    model, records = model or Csbm(), []
    for seed in seeds:
        wanted = _identity(seed, model, settings)
        record = _last(path, wanted)
        if record is None or not all(f"{scheme.upper()}, val" in record["schemes"] for scheme in BY_LABELS):
            begun = time.process_time()
            record = wanted | measure_seed(seed, model, settings)
            record["cpu_seconds"] = round(time.process_time() - begun, 1)
            record |= {"dataset": "block model", "config": None, "agssl": __version__, "commit": commit()}
            record["machine"] = machine(torch.get_num_threads())
            append_json(path, record)
        on_done(record)
        records.append(record)
    return records


def stored(seeds: Iterable[int], path: Path) -> list[StudyRecord]:
    """The records of these seeds that are there."""
    found = [_last(path, _identity(seed, Csbm(), SETTINGS)) for seed in seeds]
    return [record for record in found if record is not None]


def _identity(seed: int, model: Csbm, settings: Settings) -> StudyRecord:
    about = {"format": FORMAT, "version": VERSION, "seed": seed, "model": dataclasses.asdict(model)}
    alphas = {text: list(make_task(text).alphas) for text in (*PAPER_TASKS, *MORE_TASKS)}  # each chooses from these
    return about | {"settings": effective(settings), "alphas": alphas}


def _last(path: Path, wanted: StudyRecord) -> StudyRecord | None:
    """The last record of what is wanted."""
    found = None
    for _, record in read_json_lines(path):
        if all(record.get(key) == value for key, value in wanted.items()):
            found = record
    return found


def measure_seed(seed: int, model: Csbm, settings: Settings = SETTINGS) -> StudyRecord:
    """Everything for one draw of the model."""
    rng = Rng(seed).child("theory")
    graph = model.draw(rng.child("graph"))
    graph = graph.with_split(make_split(SPLIT, graph, rng.child("split")))
    assert graph.split is not None
    posterior = gibbs(model, graph, rng.child("gibbs"))
    test, bayes = graph.split.test, posterior.mean
    trained = train_networks(
        Context(problem_of(graph, settings), settings, Training(schedule_of(settings)), rng.child("fit"))
    )
    return {
        "bayes": _bayes(model, graph, posterior),
        "proposition": proposition(model, rng.child("fresh"), trained),
        "theorem": theorem(trained.probabilities[:, test], bayes[test], rng.child("orders")),
        "schemes": schemes(trained, graph, bayes),
    }


def _bayes(model: Csbm, graph: Graph, posterior: Posterior) -> StudyRecord:
    """How sure p* is, how well it is known, and how well the two ways to compute it agree."""
    beliefs, p = propagate_beliefs(model, graph), posterior.mean
    return {
        "accuracy": float((p.argmax(1) == graph.y).mean()),
        "expected_accuracy": float(p.max(1).mean()),
        "sampling_error": posterior.error,
        "distance_to_belief_propagation": float(np.linalg.norm(beliefs - p, axis=1).mean()),
        "edges": graph.num_edges,
        "homophily": graph.homophily(),
    }


def schemes(trained: Networks, graph: Graph, bayes: np.ndarray) -> dict[str, StudyRecord]:
    """Distance to p* and accuracy on the test nodes, by scheme."""
    teachers = trained.probabilities[: len(PAPER_TASKS)]
    found = {task: teachers[number] for number, task in enumerate(PAPER_TASKS)}
    found["best single, by validation"] = teachers[trained.best_single]
    found["Average"] = teachers.mean(0)
    calibrated = softmax(trained.students["ts", "val"][0].logits.double().numpy(), axis=2)
    found["Average, calibrated"] = calibrated.mean(0)
    for (scheme, labels), (knowledge, student) in trained.students.items():
        known = torch.softmax(knowledge.logits.double(), dim=-1)
        found[f"{scheme.upper()}, {labels}"] = mixed(student.weights.double(), known).numpy()
        found[f"student of {scheme.upper()}, {labels}"] = softmax(student.network.logits.double().numpy())
    for scheme, p in by_labels(trained).items():
        found[f"{scheme.upper()}, val"] = p
    found["GCN"] = softmax(fit_gcn(trained.context).logits.double().numpy())
    assert graph.split is not None
    test = graph.split.test
    found["best weights, shared by all nodes"] = np.einsum(
        "k,knc->nc", shared_weights(teachers[:, test], bayes[test]), teachers
    )
    found["Bayes"] = bayes
    result = {
        name: {
            "distance": float(np.linalg.norm(p[test] - bayes[test], axis=1).mean()),
            "accuracy": float((p[test].argmax(1) == graph.y[test]).mean()),
        }
        for name, p in found.items()
    }
    for name, p in (("best weights a node", teachers), ("best weights a node, calibrated", calibrated)):
        result[name] = {"distance": float(on_simplex(p[:, test], bayes[test]).mean())}
    return result
