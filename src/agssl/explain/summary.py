"""What came of a fit, in a line or a small table."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from agssl.data.graph import Graph
from agssl.metrics import Measured, measure, metric_text, resampled, wilson_interval
from agssl.store.fitted import FittedModel

PARTS = ("validation", "held-out", "test")  # on which a result may be known


def fit_result(fitted: FittedModel, graph: Graph | None = None) -> dict[str, Any]:
    """What a model was fitted to, how good it is, and its mean teacher weights."""
    found: dict[str, Any] = {"nodes": len(fitted.logits), "classes": len(fitted.classes)}
    metric = found["metric"] = fitted.settings.metric
    part = "validation" if fitted.heldout is None else "held-out"
    found[part] = fitted.best.get(f"val_{metric}")
    if fitted.heldout is not None and metric == "accuracy":
        found["interval"] = wilson_interval(found[part], len(fitted.heldout))
    if graph is not None:
        found["graph"] = graph.name
        if graph.split is not None and len(graph.split.test):
            nodes = graph.split.test
            said = Measured(nodes, graph.y[nodes], fitted.confidence(fitted.logits[nodes]), fitted.decision)
            found["test"] = measure(metric, said.truth, said.probabilities, said.decision)
            if metric == "accuracy":
                found["interval"] = wilson_interval(found["test"], len(nodes))
            else:
                found["interval"] = tuple(np.percentile(resampled(metric, [said], resamples=200), [2.5, 97.5]).tolist())
    if fitted.weights is not None:
        means = fitted.weights.mean(0, dtype=np.float64).tolist()
        found["trust"] = dict(sorted(zip(fitted.task_names, means, strict=True), key=lambda item: -item[1]))
    return found


def result_text(found: dict[str, Any]) -> str:
    """One line.

    >>> result_text({"nodes": 40, "classes": 2, "validation": 0.9, "graph": "mine", "trust": {"par": 0.6, "clu": 0.4}})
    '# fitted to mine (40 nodes, 2 classes): validation 90.0%; mean trust par 0.60, clu 0.40'
    """
    to = f"to {found['graph']} " if "graph" in found else ""
    text = f"# fitted {to}({found['nodes']:,} nodes, {found['classes']} classes)"
    figures = [f"{part} {_value(found, found[part])}" for part in PARTS if found.get(part) is not None]
    name = "" if _metric(found) == "accuracy" else f"{_metric(found)} "
    text += f": {name}{', '.join(figures)}" if figures else ""
    text += _interval(found)
    if "trust" in found:
        text += "; mean trust " + ", ".join(f"{task} {weight:.2f}" for task, weight in found["trust"].items())
    return text


def _interval(found: dict[str, Any]) -> str:
    if "interval" not in found:
        return ""
    low, high = found["interval"]
    return f" (95% interval {_value(found, low)} to {_value(found, high)})"


def _metric(found: dict[str, Any]) -> str:
    return str(found.get("metric", "accuracy"))


def _value(found: dict[str, Any], value: float) -> str:
    return metric_text(_metric(found), value)


def result_html(found: dict[str, Any]) -> str:
    """The same for a notebook."""
    rows = [("fitted to", f"{found.get('graph', 'a graph')}: {found['nodes']:,} nodes, {found['classes']} classes")]
    rows += [
        (f"{part} {_metric(found)}", _value(found, found[part]) + (_interval(found) if part != "validation" else ""))
        for part in PARTS
        if found.get(part) is not None
    ]
    rows += [(f"mean trust in {task}", f"{weight:.3f}") for task, weight in found.get("trust", {}).items()]
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"
