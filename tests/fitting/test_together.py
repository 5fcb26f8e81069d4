"""One network trained by several processes of Ray."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import agssl
from agssl.cli.main import main
from agssl.data.packed import open_packed, stored_in, write_packed
from reference.graphs import blocks_graph
from reference.processes import descendants, title, until

FEW = ("--epochs", "60", "--hidden", "16", "--tasks", "clu,pairdis", "--alpha", "1", "--threads", "1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--workers", "0", "--ray"), "at least one is needed"),
        (("--workers", "2", "--batch", "partition"), "add --ray, or --ray-address"),
        (("--workers", "2", "--ray", "--batch", "full"), "choose --batch partition"),
        (("--workers", "2", "--ray"), "choose --batch partition"),  # auto comes to full
        (("--workers", "2", "--ray", "--method", "autossl"), "autossl searches on the whole graph"),
        (("--workers", "2", "--ray", "--batch", "partition", "--jobs", "2"), "leave one of them out"),
    ],
)
def test_what_workers_cannot_do_is_said_at_once(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    assert main(["fit", "digits", "--out", str(tmp_path / "run"), *words]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "run").exists()


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_graph_on_disk_is_opened_by_other_processes_and_not_sent(tmp_path: Path, density: float) -> None:
    graph = blocks_graph(density=density)
    write_packed(graph, tmp_path / "packed")
    mapped = replace(open_packed(tmp_path / "packed"), y=graph.y[::-1].copy(), name="other")
    assert stored_in(mapped) == tmp_path / "packed" and stored_in(graph) is None
    there = pickle.loads(pickle.dumps(mapped))
    assert stored_in(there) == tmp_path / "packed" and there.fingerprint == graph.fingerprint
    np.testing.assert_array_equal(there.y, graph.y[::-1])
    assert there.name == "other" and there.classes == graph.classes
    assert stored_in(replace(mapped, indptr=graph.indptr)) is None
    assert pickle.loads(pickle.dumps(graph)).fingerprint == graph.fingerprint


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    assert main(["data", "generate", str(tmp_path / "graph"), "--nodes", "2000", "--degree", "8"]) == 0
    quiet = _fit(tmp_path, "quiet")
    assert json.loads(quiet[0])["seeds"] == [0]
    assert "Traceback" not in quiet[1]
    _fit(tmp_path, "killed", kill=True)
    wanted, found = _seed(tmp_path / "quiet"), _seed(tmp_path / "killed")
    assert len(wanted) > 8 and found == wanted
    assert json.loads((tmp_path / "killed" / "run.json").read_text())["workers"] == 2
    assert not (tmp_path / "killed" / ".agssl").exists()


def _fit(folder: Path, name: str, kill: bool = False) -> tuple[str, str]:
    """What a fit by two workers prints; one of them may be killed in the middle."""
    words = ["-m", "agssl", "fit", str(folder / "graph"), *FEW, "--batch", "partition", "--batch-nodes", "300"]
    words += ["--ray", "--workers", "2", "--checkpoint", "0", "--json", "--out", str(folder / name)]
    variables = os.environ | {"PYTHONPATH": str(Path(agssl.__file__).parents[1]), "AGSSL_CACHE": str(folder / "cache")}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, *words], env=variables, **pipes)
    try:
        if kill:
            hidden = folder / name / ".agssl"
            until(lambda: any(hidden.glob("stages/seed-0/*.safetensors")) or process.poll() is not None, 1800)
            workers = [pid for pid in descendants(process.pid) if "TrainWorker" in title(pid)]
            assert len(workers) == 2 and not (hidden / "seed-0" / "metrics.json").exists()
            os.kill(workers[0], signal.SIGKILL)
        out, err = process.communicate(timeout=3600)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out, err


def _seed(run: Path) -> dict[str, Any]:
    """What came out of the seed, but for what it took."""
    folder = run / "seed-0"
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics.pop("seconds")
    files = {name: (folder / name).read_bytes() for name in ("history.json", "predictions.csv", "task_weights.csv")}
    arrays = {name: array.tobytes() for name, array in load_file(folder / "model.safetensors").items()}
    return files | arrays | {"metrics": metrics}
