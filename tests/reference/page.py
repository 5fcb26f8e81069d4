"""A graph whose names try to break out of a page, and the page taken apart again."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

EVIL_NODE = "<img src=x onerror=alert(1)>"
EVIL_CLASS = "</script>"
NODES = 60
TASKS = "clu:clusters=3,pairdis"


def unpack(where: list[dict[str, Any]], text: str) -> dict[str, np.ndarray]:
    """The arrays of a page."""
    data = zlib.decompress(base64.b64decode(text)) if where else b""
    found = {}
    for entry in where:
        kind = np.dtype(entry["type"]).newbyteorder("<")
        size = int(np.prod(entry["shape"], dtype=int))
        assert entry["start"] % kind.itemsize == 0  # or a typed array could not start there
        found[entry["name"]] = np.frombuffer(data, kind, size, entry["start"]).reshape(entry["shape"])
    return found


def edges_of(counts: np.ndarray, steps: np.ndarray) -> set[tuple[int, int]]:
    """The undirected edges, from how many later neighbours each node has and the steps between them."""
    edges, at = set(), 0
    for node, count in enumerate(counts.tolist()):
        place = node
        for _ in range(count):
            place += int(steps[at])
            at += 1
            edges.add((node, place))
    assert at == len(steps)
    return edges


@dataclass(frozen=True)
class Page:
    """A page, taken apart again."""

    text: str
    data: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @classmethod
    def read(cls, path: Path) -> Page:
        text = path.read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
        packed = re.search(r'id="arrays">(.*?)</script>', text, re.S)[1]
        return cls(text, data, unpack(data["arrays"], packed))


def write_graph(
    folder: Path, classes: Sequence[str] = ("plain", EVIL_CLASS, "größer & kleiner"), each: int = 0
) -> Path:
    """Sixty nodes of three classes, or other ones; a few without label, one node and one class named by markup."""
    rng = np.random.default_rng(0)
    total = each * len(classes) or NODES
    y = np.arange(total) % len(classes)
    x = rng.normal(size=(total, 4)) + 1.5 * np.eye(len(classes), 4)[y]
    ends = rng.integers(0, total - 1, size=(2, 5 * total))  # the last node stays alone
    keep = (ends[0] < ends[1]) & ((y[ends[0]] == y[ends[1]]) | (rng.random(5 * total) < 0.2))
    names = [f"n{i}" for i in range(total)]
    names[7] = EVIL_NODE
    folder.mkdir(parents=True)
    edges = dict.fromkeys(
        line for a, b in ends[:, keep].T for line in (f"{names[a]},{names[b]}", f"{names[b]},{names[a]}")
    )
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    rows = [
        f"{names[i]},{','.join(f'{v:.4f}' for v in x[i])},{classes[y[i]] if i % 15 != 3 else ''}" for i in range(total)
    ]
    (folder / "nodes.csv").write_text("\n".join(["id,f0,f1,f2,f3,label", *rows]) + "\n", encoding="utf-8")
    return folder
