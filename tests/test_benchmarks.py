"""Every script under benchmarks/ works on today's code: a small graph, one step. Every study still imports.

Scripts run as a user runs them, without any dataset that has to be fetched, and write nothing into the repository.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS, STUDIES = ROOT / "benchmarks", ROOT / "studies"
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))

Run = Callable[..., subprocess.CompletedProcess[str]]

needs_pyg = pytest.mark.skipif(find_spec("torch_geometric") is None, reason="needs PyG: pip install '.[pyg]'")
needs_chromium = pytest.mark.skipif(
    find_spec("playwright") is None or not (shutil.which("chromium") or shutil.which("chromium-browser")),
    reason="needs Playwright and Chromium: pip install '.[pictures]', apt-get install chromium",
)


def known(revision: str) -> bool:
    """Whether git is here and knows the revision: a clone may lack its history, an unpacked release all of it."""
    words = ["git", "-C", str(ROOT), "cat-file", "-e", f"{revision}^{{commit}}"]
    return shutil.which("git") is not None and subprocess.run(words, capture_output=True).returncode == 0


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a script in an empty folder, without AGSSL_DATA."""
    variables = {name: value for name, value in os.environ.items() if name != "AGSSL_DATA"}
    variables |= {"PYTHONPATH": str(ROOT / "src"), "AGSSL_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}

    def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(BENCHMARKS / f"{script}.py"), *words]
        return subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=600)

    return run


def rows(done: subprocess.CompletedProcess[str]) -> Any:
    """What a script printed as JSON."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def as_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], dict[str, Any]]:
    """The names of a script, without running it."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return lambda path: runpy.run_path(str(path))


def test_no_script_lacks_a_smoke_run():
    lacking = [script for script in SCRIPTS if not any(name.startswith(f"test_{script}_") for name in globals())]
    assert SCRIPTS and not lacking


