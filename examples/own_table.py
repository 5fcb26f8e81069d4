"""A table of your own: nodes.csv and edges.csv, forty labels, and what simpler ways make of them.

Four hundred shops: what they report about themselves, which are customers of the same suppliers, and a sector that is
known of one in ten. The table is drawn here, so that the truth is known; nothing below the first function knows it.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from agssl import AGSSL, Graph, read_graph

SECTORS = ("food", "books", "tools", "toys")


def write_shops(folder: Path, shops: int = 400, known: float = 0.1) -> np.ndarray:
    """Write the two files; the sectors of all shops are given back, to judge by."""
    draw = np.random.default_rng(0)
    sector = draw.integers(len(SECTORS), size=shops)
    figures = draw.normal(size=(shops, 12)) + 0.55 * draw.normal(size=(len(SECTORS), 12))[sector]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "nodes.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", *(f"figure{k}" for k in range(12)), "city", "label"])
        for i in range(shops):
            label = SECTORS[sector[i]] if i < known * shops else ""  # an empty label is an unknown one
            rows.writerow([f"shop{i}", *figures[i].round(3), draw.choice(["Rome", "Bonn", "Oslo"]), label])
    with open(folder / "edges.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        for i, j in draw.integers(shops, size=(9 * shops, 2)):
            if i != j and draw.random() < (0.75 if sector[i] == sector[j] else 0.12):
                rows.writerow([f"shop{i}", f"shop{j}"])
    return sector


def label_spreading(graph: Graph, alpha: float = 0.9) -> np.ndarray:
    """Labels handed on along the edges, again and again (Zhou et al. 2004); the features are not read."""
    scale = sp.diags(1 / np.sqrt(np.maximum(graph.degree, 1)))
    step = scale @ graph.adjacency() @ scale
    given = np.eye(len(graph.classes) + 1)[graph.y][:, :-1]  # of unlabelled nodes, the last row: zeros
    found = given
    for _ in range(100):
        found = alpha * (step @ found) + (1 - alpha) * given
    return np.array(graph.classes)[found.argmax(1)]


def main(folder: str = "shops") -> dict[str, float]:
    sector = write_shops(Path(folder))
    graph = read_graph(folder)
    hidden = graph.y < 0
    truth = np.array(SECTORS)[sector]

    model = AGSSL(tasks=("par", "clu", "dgi"), alpha=0.5, hidden=32, epochs=40, generations=1).fit(graph)
    found = {"agssl": float((model.predict()[hidden] == truth[hidden]).mean())}

    # the same labels, without the edges, and without the features
    known = np.flatnonzero(~hidden)
    features = graph.x
    regression = LogisticRegression(max_iter=500).fit(features[known], truth[known])
    found["logistic regression"] = float((regression.predict(features[hidden]) == truth[hidden]).mean())
    found["label spreading"] = float((label_spreading(graph)[hidden] == truth[hidden]).mean())

    print(f"{len(known)} labels, {hidden.sum()} shops to predict")
    for name, accuracy in found.items():
        print(f"{name:20} {accuracy:6.1%}")
    print(f"held out, the model said of itself: {model.score():.1%}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
