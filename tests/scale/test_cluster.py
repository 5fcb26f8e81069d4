"""Work as tasks of Ray."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agssl
from agssl.base.errors import AgsslError, GraphError, SettingsError
from agssl.base.install import install_line
from agssl.base.processes import work
from agssl.cli.main import main
from agssl.scale import cluster as cluster_module
from agssl.scale.cluster import Cluster, Origin, connect
from reference.processes import alive, descendants, title, until
from reference.tasks import lose, share, sleep_long


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for words in (
        ["fit", "digits", "--ray"],
        ["tune", "digits", "--ray-address", "auto"],
        ["bench", "table1", "--ray"],
    ):
        assert main(words) == 2
        assert install_line("scale") in capsys.readouterr().err


def test_an_item_is_refused_where_other_versions_are_installed() -> None:
    ours = Origin.of_this_process()
    assert cluster_module._run(str, 7, ours) == "7"
    with pytest.raises(AgsslError, match="install the same on all"):
        cluster_module._run(str, 7, replace(ours, versions=("0.0.1", ours.versions[1])))


@pytest.mark.parametrize("address", ["ray://head:10001", "head", "127.0.0.1:1"])
def test_an_address_without_a_cluster_is_refused_at_once(address: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    with pytest.raises(SettingsError, match=address), connect(address):
        pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    folders = (Path(__file__).parents[1], Path(agssl.__file__).parents[1])
    with pytest.MonkeyPatch.context() as patch:  # workers must find `reference` and the package
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
        with connect() as joined:
            yield joined


def test_items_are_tasks_and_what_they_share_is_put_once(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    puts: list[Any] = []
    put = ray.put
    monkeypatch.setattr(ray, "put", lambda value: puts.append(value) or put(value))
    numbers, queue, found = np.arange(100_000) / 2, [1, 2, 3], []

    def done(item: int, result: tuple[int, float, int, str]) -> None:
        found.append(result)
        if item == 1:
            queue.append(9)  # what comes of one may make another

    call = functools.partial(share, numbers)
    work(call, lambda: queue.pop(0) if queue else None, done, cluster.slots, cluster=cluster)
    assert sorted(result[:2] for result in found) == [(1, 0.5), (2, 1.0), (3, 1.5), (9, 4.5)]
    assert os.getpid() not in {result[2] for result in found} and {result[3] for result in found} == {os.getcwd()}
    assert len(puts) == 1 and puts[0] is call


def test_an_error_of_an_item_is_the_error_that_was_raised(cluster: Cluster) -> None:
    items = iter([-1])
    call = functools.partial(share, np.zeros(2))
    with pytest.raises(GraphError) as caught:
        work(call, lambda: next(items, None), lambda item, result: None, 1, cluster=cluster)
    assert type(caught.value) is GraphError and str(caught.value) == "item -1 is negative"


def test_the_item_of_a_lost_worker_is_run_again(cluster: Cluster, tmp_path: Path) -> None:
    items, found = iter([0, 1, 2]), []
    call = functools.partial(lose, str(tmp_path))
    work(call, lambda: next(items, None), lambda item, result: found.append(result), 2, cluster=cluster)
    assert sorted(found) == [0, 10, 20] and (tmp_path / "begun-1").exists()


def test_an_interrupt_ends_what_was_begun(cluster: Cluster, tmp_path: Path) -> None:
    def feed() -> int | None:
        if asked:
            until(lambda: any(tmp_path.iterdir()))
            raise KeyboardInterrupt
        asked.append(1)
        return 1

    asked: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        call = functools.partial(sleep_long, str(tmp_path))
        work(call, feed, lambda item, result: None, 2, cluster=cluster)
    (worker,) = (int(path.name) for path in tmp_path.iterdir())
    until(lambda: not alive(worker))


def test_more_threads_than_any_machine_has_are_refused(cluster: Cluster) -> None:
    with pytest.raises(SettingsError, match="no machine of the Ray cluster"):
        Cluster(threads=10_000)


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_of_a_ray_that_was_started(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra scale)")
    words = ["-m", "agssl", "fit", "digits", "--ray", "--epochs", "1000000", "--patience", "0", "--hidden", "64"]
    words += ["--method", "gcn", "--out", str(tmp_path / "run")]
    variables = os.environ | {
        "PYTHONPATH": str(Path(agssl.__file__).parents[1]),
        "AGSSL_CACHE": str(tmp_path / "cache"),
    }
    process = subprocess.Popen([sys.executable, *words], env=variables, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: any(title(pid).startswith("ray::_run") for pid in descendants(process.pid)), 300)
        started = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130 and "interrupted" in said and "Traceback" not in said
    until(lambda: not any(alive(pid) for pid in started))
