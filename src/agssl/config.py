"""Settings: frozen, checked, read from TOML and written to it."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError, unknown_name
from agssl.base.spec import Spec

PAPER_TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")  # the paper's five
METHODS = ("agssl", "gcn", "single", "joint", "autossl")
STRATEGIES = ("jt", "pf")
HEADS = ("conv", "linear")
NORMS = ("none", "batch")
WEIGHTS_FROM = ("val", "crossfit", "train")
AUTOSSL_OBJECTIVES = ("labels", "homophily")
AUTOSSL_SEARCHES = ("gradient", "es")
CALIBRATIONS = ("classes", "temperature", "none")
CLASS_WEIGHTS = ("none", "balanced")
FEATURE_NORMS = ("none", "l2", "binary")
BATCHES = ("auto", "full", "partition", "neighbour")
RUN_KEYS = ("split", "seeds")  # what a config file may set beside the settings

Alpha = float | str | Mapping[str, float] | None


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result of a fit, but the graph, its split and the seed.

    Names are those of the estimator's parameters and, with dashes, of the command line's options.
    """

    method: str = "agssl"
    tasks: tuple[str, ...] = PAPER_TASKS  # "name" or "name:strategy=value", see `agssl.pretext`
    integration: str = "ts"
    strategy: str = "jt"
    hidden: int = 64
    layers: int = 1
    feature_norm: str = "none"  # of the features that the networks read, see `agssl.data.feature_norm`
    skip_weight: float = 0.0  # what a node keeps of itself at each propagation, beside its self-loop; see `Adjacency`
    encoder: str = "gcn"  # a name in `agssl.encoders.ENCODERS`, settings after colons
    head: str = "conv"
    norm: str = "none"
    dropout: float = 0.5
    input_dropout: float = 0.5
    # Weight of a task: one number, one a task, "auto" (the paper's grid), None (each task's few); chosen by validation.
    alpha: Alpha = None
    beta: float = 10.0
    tau: float = 1.0
    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 500
    patience: int | None = 100
    class_weight: str = "none"
    batch: str = "auto"  # the whole graph a step, or a part: METIS parts or sampled neighbours; auto: whole if it fits
    batch_nodes: int = 16384  # of a mini-batch, about
    weights_from: str = "val"  # labels that judge the teachers: "val", "crossfit" (held-out folds), "train" (the paper)
    folds: int = 3  # of crossfit
    calibrate: str = "classes"  # fit each teacher's temperature and class shifts to the judging labels (not "train")
    shrinkage: float = 0.0  # pull of lambda toward equal weights
    student_gradient: bool = False  # whether the loss of lambda also moves the student
    student_dropout: float = 0.5
    student_tasks: Mapping[str, float] | None = None  # pretext tasks of the students themselves, with their weights
    generations: int = 2  # students in turn; the one before joins the teachers with half the weight
    task_weights: Mapping[str, float] | None = None  # lambda of method joint, one a task; None: 1/K each
    autossl_objective: str = (
        "labels"  # what autossl judges task weights by: labels (those of weights_from), or pseudo-homophily
    )
    autossl_search: str = (
        "gradient"  # how autossl searches: through one training step, or "es" (CMA-ES, whole trainings)
    )
    autossl_budget: int = 32  # trainings of es
    autossl_lr: float = 0.05  # learning rate of task weights in autossl

    def __post_init__(self) -> None:
        for name, known in (
            ("method", METHODS),
            ("strategy", STRATEGIES),
            ("feature_norm", FEATURE_NORMS),
            ("head", HEADS),
            ("norm", NORMS),
            ("weights_from", WEIGHTS_FROM),
            ("class_weight", CLASS_WEIGHTS),
            ("calibrate", CALIBRATIONS),
            ("batch", BATCHES),
            ("autossl_objective", AUTOSSL_OBJECTIVES),
            ("autossl_search", AUTOSSL_SEARCHES),
        ):
            value = getattr(self, name)
            if value not in known:
                raise unknown_name(name, str(value), known)
        for name, low in (
            ("hidden", 1),
            ("layers", 1),
            ("epochs", 1),
            ("patience", 1),
            ("folds", 2),
            ("generations", 1),
            ("autossl_budget", 1),
            ("batch_nodes", 2),
        ):
            value = getattr(self, name)
            if value is None and name == "patience":
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
                raise SettingsError(f"{name} = {value!r}, but it must be a whole number of at least {low}")
        for name in ("dropout", "input_dropout", "student_dropout", "skip_weight"):
            self._number(name, 0, 1, "in [0, 1)", include_low=True)
        if not isinstance(self.student_gradient, bool):
            raise SettingsError(f"student_gradient = {self.student_gradient!r}, but it must be true or false")
        self._number("tau", 0, float("inf"), "above 0 (1 leaves the teachers' probabilities as they are)")
        self._number("lr", 0, float("inf"), "above 0 (0.01 is usual)")
        self._number("autossl_lr", 0, float("inf"), "above 0 (0.05 is usual)")
        self._number("beta", 0, float("inf"), "0 or above", include_low=True)
        self._number("weight_decay", 0, float("inf"), "0 or above", include_low=True)
        self._number("shrinkage", 0, float("inf"), "0 or above (0.1 is a strong pull)", include_low=True)
        listed = isinstance(self.tasks, Iterable) and not isinstance(self.tasks, str | bytes)
        if not listed or not all(isinstance(task, str) for task in self.tasks):
            raise SettingsError(f"tasks = {self.tasks!r}, but it must be a list of names, e.g. ('par', 'clu')")
        if not isinstance(self.integration, str):
            raise SettingsError(f"integration = {self.integration!r}, but it must be a name, e.g. ts")
        object.__setattr__(self, "tasks", tuple(self.tasks))
        self._check_tasks()
        self._check_alpha()
        if self.method == "autossl" and self.batch in ("partition", "neighbour"):
            raise SettingsError(
                f"batch = {self.batch!r}, but autossl searches on the whole graph; choose full, or another method"
            )
        if self.task_weights is not None:
            self._check_task_weights(self.task_weights)
        if self.student_tasks is not None:
            _check_weights("student_tasks", self.student_tasks)
            # A weight of 0 is none.
            weighed = {name: float(weight) for name, weight in self.student_tasks.items() if weight > 0}
            object.__setattr__(self, "student_tasks", weighed or None)

    def _check_tasks(self) -> None:
        if not self.tasks and self.method != "gcn":
            raise SettingsError(
                f"no task is named, but method {self.method!r} needs at least one, e.g. {', '.join(PAPER_TASKS)}"
            )
        for number, text in enumerate(self.tasks):
            if text in self.tasks[:number]:
                raise SettingsError(
                    f"the task {text!r} is named twice; name it once, or give the second other settings"
                )
        if self.method == "single" and len(self.tasks) != 1:
            raise SettingsError(
                f"method single takes one task, not {len(self.tasks)}; name one, as in --tasks {self.tasks[0]}"
            )

    def _number(self, name: str, low: float, high: float, must: str, include_low: bool = False) -> None:
        number = _as_float(getattr(self, name))
        if not (low < number < high or (include_low and number == low)):
            raise SettingsError(f"{name} = {getattr(self, name)!r}, but it must be a number {must}")
        object.__setattr__(self, name, number)  # equal settings should look equal: 1 and 1.0

    def _check_alpha(self) -> None:
        values = self.alpha.items() if isinstance(self.alpha, Mapping) else [("alpha", self.alpha)]
        names = {Spec.parse(text).name for text in self.tasks}
        for name in self.alpha if isinstance(self.alpha, Mapping) else ():
            if name not in names and self.method != "gcn":
                raise unknown_name("task in alpha", str(name), names)
        for name, value in values:
            if value is None or (value == "auto" and not isinstance(self.alpha, Mapping)):
                continue
            if not 0 <= _as_float(value) < float("inf"):
                raise SettingsError(
                    f"alpha of {name} = {value!r}, but it must be a number of 0 or above, one a task "
                    "(par=10,clu=1), or auto"
                )
        as_floats = {name: value if value is None or value == "auto" else float(value) for name, value in values}
        object.__setattr__(self, "alpha", as_floats if isinstance(self.alpha, Mapping) else as_floats["alpha"])

    def _check_task_weights(self, given: Mapping[str, float]) -> None:
        if self.method != "joint":
            raise SettingsError(
                f"task_weights are those of method joint, but the method is {self.method}; leave them out"
            )
        _check_weights("task_weights", given)
        names = {name for text in self.tasks for name in (text, Spec.parse(text).name)}
        for name in given:
            if name not in names:
                raise unknown_name("task in task_weights", str(name), names)
        for text in self.tasks:
            if text not in given and Spec.parse(text).name not in given:
                raise SettingsError(f"task_weights has no weight for {text!r}; give each task one, 0 to leave it out")
        if not any(map(self.task_weight, self.tasks)):
            raise SettingsError("task_weights are all 0; give at least one task a weight above 0")
        object.__setattr__(self, "task_weights", {name: float(weight) for name, weight in given.items()})

    def alpha_of(self, text: str) -> float | str | None:
        """Alpha of a task as given: a number, "auto", or None, where the task brings its own to choose from."""
        if isinstance(self.alpha, Mapping):
            return self.alpha.get(Spec.parse(text).name)
        return self.alpha

    def task_weight(self, text: str) -> float:
        """lambda of a task in method joint: 1/K, or what was given for its text or its name."""
        if self.task_weights is None:
            return 1 / len(self.tasks)
        return float(self.task_weights.get(text, self.task_weights.get(Spec.parse(text).name, 0.0)))

    @property
    def all_tasks(self) -> tuple[str, ...]:
        """The tasks that some network of the method trains with: teachers, and students by themselves.

        >>> Settings(tasks=("clu",), student_tasks={"par": 20.0}).all_tasks
        ('clu', 'par')
        """
        if self.method == "gcn":
            return ()
        own = () if self.method != "agssl" or self.student_tasks is None else tuple(self.student_tasks)
        return tuple(dict.fromkeys((*self.tasks, *own)))

    def of_teacher(self, text: str) -> Settings:
        """With these, `fit` trains the teacher of one task, and nothing else.

        >>> Settings(alpha={"par": 5.0, "clu": 1.0}, tasks=("par", "clu")).of_teacher("clu").alpha
        {'clu': 1.0}
        """
        alpha = self.alpha
        if isinstance(alpha, Mapping):
            alpha = {name: value for name, value in alpha.items() if name == Spec.parse(text).name}
        return self.replace(method="single", tasks=(text,), alpha=alpha)

    def replace(self, **changes: Any) -> Settings:
        """The same settings with some changed; unknown names are refused."""
        known = {f.name for f in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                raise unknown_name("setting", name, known)
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None left out, as TOML and JSON take them."""
        values = dataclasses.asdict(self)
        values["tasks"] = list(self.tasks)
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items() if v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of `to_dict`: a setting that may be None and is not there is None."""
        absent = {f.name: None for f in dataclasses.fields(cls) if str(f.type).endswith(("None", "Alpha"))}
        return cls().replace(**(absent | renamed(values)))


# Names, and values of feature_norm and head, that files written before version 0.1.0 may have.
_OLD_NAMES = {
    "setting": "strategy",
    "scaling": "feature_norm",
    "self_weight": "skip_weight",
    "lambda_fit": "weights_from",
    "outer": "autossl_objective",
    "search": "autossl_search",
    "search_budget": "autossl_budget",
    "lambda_lr": "autossl_lr",
}
_OLD_NORMS = {"given": "none", "unit": "l2"}


def renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a file has them, under the names of today.

    >>> renamed({"scaling": "unit", "hidden": 64})
    {'feature_norm': 'l2', 'hidden': 64}
    """
    found = {_OLD_NAMES.get(name, name): value for name, value in values.items()}
    if "scaling" in values and isinstance(values["scaling"], str):
        found["feature_norm"] = _OLD_NORMS.get(values["scaling"], values["scaling"])
    if found.get("head") == "gcn":
        found["head"] = "conv"
    return found


def _as_float(value: Any) -> float:
    """A number as a float, infinite if too large for one; NaN, which is in no range, for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _check_weights(setting: str, given: Mapping[str, float]) -> None:
    if not isinstance(given, Mapping):
        raise SettingsError(f"{setting} = {given!r}, but it must be a number for each task: par=1,clu=0.2")
    for name, value in given.items():
        if not 0 <= _as_float(value) < float("inf"):
            raise SettingsError(f"{setting}: {name} = {value!r}, but it must be a number of 0 or above")


# What a method does not read. Anything else counts, so that a new setting is never passed over by mistake.
_DISTILLATION = (
    *("integration", "beta", "tau", "weights_from", "folds", "calibrate", "shrinkage"),
    *("student_gradient", "student_dropout", "student_tasks", "generations"),
)
_SEARCH = ("autossl_objective", "autossl_search", "autossl_budget", "autossl_lr")
_UNREAD = {
    "gcn": ("tasks", "strategy", "alpha", *_DISTILLATION, *_SEARCH),
    "single": (*_DISTILLATION, *_SEARCH),
    "joint": (*_DISTILLATION, *_SEARCH),
    "agssl": _SEARCH,
    "autossl": tuple(name for name in _DISTILLATION if name not in ("weights_from", "folds")),
}


def effective(settings: Settings) -> dict[str, Any]:
    """The settings that decide the result, as plain values."""
    unread = _UNREAD.get(settings.method, ())
    if settings.batch in ("auto", "full"):
        unread = (*unread, "batch", "batch_nodes")
    plain = {"feature_norm": "none", "skip_weight": 0.0}
    unread = (*unread, *(name for name, value in plain.items() if getattr(settings, name) == value))
    return {name: value for name, value in settings.to_dict().items() if name not in unread}


def read_toml(path: str | Path, also: Iterable[str] = ()) -> dict[str, Any]:
    """The settings in a TOML file: names as in `Settings`, dashes or underscores; unknown ones are refused.

    Args:
        path: the file.
        also: further names that the caller understands; their values come back unchecked.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"can't read the config {path}: {error.strerror}; check the path") from error
    except (ValueError, RecursionError) as error:  # tomllib's own error is a ValueError, as is one of UTF-8
        raise SettingsError(f"the config {path} is not valid TOML: {error}") from error
    values = renamed({name.replace("-", "_"): value for name, value in values.items()})
    if values.get("patience") == 0:
        values["patience"] = None
    known = {f.name for f in dataclasses.fields(Settings)} | set(also)
    for name in values:
        if name not in known:
            raise unknown_name("setting", name, known)
    Settings().replace(**{name: value for name, value in values.items() if name not in also})
    return values


def parse_task_weights(text: str) -> dict[str, float]:
    """Task weights from the command line.

    >>> parse_task_weights("par=1,pairsim:target=feature=0.2")
    {'par': 1.0, 'pairsim:target=feature': 0.2}
    """
    try:
        pairs = [part.rsplit("=", 1) for part in text.split(",")]
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise SettingsError(f"task weights {text!r} are not understood; give one a task: par=1,clu=0.2") from None


def parse_alpha(text: str) -> Alpha:
    """Alpha from the command line: `10`, `auto`, or `par=10,clu=1`.

    >>> parse_alpha("par=10,clu=1")
    {'par': 10.0, 'clu': 1.0}
    """
    if text == "auto":
        return text
    try:
        if "=" not in text:
            return float(text)
        return {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise SettingsError(
            f"alpha {text!r} is not understood; give a number, auto, or one a task: par=10,clu=1"
        ) from None
