"""One process per side, stepped in turn by the parent.

Each side needs a process of its own: malloc settings and peak memory belong to a process, and one side must not profit
from the other's. The sides still run interleaved, so that what else the machine does meets both alike: the parent asks
one, waits for its answer, then asks the next, and a side that is not asked sleeps.

The parent imports neither torch nor PyG. It must stay small: Linux starts a child's `ru_maxrss` at its parent's size.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
Reply = Callable[[Any], Any]  # hands an answer to the parent, sleeps, and returns the parent's next question

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Worker:
    """A side in its own process: a function `side(reply, **settings)`, named "module:function".

    It works with the package in this checkout, or in the folder `source`.
    """

    def __init__(self, side: str, source: Path = ROOT / "src", **settings: Any) -> None:
        self.side = side
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ[name] = "1"  # read when the libraries load, so before the child starts
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(end, side, source, settings), daemon=True)
        self._process.start()
        end.close()
        self.first = self._answer()  # what the side says when it is ready

    def ask(self, question: Any = None) -> Any:
        """The side's answer; it sleeps until the next question."""
        self._pipe.send(question)
        return self._answer()

    def close(self) -> None:
        """End the process; its memory is free when this returns."""
        self._process.terminate()
        self._process.join()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _answer(self) -> Any:
        try:
            kind, value = self._pipe.recv()
        except EOFError:
            self._process.join()
            raise SystemExit(f"{self.side} died (exit code {self._process.exitcode}; -9: out of memory)") from None
        if kind == "error":
            raise SystemExit(f"{self.side} failed:\n{value}")
        return value


def _serve(pipe: Connection, side: str, source: Path, settings: Mapping[str, Any]) -> None:
    def reply(answer: Any) -> Any:
        pipe.send(("answer", answer))
        return pipe.recv()

    try:
        sys.path.insert(0, str(source))
        found = find_spec("agssl")
        assert found is not None
        assert found.origin is not None
        assert Path(found.origin).is_relative_to(source), f"{found.origin} is not the package in {source}"
        module, function = side.split(":")
        getattr(import_module(module), function)(reply, **settings)
    except EOFError:  # the parent is gone
        pass
    except BaseException:
        pipe.send(("error", traceback.format_exc()))


def peak_mb() -> float:
    """The most memory this process has held, MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def single_thread() -> None:
    """One thread for torch in this process."""
    import torch

    torch.set_num_threads(1)


def benchmark_graph(name: str) -> Any:
    """A dataset with its split; the arxiv graph gets 128 random features where its own are not at hand."""
    from dataclasses import replace

    import numpy as np

    from agssl import load_dataset

    graph = load_dataset({"arxiv": "ogbn-arxiv"}.get(name, name))
    if graph.missing is None:
        return graph
    x = np.random.default_rng(0).standard_normal((graph.num_nodes, 128), dtype=np.float32)
    return replace(graph, x=x, missing=None)


def machine() -> dict[str, Any]:
    """What the figures were measured on, and how busy it was."""
    packages = ("torch", "torch-geometric", "numpy")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": 1,
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _processor() -> str:
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def arguments(description: str, datasets: str) -> argparse.ArgumentParser:
    """The options that the benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--datasets", default=datasets, help="names, with commas (default: %(default)s)")
    parser.add_argument("--hidden", type=int, default=256, help="width of the hidden layer (default: %(default)s)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: time of the process, for a busy machine")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    return parser


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def show(rows: list[dict[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    """The results on stdout: all as JSON, or some columns as a Markdown table."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(_cell(row.get(column)) for column in columns) + " |")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return "-" if value is None else str(value)
