"""Why is this node predicted so? Whom it trusted, and which features and neighbours moved it."""

from __future__ import annotations

import numpy as np

from agssl import AGSSL
from agssl.data.synthetic import Synthetic, generate
from agssl.explain.reasons import Reasoner


def main(node: int = 7) -> dict[str, float]:
    graph = generate(Synthetic(nodes=200, edges=700, classes=3, features=12, signal=1.5, split="fraction:0.2/0.3/0.5"))
    model = AGSSL(tasks=("par", "clu"), alpha=0.5, hidden=16, epochs=30, generations=1).fit(graph)

    told = model.explain(node)
    print(f"node {node}: predicted {told.prediction} ({told.probability:.0%}), labelled {told.label}")
    for opinion in told.opinions:  # highest weight first
        print(
            f"  trusts {opinion.task} {opinion.weight:.2f}, which says {opinion.prediction} ({opinion.probability:.0%})"
        )

    why = Reasoner(model.fitted_.model, graph).explain(node)
    strongest = np.argsort(-np.abs(why.features))[:3]
    print(f"  towards {model.classes_[why.first]} and away from {model.classes_[why.second]}, by the logit:")
    for k in strongest:
        print(f"    feature {k} = {graph.x[node, k]:.2f} adds {why.features[k]:+.2f}")
    others = sorted(zip(why.nodes.tolist(), why.by_node.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    for other, moved in [pair for pair in others if pair[0] != node][:3]:
        print(f"    node {other} adds {moved:+.2f}")
    return {opinion.task: opinion.weight for opinion in told.opinions}


if __name__ == "__main__":
    main()
