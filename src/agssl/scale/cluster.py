"""Work side by side on the machines of a Ray cluster: each item is a task, what all items share is sent once.

A task whose worker or machine is lost is run again elsewhere. It goes on from the checkpoints of the one before, if the
folder they are in is on a file system that both machines see; if not, it starts again, and comes to the same result.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeVar

from agssl.base.errors import DataError, SettingsError
from agssl.base.install import missing_extra
from agssl.base.plugins import Plugin, loaded_plugins, take_plugins
from agssl.base.version import __version__

T = TypeVar("T")
R = TypeVar("R")

RETRIES = 5  # times that an item is begun again because its worker was lost; an item that fails is not begun again
# what a worker must know of the environment of the command, where it is set there
PASSED = ("AGSSL_DATA", "AGSSL_CACHE", "OMP_NUM_THREADS", "OMP_WAIT_POLICY")
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_SILENT: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


def check_ray() -> None:
    """Find out before anything is read whether there is Ray."""
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise missing_extra("more than one machine needs Ray, on all of them", "scale") from error


class Cluster:
    """A Ray cluster that this process is part of; see `connect`.

    Args:
        threads: of one task, and as many CPUs are set aside for it.
    """

    def __init__(self, threads: int = 1) -> None:
        import ray

        self.threads = threads
        cpus = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        largest = max(cpus, default=0)
        if largest < threads:  # Ray would wait for such a machine for ever
            raise SettingsError(
                f"threads = {threads}, but no machine of the Ray cluster has more than {largest} CPUs; "
                f"give --threads {max(1, largest)} or fewer"
            )
        self.slots = sum(count // threads for count in cpus)  # tasks that fit side by side

    @contextlib.contextmanager
    def tasks(self, call: Callable[[T], R], fresh: bool = False) -> Iterator[Callable[[T], Future[R]]]:
        """A function that begins an item; none of them is running when the block ends, however it ends.

        Args:
            call: a function that a worker can import; what it is bound to is put in the object store once.
            fresh: a new process for every item.
        """
        import ray

        shared = ray.put(call)
        options: dict[str, Any] = {"num_cpus": self.threads, "max_retries": RETRIES, "max_calls": int(fresh)}
        task: Any = ray.remote(**options)(_run)
        here = Origin.of_this_process()
        flying: dict[Future[R], Any] = {}

        def submit(item: T) -> Future[R]:
            reference = task.remote(shared, item, here)
            future: Future[R] = reference.future()
            flying[future] = reference
            future.add_done_callback(lambda future: flying.pop(future, None))
            return future

        try:
            yield submit
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        finally:
            for reference in [*flying.values()]:
                ray.cancel(reference, force=True)


@contextlib.contextmanager
def connect(address: str | None = None, threads: int = 1) -> Iterator[Cluster]:
    """Join the Ray cluster at an address ("auto": that of this machine), or start one here that ends with the block.

    Args:
        address: None starts one; a cluster that was joined stays up.
        threads: of one task.
    """
    check_ray()
    import ray

    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    before = signal.getsignal(signal.SIGTERM)
    with contextlib.redirect_stdout(sys.stderr):  # Ray tells of lost workers on stdout, which is for results
        try:
            if address is None:  # workers inherit the environment
                ray.init(address="local", include_dashboard=False, **_SILENT)
            else:
                _join(address)
            signal.signal(signal.SIGTERM, before)  # Ray has put its own in place
            yield Cluster(threads)
        finally:
            ray.shutdown()


def _join(address: str) -> None:
    import ray

    host, _, port = address.rpartition(":")
    if address != "auto" and ("/" in host or not host or not port.isdecimal()):
        raise SettingsError(
            f"the Ray address {address!r} is not understood; give auto or host:port, on a machine of the cluster"
        )
    variables = {name: os.environ[name] for name in PASSED if name in os.environ}
    try:
        if address != "auto":
            socket.create_connection((host, int(port)), timeout=10).close()  # Ray itself would try for minutes
        ray.init(address=address, runtime_env={"env_vars": variables}, **_SILENT)
    except (OSError, ValueError, RuntimeError, OverflowError) as error:
        raise SettingsError(
            f"cannot join a Ray cluster at {address!r}: {error}; start one with `ray start --head`"
        ) from error


def _run(call: Callable[[T], R], item: T, origin: Origin) -> R:
    """What a worker does."""
    origin.settle()
    return call(item)


@dataclass(frozen=True)
class Origin:
    """What workers have to know of the process that gave the command."""

    folder: str
    versions: tuple[str, str]  # of agssl and torch
    plugins: tuple[Plugin, ...] = ()

    @classmethod
    def of_this_process(cls) -> Origin:
        """The folder in which the command was given, the versions installed there, and its plug-ins."""
        return cls(os.getcwd(), _versions(), loaded_plugins())

    def settle(self) -> None:
        """Make this process, a worker, as much as can be like that one."""
        if self.versions != _versions():
            raise DataError(
                f"agssl and torch are {' and '.join(_versions())} on {platform.node()}, but "
                f"{' and '.join(self.versions)} where the command was given; results would depend on the machine, so "
                "install the same on all"
            )
        with contextlib.suppress(OSError):
            os.chdir(self.folder)  # so that relative paths mean what they mean there
        take_plugins(self.plugins)


def _versions() -> tuple[str, str]:
    return __version__, metadata.version("torch")
