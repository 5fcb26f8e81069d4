"""Splits: every kind, from every source, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.errors import AgsslError, DataError, GraphError, SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.resolve import open_graph
from agssl.data.splits import Split, check_split, make_split


def ring(y: np.ndarray, **more: object) -> Graph:
    nodes = np.arange(len(y))
    return Graph.from_arrays(np.vstack([nodes, np.roll(nodes, 1)]), np.ones((len(y), 1)), y, notify=False, **more)  # type: ignore[arg-type]


BIG = ring(np.arange(2000) % 5)


def labelled(counts: list[int]) -> Graph:
    """So many nodes of each class, in random order."""
    return ring(np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts)))


def parts(split: Split) -> list[list[int]]:
    return [split.train.tolist(), split.val.tolist(), split.test.tolist()]


def test_random_takes_twenty_a_class_and_disjoint_parts() -> None:
    split = make_split("random", BIG, Rng(3))
    assert split.sizes() == {"train": 100, "val": 500, "test": 1000}
    assert np.bincount(BIG.y[split.train]).tolist() == [20] * 5
    assert len(np.unique(np.concatenate([split.train, split.val, split.test]))) == 1600
    assert all((np.diff(part) > 0).all() for part in (split.train, split.val, split.test))
    assert split.origin == "random:20/500/1000 (seed 3)"


@pytest.mark.parametrize("spec", ["random:5/10/20", "per-class:20/30", "fraction:0.1/0.2/0.3"])
def test_the_draw_depends_on_the_seed_alone(spec: str) -> None:
    first, again, other = (make_split(spec, BIG, Rng(seed)) for seed in (0, 0, 1))
    assert parts(first) == parts(again)
    assert parts(first) != parts(other)


def test_per_class_leaves_all_the_rest_to_test() -> None:
    split = make_split("per-class:20/30", BIG, Rng(0))
    assert np.bincount(BIG.y[split.val]).tolist() == [30] * 5
    assert sum(split.sizes().values()) == 2000


def test_fractions_are_kept_class_by_class() -> None:
    split = make_split("fraction:0.1/0.2/0.3", BIG, Rng(0))
    assert [np.bincount(BIG.y[p]).tolist() for p in (split.train, split.val, split.test)] == [
        [40] * 5,
        [80] * 5,
        [120] * 5,
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=6),
    st.sampled_from(["0.6/0.2/0.2", "0.01/0.01/0.98", "0.9/0.05/0.05"]),
)
def test_with_few_labels_every_class_trains_and_someone_validates(counts: list[int], shares: str) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    graph = ring(np.concatenate([y, [-1, -1, -1]]))
    if len(y) <= len(counts):
        with pytest.raises(GraphError, match="label at least one more"):
            make_split(f"fraction:{shares}", graph, Rng(0))
        return
    split = make_split(f"fraction:{shares}", graph, Rng(0))
    assert (np.bincount(y[split.train], minlength=len(counts)) >= 1).all()
    assert len(split.val) >= 1
    assert sum(split.sizes().values()) == len(y)


@pytest.mark.parametrize("spec", ["auto", "benchmark"])
def test_benchmarks_prefer_public_then_random_then_fractions(spec: str) -> None:
    public = Split(np.array([0, 1]), np.array([2]), np.array([3]))
    big, small = replace(BIG, named=spec == "auto"), replace(ring(np.arange(30) % 3), named=spec == "auto")
    assert make_split(spec, big.with_split(public), Rng(0)) is public
    assert make_split(spec, big, Rng(0)).origin.startswith("random:20/500/1000")
    assert make_split(spec, small, Rng(0)).origin.startswith("fraction:0.6/0.2/0.2")


def test_public_means_the_one_that_came_with_the_data() -> None:
    with pytest.raises(SettingsError, match="without a split of its own"):
        make_split("public", BIG, Rng(0))
    with pytest.raises(SettingsError, match="without a split of its own"):
        make_split("public", BIG.with_split(make_split("random", BIG, Rng(0))), Rng(0))


def test_a_class_that_is_too_small_is_named() -> None:
    graph = ring(np.array([0] * 50 + [1] * 7), classes=["many", "few"])
    with pytest.raises(GraphError, match="class 'few' has 7 labelled nodes, but the split random:20/5/5 takes 20"):
        make_split("random:20/5/5", graph, Rng(0))
    with pytest.raises(GraphError, match="class 'few' has 7 labelled nodes.*takes 8"):
        make_split("per-class:5/3", graph, Rng(0))
    with pytest.raises(GraphError, match="47 labelled nodes left after 5 per class"):
        make_split("random:5/40/40", graph, Rng(0))


@pytest.mark.parametrize(
    "spec",
    [
        "random:20/500",
        "random:a/b/c",
        "random:0/5/5",
        "random:-1/5/5",
        "per-class:20",
        "per-class:",
        "fraction:0.6/0.6/0.2",
        "fraction:0/0.5/0.5",
        "fraction:x",
        "fraction:nan/0.1/0.1",
        "fractoin:0.6/0.2/0.2",
        "",
        "auto:3",
        "random:5/0/5",
    ],
)
def test_texts_that_make_no_sense_are_refused(spec: str) -> None:
    with pytest.raises(AgsslError):
        make_split(spec, BIG, Rng(0))


def test_a_misspelt_kind_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'random'"):
        make_split("randon", BIG, Rng(0))


@pytest.mark.parametrize(
    ("train", "val", "test", "message"),
    [
        ([0, 1], [1], [2], "node 1 is in train and in val"),
        ([0, 1], [2], [2], "node 2 is in val and in test"),
        ([], [1], [2], "train part of the split is empty"),
        ([0], [], [2], "val part of the split is empty"),
        ([0, 9], [1], [2], "train part of the split has node 9"),
        ([0, -1], [1], [2], "train part of the split has node -1"),
        ([0, 4], [1], [2], "node 4 is in the train part of the split but has no label"),
        ([0, 0], [1], [2], "node 0 is twice in the train part"),
    ],
)
def test_a_split_that_does_not_fit_is_refused(train: list[int], val: list[int], test: list[int], message: str) -> None:
    split = Split.from_arrays({"train": np.array(train), "val": np.array(val), "test": np.array(test)})
    with pytest.raises(GraphError, match=message):
        check_split(split, np.array([0, 1, 0, 1, -1]))


def test_arrays_go_there_and_back() -> None:
    split = make_split("random:2/3/4", BIG, Rng(0))
    again = Split.from_arrays(split.to_arrays(), split.origin)
    assert parts(again) == parts(split) and again.origin == split.origin


def test_masks_are_as_good_as_indices_and_two_dimensions_are_not() -> None:
    mask = np.array([True, False, True])
    assert Split.from_arrays({"train": mask, "val": ~mask}).train.tolist() == [0, 2]
    with pytest.raises(GraphError, match=r"shape \(3, 2\)"):
        Split.from_arrays({"train": np.ones((3, 2), bool), "val": ~mask})
    with pytest.raises(GraphError, match="no part named 'val', only train"):
        Split.from_arrays({"train": mask})


class TestFiles:
    graph = ring(np.arange(6) % 2, node_names=list("abcdef"))
    expected = ([0, 1], [2], [3, 4])

    def read(self, path: Path) -> Split:
        return make_split(str(path), self.graph, Rng(0))

    def test_npz_with_indices_and_with_masks(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", train=[0, 1], val=[2], test=[3, 4])
        masks = {
            f"{k}_mask": np.isin(np.arange(6), v)
            for k, v in zip(("train", "valid", "test"), self.expected, strict=True)
        }
        np.savez(tmp_path / "b.npz", **masks)  # type: ignore[arg-type]
        for name in ("a.npz", "b.npz"):
            split = self.read(tmp_path / name)
            assert tuple(parts(split)) == self.expected
            assert split.origin == str(tmp_path / name)

    def test_json_with_indices_and_with_names(self, tmp_path: Path) -> None:
        for value in (
            {"train": [1, 0], "val": [2], "test": [3, 4]},
            {"train": ["a", "b"], "val": ["c"], "test": ["d", "e"]},
        ):
            (tmp_path / "s.json").write_text(json.dumps(value))
            assert tuple(parts(self.read(tmp_path / "s.json"))) == self.expected

    def test_csv_with_words_and_with_masks(self, tmp_path: Path) -> None:
        (tmp_path / "w.csv").write_text("id,split\na,train\nb,train\nc,val\nd,test\ne,test\nf,\n")
        rows = "train,val,test\n1,0,0\n1,0,0\n0,1,0\n0,0,1\n0,0,1\n0,0,0\n"
        (tmp_path / "m.csv").write_text(rows)
        for name in ("w.csv", "m.csv"):
            assert tuple(parts(self.read(tmp_path / name))) == self.expected

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("s.json", "[1, 2]", "expected an object"),
            ("s.json", "{", "cannot read the split file"),
            ("s.json", '{"train": ["a"], "val": ["zz"]}', "has the node 'zz', which the graph lacks"),
            ("s.json", '{"train": [0]}', "no part named 'val'"),
            ("s.csv", "id,split\na,dev\n", "line 2 has the split 'dev'"),
            ("s.csv", "id,split\na\n", "line 2 has 1 cells"),
            ("s.csv", "a,b\n1,2\n", "has the columns a, b"),
            ("s.csv", "", "has the columns none"),
            ("s.csv", "train,val,test\n1,0,0\n", "mask in .* has 1 entries, but the graph has 6"),
            ("s.csv", "train,val,test\n1,2,0\n", "line 2 has '2' in a mask"),
            ("s.npz", "no zip", "cannot read .*s.npz: File is not a zip"),
        ],
    )
    def test_bad_files_are_named(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        (tmp_path / name).write_text(text)
        with pytest.raises(AgsslError, match=message):
            self.read(tmp_path / name)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="does not exist"):
            self.read(tmp_path / "none.npz")

    def test_pickled_arrays_are_refused(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "p.npz", train=np.array([{}], dtype=object), val=[1])
        with pytest.raises(DataError, match="pickled objects, which are never read"):
            self.read(tmp_path / "p.npz")


class TestHeldOutInTurn:
    """`cv` and `holdout`: no labelled node is set aside for good."""

    def test_every_label_trains_and_is_held_out_once(self) -> None:
        graph = labelled([30, 20, 7])
        split = make_split("cv:5", graph, Rng(0))
        assert len(split.train) == len(split.val) == 57 and not len(split.test)
        folds = split.folds()
        assert len(folds) == 5
        np.testing.assert_array_equal(np.sort(np.concatenate([fold.val for fold in folds])), split.train)
        for fold in folds:
            assert not set(fold.train) & set(fold.val)
            counts = np.bincount(graph.y[fold.val], minlength=3)
            assert all(n // 5 <= c <= -(-n // 5) for n, c in zip((30, 20, 7), counts, strict=True))

    def test_the_only_label_of_a_class_is_never_held_out(self) -> None:
        split = make_split("cv:5", labelled([6, 1, 2]), Rng(0))
        assert len(split.train) == 9 and len(split.val) == 8
        for fold in split.folds():
            assert {0, 1, 2} == set(labelled([6, 1, 2]).y[fold.train])

    def test_one_share_can_be_held_out(self) -> None:
        graph = labelled([100, 50])
        split = make_split("holdout:0.2", graph, Rng(0))
        (fold,) = split.folds()
        assert np.bincount(graph.y[fold.val]).tolist() == [20, 10]
        assert len(split.train) == 150 and len(fold.train) == 120

    def test_auto_sets_no_label_of_an_own_graph_aside(self) -> None:
        few, many = labelled([30, 20]), labelled([1500, 500])
        assert make_split("auto", few, Rng(0)).origin == "cv:5 (seed 0)"
        assert make_split("auto", many, Rng(0)).origin == "holdout:0.2 (seed 0)"
        assert len(make_split("auto", many, Rng(0)).train) == 2000

    def test_all_2995_labels_of_cora_ml_are_used(self, data_root: Path) -> None:
        path = data_root / "practice" / "cora_ml.npz"
        if not path.exists():
            pytest.skip("needs practice/cora_ml.npz below AGSSL_DATA")
        split = open_graph(str(path)).split
        assert split is not None and split.origin == "holdout:0.2 (seed 0)"
        assert len(split.train) == 2995 and len(split.val) == 599
        before = open_graph(str(path), split="benchmark").split
        assert before is not None and before.sizes() == {"train": 140, "val": 500, "test": 1000}

    def test_two_labels_are_enough_and_one_for_each_class_is_not(self) -> None:
        assert len(make_split("cv", labelled([2, 1]), Rng(0)).folds()) == 2
        with pytest.raises(GraphError, match="label at least one more"):
            make_split("cv", labelled([1, 1]), Rng(0))

    @pytest.mark.parametrize("spec", ["cv:1", "cv:x", "holdout:0", "holdout:1.5", "holdout:a"])
    def test_bad_numbers_are_refused(self, spec: str) -> None:
        with pytest.raises(SettingsError, match="cannot understand the split"):
            make_split(spec, labelled([5, 5]), Rng(0))
