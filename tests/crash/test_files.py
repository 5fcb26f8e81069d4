"""Locks, runs on their way into place, and the one helper that writes."""

from __future__ import annotations

import ast
import json
import os
import signal
import traceback
from pathlib import Path

import pytest

import agssl
from agssl.base.errors import DataError
from agssl.base.lock import Lock
from agssl.config import Settings
from agssl.store.run_writer import RunWriter
from crash import torture

SOURCE = str(Path(agssl.__file__).parents[1])
forks = pytest.mark.skipif(os.name != "posix", reason="needs forks and signals")


@forks
def test_the_lock_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    pid = os.fork()
    if not pid:
        Lock(tmp_path / "lock").take("it")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert (tmp_path / "lock").read_text() == f"{pid}\n"
    lock = Lock(tmp_path / "lock")
    lock.take("it")
    with pytest.raises(DataError, match="another process"):
        Lock(tmp_path / "lock").take("it")
    lock.release()
    assert not (tmp_path / "lock").exists()
    Lock(tmp_path / "lock").take("it")


@forks
def test_a_run_killed_at_any_file_operation_on_its_way_into_place_is_not_lost(tmp_path: Path) -> None:
    """Every operation, one by one: the new run is either still to be put in place, or in place."""
    about = {"format": "agssl-run", "schema": 1, "seeds": [0, 1]}

    def begin(path: Path) -> RunWriter:
        (path / "seed-5").mkdir(parents=True)  # an earlier run
        (path / "seed-0").mkdir()
        for name in ("run.json", "config.toml", "metrics.json"):
            (path / name).write_text(json.dumps(about))
        (path / "seed-0" / "metrics.json").write_text('"old"')
        (path / "notes.txt").write_text("mine")
        writer = RunWriter(path, {"a": 1}, overwrite=True).__enter__()
        for seed in (0, 1):
            (writer.staging / f"seed-{seed}").mkdir()
            (writer.staging / f"seed-{seed}" / "metrics.json").write_text(f'"new {seed}"')
        return writer

    def commit(path: Path, number: int) -> int:
        """Commit in a process that is killed at that operation; gives its status."""
        pid = os.fork()
        if not pid:
            try:
                writer = begin(path)
                torture.FileOperations(path, number)
                writer.commit(about, Settings(), "auto", {})
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        return os.waitpid(pid, 0)[1]

    number, kept = 0, 0
    while True:
        number += 1
        path = tmp_path / str(number)
        if commit(path, number) == 0:
            break
        with RunWriter(path, {"a": 1}, overwrite=True) as writer:
            found = writer.unfinished.finished([0, 1])
            if found:
                assert found == {0: "new 0", 1: "new 1"}
                kept += 1
                writer.commit(about, Settings(), "auto", {})
        assert [(path / f"seed-{seed}" / "metrics.json").read_text() for seed in (0, 1)] == ['"new 0"', '"new 1"']
        names = ["MODEL_CARD.md", "config.toml", "metrics.json", "notes.txt", "run.json", "seed-0", "seed-1"]
        assert sorted(os.listdir(path)) == names
    assert number > 20 and 10 < kept < number


def test_nothing_writes_around_the_one_helper() -> None:
    """Only `store/atomic.py` opens a file to write, and only the reader of Planetoid's files knows pickles."""
    for path in Path(SOURCE).rglob("agssl/**/*.py"):
        if path.name in ("packed.py", "build.py"):
            continue  # they write into a folder that `atomic_folder` puts in place
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert path.name == "unpickle.py" or not names & {"pickle", "dill", "joblib", "marshal", "shelve"}, path
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            where = f"{path.name}:{node.lineno}: {called}"
            assert called not in ("torch.load", "torch.save", "np.savetxt"), where
            if called in ("np.save", "np.savez", "np.savez_compressed"):
                assert ast.unparse(node.args[0]) == "buffer", where
            if called in ("open", "os.open") or called.endswith((".open", ".fdopen")):
                mode = ast.unparse(node.args[1]) if len(node.args) > 1 else "'r'"
                writes = "O_CREAT" in mode or bool(set("wax+") & set(mode.strip("'")) and mode.startswith("'"))
                # refit.py: what a background fit prints, in a scratch folder
                assert not writes or path.name in ("atomic.py", "lock.py", "refit.py"), where
            assert not called.endswith((".write_text", ".write_bytes", ".to_csv", ".touch")), where
