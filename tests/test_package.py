"""Wheel and sdist: built from this source, installed into an environment of its own, used there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agssl.base.version import __version__

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/agssl"
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
# what is no Python, and yet has to be there
EXTRA_FILES = sorted(
    path.relative_to(SOURCE.parent).as_posix()
    for path in SOURCE.rglob("*")
    if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
)


def build(kind: str, folder: Path, out: Path) -> Path:
    """Build in `folder`, without a network, by the backend that is installed."""
    done = subprocess.run([sys.executable, "-c", BUILD, kind, str(out)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("source")  # a build leaves files behind
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return build("build_sdist", copy, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, so that this has to be whole."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return build("build_wheel", next(folder.iterdir()), tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a program of an environment that has the wheel, and beneath it the packages of this one."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "env")], check=True)
    python = place / "env/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    (site,) = (place / "env").glob("lib/python*/site-packages")
    (site / "beneath.pth").write_text(sysconfig.get_path("purelib") + "\n")  # .pth files over there stay unread
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "AGSSL"))}
    variables |= {"AGSSL_CACHE": str(place / "cache"), "OMP_NUM_THREADS": "1"}

    def run(program: str, *words: str) -> str:
        command = [str(place / "env/bin" / program), *words]
        done = subprocess.run(command, env=variables, cwd=place, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_everything_that_is_no_python_is_in_both(sdist: Path, wheel: Path) -> None:
    assert {"agssl/py.typed", "agssl/configs/cora.toml", "agssl/report/page/page.js"} <= set(EXTRA_FILES)
    with tarfile.open(sdist) as archive:
        base = sdist.name.removesuffix(".tar.gz")
        names = {name.removeprefix(f"{base}/") for name in archive.getnames()}
    assert {f"src/{name}" for name in EXTRA_FILES} | {"README.md", "LICENSE", "pyproject.toml"} <= names
    with zipfile.ZipFile(wheel) as archive:
        assert set(EXTRA_FILES) <= set(archive.namelist())
        modules = {path.relative_to(SOURCE.parent).as_posix() for path in SOURCE.rglob("*.py")}
        assert modules == {name for name in archive.namelist() if name.endswith(".py")}


@pytest.mark.slow
def test_the_program_of_the_wheel_fits_and_reports(installed: Callable[..., str]) -> None:
    assert __version__ in installed("agssl", "--version")
    quick = ("--epochs", "2", "--hidden", "8", "--tasks", "par,clu", "--alpha", "1", "--generations", "1")
    summary = json.loads(installed("agssl", "fit", "digits", *quick, "--out", "run", "--json"))
    assert summary["dataset"] == "digits" and 0 < summary["test_accuracy"]["mean"] <= 1
    installed("agssl", "report", "run", "--map", "pca")


def test_the_package_is_that_of_the_wheel_and_knows_how_it_came(installed: Callable[..., str]) -> None:
    lines = (
        "import agssl; from agssl.base.install import install_line as line; print(agssl.__file__); print(line('tune'))"
    )
    where, how = installed("python", "-c", lines).splitlines()
    assert "site-packages" in where and str(ROOT) not in where
    assert how == "pip install 'optuna>=4'"
