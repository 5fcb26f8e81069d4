"""Runs side by side: their results, and how each differs from the first, pair by pair where they share seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agssl.base.errors import DataError, SettingsError
from agssl.store.run import Run

COMPARED_MEASURES = ("test_accuracy", "macro_f1", "log_loss", "ece", "val_accuracy")
_LEVEL = 0.95


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """Results of every run, and the difference of each to the first one.

    A difference is paired where both runs have the graph, a seed and that seed's split in common: then both were given
    the same nodes to learn and to be tested on, and only what differs between the methods is left. Otherwise it is
    that of the means, with Welch's interval, and a note says why.
    """
    if len(runs) < 2:
        raise SettingsError("one run can't be compared; name two or more, as in `agssl compare runs/a runs/b`")
    measures = measures_of(runs)
    results = [results_of(run, measures) for run in runs]
    first = results[0]
    differences = [
        {"run": results[number]["run"], "to": first["run"], **_difference(runs[0], runs[number], measures)}
        for number in range(1, len(runs))
    ]
    return {"measures": list(measures), "runs": results, "differences": differences}


def measures_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """What to compare runs by: first the metrics that any of them was chosen by, then what all have."""
    own = dict.fromkeys(f"test_{run.settings.metric}" for run in runs)
    return tuple(dict.fromkeys((*(name for name in own if name != "test_accuracy"), *COMPARED_MEASURES)))


def results_of(run: Run, measures: Sequence[str] = COMPARED_MEASURES) -> dict[str, Any]:
    """What a run is and how good it was, over its seeds."""
    from agssl.fitting.summary import spread

    summary, seeds = run.metrics, [seed_results(run, seed, measures) for seed in run.seeds]
    what = {key: summary.get(key) for key in ("dataset", "method", "integration", "tasks", "strategy", "seconds")}
    over_seeds = {name: spread([found[name] for found in seeds]) for name in measures}
    return {"run": str(run.path), **what, "seeds": list(run.seeds), **over_seeds}


def seed_results(run: Run, seed: int, measures: Sequence[str] = COMPARED_MEASURES) -> dict[str, float | None]:
    """The measures of one seed; None where the run has no test nodes, or is of a version that knew no such metric.

    Where nodes were held out in turn and there are no test nodes, macro-F1, log-loss and ECE are of the held-out ones.
    """
    found = run.seed_metrics(seed)
    try:
        test, val = found["test"] or {}, found["val"]
        others = test or (val if "folds" in found.get("split", ()) else {})
        known = {f"test_{name}": value for name, value in test.items()} | {"val_accuracy": val["accuracy"]}
        return {name: known.get(name, None if name.startswith("test_") else others.get(name)) for name in measures}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the results of seed {seed} in {run.path} are damaged ({error!r}); fit again") from error


def pairs(first: Run, second: Run) -> tuple[list[int], str]:
    """The seeds by which two runs can be compared pair by pair, and, where there are none, why."""
    if first.source.fingerprint != second.source.fingerprint:
        return [], "not the same graph"
    common = [seed for seed in second.seeds if seed in first.seeds]
    if not common:
        return [], "no seed in common"
    same = [seed for seed in common if _same_split(first, second, seed)]
    return same, "" if same else "not the same splits"


def paired_interval(values: np.ndarray) -> dict[str, float | None]:
    """Mean and 95% interval of paired differences by Student's t; no interval for a single pair.

    >>> paired_interval(np.array([1.0, 2.0, 3.0]))["mean"]
    2.0
    """
    mean = float(values.mean())
    if len(values) < 2:
        return {"mean": mean, "low": None, "high": None}
    return _around(mean, float(values.std(ddof=1)) / math.sqrt(len(values)), len(values) - 1)


def welch(first: np.ndarray, second: np.ndarray) -> dict[str, float | None]:
    """Difference of two means and its 95% interval, variances not taken to be equal."""
    mean = float(second.mean() - first.mean())
    if min(len(first), len(second)) < 2:
        return {"mean": mean, "low": None, "high": None}
    parts = [float(values.var(ddof=1)) / len(values) for values in (first, second)]
    if sum(parts) == 0:
        return {"mean": mean, "low": mean, "high": mean}
    weights = [part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True)]
    return _around(mean, math.sqrt(sum(parts)), sum(parts) ** 2 / sum(weights))


def _difference(first: Run, second: Run, measures: Sequence[str]) -> dict[str, Any]:
    seeds, why = pairs(first, second)
    if first.source.fingerprint != second.source.fingerprint:
        return {"paired": False, "seeds": [], "note": why, **dict.fromkeys(measures)}
    both = [{s: seed_results(run, s, measures) for s in (seeds or run.seeds)} for run in (first, second)]
    found: dict[str, Any] = {"paired": bool(seeds), "seeds": seeds, "note": why}
    for name in measures:
        a, b = ([row[name] for row in rows.values()] for rows in both)
        if any(value is None for value in (*a, *b)):
            found[name] = None
        else:
            one, two = np.array(a, dtype=float), np.array(b, dtype=float)
            found[name] = paired_interval(two - one) if seeds else welch(one, two)
    return found


def _same_split(first: Run, second: Run, seed: int) -> bool:
    one, two = first.split(seed).to_arrays(), second.split(seed).to_arrays()
    return one.keys() == two.keys() and all(np.array_equal(one[part], two[part]) for part in one)


def _around(mean: float, error: float, freedom: float) -> dict[str, float | None]:
    from scipy.stats import t

    half = float(t.ppf((1 + _LEVEL) / 2, freedom)) * error
    return {"mean": mean, "low": mean - half, "high": mean + half}
