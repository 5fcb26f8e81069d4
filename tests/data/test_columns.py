"""Columns of a table to features: what is decided, what is fitted, and what is made of new data."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from agssl.base.errors import GraphError, SettingsError
from agssl.data.columns import Column, Columns, TableOptions, apply_columns, fit_columns
from agssl.data.validate import as_features

ROWS = 40


def where(row: int) -> str:
    return f"row {row}"


def fit(columns: dict[str, Any], **options: Any) -> tuple[Columns, np.ndarray]:
    columns_, x = fit_columns(pa.table(columns), where, TableOptions.of(options))
    return columns_, x if isinstance(x, np.ndarray) else x.toarray()


def kind(values: Any, name: str = "c", **options: Any) -> str:
    """What one column is taken for, beside one of plain numbers."""
    columns, _ = fit({name: values, "other": [0.5, 1.5] * (len(values) // 2)}, **options)
    return columns.columns[0].describe()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["Bonn", "Rome", "Oslo", " Rome "] * 10, "3 categories"),
        (["Bonn", "Rome", "NA", ""] * 10, "2 categories, missing as a flag"),
        ([f"v{i % 60}" for i in range(120)], "categories, hashed to 128 features"),
        (["yes", "no", "No", "YES"] * 10, "boolean"),
        ([True, False] * 20, "boolean"),
        ([True, None] * 20, "boolean, missing as a flag"),
        (["2020-01-31", "2021-12-01", "2020-02-29", "1999-01-01"] * 10, "date"),
        (["2020-01-31T10:00:00Z", "2021-12-01 09:30", "2020-02-28", ""] * 10, "date, missing values as the median"),
        (["31.01.2020", "01.02.2021"] * 20, "date"),
        (["01/31/2020", "02/01/2021"] * 20, "date (%m/%d/%Y)"),
        (["31/01/2020", "02/01/2021"] * 20, "date (%d/%m/%Y)"),
        (["1.5", "2", "-3e0", "+4"] * 10, "number as it is"),
        (["1.5", "2", "?", "nan"] * 10, "number as it is, missing values as the median and a flag"),
        (["1,5", "2,25", "3"] * 10 + ["4,5"] * 10, "number as it is, decimal comma"),
        ([35.0, 47.0, 29.0, 51.0] * 10, "standardised"),
        ([0.0, 0.0, 0.0, 5000.0] * 10, "scaled"),
        ([0, 1, 1, 0] * 10, "number as it is"),
        ([7.0] * 40, "dropped (constant)"),
        (["x"] * 40, "dropped (constant)"),
        ([""] * 40, "dropped (empty)"),
        ([f"x{i}" for i in range(40)], "dropped (all different, like an id)"),
        ([f"+49 221 {i}" for i in range(40)], "dropped (all different, like an id)"),
        ([f"the report number {i % 7} on topic {i}" for i in range(40)], "text, TF-IDF of"),
    ],
)
def test_what_a_column_is_taken_for(values: Any, words: str) -> None:
    assert kind(values).startswith(words)


def test_numbers_called_like_an_id_are_dropped_where_all_differ() -> None:
    assert kind(list(range(40)), "phone_id") == "dropped (all different, like an id)"
    assert kind(list(range(40)), "rank") != "dropped (all different, like an id)"
    assert kind([i % 7 for i in range(40)], "team_id") == "number as it is"


def test_what_is_mostly_one_thing_is_refused_by_row() -> None:
    with pytest.raises(GraphError, match="row 1: column 'c' has 'tall', but most of it is numbers"):
        kind(["1", "tall", "2", "3"] * 10)
    with pytest.raises(GraphError, match="row 3: column 'c' has '2020-19-01', but most of it is dates like %Y-%m-%d"):
        kind(["2020-01-01", "2020-01-02", "2020-01-03", "2020-19-01"] * 10)
    with pytest.raises(GraphError, match="row 0: column 'c' has '1,234', which may be a decimal comma or thousands"):
        kind(["1,234", "2,345"] * 20)
    with pytest.raises(GraphError, match="column 'c' holds values of the type list"):
        kind([[1.0, 2.0]] * 40)
    assert kind(["1,234", "2,345"] * 20, numeric="c") == "number as it is, decimal comma"
    assert kind(["1", "tall", "2", "3"] * 10, categorical="c") == "4 categories"


def test_age_and_salary_are_brought_to_one_scale() -> None:
    rng = np.random.default_rng(0)
    columns, x = fit({"age": rng.normal(35, 8, ROWS), "salary": rng.normal(60_000, 9_000, ROWS)})
    assert columns.lines() == ["age: standardised", "salary: standardised"]
    assert np.allclose(x.mean(0), 0) and np.allclose(x.std(0), 1)


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(np.random.default_rng(0).integers(0, 2, (30, 8)), id="0 and 1"),
        pytest.param(np.random.default_rng(0).poisson(0.2, (30, 8)), id="counts of words"),
        pytest.param(np.random.default_rng(0).normal(size=(30, 8)), id="standardised"),
        pytest.param(np.random.default_rng(0).random((30, 8)), id="unit-scaled"),
        pytest.param(
            np.random.default_rng(0).normal(size=(30, 8)) * np.geomspace(0.5, 10, 8), id="principal components"
        ),
        pytest.param(np.random.default_rng(0).integers(0, 17, (30, 8)), id="pixels"),
        pytest.param(np.hstack([np.eye(30, 7), np.zeros((30, 1))]), id="a word that nobody uses"),
    ],
)
def test_numbers_of_one_scale_stay_bit_for_bit(x: np.ndarray) -> None:
    columns, made = fit_columns(pa.table({f"f{i}": x[:, i] for i in range(8)}), where)
    assert columns.as_they_are and columns.raw is None
    assert np.array_equal(made, x.astype(np.float64))
    assert len(columns.features) == 8


def test_missing_values_become_the_median_and_a_flag() -> None:
    columns, x = fit({"f": [1.0, None, 3.0, 8.0], "g": [1.0, 2.0, float("nan"), 4.0]})
    assert columns.features == ("f", "f missing", "g", "g missing")
    assert x.tolist() == [[1, 0, 1, 0], [3, 1, 2, 0], [3, 0, 2, 1], [8, 0, 4, 0]]


def test_dates_are_days_and_the_season() -> None:
    columns, x = fit({"d": pa.array([0, 181, 365, 546], pa.date32())})
    assert columns.features == ("d days", "d month sin", "d month cos")
    assert np.allclose(x[:, 0].mean(), 0) and np.allclose(x[:, 0].std(), 1)
    assert np.allclose(x[:, 1:], [[0, 1], [0, -1], [0, 1], [0, -1]])  # January, July


def test_tf_idf_is_that_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    words = np.array(["Graph", "network", "éclair", "of", "nodes,", "a", "deep.", "self-supervised", "x1"])
    texts = [" ".join(rng.choice(words, 6)) for _ in range(80)] + texts_again()
    columns, x = fit_columns(pa.table({"t": texts}), where, TableOptions(text=("t",)))
    reference = TfidfVectorizer(min_df=2, token_pattern=r"[^\W_]{2,}")
    expected = reference.fit_transform(texts)
    assert sp.issparse(x) and columns.columns[0].values == tuple(reference.get_feature_names_out())
    assert np.allclose(x.toarray(), expected.toarray(), atol=1e-6)


def texts_again() -> list[str]:
    return ["deep nodes of a graph"] * 3


def test_a_wide_one_hot_stays_sparse() -> None:
    columns, x = fit_columns(pa.table({"c": [f"v{i % 40}" for i in range(200)]}), where)
    assert sp.issparse(as_features(x)) and x.shape == (200, 40) and x.nnz == 200
    assert columns.features[0] == "c=v0"


TABLE = pa.table(
    {
        "age": [31, 47, 25, 60] * 10,
        "city": ["Bonn", "Rome", "Oslo", None] * 10,
        "joined": ["2020-01-31", "2021-12-01", "2020-02-29", "1999-01-01"] * 10,
        "member": ["yes", "no", "no", "yes"] * 10,
        "shop": [f"s{i % 57}" for i in range(40)],
        "note": [f"the report of team {i % 4} is {'late' if i % 3 else 'fine'} in case {i}" for i in range(40)],
        "phone": [f"+{i}" for i in range(100, 140)],
    }
)


@pytest.fixture
def fitted() -> tuple[Columns, Any]:
    return fit_columns(TABLE, where, TableOptions(categorical=("shop",), drop=("phone",)))


def test_the_encoding_is_json_and_gives_the_same_features_by_name(fitted: tuple[Columns, Any]) -> None:
    columns, x = fitted
    again = Columns.from_dict(json.loads(json.dumps(columns.to_dict())))
    assert again == columns and again.features == columns.features and x.shape[1] == len(columns.features)
    swapped = TABLE.select(TABLE.column_names[::-1])
    assert abs(apply_columns(again, swapped, where) - x).max() == 0
    assert pickle.loads(pickle.dumps(columns)) == columns and pickle.loads(pickle.dumps(columns)).raw is None


def test_new_data_lack_no_column_and_may_have_more(
    fitted: tuple[Columns, Any], caplog: pytest.LogCaptureFixture
) -> None:
    columns, x = fitted
    with pytest.raises(GraphError, match="lacks 2 of the columns that the model was trained on: age, note; add them"):
        apply_columns(columns, TABLE.drop_columns(["age", "note"]), where)
    more = TABLE.append_column("shoe", pa.array(range(40))).drop_columns(["phone"])
    assert abs(apply_columns(columns, more, where, "new.csv") - x).max() == 0
    assert caplog.messages == ["new.csv: left out columns that the model does not know: shoe"]


def test_what_was_never_seen_is_unknown(fitted: tuple[Columns, Any]) -> None:
    columns, _ = fitted
    row = TABLE.slice(0, 1).to_pydict() | {"city": ["Lima"], "note": ["nothing known"], "age": [None]}
    x = apply_columns(columns, pa.table(row), where)
    values = dict(zip(columns.features, x.toarray()[0].tolist(), strict=True))
    assert [values[f"city={c}"] for c in ("Bonn", "Rome", "Oslo")] == [0, 0, 0] and values["city missing"] == 0
    assert not any(value for name, value in values.items() if name.startswith("note:"))
    assert abs(values["age"]) < 0.5  # the median
    for name, value in (("age", "old"), ("member", "perhaps"), ("joined", "31.12.2020")):
        with pytest.raises(GraphError, match=f"row 0: column {name!r} has {value!r}"):
            apply_columns(columns, pa.table(row | {name: [value]}), where)


def test_without_encoding_numbers_are_as_they_are_and_all_else_is_refused() -> None:
    columns, x = fit({"age": [31, 47], "salary": [60_000, 10_000]}, encode=False)
    assert columns.as_they_are and x.tolist() == [[31, 60_000], [47, 10_000]]
    with pytest.raises(GraphError, match="row 0: column 'c' has 'a', but features must be numbers"):
        fit({"c": ["a", "b"]}, encode=False)
    with pytest.raises(GraphError, match="row 1: column 'c' has no number"):
        fit({"c": [1.0, None]}, encode=False)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(GraphError, match=r"no column is left to learn from \(c: dropped \(constant\)\)"):
        fit({"c": ["a", "a"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": "aeg"}, "drop: unknown column 'aeg'; did you mean 'age'?"),
        ({"drop": "age", "text": "age"}, "the column 'age' is in drop and in text"),
        ({"sep": ";;"}, "separated by one character"),
        ({"encoding": "latin-99"}, "'latin-99' is not known"),
        ({"encoding": "base64"}, "'base64' is not known"),
        ({"id": 3}, "id = 3, but it must be text"),
        ({"text": 3}, "text = 3, but it must be names of columns"),
        ({"colour": "age"}, "unknown option 'colour'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        fit({"age": [1.0, 2.0]}, **options)


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "magic"},
        {"scale": 0.0},
        {"mean": float("nan")},
        {"fill": "3"},
        {"name": None},
        {"values": ["a", 3]},
        {"flag": "yes"},
        {"buckets": 5},
        {"idf": [1.0]},
        {"colour": "red"},
    ],
)
def test_a_damaged_encoding_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Columns.from_dict({"columns": [{"name": "age", "kind": "number"} | damage]})


def test_very_many_columns_are_told_in_few_lines() -> None:
    columns = Columns((*(Column(f"w{i}", "number") for i in range(1433)), Column("city", "category")))
    assert columns.lines() == ["w0 and 1,432 more: number as it is", "city: 0 categories"]
