"""What `import agssl` promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agssl
from agssl.base.errors import DataError
from agssl.data.graph import Graph

PROMISED = """
    AGSSL Graph load_dataset read_graph Settings Task Encoder Integrator TASKS ENCODERS INTEGRATORS load __version__
    cross_validate tune
"""
NAMES = [name for name in agssl.__all__ if name != "__version__"]


def test_all_is_what_the_documents_promise() -> None:
    assert set(agssl.__all__) == set(PROMISED.split())


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    assert dir(agssl) == sorted(agssl.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_docstring_to_work_from(name: str) -> None:
    text = getattr(agssl, name).__doc__ or ""
    assert len(text.strip().splitlines()) > 1, f"{name} is documented by {text!r}"


@pytest.mark.parametrize(
    "name",
    ["AGSSL", "Graph", "cross_validate", "load", "load_dataset", "tune", "read_graph", "Task", "Integrator", "TASKS"],
)
def test_a_docstring_has_an_example(name: str) -> None:
    assert "Example:" in (getattr(agssl, name).__doc__ or "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tasks'"):
        _ = agssl.Tasks


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, agssl; dir(agssl); print({'torch', 'numpy', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_load_takes_a_file_and_a_run_folder(tiny_graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    from agssl.cli.main import main
    from agssl.store.run import Run

    model = agssl.AGSSL(method="gcn", epochs=3, hidden=4).fit(tiny_graph)
    model.save(tmp_path / "model.agssl")
    assert np.array_equal(agssl.load(tmp_path / "model.agssl").predict_proba(), model.predict_proba())
    run = tmp_path / "run"
    words = ["fit", "digits", "--method", "gcn", "--epochs", "2", "--seeds", "2", "--out", str(run)]
    assert main(words) == 0, capsys.readouterr().err
    loaded = agssl.load(run)
    assert loaded.random_state == 0 and loaded.epochs == 2
    assert np.array_equal(loaded.fitted_.logits, Run.open(run).fitted(0).logits)
    with pytest.raises(DataError, match="not a run"):
        agssl.load(tmp_path)
