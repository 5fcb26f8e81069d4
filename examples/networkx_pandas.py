"""A NetworkX graph and a pandas table: who works in which team, from e-mails and a few facts about each person.

Columns are numbers, categories and dates with gaps; they are encoded as each needs it, and told.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from agssl import AGSSL, Graph

TEAMS = ("design", "sales", "support")


def company(people: int = 240) -> tuple[nx.Graph, pd.DataFrame, pd.Series]:
    """E-mails between people, a table about them, and their teams; drawn, so that the truth is known."""
    draw = np.random.default_rng(1)
    mails = nx.random_partition_graph([people // 3] * 3, 0.05, 0.008, seed=1)
    team = np.arange(people) // (people // 3)
    age = draw.normal(40, 9, people).round()
    table = pd.DataFrame(
        {
            "age": np.where(draw.random(people) < 0.1, np.nan, age),
            "hours": (35 + 3 * draw.normal(size=people) + 1.5 * team).round(1),
            "city": np.where(draw.random(people) < 0.45, np.array(["Rome", "Bonn", "Oslo"])[team], "Paris"),
            "since": pd.to_datetime("2015-01-01") + pd.to_timedelta(draw.integers(0, 3000, people), unit="D"),
        }
    )
    return mails, table, pd.Series(np.array(TEAMS)[team])


def label_spreading(graph: Graph, alpha: float = 0.9) -> np.ndarray:
    """Labels handed on along the edges, again and again (Zhou et al. 2004); the table is not read."""
    scale = sp.diags(1 / np.sqrt(np.maximum(graph.degree, 1)))
    step = scale @ graph.adjacency() @ scale
    given = np.eye(len(graph.classes) + 1)[graph.y][:, :-1]  # of unlabelled nodes, the last row: zeros
    found = given
    for _ in range(100):
        found = alpha * (step @ found) + (1 - alpha) * given
    return np.array(graph.classes)[found.argmax(1)]


def main() -> dict[str, float]:
    mails, table, team = company()
    known = np.random.default_rng(2).permutation(len(team))[:30]
    labels = team.where(team.index.isin(known))  # None where it is not known

    model = AGSSL(tasks=("par", "clu"), alpha=0.5, hidden=32, epochs=40, generations=1).fit((mails, table, labels))
    print("\n".join(model.columns_.lines()))

    hidden = ~team.index.isin(known)
    found = {"agssl": float((model.predict()[hidden] == team[hidden]).mean())}
    features = np.asarray(model.graph_.x)  # as they were encoded
    regression = LogisticRegression(max_iter=500).fit(features[known], team[known])
    found["logistic regression"] = float((regression.predict(features[hidden]) == team[hidden]).mean())
    found["label spreading"] = float((label_spreading(model.graph_)[hidden] == team[hidden]).mean())
    for name, accuracy in found.items():
        print(f"{name:20} {accuracy:6.1%} of {hidden.sum()} people, with {len(known)} labels")
    return found


if __name__ == "__main__":
    main()
