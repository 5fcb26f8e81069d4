"""The paper's theory, measured where the Bayes probability is known (`agssl.bench.csbm`).

What is claimed (Section 3.2, Appendices C and D), and what is measured here:

(a) Proposition 1. For any network, E[(R~ - R)^2] <= V[p^t . l] / N + O(E|p^t - p*|)^2, where R = E[p* . l],
    R~ = 1/N sum_i p^t_i . l_i, and l_i is the vector of the network's losses. Both sides are measured over many graphs
    drawn from the model, with teachers and network held fixed, with the factor that the O hides made explicit, as in
    Eq. A.9: (E[|p^t - p*| |l|])^2. The proof takes the N nodes for independent (Eq. A.8); `variance_ratio` is
    V[R~] / (V[p^t . l] / N), which that step sets to 1.
(b) Theorem 1. Delta(K) = min_lambda |sum_k lambda_k h^(k)_i - p*_i| does not rise with K, and tends to 0. It is
    measured for lambda on the simplex (what LF and TS can use), with sum 1 (Section 3.1), and any at all (the proof),
    with trained teachers and with teachers that know nothing.
(c) Guidance 1: the integrated teacher should be near p*. It is measured how near single teachers, Average, LF and TS
    are, and how near they could be.

p*(x_i) is P(y_i | X, A): what the features and edges tell of a node's class where no label is known, as in the paper's
E_x E_{y|x}. Temperature tau is 1.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agssl.base.atomic import write_json
from agssl.base.rng import Rng
from agssl.base.version import __version__
from agssl.bench.csbm import Csbm, Posterior, gibbs, propagate_beliefs, softmax
from agssl.bench.distance import KINDS, linear_weights, on_simplex, shared_weights
from agssl.bench.measure import commit, machine
from agssl.config import PAPER_TASKS, Settings, effective
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.encoders import Network
from agssl.integrate.base import Knowledge, mixed
from agssl.pretext.prepare import make_task
from agssl.train.distill import Student
from agssl.train.infer import infer
from agssl.train.loop import by_validation
from agssl.train.methods import Context, Teacher, collect_knowledge, distil, fit_gcn, train_teacher
from agssl.train.setup import problem_of, schedule_of

FORMAT, VERSION = "agssl-theory", 1
MORE = ("par:parts=20", "clu:clusters=4", "dgi:estimator=infonce", "pairdis:pairs=100", "pairsim:target=feature")
# One generation: p^t is the teachers' alone. Temperatures only: the model's classes are equally frequent.
STRATEGIES = Settings(hidden=32, epochs=200, patience=40, generations=1, calibrate="temperature")
SPLIT = "random:20/200/700"
ORDERS = 6  # in which teachers are added
GRAPHS = 60  # drawn anew for Proposition 1

Record = dict[str, Any]


def run(
    seeds: Iterable[int],
    folder: str | Path,
    model: Csbm | None = None,
    settings: Settings = STRATEGIES,
    told: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """The records of these seeds: those in the folder are read, the others measured and written, one file a seed."""
    model, records = model or Csbm(), []
    for seed in seeds:
        path, wanted = _place(folder, seed), _identity(seed, model, settings)
        record = _stored(path, wanted)
        if record is None:
            begun = time.process_time()
            record = wanted | measure(seed, model, settings)
            record["cpu_seconds"] = round(time.process_time() - begun, 1)
            record |= {"dataset": "block model", "config": None, "agssl": __version__, "commit": commit()}
            record["machine"] = machine(torch.get_num_threads())
            write_json(path, record)
        told(record)
        records.append(record)
    return records


def stored(seeds: Iterable[int], folder: str | Path) -> list[Record]:
    """The records of these seeds that are there."""
    found = [_stored(_place(folder, seed), _identity(seed, Csbm(), STRATEGIES)) for seed in seeds]
    return [record for record in found if record is not None]


def _place(folder: str | Path, seed: int) -> Path:
    return Path(folder) / f"{seed}.json"


def _identity(seed: int, model: Csbm, settings: Settings) -> Record:
    about = {"format": FORMAT, "version": VERSION, "seed": seed, "model": dataclasses.asdict(model)}
    alphas = {text: list(make_task(text).alphas) for text in (*PAPER_TASKS, *MORE)}  # each task chooses from these
    return about | {"settings": effective(settings), "alphas": alphas}


def _stored(path: Path, wanted: Record) -> Record | None:
    """The record in a file, if it is whole and of what is wanted."""
    try:
        record: Record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    same = isinstance(record, dict) and all(record.get(key) == value for key, value in wanted.items())
    return record if same else None


def measure(seed: int, model: Csbm, settings: Settings = STRATEGIES) -> Record:
    """Everything for one draw of the model."""
    rng = Rng(seed).child("theory")
    graph = model.draw(rng.child("graph"))
    graph = graph.with_split(make_split(SPLIT, graph, rng.child("split")))
    assert graph.split is not None
    posterior = gibbs(model, graph, rng.child("gibbs"))
    test = graph.split.test
    context = Context(problem_of(graph, settings), settings, schedule_of(settings), rng.child("fit"))
    teachers = [train_teacher(context, text) for text in (*PAPER_TASKS, *MORE)]
    five = teachers[: len(PAPER_TASKS)]
    students = {
        (scheme, fitted): _student(context, five, scheme, fitted) for scheme in ("lf", "ts") for fitted in _FITTED
    }
    p, bayes = _probabilities(teachers), posterior.mean
    single = max(range(len(five)), key=lambda k: by_validation(five[k].network.best))
    return {
        "bayes": _bayes(model, graph, posterior),
        "proposition": proposition(model, rng.child("fresh"), context, five, students, single),
        "theorem": theorem(p[:, test], bayes[test], rng.child("orders")),
        "schemes": schemes(context, p[: len(PAPER_TASKS)], students, single, graph, bayes),
    }


_FITTED = ("train", "val")  # labels that fit lambda: the paper's, and the default here, with calibrated teachers


def _probabilities(teachers: Sequence[Teacher]) -> np.ndarray:
    """[K, N, C]."""
    return np.stack([softmax(t.network.logits.double().numpy()) for t in teachers])


def _student(context: Context, five: Sequence[Teacher], scheme: str, fitted: str) -> tuple[Knowledge, Student]:
    context = dataclasses.replace(context, settings=context.settings.replace(integration=scheme, weights_from=fitted))
    knowledge = collect_knowledge(context, five)
    return knowledge, distil(context, knowledge)["student"]


def _bayes(model: Csbm, graph: Graph, posterior: Posterior) -> Record:
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


def theorem(teachers: np.ndarray, bayes: np.ndarray, rng: Rng) -> Record:
    """Mean Delta(K) over nodes for K = 1, 2, ..., by kind of weights, averaged over orders of the teachers."""
    noise = softmax(rng.child("noise").numpy().standard_normal(teachers.shape), axis=2)
    result: Record = {}
    for name, source in (("trained", teachers), ("ignorant", noise)):
        curves = {kind: np.zeros((ORDERS, len(source), len(bayes))) for kind in KINDS}
        for order in range(ORDERS):
            ordered = source[rng.child(name, order).numpy().permutation(len(source))]
            for count in range(1, len(source) + 1):
                for kind, distance in KINDS.items():
                    curves[kind][order, count - 1] = distance(ordered[:count], bayes)
        result[name] = {
            "distance": {kind: values.mean((0, 2)).tolist() for kind, values in curves.items()},
            "rises": {kind: int((np.diff(values, axis=1) > 1e-6).sum()) for kind, values in curves.items()},
            "outside_hull": float((curves["simplex"][0, -1] > 0.01).mean()),
        }
    nodes, likely = np.arange(len(bayes)), bayes.argmax(1)
    # no average of teachers that all give a class too little can give it enough
    result["all_less_sure"] = float((teachers[:, nodes, likely].max(0) < bayes[nodes, likely]).mean())
    classes = bayes.shape[1]
    result["weight_size"] = float(np.median(np.abs(linear_weights(teachers[:classes], bayes)).sum(1)))
    return result


def schemes(
    context: Context,
    teachers: np.ndarray,
    students: dict[tuple[str, str], tuple[Knowledge, Student]],
    single: int,
    graph: Graph,
    bayes: np.ndarray,
) -> dict[str, Record]:
    """Distance to p* and accuracy on the test nodes, by scheme."""
    found = {task: teachers[number] for number, task in enumerate(PAPER_TASKS)}
    found["best single, by validation"] = teachers[single]
    found["Average"] = teachers.mean(0)
    calibrated = softmax(students["ts", "val"][0].logits.double().numpy(), axis=2)
    found["Average, calibrated"] = calibrated.mean(0)
    for (scheme, fitted), (knowledge, student) in students.items():
        known = torch.softmax(knowledge.logits.double(), dim=-1)
        found[f"{scheme.upper()}, {fitted}"] = mixed(student.weights.double(), known).numpy()
        found[f"student of {scheme.upper()}, {fitted}"] = softmax(student.network.logits.double().numpy())
    found["GCN"] = softmax(fit_gcn(context).logits.double().numpy())
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


def proposition(
    model: Csbm,
    rng: Rng,
    context: Context,
    five: Sequence[Teacher],
    students: dict[tuple[str, str], tuple[Knowledge, Student]],
    single: int,
) -> list[Record]:
    """Both sides of Proposition 1 for several teachers and two networks, over graphs drawn anew."""
    networks = {"trained": students["ts", "val"][1].network.model}
    networks["untrained"] = Network(context.problem.shape, rng.child("untrained"))
    teachers: dict[str, list[np.ndarray]] = {}
    losses: dict[str, list[np.ndarray]] = {name: [] for name in networks}
    for number in range(GRAPHS):
        graph = model.draw(rng.child("graph", number))
        for name, p in _integrated(graph, five, students, single).items():
            teachers.setdefault(name, []).append(p)
        teachers.setdefault("Bayes", []).append(propagate_beliefs(model, graph))
        for name, network in networks.items():
            losses[name].append(-np.log(softmax(infer(network, graph).logits.astype(np.float64))))
    bayes = np.stack(teachers["Bayes"])
    return [
        {"teacher": teacher, "network": name} | sides(np.stack(p), bayes, np.stack(losses[name]))
        for name in networks
        for teacher, p in teachers.items()
    ]


def _integrated(
    graph: Graph, five: Sequence[Teacher], students: dict[tuple[str, str], tuple[Knowledge, Student]], single: int
) -> dict[str, np.ndarray]:
    """What fixed teachers and integrators say of another graph, [N, C]."""
    logits = torch.stack([torch.from_numpy(infer(t.network.model, graph).logits) for t in five])
    raw = torch.softmax(logits.double(), dim=-1)
    found = {"best single": raw[single], "Average": raw.mean(0)}
    for scheme in ("lf", "ts"):
        knowledge, student = students[scheme, "val"]
        assert knowledge.calibration is not None
        scaled = knowledge.calibration(logits)
        with torch.no_grad():
            weights = student.integrator(torch.from_numpy(infer(student.network.model, graph).logits), scaled)
        found[scheme.upper()] = mixed(weights.double(), torch.softmax(scaled.double(), dim=-1))
    return {name: p.numpy() for name, p in found.items()}


def sides(teacher: np.ndarray, bayes: np.ndarray, loss: np.ndarray) -> dict[str, float]:
    """Both sides of Proposition 1 from G graphs: p^t, p* and losses l, [G, N, C] each.

    The left side is V[R~] + (E[R~] - R)^2, so that it is not biased by estimating R from the same graphs.
    """
    nodes = teacher.shape[1]
    value = (teacher * loss).sum(2)  # p^t . l, [G, N]
    estimates, gap = value.mean(1), np.linalg.norm(teacher - bayes, axis=2)
    length = np.linalg.norm(loss, axis=2)
    bias = float(estimates.mean() - (bayes * loss).sum(2).mean())
    variance = float(estimates.var(ddof=1))
    independent = float(value.var() / nodes)
    return {
        "left": variance + bias**2,
        "bias_squared": bias**2,
        "variance": variance,
        "variance_if_independent": independent,
        "variance_ratio": variance / independent,
        "second_term": float((gap * length).mean() ** 2),
        "second_term_without_factor": float(gap.mean() ** 2),
        "gap": float(gap.mean()),
        "loss_length": float(length.mean()),
    }
