"""Numbers of the tables against NumPy and SciPy."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from agssl.base.errors import SettingsError
from agssl.bench.accuracy import TABLE1, labels_sheet
from agssl.bench.cells import Cell
from agssl.bench.methods import GCN, TABLE_METHODS, choose
from agssl.bench.records import Records
from agssl.bench.render import csv_of, latex, markdown
from agssl.bench.scope import Scope
from agssl.bench.tables import Entry, Sheet, accuracy_sheets, average_ranks, gain_text, interval
from agssl.config import effective
from reference.records import record_of


def cells_of(method: str, seeds: range) -> list[Cell]:
    return Scope(seeds=tuple(seeds)).cells(TABLE_METHODS[method], "cora")


def write(records: Records, cells: list[Cell], values: np.ndarray) -> None:
    for cell, value in zip(cells, values, strict=True):
        records.add(record_of(cell, float(value)))


def test_an_entry_pairs_the_seeds_that_both_have(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    ours, base = draw.random(4), draw.random(6)
    cells, gcn = cells_of("par", range(2, 6)), cells_of("gcn", range(6))
    records = Records(tmp_path)
    write(records, cells, ours)
    write(records, gcn, base)
    entry = Entry("PAR", "Cora", 5, paper=(83.52, 0.39)).filled(records, cells, gcn)
    assert entry.mean == pytest.approx(100 * ours.mean()) and entry.std == pytest.approx(100 * ours.std(ddof=1))
    assert entry.difference == pytest.approx(100 * ours.mean() - 83.52)
    test = stats.ttest_rel(100 * ours, 100 * base[2:])
    expected = test.confidence_interval(0.95)
    assert entry.gain == pytest.approx(100 * (ours - base[2:]).mean())
    assert entry.interval == pytest.approx((expected.low, expected.high))


def test_one_seed_has_neither_deviation_nor_interval() -> None:
    entry = Entry("PAR", "Cora", 1, {0: 80.0}, (1.0,))
    assert (entry.mean, entry.std, entry.gain, entry.interval) == (80.0, None, 1.0, None)
    assert interval([]) is None


def test_no_difference_has_one_sign_only() -> None:
    entry = Entry("LF", "CS", 2, {0: 93.7, 1: 93.5}, gains=(0.3, -0.1 - 0.2))
    assert entry.gain is not None and entry.gain < 0
    assert gain_text(entry).startswith("+0.00 [")


def test_average_rank_counts_complete_columns_and_shares_ties() -> None:
    means = {
        "a": {"x": {0: 3.0}, "y": {0: 1.0}, "z": {}},
        "b": {"x": {0: 2.0}, "y": {0: 1.0}, "z": {}},
        "c": {"x": {0: 1.0}, "y": {0: 2.0}, "z": {0: 4.0}},
        "d": {"x": {}, "y": {}, "z": {}},
    }
    ranks, columns = average_ranks(means)
    assert columns == ["x", "y"]
    assert ranks == {"a": (1 + 2.5) / 2, "b": (2 + 2.5) / 2, "c": (3 + 1) / 2}
    assert average_ranks({"a": {"x": {0: 1.0}}}) == average_ranks({}) == ({}, [])


def test_a_row_that_was_hardly_run_does_not_decide_the_rank_of_all() -> None:
    full = {"x": {0: 3.0}, "y": {0: 1.0}, "z": {0: 2.0}}
    rows = {"a": full, "b": {c: {0: v[0] + 1} for c, v in full.items()}, "new": {"x": {0: 9.0}, "y": {}, "z": {}}}
    assert average_ranks(rows) == ({"a": 2.0, "b": 1.0}, ["x", "y", "z"])
    low, high = {"x": dict.fromkeys(range(5), 1.0)}, {"x": dict.fromkeys(range(5), 2.0)}
    assert average_ranks({"a": low, "b": high, "new": {"x": {0: 9.0}}}) == ({"a": 2.0, "b": 1.0}, ["x"])


def test_ranks_compare_the_seeds_that_all_have() -> None:
    many, few = {0: 70.0, 1: 90.0}, {0: 71.0}  # few is better wherever both were run, though its mean is lower
    assert average_ranks({"many": {"x": many}, "few": {"x": few}}) == ({"many": 2.0, "few": 1.0}, ["x"])
    assert average_ranks({"many": {"x": many}, "other": {"x": {5: 1.0}}}) == ({}, [])


def test_sheets_mark_what_is_missing_and_what_is_partial() -> None:
    entries = [
        Entry("GCN", "Cora", 2, {0: 81.0, 1: 82.0}, (0.0, 0.0), (81.72, 0.52)),
        Entry("GCN", "CS", 2, {}, (), (91.04, 0.45)),
        Entry("PAR", "Cora", 2, {0: 83.0}, (2.0,), (83.52, 0.39)),
        Entry("PAR", "CS", 2, {}, (), (92.3, 0.67)),
        Entry("CLU", "Cora", 2, {0: 81.0, 1: 81.0}, (0.0, -1.0), None),
        Entry("CLU", "CS", 2, {}, (), None),
    ]
    ours, theirs, gains = accuracy_sheets("T", entries)
    assert ours.rows == (
        ("GCN", "81.50 ± 0.71", "missing", "1.00"),
        ("PAR", "83.00 (1 of 2 seeds)", "missing", "–"),
        ("CLU", "81.00 ± 0.00", "missing", "2.00"),
    )
    assert ours.header == ("", "Cora", "CS", "average rank (over 1)")
    assert ours.best == {(0, 1)}  # one seed is not enough to be best
    assert theirs.rows[0][1:3] == ("-0.22 (81.72 ± 0.52)", "missing (91.04 ± 0.45)")
    assert [row[1] for row in theirs.rows[1:]] == ["-0.52 (83.52 ± 0.39) (1 of 2 seeds)", "not in the paper"]
    assert gains.rows[0] == ("PAR", "+2.00 (1 of 2 seeds)", "missing")


SHEET = Sheet("A & B: 5%", ("", "x|y", "z_1"), (("r", "1.00 ± 0.10", "2"), ("s", "missing", "3")), frozenset({(0, 1)}))


def test_markdown_has_every_cell_in_its_place() -> None:
    lines = markdown(SHEET).splitlines()
    assert lines[0] == "**A & B: 5%**"
    assert lines[2:4] == [r"|  | x\|y | z_1 |", "| --- | ---: | ---: |"]
    assert lines[4:] == ["| r | **1.00 ± 0.10** | 2 |", "| s | missing | 3 |"]


def test_latex_escapes_what_is_special() -> None:
    text = latex(SHEET)
    assert r"\caption{A \& B: 5\%}" in text and r" & x|y & z\_1 \\" in text
    assert r"r & \textbf{1.00 $\pm$ 0.10} & 2 \\" in text
    assert text.count("{") == text.count("}") and text.count(r"\begin") == text.count(r"\end") == 2


def test_csv_reads_back_whatever_columns_rows_have() -> None:
    rows = [{"a": 1, "b": None}, {"a": 2.5, "c": 'x,"y"'}]
    assert list(csv.DictReader(io.StringIO(csv_of(rows)))) == [
        {"a": "1", "b": "", "c": ""},
        {"a": "2.5", "b": "", "c": 'x,"y"'},
    ]


def test_methods_are_chosen_by_name_and_unknown_ones_get_a_hint() -> None:
    assert [m.name for m in choose((GCN,), ["agssl-ts", "par"])] == ["par", "agssl-ts"]
    assert choose((GCN,), None) == (GCN,)
    with pytest.raises(SettingsError, match="agssl-ts"):
        choose((GCN,), ["agssl-st"])


def test_baselines_with_equal_labels_are_there_when_asked_for_and_else_leave_no_gap() -> None:
    equal = ("gcn-calibrated", "gcn-smoothed")
    default = {cell.method for cell in TABLE1.cells(Scope(datasets=("cora",), seeds=(0,)))}
    assert "agssl-lf" in default and not default & {*equal}
    asked = TABLE1.cells(Scope(datasets=("cora",), seeds=(0,), methods=equal, strategies=("jt",)))
    (gcn, calibrated, smoothed), plain = asked, effective(asked[0].settings)
    assert (gcn.method, calibrated.method, smoothed.method) == ("gcn", *equal)
    assert effective(calibrated.settings) == plain | {"class_shifts": True}
    assert effective(smoothed.settings) == plain | {"smooth": True}
    assert len({cell.key for cell in asked}) == 3 and len({cell.teacher_group for cell in asked}) == 1


def test_a_table_says_which_labels_each_method_reads_for_what() -> None:
    names = ("gcn", "gcn-calibrated", "gcn-smoothed", "par", "average", "agssl-ts")
    scope = Scope(datasets=("cora", "computers"), seeds=(0,), methods=names, strategies=("jt",))
    methods = tuple(TABLE_METHODS[name] for name in names)
    sheet = labels_sheet("Table 1", scope, methods, ("cora", "computers"))
    assert sheet.header == ("", "training labels", "validation labels choose", "and decide on")
    assert {row[0]: row[3] for row in sheet.rows} == {
        "GCN": "nothing",
        "GCN calibrated": "a shift of each class",
        "GCN smoothed": "answers near by, together with training labels (Correct & Smooth)",
        "PAR": "nothing",
        "Average": "the teachers' calibration",
        "AGSSL-TS": "the teachers' calibration, the teachers' weights",
    }
    crossfit = replace(scope, methods=("agssl-ts",), changes={"weights_from": "crossfit"})
    (row,) = labels_sheet("Table 1", crossfit, (TABLE_METHODS["agssl-ts"],), ("cora",)).rows
    assert "the teachers' weights (by training labels held out in turn)" in row[3]
