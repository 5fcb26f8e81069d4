"""`agssl fit` interrupted, killed, started twice, and out of disk."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import agssl
from agssl.base.errors import DataError
from agssl.cli.main import main
from agssl.ops.adam import Adam
from agssl.store.checkpoints import read_checkpoint
from agssl.store.run import Run
from agssl.store.run_writer import RunWriter
from crash import torture

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs forks and signals")

# a split without folds, so that an epoch is one step: what is kept and repeated can be counted
WORDS = (
    *("--hidden", "4", "--tasks", "clu:clusters=3,pairdis", "--epochs", "3", "--checkpoint", "0", "--seeds", "2"),
    *("--split", "benchmark"),
)
Agssl = Callable[..., tuple[int, str]]
AtStep = Callable[[int, Callable[[], object]], list[int]]
SOURCE = str(Path(agssl.__file__).parents[1])


@pytest.fixture
def fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Agssl:
    """Fit a small graph into a folder; gives the exit code and stderr."""
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    torture.write_graph(tmp_path / "graph")

    def run(out: Path, *more: object) -> tuple[int, str]:
        capfd.readouterr()
        code = main(["fit", str(tmp_path / "graph"), "--out", str(out), *WORDS, *map(str, more)])
        return code, capfd.readouterr().err

    return run


@pytest.fixture
def expected(fit: Agssl, tmp_path: Path) -> str:
    """What the fit gives if nothing goes wrong."""
    assert fit(tmp_path / "whole")[0] == 0
    return torture.hash_of_run(tmp_path / "whole")


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> AtStep:
    """Do something at the n-th step of an optimiser from now on; gives a list that grows with every step."""
    original = Adam.step

    def arrange(number: int, what: Callable[[], object]) -> list[int]:
        taken: list[int] = []

        def step(self, *rest):  # type: ignore[no-untyped-def]
            taken.append(1)
            if len(taken) == number:
                what()
            return original(self, *rest)

        monkeypatch.setattr(Adam, "step", step)
        return taken

    return arrange


def interrupt() -> None:
    raise KeyboardInterrupt


def nothing() -> None:
    pass


def test_ctrl_c_says_how_to_go_on_and_going_on_repeats_nothing(
    fit: Agssl, expected: str, at_step: AtStep, tmp_path: Path
) -> None:
    out = tmp_path / "runs" / "run"
    whole = at_step(0, nothing)
    assert fit(tmp_path / "other")[0] == 0
    last = len(whole) - 4  # in the second seed
    at_step(last, interrupt)
    code, err = fit(out)
    assert code == 130
    line = err.splitlines()[-1]
    assert line == f"agssl: interrupted; what was trained is kept in {out}: give the same command again to go on"
    with pytest.raises(DataError, match="not finished"):
        Run.open(out)
    again = at_step(0, nothing)
    code, err = fit(out)
    assert code == 0 and f"going on with the fit in {out}: 1 of 2 seeds are finished" in err
    assert len(again) == len(whole) - last + 1
    assert torture.hash_of_run(out) == expected
    assert not (out / ".agssl").exists()


def test_an_unfinished_fit_is_not_mixed_with_another(
    fit: Agssl, expected: str, at_step: AtStep, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    at_step(20, interrupt)
    assert fit(out)[0] == 130
    taken = at_step(0, nothing)
    for words, difference in ((("--hidden", 5), "hidden = 4, not 5"), (("--threads", 2), "threads = 1, not 2")):
        code, err = fit(out, *words)
        assert code == 2 and difference in err and "--restart" in err and err.count("\n") == 1
    nodes = tmp_path / "graph" / "nodes.csv"
    text = nodes.read_text()
    nodes.write_text(text.replace(",a\n", ",b\n", 1))
    code, err = fit(out)
    assert code == 2 and "other data" in err
    assert not taken
    nodes.write_text(text)
    assert fit(out, "--restart")[0] == 0
    assert torture.hash_of_run(out) == expected


def test_a_run_that_is_being_replaced_stays_until_the_new_one_is_whole(
    fit: Agssl, expected: str, at_step: AtStep, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert fit(out, "--hidden", 5)[0] == 0
    before = torture.hash_of_run(out)
    at_step(20, interrupt)
    assert fit(out, "--overwrite")[0] == 130
    assert Run.open(out).settings.hidden == 5
    code, err = fit(out)
    assert code == 2 and "finished run with hidden = 5, not 4" in err and "--overwrite" in err
    again = at_step(0, nothing)
    code, err = fit(out, "--overwrite")
    assert code == 0 and f"going on with the fit in {out}" in err and again
    assert torture.hash_of_run(out) == expected != before


def test_a_newer_unfinished_fit_says_to_upgrade(fit: Agssl, at_step: AtStep, tmp_path: Path) -> None:
    at_step(5, interrupt)
    assert fit(tmp_path / "run")[0] == 130
    plan = tmp_path / "run" / ".agssl" / "plan.json"
    for text, message in ((json.dumps({"schema": 2, "plan": {}}), "upgrade agssl"), ("{}", "damaged")):
        plan.write_text(text)
        code, err = fit(tmp_path / "run")
        assert code == 2 and message in err and "--restart" in err


def test_a_second_process_on_a_run_says_so_and_stops(fit: Agssl, tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run"):
        code, err = fit(tmp_path / "run")
        assert code == 2 and err.count("\n") == 1
        assert f"another process ({os.getpid()}) is writing to {tmp_path / 'run'}" in err
    assert not (tmp_path / "run").exists()
    assert fit(tmp_path / "run")[0] == 0


def test_a_full_disk_is_an_error_that_keeps_what_was_trained(
    fit: Agssl, expected: str, at_step: AtStep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "run"
    at_step(20, lambda: monkeypatch.setattr(os, "fsync", full))
    code, err = fit(out)
    assert code == 2 and "No space left on device" in err and err.splitlines()[-1].endswith("to go on")
    assert "Traceback" not in err
    monkeypatch.undo()
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    taken = at_step(0, nothing)
    assert fit(out)[0] == 0
    assert torture.hash_of_run(out) == expected and taken


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB."""
    path = tmp_path / "disk"
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(path)], capture_output=True)
    if done.returncode:
        pytest.skip("needs the right to mount a disk")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a disk")
