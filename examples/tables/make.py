"""Make the three graphs beside this file: employees, products, papers. `python examples/tables/make.py [FOLDER]`.

They are made up, but written as such tables are: each in another dialect, with columns of every kind, missing values,
columns that are of no use, and few labels.
"""

from __future__ import annotations

import csv
import datetime
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

HERE = Path(__file__).resolve().parent


def edges(rng: np.random.Generator, kinds: np.ndarray, degree: float, homophily: float) -> list[tuple[int, int]]:
    """Random edges, most of them within a class."""
    found = set()
    while len(found) < degree * len(kinds) / 2:
        a = int(rng.integers(len(kinds)))
        same = rng.random() < homophily
        b = int(rng.choice(np.flatnonzero((kinds == kinds[a]) == same)))
        if a != b:
            found.add((min(a, b), max(a, b)))
    return sorted(found)


def write(path: Path, rows: list[dict[str, Any]], sep: str = ",", encoding: str = "utf-8") -> None:
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=sep, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def few(rng: np.random.Generator, kinds: np.ndarray, labelled: int) -> set[int]:
    """The nodes whose label is known: as many of each class."""
    return {int(i) for k in np.unique(kinds) for i in rng.choice(np.flatnonzero(kinds == k), labelled, replace=False)}


def employees(folder: Path) -> None:
    """Who works in which department: age beside salary, semicolons, latin-1, decimal commas, `employee_id`."""
    rng = np.random.default_rng(26)
    departments = ("engineering", "sales", "support", "finance")
    kinds = rng.integers(4, size=400)
    known = few(rng, kinds, 30)
    cities = ("Köln", "München", "Graz", "Zürich")
    people = []
    for i, kind in enumerate(kinds):
        joined = datetime.date(2004 + 2 * int(kind), 1, 1) + datetime.timedelta(days=int(rng.integers(3600)))
        rating = f"{rng.normal(3.2, 0.6):.1f}".replace(".", ",")
        people.append(
            {
                "employee_id": f"E{1000 + 7 * i}",
                "age": "" if rng.random() < 0.05 else int(rng.normal(36 + 3 * kind, 8)),
                "salary": "" if rng.random() < 0.1 else int(rng.normal(48_000 + 7_000 * kind, 7_000)),
                "rating": rating,
                "city": cities[int(kind)] if rng.random() < 0.4 else str(rng.choice(cities)),
                "remote": "yes" if rng.random() < (0.7, 0.2, 0.5, 0.3)[kind] else "no",
                "joined": f"{joined:%d.%m.%Y}",
                "phone": f"+49 221 {100000 + 37 * i}",
                "company": "Muster AG",
                "label": departments[kind] if i in known else "",
            }
        )
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "nodes.csv", people, ";", "latin-1")
    links = [{"from": people[a]["employee_id"], "to": people[b]["employee_id"]} for a, b in edges(rng, kinds, 6, 0.75)]
    write(folder / "edges.csv", links, ";", "latin-1")


def products(folder: Path) -> None:
    """Which products are fraud: bought together, 8% positives, prices over four decades, brands by the hundred."""
    rng = np.random.default_rng(27)
    kinds = (rng.random(600) < 0.08).astype(int)
    words = ("original", "new", "cheap", "quality", "fast", "shipping", "leather", "steel", "blue", "best", "replica")
    rows = []
    for i, kind in enumerate(kinds):
        weights = np.ones(len(words)) + kind * np.array([3.0 * (w in ("cheap", "replica", "best")) for w in words])
        title = " ".join(rng.choice(words, 5, p=weights / weights.sum()))
        rows.append(
            {
                "sku": f"sku-{i}",
                "title": f"{title} {i % 40}",
                "price": f"{np.exp(rng.normal(4.5 - kind, 1.2)):.2f}",
                "stock": int(rng.poisson(3)) * int(rng.random() < 0.4) * 120,
                "brand": f"brand{int(rng.zipf(1.6)) % 180}",
                "verified": bool(rng.random() < (0.8, 0.4)[kind]),
                "listed": f"{datetime.date(2023, 1, 1) + datetime.timedelta(days=int(rng.integers(700)))}T10:00:00Z",
                "fraud": ("no", "yes")[kind] if rng.random() < 0.5 else "",
            }
        )
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "nodes.csv", rows)
    write(folder / "edges.csv", [{"src": f"sku-{a}", "dst": f"sku-{b}"} for a, b in edges(rng, kinds, 5, 0.8)])


def papers(folder: Path) -> None:
    """The field of papers that cite each other: titles, venues, years, pages; one GML file."""
    rng = np.random.default_rng(28)
    fields = {
        "databases": ("query", "index", "transaction", "join", "storage"),
        "graphics": ("rendering", "mesh", "texture", "light", "surface"),
        "theory": ("complexity", "bound", "graph", "proof", "random"),
    }
    common = ("a", "the", "fast", "method", "for", "of", "on", "with", "approach")
    names, kinds = list(fields), rng.integers(3, size=300)
    known = few(rng, kinds, 25)
    graph = nx.Graph(name="papers")
    for i, kind in enumerate(kinds):
        own = rng.choice(fields[names[kind]], int(rng.integers(0, 3)))
        title = " ".join([*rng.choice(common, 5), *own]).capitalize()
        values = {"title": title, "year": int(rng.integers(1995, 2024)), "pages": int(rng.normal(12, 3))}
        values |= {"venue": f"{'PQR'[kind if rng.random() < 0.5 else int(rng.integers(3))]}-conf"}
        values |= {"field": names[kind]} if i in known else {}
        if rng.random() < 0.1:
            del values["pages"]
        graph.add_node(f"paper{i}", **values)
    graph.add_edges_from((f"paper{a}", f"paper{b}") for a, b in edges(rng, kinds, 4, 0.8))
    folder.mkdir(parents=True, exist_ok=True)
    nx.write_gml(graph, folder / "papers.gml")


def main(folder: Path) -> None:
    for make in (employees, products, papers):
        make(folder / make.__name__)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
