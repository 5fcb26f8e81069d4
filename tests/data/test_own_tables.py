"""Tables as people have them: other names, separators and characters, mixed columns, graphs of other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from pyarrow import csv

from agssl import AGSSL
from agssl.base.errors import AgsslError, DataError, GraphError, SettingsError
from agssl.cli.main import main
from agssl.data.convert import to_graph
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.data.readers import read_graph

N = 60
CITIES = ("Köln", "Rome", "Oslo", "Lima")


def rows() -> list[dict[str, Any]]:
    """People of two classes that can be told by age and salary, once these are of one scale."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(N):
        kind = i % 2
        made.append(
            {
                "employee_id": f"e{i:03}",
                "age": round(float(rng.normal(30 + 12 * kind, 4)), 1),
                "salary": "" if i % 13 == 5 else int(rng.normal(60_000, 9_000)),
                "city": CITIES[int(rng.integers(4))],
                "remote": ("yes", "no")[int(rng.integers(2))],
                "joined": f"{2010 + i % 12}-{1 + i % 12:02}-15",
                "about": f"works on {('sales', 'code')[kind]} in group {i % 9}, likes thing{i}",
                "label": ("sales", "code")[kind],
            }
        )
    return made


def csv_text(people: list[dict[str, Any]], names: list[str] | None = None, sep: str = ",") -> str:
    names = names or list(people[0])
    quoted = [[f'"{person[n]}"' if sep in str(person[n]) else str(person[n]) for n in names] for person in people]
    return "\n".join(sep.join(cells) for cells in [names, *quoted]) + "\n"


