"""A Ray cluster of two nodes on this machine, one of whose workers is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agssl
from reference.processes import descendants, title, until

METHODS = "gcn,par,clu,average,agssl-ts"
# what a run took, and the source it was run from, which may change meanwhile
COST = {"created", "seconds", "cpu_seconds", "peak_mb", "commit"}


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[str]:
    """The address of a cluster with one CPU on each of two nodes."""
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            cluster.add_node(num_cpus=1)
            yield cluster.address
        finally:
            cluster.shutdown()


@pytest.mark.slow
def test_the_row_of_cora_is_the_same_on_two_nodes_though_a_worker_is_killed(
    data_root: Path, tmp_path: Path, two_nodes: str
) -> None:
    alone = _bench(tmp_path / "alone", "--jobs", "1")
    said = alone.communicate(timeout=900)
    assert alone.returncode == 0, said
    spread = _bench(tmp_path / "spread", "--ray-address", two_nodes)
    until(lambda: (tmp_path / "spread/records/cora.jsonl").exists() and _busy(), 600)
    os.kill(_busy()[0], signal.SIGKILL)
    out, err = spread.communicate(timeout=900)
    assert spread.returncode == 0, err
    assert json.loads(out)["missing"] == 0
    wanted, found = _records(tmp_path / "alone"), _records(tmp_path / "spread")
    assert len(wanted) == 2 * 5 and found == wanted


@pytest.mark.slow
def test_fit_and_tune_find_the_same_on_two_nodes(tmp_path: Path, two_nodes: str) -> None:
    quick = ("--epochs", "6", "--hidden", "8", "--tasks", "clu:clusters=3,pairdis", "--alpha", "1")
    found = []
    for name, words in (("alone", ("--jobs", "1")), ("spread", ("--ray-address", two_nodes))):
        folder = tmp_path / name
        fit = _agssl(folder, "fit", "digits", *quick, "--seeds", "2", "--out", str(folder / "run"), *words)
        out, err = fit.communicate(timeout=600)
        assert fit.returncode == 0, err
        run = {
            f"{path.parent.name}/{path.name}": path.read_bytes()
            for path in sorted((folder / "run").glob("seed-*/[!m]*"))
        }
        assert len(run) > 3
        # several trials at a time would depend on which ends first
        words = ("--trials", "3", "--tuning-seeds", "2", "--only", "beta,tau", *words, "--jobs", "1")
        tune = _agssl(folder, "tune", "digits", *quick, "--out", str(folder / "found.toml"), *words)
        tuned, err = tune.communicate(timeout=600)
        assert tune.returncode == 0, err
        found.append((json.loads(out)["test_accuracy"], run, json.loads(tuned)["best"]))
    assert found[0] == found[1]


def _bench(folder: Path, *words: str) -> subprocess.Popen[str]:
    options = ["--datasets", "cora", "--methods", METHODS, "--seeds", "2", "--strategies", "jt", "--set", "epochs=40"]
    return _agssl(folder, "bench", "table1", *options, "--set", "alpha=1", "--out", str(folder / "records"), *words)


def _agssl(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A command with a cache of its own."""
    folder.mkdir(exist_ok=True)
    variables = os.environ | {
        "AGSSL_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(agssl.__file__).parents[1]),
    }
    command = [sys.executable, "-m", "agssl", *words, "--json"]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _busy() -> list[int]:
    """Workers of our nodes that have a task."""
    return [pid for pid in descendants(os.getpid()) if title(pid).startswith("ray::_run")]


def _records(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "records" / "cora.jsonl").read_text().splitlines()
    return {
        record["key"]: {key: value for key, value in record.items() if key not in COST}
        for record in map(json.loads, lines)
    }
