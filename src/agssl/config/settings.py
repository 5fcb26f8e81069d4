"""Settings as a whole: checked when made, and never changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agssl.base.errors import SettingsError, unknown_name
from agssl.base.spec import Spec
from agssl.config.describe import documented
from agssl.config.effort import EFFORTS, GRAND_TASKS, IN_PARTS, PAPER_TASKS, Effort
from agssl.config.fields import DESCRIBED, WHOLE, WITHOUT_TASKS, SettingFields
from agssl.config.old_names import renamed
from agssl.config.teacher import AUTO, LABELS, PAPER, TeacherSpec


@documented
@dataclass(unsafe_hash=True)
class Settings(SettingFields):
    """Everything that decides the result of a fit, but the graph, its split and the seed.

    Names are those of the estimator's parameters and, with dashes, of the command line's options.

    Args:
        {settings}
    """

    def __post_init__(self) -> None:
        for name, about in DESCRIBED.items():
            self._keep(name, about.check(name, getattr(self, name)))
        self._check_tasks()
        self._check_alpha()
        if self.method in WHOLE and self.batch in ("partition", "neighbour"):
            does = f"{self.method} {WHOLE[self.method]} the whole graph"
            raise SettingsError(f"batch = {self.batch!r}, but {does}; choose full, or another method")
        if self.task_weights is not None:
            self._check_task_weights(self.task_weights)
        if self.student_tasks is not None:  # a weight of 0 is none
            self._keep("student_tasks", {name: w for name, w in self.student_tasks.items() if w > 0} or None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) or name not in DESCRIBED:  # each is set once, when they are made
            raise dataclasses.FrozenInstanceError(f"settings do not change; make others by replace({name}=...)")
        super().__setattr__(name, value)

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_tasks(self) -> None:
        if self.teachers == (PAPER,):
            self._keep("teachers", ())
            self._keep("tasks", PAPER_TASKS)
            self._keep("encoder", "gcn")
        if self.automatic and (self.tasks or self.method != "agssl" or self.encoder != "gcn"):  # something is named
            self._keep("teachers", ())
        if not self.tasks and not self.teachers and self.trains_tasks:
            self._keep("tasks", GRAND_TASKS if self.method == "grand" else PAPER_TASKS)
        if AUTO in self.teachers and not self.automatic:
            raise SettingsError("teachers = auto finds all teachers itself; leave the others out")
        for number, text in enumerate(self.teachers):
            TeacherSpec.parse(text)
            if text in self.teachers[:number]:
                raise SettingsError(f"the teacher {text!r} is named twice; name it once, or give it other settings")
        if self.teachers and self.method != "agssl":
            raise SettingsError(
                f"teachers are those of method agssl, but the method is {self.method}; leave them out, or name tasks"
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
        if self.method == "grand" and [Spec.parse(text).name for text in self.tasks] != ["grand"]:
            raise SettingsError(
                f"method grand trains the task grand alone, not {', '.join(self.tasks)}; leave tasks out, or give it "
                "settings, as in --tasks grand:views=2"
            )

    def _check_alpha(self) -> None:
        taught = set(self.all_tasks if self.method == "agssl" else self.tasks)
        names = {Spec.parse(text).name for text in taught}
        for name in self.alpha if isinstance(self.alpha, Mapping) else ():
            if name not in names and self.trains_tasks and self.method != "grand":
                raise unknown_name("task in alpha", str(name), names)

    def _check_task_weights(self, given: Mapping[str, float]) -> None:
        if self.method != "joint":
            raise SettingsError(
                f"task_weights are those of method joint, but the method is {self.method}; leave them out"
            )
        names = {name for text in self.tasks for name in (text, Spec.parse(text).name)}
        for name in given:
            if name not in names:
                raise unknown_name("task in task_weights", str(name), names)
        for text in self.tasks:
            if text not in given and Spec.parse(text).name not in given:
                raise SettingsError(f"task_weights has no weight for {text!r}; give each task one, 0 to leave it out")
        if not any(map(self.task_weight, self.tasks)):
            raise SettingsError("task_weights are all 0; give at least one task a weight above 0")

    def alpha_of(self, text: str) -> float | str | None:
        """Alpha of the task `text` as given: a number, "auto", or None, where the task brings its own choice."""
        if isinstance(self.alpha, Mapping):
            return self.alpha.get(Spec.parse(text).name)
        return self.alpha

    def task_weight(self, text: str) -> float:
        """lambda of the task `text` in method joint: 1/K, or what was given for its text or its name."""
        if self.task_weights is None:
            return 1 / len(self.tasks)
        return float(self.task_weights.get(text, self.task_weights.get(Spec.parse(text).name, 0.0)))

    @property
    def pool(self) -> tuple[str, ...]:
        """The teachers of method agssl, as text names them; see `TeacherSpec`.

        >>> Settings(tasks=("par", "clu")).pool, Settings(teachers=("labels@mlp",)).pool
        (('par', 'clu'), ('labels@mlp',))
        """
        if self.automatic:
            return self.budget.scouts
        return self.teachers or self.tasks

    @property
    def trains_tasks(self) -> bool:
        """Whether the method has pretext tasks.

        >>> Settings(method="gcn").trains_tasks, Settings(method="joint").trains_tasks
        (False, True)
        """
        return self.method not in WITHOUT_TASKS

    @property
    def has_strategy(self) -> bool:
        """Whether joint training and pre-training differ."""
        return DESCRIBED["strategy"].read_by(self.method)

    @property
    def automatic(self) -> bool:
        """Whether the fit finds its teachers itself; `pool` is then what it tries first."""
        return self.teachers == (AUTO,)

    @property
    def budget(self) -> Effort:
        """What the automatic pool tries."""
        return EFFORTS[self.effort] if self.batch in ("auto", "full") else IN_PARTS

    def within_budget(self) -> Settings:
        """The settings that networks of an automatic pool are trained with: epochs and students at most as it allows.

        >>> Settings(effort="quick").within_budget().epochs, Settings(tasks=("par",)).within_budget().epochs
        (100, 500)
        """
        if not self.automatic:
            return self
        most = self.budget
        patience = most.patience if self.patience is None else min(self.patience, most.patience)
        epochs, generations = min(self.epochs, most.epochs), min(self.generations, most.generations)
        return dataclasses.replace(self, patience=patience, epochs=epochs, generations=generations)

    def of_network(self, encoder: str | None, changes: Mapping[str, Any]) -> Settings:
        """The same for a network with its own `encoder` (None: that of the fit) and `changes` to other settings."""
        found = dataclasses.replace(self, encoder=encoder or self.encoder, **changes)
        found._keep("teachers", self.teachers)  # an encoder of one network is none of the fit
        found._keep("tasks", self.tasks)
        return found

    @property
    def all_tasks(self) -> tuple[str, ...]:
        """The tasks that some network of the method trains with: teachers, and students by themselves.

        >>> Settings(tasks=("clu",), student_tasks={"par": 20.0}).all_tasks
        ('clu', 'par')
        """
        if not self.trains_tasks:
            return ()
        if self.method != "agssl":
            return tuple(dict.fromkeys(self.tasks))
        own = () if self.student_tasks is None else tuple(self.student_tasks)
        taught = list(self.budget.tasks) if self.automatic else [TeacherSpec.parse(text).task for text in self.pool]
        return tuple(dict.fromkeys((*(task for task in taught if task != LABELS), *own)))

    def of_teacher(self, text: str) -> Settings:
        """With these, `fit` trains the teacher that `text` names, and nothing else.

        >>> Settings(alpha={"par": 5.0, "clu": 1.0}, tasks=("par", "clu")).of_teacher("clu").alpha
        {'clu': 1.0}
        """
        spec, alpha = TeacherSpec.parse(text), self.alpha
        if isinstance(alpha, Mapping):
            alpha = {name: value for name, value in alpha.items() if name == Spec.parse(spec.task).name}
        own = {"encoder": spec.encoder or self.encoder, "teachers": (), "student": "", "smooth": False}
        own |= dict(spec.settings)
        if spec.task == LABELS:
            return self.replace(method="gcn", alpha=None, **own)
        return self.replace(method="single", tasks=(spec.task,), alpha=alpha, **own)

    def replace(self, **changes: Any) -> Settings:
        """The same settings with some `changes`, by name; unknown names are refused.

        An automatic pool gives way to tasks or another method that is named, and to the paper's tasks on an encoder.

        >>> Settings().replace(tasks=("par",)).pool, Settings().replace(encoder="sage").pool
        (('par',), ('par', 'clu', 'dgi', 'pairdis', 'pairsim'))
        """
        for name in changes:
            if name not in DESCRIBED:
                raise unknown_name("setting", name, DESCRIBED)
        if self.automatic and "encoder" in changes and "teachers" not in changes:
            changes = {"tasks": PAPER_TASKS} | changes
        elif changes.get("teachers") in ((AUTO,), [AUTO]):
            changes = {"tasks": ()} | changes
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None left out, as TOML and JSON take them."""
        values = dataclasses.asdict(self)
        values = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items() if v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of `to_dict`: of its `values`, a setting that may be None and is not there is None."""
        absent = {name: None for name, about in DESCRIBED.items() if about.kind.optional}
        return cls().replace(**(absent | renamed(values)))


def effective(settings: Settings) -> dict[str, Any]:
    """The settings that decide the result, as plain values: those that the method reads, and that count."""
    read = {name for name, about in DESCRIBED.items() if about.read_by(settings.method) and about.counts(settings)}
    return {name: value for name, value in settings.to_dict().items() if name in read}
