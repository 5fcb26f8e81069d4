"""Few labels: each of them trains and measures, so that nine already give a model and an honest guess of its worth."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from agssl import AGSSL
from agssl.data.synthetic import Synthetic, generate
from agssl.metrics import wilson_interval


def main() -> dict[int, tuple[float, float]]:
    """By labels per class: what the model said of itself while labels were held out, and what was true."""
    graph = generate(Synthetic(nodes=300, edges=1500, classes=3, homophily=0.8, features=16, signal=1.5))
    truth, order = graph.y, np.random.default_rng(0).permutation(graph.num_nodes)
    found = {}
    for each in (3, 12):
        known = np.concatenate([order[truth[order] == c][:each] for c in range(3)])
        labels = np.full(len(truth), -1)
        labels[known] = truth[known]
        hidden = labels < 0

        model = AGSSL(tasks=("par", "clu"), alpha=0.5, hidden=32, epochs=40, generations=1)
        model.fit((graph.adjacency(), graph.x, labels))  # no split: each label is held out in turn
        said, true = model.score(), float((model.predict()[hidden] == truth[hidden]).mean())
        low, high = wilson_interval(said, len(known))
        regression = LogisticRegression(max_iter=500).fit(graph.x[known], truth[known])
        simple = (regression.predict(graph.x[hidden]) == truth[hidden]).mean()
        print(f"{len(known)} labels: it said {said:.0%} of itself (95% interval {low:.0%} to {high:.0%});", end=" ")
        print(f"{true:.0%} of the other {hidden.sum()} are right, and {simple:.0%} by logistic regression")
        found[each] = (said, true)
    return found


if __name__ == "__main__":
    main()
