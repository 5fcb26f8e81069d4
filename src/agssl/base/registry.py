"""Names that resolve to classes or functions, with entry points so that other packages can add their own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from agssl.base.errors import SettingsError, unknown_name

T = TypeVar("T")


class Registry(Generic[T]):
    """A read-only-by-habit mapping from a name to the thing of that name.

    Args:
        kind: what is registered, for error messages ("task").
        group: entry-point group in which other packages may offer more ("agssl.tasks").
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._items: dict[str, T] = {}
        self._scanned = False

    def add(self, name: str, item: T) -> T:
        """Register `item` under `name`; a name can be taken once only."""
        if name in self._items:
            raise SettingsError(
                f"the {self.kind} name {name!r} is already taken by {self._items[name]!r}; choose another name"
            )
        self._items[name] = item
        return item

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            self._scan()
        if name not in self._items:
            raise unknown_name(self.kind, name, self._items)
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._items:
            self._scan()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        self._scan()
        return iter(self._items)

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        for point in entry_points(group=self.group):
            if point.name not in self._items:
                self._items[point.name] = point.load()