def test_a_disk_that_fills_or_goes_read_only_in_the_middle(
    fit: Agssl, expected: str, at_step: AtStep, tmp_path: Path, disk: Path
) -> None:
    def fill() -> None:
        with open(disk / "filler", "wb", buffering=0) as file:
            while file.write(b"0" * 4096) == 4096:
                pass

    def fill_up() -> None:
        with contextlib.suppress(OSError):
            fill()

    def mount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)

    out = disk / "run"
    at_step(10, fill_up)
    code, err = fit(out)
    assert code == 2 and "No space left" in err and "Traceback" not in err
    checkpoints = list((out / ".agssl" / "stages").rglob("*.safetensors"))
    assert checkpoints and all(read_checkpoint(path) is not None for path in checkpoints)
    assert not torture.unreadable(out)
    (disk / "filler").unlink()
    at_step(10, lambda: mount("ro"))
    code, err = fit(out)
    assert code == 2 and "Read-only" in err and "Traceback" not in err
    assert not torture.unreadable(out)
    code, err = fit(out)
    assert code == 2 and "Read-only" in err
    mount("rw")
    assert fit(out)[0] == 0
    assert torture.hash_of_run(out) == expected


@pytest.mark.slow
def test_three_processes_give_the_same_bits_though_one_is_killed_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = torture.SUBJECTS[0]
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    torture.write_graph(tmp_path / "graph")
    assert main([word.format(graph=tmp_path / "graph", out=tmp_path / "out") for word in subject.words]) == 0
    results = [subject.result(tmp_path / "out")]
    for kills in (0, 2):
        monkeypatch.setenv("PYTHONHASHSEED", str(kills))
        words = [sys.executable, torture.__file__, "--kills", str(kills), "--only", subject.name]
        report = json.loads(subprocess.run(words, stdout=subprocess.PIPE).stdout)
        assert report["kills"] == kills and report["good"], report
        results.append(report["subjects"][subject.name]["result"])
    assert len(set(results)) == 1


@pytest.mark.slow
def test_workers_end_with_their_parent_and_their_seeds_go_on(fit: Agssl, expected: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["fit", tmp_path / "graph", "--out", out, *WORDS, "--jobs", "2"]
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "agssl", *map(str, words)],
            env=os.environ | {"PYTHONPATH": SOURCE},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None and not list(out.glob(".agssl/stages/*/*.safetensors")):
            time.sleep(0.02)
        process.kill()
        process.wait()
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.05)
        else:
            pytest.fail("a worker lives on")
    assert fit(out, "--jobs", 2)[0] == 0
    assert torture.hash_of_run(out) == expected
