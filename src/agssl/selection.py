"""`agssl.cross_validate` and `agssl.tune`, where scikit-learn's own can't take a graph."""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError
from agssl.base.system import cores
from agssl.config import DESCRIBED
from agssl.data.convert import labelled_graph
from agssl.data.labels import class_values
from agssl.estimator import AGSSL
from agssl.fitting.cross_validation import CrossValidation, cross_validation, make_folds
from agssl.fitting.fit import Resources
from agssl.fitting.job import check
from agssl.search.run import FIRST_SEED, check_search, make_search, run_search, searched
from agssl.search.space import chosen_space

log = logging.getLogger("agssl")


def cross_validate(
    model: AGSSL,
    graph: Any,
    y: Any = None,
    *,
    folds: int = 5,
    metric: str | None = None,
    seeds: int | Sequence[int] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CrossValidation:
    """Measure a model on nodes whose labels it has never seen: fit it once for each fold, the fold's labels hidden.

    Folds are stratified and have all labelled nodes; a split that the graph brings is not used. What is left of the
    labels is split by the model's own `split`. By default that is `cv:5` below 2,000 labels, with which a fit trains
    most networks five times: `AGSSL(split="holdout:0.2")` costs a third to a fifth.

    Args:
        model: what to fit, as it is set; it is not changed. Each fit is as `model.fit` would be on a graph without
            these labels.
        graph: as for `AGSSL.fit`.
        y: labels to use in place of the graph's, [N].
        folds: how many.
        metric: what `value` and `interval` of the result are of; by default the model's. All metrics are measured.
        seeds: each draws folds of its own and is the `random_state` of its fits: a list, or a count (2: 0 and 1). By
            default one, the model's `random_state`.
        n_jobs: fits side by side, in processes; None (the default) is 1, -1 one for each core. Results do not depend
            on it.
        verbose: 1 prints a line on stderr for each fit, 0 nothing; by default 0.

    Returns:
        The scores of every fold by every metric, their mean, a 95% interval, and what was said of each node.

    Example:
        >>> from agssl import AGSSL, cross_validate, load_dataset  # doctest: +SKIP
        >>> found = cross_validate(AGSSL(split="holdout:0.2"), load_dataset("digits"))  # doctest: +SKIP
        >>> found.value, found.interval, found.scores["macro_f1"]  # doctest: +SKIP
    """
    if not isinstance(model, AGSSL):
        raise SettingsError(f"cross_validate fits models of the class AGSSL, and not a {type(model).__name__}")
    settings, jobs, found = model.settings(), _jobs(n_jobs), labelled_graph(graph, y)
    check(settings, model.device, model.threads)
    chosen = settings.metric if metric is None else settings.replace(metric=metric).metric
    which = (model._seed(),) if seeds is None else _seeds(seeds, 0)
    with _folder() as folder:
        cache = folder if model.cache is None else Path(model.cache)  # targets are the same for all folds
        where = Resources(cache, None, model.device, model.threads)
        hidden = make_folds(found, settings, model.split, folds, which, where)
        values = class_values(found.classes, found.class_kind)
        result = cross_validation(hidden, chosen, values, jobs, _say(verbose))
    log.info(str(result))
    return result


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a search for settings has found.

    Attributes:
        settings: the best ones, by name: `AGSSL(**tuned.settings)`, or `model.set_params(**tuned.settings)`.
        metric: what trials were compared by.
        score: of the best trial: the mean metric on nodes that its fits had not seen, greater being better (for
            `log_loss`, its negative). The best of many is a little lucky: measure it on other nodes.
        trial: its number.
        trials: a record of every trial that ended: its state, its score, that of each seed, and what it tried.
        counts: trials that are complete, pruned and failed.
        gain: how far the best is above the first, where the search began, with its standard error; None where it is the
            first, or one seed leaves no error.
        importances: how much of the differences between trials each parameter explains, largest first.
    """

    settings: dict[str, Any]
    metric: str
    score: float
    trial: int
    trials: list[dict[str, Any]]
    counts: dict[str, int]
    gain: dict[str, float] | None
    importances: dict[str, float]


def tune(
    graph: Any,
    y: Any = None,
    *,
    model: AGSSL | None = None,
    space: Iterable[str] | Mapping[str, Sequence[Any]] | None = None,
    trials: int = 50,
    seconds: float | None = None,
    seeds: int | Sequence[int] = 3,
    study: str | Path | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Tuned:
    """Search for settings by the metric at validation, as `agssl tune` does (extra `tune`).

    Test labels are not read: every trial is scored on half of the validation nodes, which its fits do not see. Of a
    split that holds nodes out in turn, the first turn is searched on.

    Args:
        graph: as for `AGSSL.fit`.
        y: labels to use in place of the graph's, [N].
        model: the method, the metric and all else that is not searched, and where the search begins; by default
            `AGSSL()`. It is not changed.
        space: what to search: names, as for `agssl tune --only`, or by name the values to choose from. By default all
            that the package knows of the method.
        trials: complete ones in all.
        seconds: after so many no further trial begins; those that run are finished.
        seeds: that each trial is scored by: a list of seeds from 100 on, or a count (2: 100 and 101).
        study: a file that keeps the trials: the same call goes on with them. By default nothing is kept.
        n_jobs: trials side by side, in processes; None (the default) is 1, -1 one for each core. With several, what is
            tried next depends on which end first.
        verbose: 1 prints a line on stderr for each trial, 0 nothing; by default 0.

    Example:
        >>> from agssl import AGSSL, load_dataset, tune  # doctest: +SKIP
        >>> graph = load_dataset("digits")  # doctest: +SKIP
        >>> found = tune(graph, space={"hidden": [64, 256], "beta": [1, 5]}, trials=4)  # doctest: +SKIP
        >>> model = AGSSL(**found.settings).fit(graph)  # doctest: +SKIP
    """
    model = AGSSL() if model is None else model
    base, which, jobs = searched(model.settings()), _seeds(seeds, FIRST_SEED), _jobs(n_jobs)
    check_search(base, trials, which, model.threads, seconds)
    chosen = chosen_space(base, space)
    with _folder() as folder:
        storage = folder / "study.db" if study is None else Path(study)
        cache = folder if model.cache is None else Path(model.cache)
        more = {"cache": cache, "threads": model.threads}
        search = make_search(labelled_graph(graph, y), base, chosen, model.split, which, storage, **more)
        found = run_search(search, trials, jobs, seconds=seconds, say=_say(verbose))
    best = found.settings
    read = {name: value for name, value in vars(best).items() if DESCRIBED[name].read_by(best.method)}
    about = (found.score, found.trial, found.rows, found.counts, found.gain, found.importances)
    return Tuned(read, best.metric, *about)


def _seeds(seeds: int | Sequence[int], first: int) -> tuple[int, ...]:
    """A list of seeds, or so many from the first on."""
    found = tuple(range(first, first + seeds)) if isinstance(seeds, int) else tuple(int(seed) for seed in seeds)
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise SettingsError(f"seeds = {seeds!r}; give a count of at least one, or a list that has each seed once")
    return found


def _jobs(n_jobs: int | None) -> int:
    """How many processes, as scikit-learn counts them."""
    if n_jobs == -1:
        return cores()
    if n_jobs is not None and n_jobs < 1:
        raise SettingsError(f"n_jobs = {n_jobs}; give the number of processes, or -1 for one per core")
    return n_jobs or 1


def _say(verbose: int) -> Callable[[str], None]:
    def say(line: str) -> None:
        if verbose:
            print(f"agssl: {line}", file=sys.stderr, flush=True)

    return say


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder for what the fits share; it is gone when they end."""
    with tempfile.TemporaryDirectory(prefix="agssl-") as path:
        yield Path(path)
