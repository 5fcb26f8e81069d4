"""What a search has found: the best trial, how sure that is, all trials, and which parameters mattered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.config import Settings
from agssl.search.objective import halved
from agssl.search.space import settings_of
from agssl.search.study import Search

if TYPE_CHECKING:
    import optuna


def best_of(search: Search, study: optuna.Study) -> tuple[int, float, Settings]:
    """Number, score and settings of the best complete trial; the first one among equals."""
    best = study.best_trial
    assert best.value is not None
    values = {name: search.space[name][position] for name, position in best.params.items()}
    return best.number, best.value, settings_of(search.base, values)


def gain_of(search: Search, study: optuna.Study) -> dict[str, float] | None:
    """By how much the best trial is above the first complete one, where the search began, with its standard error.

    The error is over validation nodes for accuracy, over seeds for other metrics. None where it is that trial, where
    one seed has no error, or where trials do not say which nodes they had right (those of earlier versions).
    """
    first = next(trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE")
    best = study.best_trial
    if best.number == first.number or not all("right" in trial.user_attrs for trial in (best, first)):
        return None
    if search.base.metric != "accuracy":
        scores = [np.array(trial.user_attrs["scores"]) for trial in (best, first)]
        if len(scores[0]) < 2:
            return None
        by_seed = scores[0] - scores[1]
        error = float(by_seed.std(ddof=1) / np.sqrt(len(by_seed)))
        return {"over_trial": first.number, "mean": float(by_seed.mean()), "standard_error": error}
    nodes = [halved(graph, seed).split.test for seed, graph in search.graphs.items()]  # type: ignore[union-attr]
    difference = _right(best, nodes).astype(np.int8) - _right(first, nodes)
    mean, error = mean_by_node(difference, np.concatenate(nodes))
    return {"over_trial": first.number, "mean": mean, "standard_error": error}


def _right(trial: optuna.trial.FrozenTrial, nodes: list[np.ndarray]) -> np.ndarray:
    """Which nodes a trial had right, seed after seed, 0 or 1."""
    seeds = zip(trial.user_attrs["right"], nodes, strict=True)
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=len(at)) for text, at in seeds]
    return np.concatenate(bits)


def mean_by_node(values: np.ndarray, nodes: np.ndarray) -> tuple[float, float]:
    """The mean of values and its standard error, where values of the same node are not independent of each other.

    Seeds that share validation nodes, as on a public split, say little more about other nodes than one of them does.

    >>> mean_by_node(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 1, 2, 3]))
    (0.5, 0.25)
    >>> mean, error = mean_by_node(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 1, 0, 1]))
    >>> mean, round(error, 4)
    (0.5, 0.3536)
    """
    mean = values.mean()
    sums = np.bincount(np.unique(nodes, return_inverse=True)[1], weights=values - mean)
    return float(mean), float(np.sqrt(np.square(sums).sum()) / len(values))


def trial_rows(search: Search, study: optuna.Study) -> list[dict[str, Any]]:
    """Every trial that ended, in order: its score, that of each seed, and what it tried."""
    rows = []
    for trial in study.get_trials(deepcopy=False):
        if trial.state.name not in ("COMPLETE", "PRUNED"):
            continue
        scores = zip(search.graphs, trial.user_attrs["scores"], strict=False)  # a pruned one has fewer
        tried = {name: search.space[name][position] for name, position in trial.params.items()}
        about = {"trial": trial.number, "state": trial.state.name.lower(), "score": trial.value}
        rows.append(about | {f"seed {seed}": value for seed, value in scores} | tried)
    return rows


def importances(study: optuna.Study) -> dict[str, float]:
    """How much of the differences between trials each parameter explains, largest first; empty with too few trials."""
    import optuna

    scores = {trial.value for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"}
    if len(scores) < 2 or len(study.best_trial.params) < 2:
        return {}
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in found.items()}
