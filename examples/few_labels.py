"""Few labels: nine give a model and an honest guess of its worth, and the model says which nodes to label next."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from agssl import AGSSL
from agssl.data.synthetic import Synthetic, generate
from agssl.metrics import wilson_interval


def main() -> dict[int, tuple[float, float, float]]:
    """By number of labels: the interval that the model gave of its accuracy, and what was true."""
    graph = generate(Synthetic(nodes=300, edges=900, classes=3, homophily=0.7, features=16, signal=1.2))
    truth, order = graph.y, np.random.default_rng(0).permutation(graph.num_nodes)
    labels, found = np.full(len(truth), -1), {}
    ask = np.concatenate([order[truth[order] == c][:3] for c in range(3)])  # to begin with, three of each class
    for _ in range(2):
        labels[ask] = truth[ask]  # here a person would look at the nodes
        known, hidden = labels >= 0, labels < 0

        model = AGSSL(tasks=("par", "clu"), alpha=0.5, hidden=32, epochs=40, generations=1)
        model.fit((graph.adjacency(), graph.x, labels))  # no split: each label is held out in turn
        said, true = model.score(), float((model.predict()[hidden] == truth[hidden]).mean())
        low, high = wilson_interval(said, known.sum())
        regression = LogisticRegression(max_iter=500).fit(graph.x[known], truth[known])
        simple = (regression.predict(graph.x[hidden]) == truth[hidden]).mean()
        print(f"{known.sum()} labels: it said {said:.0%} of itself (95% interval {low:.0%} to {high:.0%});", end=" ")
        print(f"{true:.0%} of the other {hidden.sum()} are right, and {simple:.0%} by logistic regression")
        found[int(known.sum())] = (low, high, true)

        suggestions = model.suggest(12)
        ask = np.array([one.index for one in suggestions])
        for one in suggestions[:3]:
            print(f"  label node {one.node} next: {one.reason}")
    return found


if __name__ == "__main__":
    main()
