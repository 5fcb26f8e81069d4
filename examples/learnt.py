"""What a run has learnt and what to do next, in two sentences: python examples/learnt.py RUN [GCN_RUN]."""

from __future__ import annotations

import sys

from agssl.metrics import softmax
from agssl.report.words import trust_sentence
from agssl.store.run import Run


def main(path: str, baseline: str | None = None) -> str:
    run = Run.open(path)
    fitted, graph, result = run.fitted(), run.graph(), run.metrics
    estimate, simple = result["estimate"], result["baselines"]["logistic_regression"]
    words = f"Learnt: {estimate['value']:.1%} right ({estimate['low']:.1%} to {estimate['high']:.1%}), "
    words += f"{simple:.1%} by logistic regression"
    if baseline is not None:
        words += f" and {Run.open(baseline).metrics['estimate']['value']:.1%} by a plain GCN"
    if fitted.weights is not None:
        predicted = fitted.decide(softmax(fitted.logits))
        words += "; " + trust_sentence(fitted, graph.degree, list(fitted.classes), predicted).removesuffix(".")
    words += ".\n"
    words += f"Next: open {run.path / 'report.html'} in a browser, then try your own data: "
    words += "agssl fit my-graph/ with a nodes.csv and an edges.csv (docs/start.md)."
    print(words)
    return words


if __name__ == "__main__":
    main(*sys.argv[1:])
