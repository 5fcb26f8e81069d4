"""Names that resolve to classes or functions, with entry points so that other packages can add their own."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from agssl.base.errors import SettingsError, unknown_name

log = logging.getLogger("agssl")

T = TypeVar("T")


@dataclass(frozen=True)
class PluginEntry:
    """What there is to say of a registered class in one line."""

    name: str
    summary: str  # the first line of its docstring
    settings: Mapping[str, Any]  # constructor arguments that have a default, and the default


class Registry(Generic[T]):
    """Names, and the class that each stands for: a task of `--tasks`, an encoder, an integration.

    It reads like a mapping: `TASKS["par"]` is a class, `"par" in TASKS` asks, `list(TASKS)` gives all names. `add`
    registers one more. Installed packages add theirs by an entry point in the registry's group; these are looked up
    when a name is not known yet. A package that can't be imported costs a warning, and an error only if its name is
    asked for.

    Args:
        kind: what is registered, for error messages ("task").
        group: entry-point group in which other packages may offer more ("agssl.tasks").

    Example:
        >>> shapes = Registry("shape", "my_package.shapes")
        >>> class Square:
        ...     '''Four equal sides.'''
        ...     def __init__(self, side: float = 1.0) -> None:
        ...         self.side = side
        >>> shapes.add("square", Square).__name__
        'Square'
        >>> list(shapes), shapes["square"](2.0).side
        (['square'], 2.0)
        >>> shapes.describe()
        [PluginEntry(name='square', summary='Four equal sides.', settings={'side': 1.0})]
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._items: dict[str, T] = {}
        self._broken: dict[str, str] = {}  # entry points that could not be loaded, and why
        self._scanned = False

    def add(self, name: str, item: T) -> T:
        """Register `item` under `name`; a name can be taken once only."""
        if name in self._items:
            raise SettingsError(
                f"the {self.kind} name {name!r} is already taken by {self._items[name]!r}; choose another name"
            )
        self._items[name] = item
        return item

    def describe(self) -> list[PluginEntry]:
        """All that is registered, entry points included, in the order of registration."""
        return [PluginEntry(name, _summary(self._items[name]), settings_of(self._items[name])) for name in self]

    def known_elsewhere(self, name: str) -> bool:
        """Whether another process knows the name: it is ours, a plug-in file's or an installed package's.

        What a script or a notebook has added is known to its own process only.

        Args:
            name: of a class that is registered here.
        """
        module = getattr(self[name], "__module__", "")
        ours = module.partition(".")[0] == "agssl" or module.startswith("agssl_plugin_")
        return ours or name in entry_points(group=self.group).names

    def __getitem__(self, name: str) -> T:
        if name not in self:
            if name in self._broken:
                raise SettingsError(
                    f"the {self.kind} {name!r} can't be loaded: {self._broken[name]}; mend or remove that package"
                )
            error = unknown_name(self.kind, name, self._items)
            raise SettingsError(f"{error}; one of your own needs --plugin FILE.py")
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._items:
            self._scan()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        self._scan()
        return iter(self._items)

    def __repr__(self) -> str:
        return f"<registry of kind {self.kind!r}: {', '.join(self)}>"

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        for point in entry_points(group=self.group):
            if point.name in self._items:
                continue
            try:
                self._items[point.name] = point.load()
            except Exception as error:  # whatever the other package does wrong, the rest has to work
                package = point.dist.name if point.dist is not None else point.module
                self._broken[point.name] = f"{package} offers it as {point.value}, but {type(error).__name__}: {error}"
                log.warning("the %s %r is left out: %s", self.kind, point.name, self._broken[point.name])


def _summary(item: Any) -> str:
    """The first line of its own docstring: an inherited one would describe another class."""
    lines = (vars(item).get("__doc__") or "").strip().splitlines()
    return lines[0] if lines else ""


def settings_of(item: Any) -> dict[str, Any]:
    """The settings of a class by name, with their defaults: arguments of its constructor that have one."""
    parameters = inspect.signature(item).parameters.values() if callable(item) else ()
    return {p.name: p.default for p in parameters if p.default is not p.empty}
