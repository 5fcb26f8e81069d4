"""JSON lines under kills, full disks, and several processes that append at once."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agssl.base.atomic import append_json
from agssl.base.errors import DataError
from agssl.base.jsonl import json_line, read_json_lines

APPEND = """
import sys
from agssl.base.atomic import append_json
for number in range(int(sys.argv[3])):
    append_json(sys.argv[1], {"writer": sys.argv[2], "number": number, "text": "x" * (number % 7 * 3000)})
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", APPEND, str(path), name, str(count)])


def test_positions_lead_back_to_the_values(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.jsonl"
    values = [{"a": 1}, {"b": "ä\n"}, {"c": [None, 0.1]}]
    starts = [append_json(path, value) for value in values]
    assert list(read_json_lines(path)) == list(zip(starts, values, strict=True))
    assert [json_line(path, start) for start in starts] == values
    assert list(read_json_lines(tmp_path / "none.jsonl")) == []


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":1}\n{"b":2}')
    assert [value for _, value in read_json_lines(path)] == [{"a": 1}, {"b": 2}]
    append_json(path, {"c": 3})
    assert path.read_text() == '{"a":1}\n{"b":2}\n{"c":3}\n'


@pytest.mark.parametrize("torn", ["{", '{"b":', '{"b":"' + "x" * 200_000])
def test_what_a_kill_left_of_a_line_is_removed_by_the_next(tmp_path: Path, torn: str) -> None:
    for before in ("", '{"a":1}\n'):
        path = tmp_path / "a.jsonl"
        path.write_text(before + torn)
        assert len(list(read_json_lines(path))) == len(before.splitlines())
        append_json(path, {"c": 3})
        assert path.read_text() == before + '{"c":3}\n'


def test_processes_that_append_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writers = [writer(path, str(number), 60) for number in range(4)]
    assert [process.wait() for process in writers] == [0] * 4
    found = [(value["writer"], value["number"]) for _, value in read_json_lines(path)]
    assert sorted(found) == sorted((str(name), number) for name in range(4) for number in range(60))
    assert all(value == json.loads(line) for (_, value), line in zip(read_json_lines(path), path.open(), strict=True))


def test_a_killed_writer_leaves_whole_lines_and_blocks_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.jsonl"
    for round_ in range(3):
        process, other = writer(path, f"killed {round_}", 10**6), writer(path, f"other {round_}", 30)
        before = path.stat().st_size if path.exists() else 0
        while not path.exists() or path.stat().st_size < before + 200_000:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert other.wait(timeout=60) == 0
        append_json(path, {"writer": "last", "number": round_})
        values = [value for _, value in read_json_lines(path)]
        assert values[-1] == {"writer": "last", "number": round_}
        for name in {value["writer"] for value in values} - {"last"}:
            numbers = [value["number"] for value in values if value["writer"] == name]
            assert numbers == list(range(len(numbers)))
    assert not caplog.messages


def test_a_full_disk_is_one_error_and_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append_json(path, {"a": 1})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(DataError, match="cannot write"):
            append_json(path, {"b": "x" * 5000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == '{"a":1}\n'
