"""What the machine has to give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agssl.base.system import cores


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Eight processors, and a process in the group a/b."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (groups / "a/b").mkdir(parents=True)
    (proc / "self/cgroup").write_text("0::/a/b\n")
    return proc, groups


def test_cores_are_those_of_the_affinity(machine: tuple[Path, Path]) -> None:
    assert cores(*machine) == 8
    (machine[1] / "a/b/cpu.max").write_text("max 100000\n")
    assert cores(*machine) == 8


@pytest.mark.parametrize(("most", "expected"), [(350_000, 3), (50_000, 1), (1_600_000, 8)])
def test_a_group_above_may_have_a_smaller_share(machine: tuple[Path, Path], most: int, expected: int) -> None:
    (machine[1] / "a/cpu.max").write_text(f"{most} 100000\n")
    assert cores(*machine) == expected


def test_groups_of_version_one_are_read(machine: tuple[Path, Path]) -> None:
    proc, groups = machine
    (proc / "self/cgroup").write_text("4:cpu,cpuacct:/c\n7:memory:/m\n")
    (groups / "cpu/c").mkdir(parents=True)
    (groups / "cpu/c/cpu.cfs_quota_us").write_text("200000\n")
    (groups / "cpu/c/cpu.cfs_period_us").write_text("100000\n")
    assert cores(proc, groups) == 2
