"""Settings that come with the package: TOML files made by `agssl tune`, for a dataset, or for a method on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agssl.base.spec import Spec
from agssl.config import PAPER_TASKS, Settings, read_toml

FOLDER = Path(__file__).parent / "configs"


def config_name(dataset: str, settings: Settings) -> str:
    """The name of the config for these settings, without `.toml`.

    >>> config_name("cora", Settings(strategy="pf"))
    'cora-agssl-both-pf'
    >>> config_name("cora", Settings(method="single", tasks=("par:parts=100",)))
    'cora-single-par'
    """
    return f"{dataset}-{_names(settings)[0]}"


def find_config(dataset: str, settings: Settings, folder: Path = FOLDER) -> Path | None:
    """The config that suits these settings best, or None.

    One for exactly this method comes first, then one for all its integrations (or tasks); where pre-training has none
    of its own, that of joint training; and last one for the dataset, whatever the method.
    """
    if "/" in dataset or "\\" in dataset:  # a graph of the user's own
        return None
    for name in [*(f"{dataset}-{name}" for name in _names(settings)), dataset]:
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    return None


def _names(settings: Settings) -> list[str]:
    variant = {"agssl": settings.integration, "single": Spec.parse(settings.tasks[0]).name if settings.tasks else ""}
    names = [settings.method]
    if settings.method in variant:
        names.insert(0, f"{settings.method}-{variant[settings.method]}")
    if settings.strategy == "pf" and settings.has_strategy:
        names = [f"{name}-pf" for name in names] + names
    return names


def with_config(dataset: str, given: Mapping[str, Any], folder: Path = FOLDER) -> tuple[dict[str, Any], Path | None]:
    """Values for `Settings` from the dataset's config, those given on top; and the config, if there is one.

    Weights of tasks that are not asked for are left out of a config's `alpha`. An automatic pool has no config: it
    finds out what suits the graph.
    """
    # A config is looked up by what decides its name; whatever else is wrong shows when all of it is put together.
    names = ("method", "integration", "strategy", "tasks", "encoder", "teachers")
    naming = Settings().replace(**{name: given[name] for name in names if name in given})
    path = None if naming.automatic else find_config(dataset, naming, folder)
    if path is None:
        return dict(given), None
    values = read_toml(path) | dict(given)
    if isinstance(values.get("alpha"), Mapping) and "alpha" not in given:
        named = {Spec.parse(text).name for text in values.get("tasks", PAPER_TASKS)}
        alpha = {name: weight for name, weight in values["alpha"].items() if name in named}
        values["alpha"] = alpha or None
    return values, path


def settings_for(graph: str | None, given: Mapping[str, Any]) -> tuple[Settings, Path | None]:
    """What to fit: the settings given, before those of the dataset's config, before defaults; and the config, if any.

    Args:
        graph: a dataset's name, in any case, or a path, which has no config; None: leave configs out.
        given: settings by name.
    """
    if graph is None:
        return Settings().replace(**given), None
    from agssl.data.datasets import dataset_spec, is_dataset

    values, path = with_config(dataset_spec(graph).name if is_dataset(graph) else graph, given)
    return Settings().replace(**values), path