def links() -> list[tuple[str, str]]:
    rng = np.random.default_rng(1)
    ends = [(i, int(rng.integers(N // 2)) * 2 + i % 2) for i in range(N) for _ in range(3)]
    return [(f"e{a:03}", f"e{b:03}") for a, b in ends if a != b]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text(csv_text(rows()), encoding="utf-8")
    (tmp_path / "edges.csv").write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in links()))
    return tmp_path


FEATURES = 3 + 4 + 1 + 3  # age, salary and its flag; four cities; remote; a date


def check(graph: Graph) -> None:
    assert graph.node_names is not None and graph.feature_names is not None
    assert graph.node_names[:2].tolist() == ["e000", "e001"] and graph.classes == ("code", "sales")
    assert graph.feature_names[:7] == ("age", "salary", "salary missing", *(f"city={c}" for c in sorted(CITIES)))
    assert graph.num_features == len(graph.feature_names) > FEATURES


def test_mixed_columns_are_encoded_and_told(folder: Path) -> None:
    graph = read_graph(folder)
    check(graph)
    assert graph.columns is not None
    lines = graph.columns.lines()
    assert lines[:6] == [
        "employee_id: ids of the nodes",
        "age: standardised",
        "salary: standardised, missing values as the median and a flag",
        "city: 4 categories",
        "remote: boolean",
        "joined: date",
    ]
    assert lines[6].startswith("about: text, TF-IDF of ")


@pytest.mark.parametrize(("sep", "ending"), [(";", "csv"), ("|", "csv"), ("\t", "csv"), (",", "tsv")])
def test_the_separator_is_seen_in_the_header(folder: Path, sep: str, ending: str) -> None:
    (folder / "nodes.csv").unlink()
    (folder / f"nodes.{ending}").write_text(csv_text(rows(), sep=sep), encoding="utf-8")
    check(read_graph(folder))
    with pytest.raises(AgsslError):
        read_graph(folder, sep="#")


def test_latin_1_needs_a_word(folder: Path) -> None:
    (folder / "nodes.csv").write_text(csv_text(rows()), encoding="latin-1")
    with pytest.raises(DataError, match="nodes.csv: its characters are not utf-8 .*--encoding latin-1"):
        read_graph(folder)
    check(read_graph(folder, encoding="latin-1"))


@pytest.mark.parametrize(
    "ends", [("from", "to"), ("Source", "Target"), ("src_id", "dst_id"), ("source_id", "target_id")]
)
def test_ends_of_edges_are_known_by_common_names(folder: Path, ends: tuple[str, str]) -> None:
    text = (folder / "edges.csv").read_text()
    (folder / "edges.csv").write_text(text.replace("src,dst", ",".join(ends)))
    check(read_graph(folder))


def test_any_names_of_columns_can_be_said(folder: Path) -> None:
    (folder / "nodes.csv").write_text(csv_text(rows()).replace("employee_id", "who"), encoding="utf-8")
    (folder / "edges.csv").write_text((folder / "edges.csv").read_text().replace("src,dst", "one,two"))
    check(read_graph(folder, id="who", source="one", target="two"))
    with pytest.raises(DataError, match="no column 'whom'; it has who, .*--id"):
        read_graph(folder, id="whom")
    with pytest.raises(DataError, match="no column 'source'; it has one, two. Say which column it is with --source"):
        read_graph(folder, id="who")


def test_of_two_columns_called_like_ids_the_distinct_one_is_it(folder: Path) -> None:
    people = [{"team_id": i % 5, **person} for i, person in enumerate(rows())]
    (folder / "nodes.csv").write_text(csv_text(people), encoding="utf-8")
    graph = read_graph(folder)
    assert graph.node_names is not None and graph.node_names[0] == "e000"
    assert graph.feature_names is not None and "team_id" in graph.feature_names


def test_a_plain_edge_list_beside_the_table(folder: Path) -> None:
    expected = read_graph(folder)
    (folder / "edges.csv").unlink()
    (folder / "edges.txt").write_text("# who knows whom\n" + "".join(f"{a} {b} 0.5\n" for a, b in links()))
    assert read_graph(folder).fingerprint == expected.fingerprint
    with pytest.raises(DataError, match="edge list without features"):
        read_graph(folder / "edges.txt")
    with pytest.raises(SettingsError, match="weight is 'strength', but .* has no named columns"):
        read_graph(folder, weight="strength")
    (folder / "edges.txt").write_text("e000 e001\ne002\n")
    with pytest.raises(DataError, match="line 2 has one word, 'e002'"):
        read_graph(folder)


@pytest.mark.parametrize("form", ["{} {} {}", "{}, {}, {}", "{} {} {{'weight': {}}}", "{}\t{}\t{}"])
def test_the_third_word_of_a_plain_edge_list_is_the_weight(form: str, folder: Path) -> None:
    (folder / "edges.csv").write_text(
        "source,target,weight\n" + "".join(f"{a},{b},{1 + k % 3}\n" for k, (a, b) in enumerate(links()))
    )
    expected = read_graph(folder)
    assert expected.weights is not None
    (folder / "edges.csv").unlink()
    text = "".join(form.format(a, b, 1 + k % 3) + "\n" for k, (a, b) in enumerate(links()))
    (folder / "edges.txt").write_text(text)
    assert read_graph(folder).fingerprint == expected.fingerprint
    assert read_graph(folder, unweighted=True).weights is None


def test_words_that_are_no_weights_are_left_out_and_that_is_said(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "edges.csv").unlink()
    (folder / "edges.txt").write_text("".join(f"{a} {b} friend\n" for a, b in links()))
    assert read_graph(folder).weights is None
    assert "words after the second of a line are not all weights, and they are not read" in caplog.text


def test_parquet_has_types_of_its_own(folder: Path) -> None:
    people = rows()
    columns: dict[str, Any] = {name: [person[name] for person in people] for name in people[0]}
    columns["salary"] = [value or None for value in columns["salary"]]
    columns["remote"] = [value == "yes" for value in columns["remote"]]
    columns["joined"] = pa.array(np.array(columns["joined"], dtype="datetime64[D]"))
    expected = read_graph(folder)
    (folder / "nodes.csv").unlink()
    pq.write_table(pa.table(columns), folder / "nodes.parquet")
    graph = read_graph(folder)
    assert graph.feature_names == expected.feature_names and graph.fingerprint == expected.fingerprint


@pytest.mark.parametrize("value", [b"\xff\xfe", [1, 2], {"a": 1}], ids=["bytes", "list", "struct"])
@pytest.mark.parametrize(("file", "column"), [("nodes", "employee_id"), ("edges", "src")])
def test_ids_of_a_type_that_is_no_text_are_refused_by_column(folder: Path, file: str, column: str, value: Any) -> None:
    table = csv.read_csv(folder / f"{file}.csv")
    table = table.set_column(table.column_names.index(column), column, pa.array([value] * len(table)))
    (folder / f"{file}.csv").unlink()
    pq.write_table(table, folder / f"{file}.parquet")
    with pytest.raises(GraphError, match=f"the column '{column}' holds values of the type"):
        read_graph(folder)


def test_labels_of_bytes_are_read_as_far_as_they_are_text(folder: Path) -> None:
    table = csv.read_csv(folder / "nodes.csv")
    labels = pa.array([(b"a", b"b\xff")[i % 2] for i in range(len(table))])
    (folder / "nodes.csv").unlink()
    pq.write_table(table.set_column(table.column_names.index("label"), "label", labels), folder / "nodes.parquet")
    assert read_graph(folder).classes == ("a", "b\\xff")


@pytest.mark.parametrize(
    ("option", "line"),
    [
        (("--text", "about,city"), "city: text, TF-IDF of 4 words"),
        (("--categorical", "age"), "age: "),
        (("--drop", "remote"), "remote: dropped"),
        (("--numeric", "salary"), "salary: standardised"),
    ],
)
def test_the_command_line_takes_a_column_for_what_it_is_said_to_be(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str], line: str
) -> None:
    quick = ("--epochs", "1", "--hidden", "4", "--tasks", "clu", "--out", str(tmp_path / "run"))
    assert main(["fit", str(folder), *option, *quick]) == 0
    assert line in capsys.readouterr().err


def network() -> Any:
    graph = nx.Graph()
    for person in rows():
        values = {key: value for key, value in person.items() if value != "" and key not in ("employee_id", "label")}
        graph.add_node(person["employee_id"], **values, job=person["label"])
    graph.add_edges_from(links())
    return graph


@pytest.mark.parametrize("form", ["gexf", "gml", "graphml", "json"])
def test_graphs_of_other_programs(tmp_path: Path, folder: Path, form: str) -> None:
    graph, path = network(), tmp_path / f"people.{form}"
    if form == "json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    else:
        getattr(nx, f"write_{form}")(graph, path)
    found = read_graph(path, label="job")
    check(found)
    expected = read_graph(folder)
    assert set(found.feature_names or ()) == set(expected.feature_names or ())
    assert found.num_edges == expected.num_edges
    assert read_graph(path, label="job", drop=["about"]).num_features == FEATURES
    with pytest.raises(SettingsError, match="sep is for tables"):
        read_graph(path, label="job", sep=";")
    path.write_text('{"nodes": 3' if form == "json" else "graph [ oops <")
    with pytest.raises(DataError, match=f"cannot read .*people.{form}"):
        read_graph(path, label="job")


def test_in_gexf_a_label_may_be_the_nodes_name(tmp_path: Path) -> None:
    nx.write_gexf(network(), tmp_path / "g.gexf")
    with pytest.raises(GraphError, match="'label' is the name of each node and not its class.*: about, age, .*job"):
        read_graph(tmp_path / "g.gexf")


QUICK = {"tasks": ("par",), "epochs": 15, "hidden": 8, "generations": 1, "split": "fraction:0.4/0.3/0.3"}
FIT = ["--tasks", "par", "--epochs", "15", "--hidden", "8", "--generations", "1", "--split", "fraction:0.4/0.3/0.3"]


def test_predictions_do_not_depend_on_the_order_of_columns(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    assert main(["fit", str(folder), *FIT, "--out", run]) == 0
    assert "city: 4 categories\n" in capsys.readouterr().err
    assert main(["predict", run, str(folder), "--proba"]) == 0
    expected = capsys.readouterr().out
    assert len(set(line.split(",")[1] for line in expected.splitlines()[1:])) == 2
    people = rows()
    other = tmp_path / "other"
    other.mkdir()
    (other / "edges.csv").write_text((folder / "edges.csv").read_text())
    names = ["employee_id", *reversed([name for name in people[0] if name not in ("employee_id", "label")])]
    (other / "nodes.csv").write_text(csv_text(people, names, ";"), encoding="latin-1")
    assert main(["predict", run, str(other), "--proba", "--encoding", "latin-1"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["predict", f"{run}/seed-0/model.safetensors", str(other), "--proba", "--encoding", "latin-1"]) == 0
    assert capsys.readouterr().out == expected
    (other / "nodes.csv").write_text(csv_text(people, [name for name in names if name not in ("age", "city")]))
    assert main(["predict", run, str(other)]) == 2
    assert "lacks 2 of the columns that the model was trained on: age, city; add them" in capsys.readouterr().err


def test_options_of_the_fit_are_used_again(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "nodes.csv").write_text(csv_text(rows(), sep=";").replace("employee_id", "who"), encoding="latin-1")
    run, how = str(tmp_path / "run"), ["--id", "who", "--encoding", "latin-1", "--drop", "about, joined"]
    assert main(["fit", str(folder), *FIT, *how, "--out", run]) == 0
    told = capsys.readouterr().err
    assert "about: dropped (as asked)" in told and "who: ids of the nodes" in told
    assert main(["predict", run, str(folder)]) == 0
    assert main(["embed", run]) == 0
    assert main(["fit", str(folder), *FIT, *how, "--no-encode", "--out", run]) == 2
    assert "column 'salary' has no number" in capsys.readouterr().err
    assert main(["fit", "digits", "--drop", "about", "--out", run]) == 2
    assert "drop is for tables, but the dataset digits" in capsys.readouterr().err


def test_age_and_salary_no_longer_end_in_one_class(folder: Path) -> None:
    people = [{name: person[name] for name in ("employee_id", "age", "salary", "label")} for person in rows()]
    people = [person | {"salary": person["salary"] or 60_000} for person in people]
    (folder / "nodes.csv").write_text(csv_text(people))
    model = AGSSL(**QUICK).fit(read_graph(folder))
    assert model.score() > 0.9
    assert model.feature_names_in_.tolist() == ["age", "salary"] and model.n_features_in_ == 2


def test_a_model_encodes_a_graph_that_was_read_by_itself(folder: Path, tmp_path: Path) -> None:
    model = AGSSL(**QUICK).fit(read_graph(folder))
    expected = model.predict_proba()
    half = tmp_path / "half"
    half.mkdir()
    (half / "edges.csv").write_text("src,dst\ne000,e002\n")
    (half / "nodes.csv").write_text(csv_text(rows()[:30]), encoding="utf-8")
    own, like = read_graph(half), read_graph(half, columns=model.columns_)
    assert own.fingerprint != like.fingerprint and like.num_features == model.graph_.num_features
    assert np.array_equal(model.predict_proba(own), model.predict_proba(like))
    model.save(tmp_path / "m.agssl")
    again = AGSSL.load(tmp_path / "m.agssl")
    assert again.columns_ == model.columns_
    assert np.allclose(again.predict_proba(read_graph(folder)), expected, atol=1e-6)
    with pytest.raises(GraphError, match="features without names"):
        model.predict((sp.eye(4), np.ones((4, 5)), [0, 1, 0, 1]))


def test_plain_numbers_are_told_apart_by_name_too(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((N, 30)) * (np.random.default_rng(1).random((N, 30)) < 0.2)
    names, edges = [f"w{i}" for i in range(30)], np.array([[int(a[1:]), int(b[1:])] for a, b in links()])
    table = pa.table({name: x[:, i] for i, name in enumerate(names)})
    model = AGSSL(**QUICK).fit((edges, table, [i % 2 for i in range(N)]))
    swapped = to_graph((edges, table.select(names[::-1])), require_labels=False)
    assert sp.issparse(swapped.x) and swapped.columns is not None and swapped.columns.plain
    assert np.allclose(model.predict_proba(swapped), model.predict_proba(), atol=1e-6)
    with pytest.raises(GraphError, match="lacks 1 of the columns that the model was trained on: w3"):
        model.predict(to_graph((edges, table.drop_columns(["w3"])), require_labels=False))


def test_packed_graphs_keep_their_columns(folder: Path, tmp_path: Path) -> None:
    graph = read_graph(folder)
    write_packed(graph, tmp_path / "packed")
    assert open_packed(tmp_path / "packed").columns == graph.columns


class TestPython:
    def nodes(self) -> pa.Table:
        people = rows()
        return pa.table({name: [str(person[name]) for person in people] for name in people[0]})

    def ends(self) -> np.ndarray:
        return np.array([[int(a[1:]), int(b[1:])] for a, b in links()])

    def test_edges_of_every_kind_give_one_graph(self) -> None:
        nodes, ends = self.nodes(), self.ends()
        table = pa.table({"from": [a for a, _ in links()], "to": [b for _, b in links()]})
        adjacency = sp.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(N, N)) > 0  # no weights
        network = nx.Graph(links())
        graphs = [to_graph((edges, nodes, "label")) for edges in (ends, ends.T, table, adjacency, network, links())]
        check(graphs[0])
        assert len({graph.fingerprint for graph in graphs}) == 1

    def test_labels_may_be_apart_or_a_column(self) -> None:
        nodes, ends = self.nodes(), self.ends()
        labels = nodes["label"].to_pylist()
        graphs = [to_graph((ends, nodes, None)), to_graph((ends, nodes.drop_columns(["label"]), labels))]
        assert [graph.y.tolist() for graph in graphs] == [to_graph((ends, nodes, "label")).y.tolist()] * 2
        with pytest.raises(GraphError, match="which would tell the answer"):
            to_graph((ends, nodes, labels))
        with pytest.raises(GraphError, match="no column 'job' with labels; it has employee_id"):
            to_graph((ends, nodes, "job"))
        with pytest.raises(GraphError, match="the edges have a node 'zoe', which is no row of the table"):
            to_graph((nx.Graph([("zoe", "e001")]), nodes, "label"))

    def test_a_fitted_model_takes_a_table_by_name(self) -> None:
        nodes, ends = self.nodes(), self.ends()
        model = AGSSL(**QUICK).fit((ends, nodes, "label"))
        swapped = nodes.select(nodes.column_names[::-1]).drop_columns(["label"])
        assert np.allclose(model.predict_proba((ends, swapped)), model.predict_proba(), atol=1e-6)

    def test_tables_of_pandas(self) -> None:
        pandas = pytest.importorskip("pandas")
        people, ends = rows(), self.ends()
        frame = pandas.DataFrame(people).set_index("employee_id")
        frame["salary"] = pandas.to_numeric(frame["salary"])
        frame["joined"] = pandas.to_datetime(frame["joined"])
        frame["city"] = frame["city"].astype("category")
        labels = frame.pop("label")
        edges = pandas.DataFrame(links(), columns=["source", "target"])
        graph = to_graph((edges, frame, labels.sample(frac=1, random_state=0)))
        check(graph)
        assert graph.y.tolist() == to_graph((ends, self.nodes(), "label")).y.tolist()
        assert graph.fingerprint == to_graph((ends, self.nodes(), "label")).fingerprint
        model = AGSSL(**QUICK).fit((nx.Graph(links()), frame, labels))
        assert model.feature_names_in_.tolist() == ["age", "salary", "city", "remote", "joined", "about"]
