"""Files appear in full or not at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agssl.base.atomic import atomic_write, write_bytes, write_json, write_text
from agssl.base.errors import DataError


def test_a_file_and_its_folders_appear_with_their_content(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", "grüße")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "grüße".encode()
    assert os.listdir(tmp_path / "a" / "b") == ["c.txt"]


def test_nothing_is_left_when_the_block_raises(tmp_path: Path) -> None:
    write_bytes(tmp_path / "old", b"old")
    for name in ("old", "new"):
        with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / name) as file:
            file.write(b"half")
            raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_the_file_is_not_there_before_the_block_ends(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "f") as file:
        file.write(b"x")
        assert not (tmp_path / "f").exists()
    assert (tmp_path / "f").exists()


def test_json_is_json(tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", {"a": [1, None]})
    assert json.loads((tmp_path / "f.json").read_text()) == {"a": [1, None]}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "g.json", float("nan"))
    assert not (tmp_path / "g.json").exists()


def test_an_unwritable_place_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write .*choose a folder"):
        write_text(tmp_path / "file" / "below", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="cannot write"):
        write_text(tmp_path / "folder", "x")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "f", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o644


def test_a_full_disk_is_a_plain_error_and_other_errors_of_the_block_are_not(tmp_path: Path) -> None:
    write_bytes(tmp_path / "f", b"old")
    with pytest.raises(DataError, match="No space"), atomic_write(tmp_path / "f"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ConnectionError), atomic_write(tmp_path / "f"):
        raise ConnectionError("the other side went away")
    assert os.listdir(tmp_path) == ["f"] and (tmp_path / "f").read_bytes() == b"old"


def test_only_what_dead_processes_left_long_ago_is_swept(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, alive, long_ago = process.pid, os.getpid(), time.time() - 3600
    stray = tmp_path / f".a.json.{dead}-0123abcd.tmp"
    kept = [
        tmp_path / f".b.json.{alive}-0123abcd.tmp",
        tmp_path / f".c.json.{dead}-0123abcd.tmp",  # just written, perhaps from another machine
        tmp_path / "d.tmp",
        tmp_path / ".hidden",
    ]
    for path in (stray, *kept):
        path.touch()
        if path != kept[1]:
            os.utime(path, (long_ago, long_ago))
    write_bytes(tmp_path / "new", b"")
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "new"])
