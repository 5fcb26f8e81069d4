"""The records of finished cells on disk: one file per dataset, one line of JSON per record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agssl.base.atomic import append_json
from agssl.base.jsonl import json_line, read_json_lines
from agssl.bench.cells import SCHEMA, Cell, file_stem

FORMAT = "agssl-bench"

CellRecord = dict[str, Any]


class _Line(NamedTuple):
    path: Path
    start: int
    curves: bool


class Records:
    """The records in a folder, by the keys of their cells; of two with one key, the later counts.

    Only the positions of records are kept in memory: each is read when it is asked for.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._lines: dict[str, _Line] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            for start, record in read_json_lines(path):
                if (record.get("format"), record.get("schema")) == (FORMAT, SCHEMA):
                    self._note(path, start, record)

    def path_of(self, dataset: str) -> Path:
        """The file with the records of a dataset."""
        return self.folder / f"{file_stem(dataset)}.jsonl"

    def get(self, cell: Cell) -> CellRecord | None:
        """The record of a cell, or None: it is missing, or lacks the curves that are asked for."""
        if cell not in self:
            return None
        line = self._lines[cell.key]
        return json_line(line.path, line.start)

    def __contains__(self, cell: Cell) -> bool:
        line = self._lines.get(cell.key)
        return line is not None and (line.curves or not cell.curves)

    def of(self, cells: Iterable[Cell]) -> list[CellRecord]:
        """The records that there are of these cells, in their order."""
        return [record for cell in cells if (record := self.get(cell)) is not None]

    def add(self, record: CellRecord) -> None:
        """Append a record to its dataset's file; it is on disk when this returns."""
        path = self.path_of(record["dataset"])
        self._note(path, append_json(path, record), record)

    def _note(self, path: Path, start: int, record: CellRecord) -> None:
        self._lines[record["key"]] = _Line(path, start, "curves" in record)

    def __iter__(self) -> Iterator[CellRecord]:
        return (json_line(line.path, line.start) for line in self._lines.values())