@pytest.mark.parametrize("folder", [BENCHMARKS, STUDIES], ids=["benchmarks", "studies"])
def test_the_readme_of_the_folder_names_every_script(folder: Path):
    scripts = {path.name for path in folder.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert {script for script in scripts if f"`{script}" not in text} == set()


@needs_pyg
def test_step_agrees_with_pyg_and_with_another_revision(run: Run):
    against = next((revision for revision in ("7c586cd", "HEAD") if known(revision)), None)
    words = ["--datasets", "digits", "--hidden", "16", "--steps", "1", "--turn-seconds", "0", "--json"]
    (row,) = rows(run("step", *words, *(["--against", against] if against else [])))
    assert row["dataset"] == "digits" and row["max_logit_difference"] < 1e-4 and row["max_gradient_difference"] < 1e-4
    assert row["ratio"] > 0 and row["pruned_ratio"] > 0 and row["ratio_tuned_malloc"] > 0 and row["memory_ratio"] > 0
    assert row["ratio"] == pytest.approx(row["pyg_ms"] / row["ours_ms"])
    if against:
        assert row["ratio_over_before"] == pytest.approx(row["before_ms"] / row["ours_ms"])
        assert row["pruned_ratio_over_before"] == pytest.approx(row["before_pruned_ms"] / row["pruned_ms"])


@needs_pyg
def test_pipeline_times_every_stage_of_both_sides(run: Run):
    words = ("--datasets", "digits", "--hidden", "16", "--epochs", "1", "--rounds", "1", "--json")
    (row,) = rows(run("pipeline", *words))
    assert row["dataset"] == "digits" and row["ratio"] > 0 and row["memory_ratio"] > 0 and row["joint_ratio"] > 0
    assert set(row["ratio_by_stage"]) == {"par", "clu", "dgi", "pairdis", "pairsim", "student"}


def test_scale_measures_a_generated_graph_and_keeps_the_row(run: Run, tmp_path: Path):
    words = ("--edges", "5000", "--modes", "partition", "--batch-nodes", "64", "--epochs", "2", "--json")
    (row,) = rows(run("scale", *words, "--root", "graphs", "--out", "scale.json"))
    assert row["mode"] == "partition" and row["nodes"] == 500 and row["edges"] > 4000
    assert row["seconds_per_epoch"] > 0 and row["peak_mb"] > 0
    assert json.loads((tmp_path / "scale.json").read_text())["rows"] == [row]


@pytest.mark.parametrize("mode", ["full", "neighbour"])
def test_scale_measures_the_other_modes(mode: str, as_module: Callable, tmp_path: Path):
    from agssl.cli.main import main

    scale, folder = as_module(BENCHMARKS / "scale.py"), str(tmp_path / "graph")
    assert main(["data", "generate", "--nodes", "500", "--edges", "5000", folder]) == 0
    assert scale["prepare"](folder, str(tmp_path), mode, 64, str(tmp_path / "note.json"))["prepare_seconds"]
    row = scale["epochs"](folder, str(tmp_path), mode, 64, 2)
    assert row["mode"] == mode and row["seconds_per_epoch"] > 0 and "student" in row["stages"]


def test_new_node_measures_a_generated_graph(run: Run):
    words = ("--edges", "5000", "--no-cora", "--count", "3", "--root", "graphs", "--out", "new_node.json", "--json")
    (row,) = rows(run("new_node", *words))
    assert row["edges"] > 4000 and row["milliseconds"] > 0 and row["command_mb"] > 0


@needs_pyg
@pytest.mark.skipif(find_spec("uvicorn") is None, reason="needs the extra serve")
def test_serve_asks_both_services(run: Run):
    words = ("--dataset", "digits", "--seconds", "1", "--connections", "2", "--workers", "2", "--hidden", "16")
    found = rows(run("serve", *words, "--out", "serve.json", "--json"))
    assert [(row["server"], row["model"]) for row in found["rows"]] == [
        *(("agssl", "mlp"), ("pyg", "mlp")),
        *(("agssl", "gcn"), ("pyg", "gcn")),
    ]
    assert all(row["requests"] > 0 and not row["failed"] for row in found["rows"])
    assert len(found["workers"][0]["pss_mb"]) == 2


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs the extra onnx")
def test_export_agrees_with_the_student(run: Run):
    found = rows(run("export", "--dataset", "digits", "--repeats", "2", "--out", "export.json", "--json"))
    assert found["difference"] < 1e-5 and found["nodes"] == 1000


def test_memory_compares_a_fit_with_its_estimate(run: Run, tmp_path: Path):
    (row,) = rows(
        run("memory", "--datasets", "digits", "--hidden", "16", "--epochs", "1", "--out", "memory.json", "--json")
    )
    assert row["dataset"] == "digits" and row["peak_mb"] > 0
    assert row["ratio"] == pytest.approx(row["estimated_mb"] / row["peak_mb"], rel=0.05)
    assert json.loads((tmp_path / "memory.json").read_text())["rows"] == [row]


def test_rivals_memory_takes_a_step_with_a_task(run: Run):
    (row,) = rows(run("rivals_memory", "--datasets", "digits", "--tasks", "grace", "--hidden", "16", "--json"))
    assert (row["dataset"], row["task"]) == ("digits", "grace")
    assert row["peak_mb"] > 0 and row["seconds_per_step"] > 0 and row["gcn_seconds_per_step"] > 0


def test_jobs_finds_equal_records_side_by_side(run: Run):
    words = ("--datasets", "digits", "--methods", "gcn", "--seeds", "2", "--epochs", "1", "--no-ray", "--json")
    found = rows(run("jobs", *words, "--out", "jobs.json"))
    assert [(row["side"], row["cells"]) for row in found] == [("one process", 2), ("two processes", 2)]


def test_tables_encodes_mixed_columns(run: Run):
    (row,) = rows(run("tables", "--rows", "2000", "--json", "--out", "tables.json"))
    assert (row["rows"], row["columns"]) == (2000, 20) and row["features"] > 200
    assert row["seconds"] > 0 and row["apply_seconds"] > 0 and row["peak_mb"] >= row["before_mb"] > 0


@pytest.mark.skipif(find_spec("pymetis") is None, reason="needs pymetis: pip install '.[metis]'")
def test_partition_cuts_in_both_ways(run: Run):
    both = rows(run("partition", "--datasets", "digits", "--seeds", "1", "--epochs", "2", "--json", "--out", "p.json"))
    assert [row["way"] for row in both] == ["metis", "own"]
    for row in both:
        assert 0 < row["cut"] < 1 <= row["balance"] and row["smallest"] > 0 and len(row["accuracy"]) == 1


def test_wheels_says_what_pip_finds_and_what_not(run: Run):
    (row,) = rows(run("wheels", "--versions", "3.12", "--needs", "no-such-package-of-agssl", "--json"))
    assert row["python"] == "3.12" and row["complete"] is False and "no-such-package" in row["error"]


def test_checkpoint_finds_what_writing_costs(run: Run):
    (row,) = rows(run("checkpoint", "--datasets", "digits", "--tasks", "par", "--epochs", "300", "--json"))
    assert row["dataset"] == "digits" and 0 < row["overhead"] < 1 and row["writes"] > 0


@pytest.mark.skipif(not known("HEAD"), reason="needs git and the repository's history")
def test_fit_compares_whole_fits_with_a_revision(run: Run, tmp_path: Path):
    words = ("--datasets", "digits", "--against", "HEAD", "--repeats", "1", "--seeds", "1", "--json", "--out", "f.json")
    (row,) = rows(run("fit", *words, "--options", "--epochs 1 --tasks par --generations 1"))
    assert row["dataset"] == "digits" and row["ratio"] == pytest.approx(
        row["seconds_before"] / row["seconds"], rel=0.01
    )
    assert 0 < row["accuracy"] <= 1 and row["peak_mb"] > 0 and row["standard_error"] is None
    assert json.loads((tmp_path / "f.json").read_text())["rows"] == [row]


@pytest.mark.skipif(not known("HEAD"), reason="needs git and the repository's history")
def test_profile_fit_tells_parts_of_a_fit_and_of_a_revision(run: Run):
    words = ("--datasets", "digits", "--against", "HEAD", "--json", "--out", "profile.json")
    before, now = rows(
        run("profile_fit", *words, "--options", "--epochs 2 --tasks par --alpha 1 --generations 1 --integration ts")
    )
    assert before["side"] == "before" and now["side"] == "now"
    assert now["steps"] == 4 and now["seconds"] > now["imports"] > 0 and now["calls"] > 1000


@pytest.mark.skipif(not known("HEAD"), reason="needs git and the repository's history")
def test_same_bits_compares_this_checkout_with_a_revision(run: Run, tmp_path: Path):
    options = "--epochs 1 --tasks par --generations 1"
    words = ("--against", "HEAD", "--datasets", "digits", "--fits", "average", "--options", options, "--keep", "kept")
    done = run("same_bits", *words)
    # A changed checkout may well differ from HEAD; that both were run and compared is what is asked here.
    assert done.stdout.startswith("digits-average: "), done.stderr
    assert done.returncode == int("the same bits" not in done.stdout)
    assert len(list((tmp_path / "kept").glob("*/digits-average/run.json"))) == 1


def test_same_bits_keeps_fits_apart_by_their_options(as_module: Callable):
    name = as_module(BENCHMARKS / "same_bits.py")["kept_name"]
    assert name("abc", "") == "abc" and name("abc", "--epochs 1") == name("abc", " --epochs  1")
    assert len({name("abc", ""), name("abc", "--epochs 1"), name("abc", "--epochs 2"), name("abd", "--epochs 1")}) == 4


def test_readme_and_results_have_the_tables_of_the_records(run: Run, tmp_path: Path):
    pytest.importorskip("matplotlib")
    pages = {"README.md": ROOT / "README.md"} | {name: ROOT / "docs" / name for name in ("results.md", "pool.md")}
    for name, path in pages.items():
        shutil.copy(path, tmp_path / name)
    done = run("readme", "--readme", "README.md", "--page", "results.md", "--pool", "pool.md", "--picture", "gains.png")
    assert done.returncode == 0, done.stderr
    for name, path in pages.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert (tmp_path / "gains.png").stat().st_size > 1000


def test_performance_page_has_the_tables_of_the_records(run: Run, tmp_path: Path):
    shutil.copy(ROOT / "docs/performance.md", tmp_path / "page.md")
    done = run("performance", "--page", "page.md")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == (ROOT / "docs/performance.md").read_text(
        encoding="utf-8"
    )


def test_page_and_screenshots_need_a_browser_for_nothing_but_the_browser(as_module: Callable, tmp_path: Path):
    pytest.importorskip("matplotlib")
    page, screenshots = (as_module(BENCHMARKS / f"{name}.py") for name in ("page", "screenshots"))
    graph, fitted = page["write_graph"](tmp_path / "graph", 400), tmp_path / "run"
    page["quiet"]("fit", str(graph), *page["QUICK"], "--tasks", "clu", "--out", str(fitted))
    page["quiet"]("report", str(fitted), "-o", str(tmp_path / "page.html"))
    screenshots["draw"](screenshots["Run"].open(fitted), tmp_path / "embedding.png")
    assert (tmp_path / "page.html").stat().st_size > 1000 and (tmp_path / "embedding.png").stat().st_size > 1000


@needs_chromium
def test_page_opens_and_answers_clicks(run: Run):
    (row,) = rows(run("page", "--nodes", "400", "--clicks", "2", "--json"))["pages"]
    assert row["first_paint_ms"] > 0 and row["click_ms"]["median"] > 0


@needs_chromium
def test_labelling_clicks_and_loses_nothing(run: Run):
    words = ("--datasets", "digits", "--labels", "24", "--pause", "0", "--random", "1", "--json")
    (row,) = rows(run("labelling", *words, "--options", "--method gcn --epochs 3 --hidden 8"))["rows"]
    assert row["labels"] == 24 and row["lost"] == 0 and row["killed_after"] == 12 and row["curve"][-1]["labels"] == 24
    assert (
        0 < row["accuracy"] <= 1 and len(row["random_accuracy"]) == 1 and "24 labels are in" in row["said_at_the_end"]
    )


@needs_chromium
def test_screenshots_draws_both_pictures(run: Run, as_module: Callable, tmp_path: Path):
    pytest.importorskip("matplotlib")
    page = as_module(BENCHMARKS / "page.py")
    graph = page["write_graph"](tmp_path / "graph", 400)
    page["quiet"]("fit", str(graph), *page["QUICK"], "--tasks", "clu", "--out", str(tmp_path / "agssl"))
    page["quiet"]("fit", str(graph), "--method", "gcn", "--epochs", "2", "--out", str(tmp_path / "gcn"))
    done = run("screenshots", "--run", "agssl", "--baseline", "gcn", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.png").exists() and (tmp_path / "embedding.png").exists()


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*.py")), ids=lambda path: path.stem)
def test_every_study_imports_and_says_what_it_takes(study: Path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [str(STUDIES), *sys.path])
    monkeypatch.setattr(sys, "argv", [str(study), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(study), run_name="__main__")
    assert ended.value.code == 0 and "--datasets" in capsys.readouterr().out
