"""Records on disk: found by cell, whatever was killed, damaged or written twice."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from agssl.bench.cells import Cell
from agssl.bench.methods import TABLE_METHODS
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.config import Settings
from agssl.theory.study import stored
from reference.records import record_of, records_of

RESULTS = Path(__file__).parents[2] / "results"


def cell(seed: int = 0, curves: bool = False, dataset: str = "cora") -> Cell:
    return Cell(dataset, "some", Settings(), seed, curves)


def test_a_dataset_has_one_file_with_one_line_per_record(tmp_path: Path) -> None:
    cells = [cell(0), cell(1), cell(0, dataset="/some where/my graph.csv")]
    records = records_of(tmp_path, cells)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cora.jsonl", "my-graph.jsonl"]
    assert (tmp_path / "cora.jsonl").read_text().count("\n") == 2
    for one in (records, Records(tmp_path)):
        assert one.of(cells) == [record_of(c) for c in cells] and all(c in one for c in cells)
        assert [record["key"] for record in one] == [c.key for c in cells]


def test_damaged_lines_are_passed_over_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cells = [cell(seed) for seed in range(4)]
    records_of(tmp_path, cells)
    path = tmp_path / "cora.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:100]
    lines[2] = json.dumps(json.loads(lines[2]) | {"schema": 0})
    path.write_text("\n".join([*lines[:3], "[]", lines[3], ""]))
    with caplog.at_level(logging.WARNING, "agssl"):
        found = Records(tmp_path)
    assert [c in found for c in cells] == [True, False, False, True]
    assert [record["seed"] for record in found.of(cells)] == [0, 3]
    assert [message.split(": ")[1][:7] for message in caplog.messages] == ["line 2 ", "line 4 "]


@pytest.mark.parametrize("kept", [1, 0.5, -1])
def test_a_torn_last_line_counts_as_missing_and_the_next_record_replaces_it(
    tmp_path: Path, kept: float, caplog: pytest.LogCaptureFixture
) -> None:
    cells = [cell(0), cell(1), cell(2)]
    records_of(tmp_path, cells[:2])
    path = tmp_path / "cora.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    torn = second[:-2] if kept == -1 else second[: int(kept if kept == 1 else kept * len(second))]
    path.write_bytes(first + torn)
    found = Records(tmp_path)
    assert [c in found for c in cells] == [True, False, False] and not caplog.messages
    found.add(record_of(cells[2]))
    assert [c in Records(tmp_path) for c in cells] == [True, False, True] and not caplog.messages
    assert path.read_bytes() == first + json.dumps(record_of(cells[2]), separators=(",", ":")).encode() + b"\n"


def test_of_two_records_with_one_key_the_later_counts(tmp_path: Path) -> None:
    plain, curved = cell(), cell(curves=True)
    records = records_of(tmp_path, [plain])
    assert plain in records and curved not in records and records.get(curved) is None
    records.add(record_of(curved, 0.5))
    for one in (records, Records(tmp_path)):
        assert plain in one and one.of([plain, curved]) == [record_of(curved, 0.5)] * 2
        assert len(list(one)) == 1


@pytest.mark.parametrize("dataset", ["cora", "computers"])
def test_the_committed_records_are_those_of_todays_cells(dataset: str) -> None:
    """Fails when keys change by accident: then every page of results would be empty."""
    records, scope = Records(RESULTS / "bench"), Scope()
    for name in ("gcn", "par", "agssl-ts"):
        assert all(c in records for c in scope.cells(TABLE_METHODS[name], dataset)), name


def test_the_committed_records_of_the_theory_are_those_of_todays_settings() -> None:
    assert len(stored(range(5), RESULTS / "bench" / "theory.jsonl")) == 5
