"""Figures of a service in memory that all its workers share, as text for Prometheus."""

from __future__ import annotations

import mmap
from bisect import bisect_left

import numpy as np

ROUTES = ("/predict", "/explain", "/health", "/metrics", "/docs", "/openapi.json", "other")
STATUSES = ("200", "400", "404", "405", "408", "413", "415", "422", "429", "500", "503", "504", "other")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FIGURES = ("taken", "answered", "nodes_known", "nodes_new", "nodes_unlike", "working")


class Counters:
    """Counts of each worker in a row of their own, so that none waits for another.

    Args:
        workers: how many processes will count.
    """

    def __init__(self, workers: int) -> None:
        self._width = len(ROUTES) * len(STATUSES) + len(BUCKETS) + 2 + len(_FIGURES)
        memory = mmap.mmap(-1, 8 * workers * self._width)  # shared with processes that are forked from here
        self._all = np.frombuffer(memory, dtype=np.float64).reshape(workers, -1)
        self.of_worker(0)

    def of_worker(self, number: int) -> None:
        """Count in this worker's row from now on."""
        self._own = self._all[number].data.cast("B").cast("d")  # a number of it is changed sooner than one of an array

    def add(self, name: str, amount: float = 1) -> None:
        """Count one of `taken`, `answered`, `nodes_known`, `nodes_new`, `nodes_unlike`, `working`."""
        self._own[_FIGURES.index(name) - len(_FIGURES)] += amount

    def total(self, name: str) -> int:
        """What all workers have counted."""
        return int(self._all[:, _FIGURES.index(name) - len(_FIGURES)].sum())

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        route = route if route in ROUTES else "other"
        code = str(status) if str(status) in STATUSES else "other"
        self._own[ROUTES.index(route) * len(STATUSES) + STATUSES.index(code)] += 1
        first = len(ROUTES) * len(STATUSES)
        self._own[first + bisect_left(BUCKETS, seconds)] += 1
        self._own[first + len(BUCKETS) + 1] += seconds

    def text(self) -> str:
        """All figures in the format that Prometheus reads."""
        sums = self._all.sum(0)
        lines = ["# HELP agssl_requests_total Requests by path and status.", "# TYPE agssl_requests_total counter"]
        for number, count in enumerate(sums[: len(ROUTES) * len(STATUSES)].tolist()):
            if count:
                route, status = ROUTES[number // len(STATUSES)], STATUSES[number % len(STATUSES)]
                lines.append(f'agssl_requests_total{{path="{route}",status="{status}"}} {count:.0f}')
        lines += ["# HELP agssl_request_seconds Time to answer.", "# TYPE agssl_request_seconds histogram"]
        first = len(ROUTES) * len(STATUSES)
        rising = np.cumsum(sums[first : first + len(BUCKETS) + 1])
        for limit, count in zip((*(f"{b:g}" for b in BUCKETS), "+Inf"), rising.tolist(), strict=True):
            lines.append(f'agssl_request_seconds_bucket{{le="{limit}"}} {count:.0f}')
        lines += [
            f"agssl_request_seconds_sum {sums[first + len(BUCKETS) + 1]:.6f}",
            f"agssl_request_seconds_count {rising[-1]:.0f}",
        ]
        about = {
            "nodes_known": ("counter", "Known nodes that were predicted."),
            "nodes_new": ("counter", "New nodes that were predicted."),
            "nodes_unlike": ("counter", "New nodes unlike anything seen."),
            "working": ("gauge", "Requests that are being worked on."),
        }
        for name, (kind, words) in about.items():
            full = f"agssl_{name}" + ("_total" if kind == "counter" else "")
            lines += [f"# HELP {full} {words}", f"# TYPE {full} {kind}", f"{full} {self.total(name)}"]
        return (
            "\n".join(
                [*lines, f"# HELP agssl_workers Processes.\n# TYPE agssl_workers gauge\nagssl_workers {len(self._all)}"]
            )
            + "\n"
        )
