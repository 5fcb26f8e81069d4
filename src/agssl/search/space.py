"""The search space: what the descriptions of settings and tasks say, for one method."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agssl.base.errors import SettingsError, unknown_name
from agssl.base.spec import Spec
from agssl.config import DESCRIBED, Settings
from agssl.config.describe import Value
from agssl.pretext import TASKS
from agssl.pretext.prepare import make_task

Space = dict[str, tuple[Value, ...]]  # by parameter, what it may be, in order


def space_of(base: Settings, only: Iterable[str] | None = None) -> Space:
    """What there is to choose for a method.

    Args:
        base: the method, its tasks and its strategy; whatever is not searched stays as it is here.
        only: search these alone; `alpha` stands for all of them. The tasks' own settings, such as `par.parts`, and
            tasks of the students, such as `student_tasks.par`, are searched only where they are named, each or all.
    """
    tasks = list(dict.fromkeys(Spec.parse(text).name for text in base.tasks))
    space = _ranges(base, tasks, on_request=False)
    if only is None:
        return space
    wanted = set(only)
    once = [] if not base.trains_tasks else [task for task in tasks if len(_named(base, task)) == 1]
    space |= _ranges(base, tasks, on_request=True)
    space |= {f"{task}.{name}": choices for task in once for name, choices in TASKS[task].space.items()}
    for name in wanted:
        if name not in space and name not in {known.split(".")[0] for known in space}:
            raise unknown_name("parameter", name, space)
    return {name: choices for name, choices in space.items() if name in wanted or name.split(".")[0] in wanted}


def chosen_space(base: Settings, asked: Iterable[str] | Mapping[str, Sequence[Value]] | None) -> Space:
    """What to search: as `space_of` has it, or by name the values to choose from.

    Values may be given of any setting that the method reads, and of what `space_of` knows; `alpha` stands for the
    alphas of all tasks.

    >>> chosen_space(Settings(method="gcn"), {"hidden": [8, 16], "lr": [0.01]})
    {'hidden': (8, 16), 'lr': (0.01,)}
    """
    if not isinstance(asked, Mapping):
        return space_of(base, asked)
    space: Space = {}
    for name, values in asked.items():
        about = DESCRIBED.get(name)
        per_task = about is not None and about.search is not None and about.search.per_task
        plain = about is not None and about.read_by(base.method) and not per_task
        names = [name] if plain else list(space_of(base, [name]))
        choices = () if isinstance(values, str) else tuple(values)
        if not choices:
            raise SettingsError(f"space has {values!r} for {name}; give a list with at least one value")
        space |= dict.fromkeys(names, choices)
    for name, choices in space.items():
        for choice in choices:
            _check_choice(base, name, choice)
    return space


def _check_choice(base: Settings, name: str, choice: Value) -> None:
    """Refuse a value that the settings refuse, or would silently change."""
    try:
        found = settings_of(base, {name: choice})
    except (TypeError, ValueError) as error:
        raise SettingsError(f"space has {choice!r} for {name}: {error}") from error
    if name in DESCRIBED and getattr(found, name) != choice:
        raise SettingsError(f"space has {choice!r} for {name}, which would become {getattr(found, name)!r}; write that")


def _ranges(base: Settings, tasks: Iterable[str], on_request: bool) -> Space:
    """What the descriptions of settings say, in their order: what is searched unasked, or only on request."""
    space: Space = {}
    for name, about in DESCRIBED.items():
        found = about.search
        if found is None or found.on_request != on_request:
            continue
        if about.read_by(base.method) and found.useful(base):
            parameters = [f"{name}.{task}" for task in tasks] if found.per_task else [name]
            space |= dict.fromkeys(parameters, found.values)
    return space


def setting_of(name: str) -> str:
    """The setting that a parameter is part of.

    >>> setting_of("tau"), setting_of("alpha.par"), setting_of("par.parts")
    ('tau', 'alpha', 'tasks')
    """
    first, dot, _ = name.partition(".")
    return "tasks" if dot and first not in DESCRIBED else first


def _named(base: Settings, task: str) -> list[int]:
    """Where a task stands among those of the settings."""
    return [at for at, text in enumerate(base.tasks) if Spec.parse(text).name == task]


def settings_of(base: Settings, values: Mapping[str, Value]) -> Settings:
    """The settings with these parameters.

    >>> settings_of(Settings(), {"hidden": 128, "alpha.par": 5.0}).alpha
    {'par': 5.0}
    >>> settings_of(Settings(tasks=("par", "dgi")), {"par.parts": 100}).tasks
    ('par:parts=100', 'dgi')
    """
    changes: dict[str, Any] = {}
    tasks = list(base.tasks)
    for name, value in values.items():
        setting, dot, task = name.partition(".")
        if dot and setting in DESCRIBED:
            before = changes.get(setting, getattr(base, setting))
            changes[setting] = (dict(before) if isinstance(before, Mapping) else {}) | {task: float(value)}
        elif setting_of(name) == "tasks":
            task, _, own = name.partition(".")
            (at,) = _named(base, task)
            tasks[at] = str(Spec.parse(tasks[at]).with_option(own, value))
        else:
            kind = type(DESCRIBED[name].default)
            changes[name] = kind(value) if kind in (int, float, str) else value
    return base.replace(tasks=tuple(tasks), **changes)


def start(base: Settings, space: Space) -> dict[str, int]:
    """The positions in the space that are nearest to the settings themselves: where the search begins."""
    positions = {}
    for name, choices in space.items():
        value: Any = getattr(base, setting_of(name))
        if setting_of(name) == "tasks":
            task, _, own = name.partition(".")
            value = make_task(base.tasks[_named(base, task)[0]]).settings()[own]
        if value in choices:
            positions[name] = choices.index(value)
            continue
        if isinstance(value, Mapping):
            value = value.get(name.partition(".")[2])
        if not all(isinstance(choice, int | float) for choice in choices):
            positions[name] = 0
            continue
        if not isinstance(value, int | float):
            value = 1.0
        positions[name] = min(range(len(choices)), key=lambda i, v=value, c=choices: abs(c[i] - v))  # type: ignore[misc]
    return positions


def all_of(space: Space, most: int) -> list[dict[str, int]] | None:
    """Every position in the space, where there are `most` at most; None: it is larger than that.

    >>> all_of({"tau": (1.0, 2.0), "beta": (5.0,)}, 2)
    [{'tau': 0, 'beta': 0}, {'tau': 1, 'beta': 0}]
    """
    if math.prod(map(len, space.values())) > most:
        return None
    return [dict(zip(space, at, strict=True)) for at in itertools.product(*map(range, map(len, space.values())))]
