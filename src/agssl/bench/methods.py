"""The rows of the paper's tables by name, and the settings that each stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agssl.base.errors import AgsslError, unknown_name
from agssl.bench import paper
from agssl.config import PAPER_TASKS, Settings
from agssl.shipped import FOLDER, with_config


@dataclass(frozen=True, eq=False)
class Method:
    """A row: how to fit it, apart from what its dataset's config says."""

    name: str
    title: str  # as the paper writes it
    changes: Mapping[str, Any]
    two_strategies: bool = True  # whether joint training and pre-training differ
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # its paper's settings; *: of others

    def settings(
        self,
        dataset: str,
        strategy: str,
        folder: Path = FOLDER,
        base: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> tuple[Settings, str | None]:
        """What to fit on a dataset, and its config.

        Later ones win: config, its paper's settings, `base`, what makes this method, `more`.
        """
        kind = {"strategy": strategy if self.two_strategies else "jt"}
        own = {**_DATASETS.get(dataset, {}), **self.published.get(dataset, self.published.get("*", {}))}
        given = {**_THOROUGH, **own, **(base or {}), **self.changes, **kind, **more}
        if not given.keys() & {"tasks", "teachers"} and given["method"] != "grand":
            given["tasks"] = PAPER_TASKS
        values, path = with_config(dataset, given, folder)
        return Settings().replace(**values), None if path is None else path.name

    def missing(self) -> str | None:
        """Why this method can't run here, or None."""
        from agssl.fitting.job import check

        try:
            check(Settings().replace(**self.changes))
        except AgsslError as error:
            return str(error)
        return None


_THOROUGH: Mapping[str, Any] = {"alpha_epochs": None, "patience": 100}  # so the records of all tables were made
_TRAIN = " (by training labels)"
_SOURCES = {"val": "", "crossfit": " (by training labels held out in turn)", "train": _TRAIN}
_DATASETS: Mapping[str, Mapping[str, Any]] = {"ogbn-arxiv": {"layers": 2, "norm": "batch", "lr": 0.001}}  # App. G


def _single(task: str, title: str | None = None) -> Method:
    return Method(task, title or task.upper(), {"method": "single", "tasks": (task,)})


def _scheme(integration: str, title: str, name: str | None = None) -> Method:
    return Method(name or integration, title, {"method": "agssl", "integration": integration})


def _rival(name: str, title: str, **changes: Any) -> Method:
    return Method(name, title, changes, two_strategies=False, published=paper.rival_settings(name))


GCN = Method("gcn", "GCN", {"method": "gcn"}, two_strategies=False)
EQUAL = (  # that read validation labels for more than choosing, as AGSSL does
    Method("gcn-calibrated", "GCN calibrated", {"method": "gcn", "class_shifts": True}, two_strategies=False),
    Method("gcn-smoothed", "GCN smoothed", {"method": "gcn", "smooth": True}, two_strategies=False),
)
CROSSFIT = tuple(  # AGSSL whose validation labels fit nothing
    Method(
        f"agssl-{scheme}-crossfit",
        f"AGSSL-{scheme.upper()} crossfit",
        {"method": "agssl", "integration": scheme, "weights_from": "crossfit"},
    )
    for scheme in ("lf", "ts")
)
SINGLE = tuple(_single(task) for task in PAPER_TASKS)
RIVALS = tuple(_single(task) for task in ("gmi", "mvgrl", "grace", "gca", "cg3", "bgrl"))
VANILLA = Method("vanilla", "Vanilla", {"method": "joint"})
AUTOSSL = Method("autossl", "AutoSSL", {"method": "autossl"})
LF, TS = _scheme("lf", "AGSSL-LF", "agssl-lf"), _scheme("ts", "AGSSL-TS", "agssl-ts")
AVERAGE = _scheme("average", "Average")
HEURISTICS = (_scheme("random", "Random"), AVERAGE, _scheme("weighted", "Weighted"))
LATER = (_single("graphmae", "GraphMAE"), _single("grand"), _scheme("was", "WAS"))  # later than the paper

MIXED = (Method("pareto", "ParetoGNN", {"method": "pareto"}), Method("auxts", "AUX-TS", {"method": "auxts"}))
JOAO = _single("joao")
BEST = (  # rivals that are not of this kind, as their papers have them
    _rival("gcnii", "GCNII", method="gcn"),
    _rival("grand-net", "GRAND (its network)", method="grand"),
    _rival("cpf", "CPF of GCN", method="cpf"),
    _rival("cpf-gat", "CPF of GAT", method="cpf"),
    _rival("cpf-gcnii", "CPF of GCNII", method="cpf"),
)

TABLE_METHODS = {
    m.name: m
    for m in (
        *(GCN, *EQUAL, *SINGLE, *RIVALS, JOAO, VANILLA, AUTOSSL, *MIXED),
        *(*HEURISTICS, LF, TS, *CROSSFIT, *LATER, *BEST),
    )
}


def labels_read(settings: Settings) -> str:
    """What validation labels (or those that it says) decide in a fit, beyond epochs, alphas and a temperature.

    >>> labels_read(Settings(method="gcn", class_shifts=True)), labels_read(Settings(method="gcn"))
    ('a shift of each class', '')
    """
    found, source = [], _SOURCES[settings.weights_from]
    if settings.method == "agssl":
        found += ["the teachers' calibration" + source] if settings.calibrate != "none" and source != _TRAIN else []
        found += ["the teachers' weights" + source] if settings.integration not in ("average", "random") else []
    if settings.method == "autossl" and settings.autossl_objective == "labels":
        found.append("the tasks' weights" + source)
    found += ["a shift of each class"] if settings.class_shifts else []
    found += ["answers near by, together with training labels (Correct & Smooth)"] if settings.smooth else []
    return ", ".join(found)


def choose(default: Iterable[Method], names: Iterable[str] | None) -> tuple[Method, ...]:
    """The methods of a table: those named, among or beyond the default ones; always in the order of `TABLE_METHODS`."""
    if names is None:
        return tuple(default)
    wanted = set(names)
    for name in wanted:
        if name not in TABLE_METHODS:
            raise unknown_name("method", name, TABLE_METHODS)
    return tuple(method for method in TABLE_METHODS.values() if method.name in wanted)
