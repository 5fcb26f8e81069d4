"""How far the result of a fit can be trusted: its interval, what it had to beat, and what to be warned of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.fitting.baselines import baselines
from agssl.fitting.job import Metrics
from agssl.metrics import wilson_interval

FEW = 30  # nodes below which an accuracy says little


def verdict(graph: Graph, splits: Sequence[Split], results: Sequence[Metrics], threads: int = 1) -> dict[str, Any]:
    """What `agssl fit --json` says beside the results: `estimate`, `labels`, `baselines` and `warnings`.

    The estimate is the mean accuracy of the seeds, on test nodes, or on validation nodes where there are none; where
    nodes are held out in turn, by networks that have not seen their labels. Its interval is Wilson's over the nodes
    that were measured, each counted once: ten seeds that measure the same node know no more of nodes in general than
    one seed does. How much seeds differ is another question, which the deviation over seeds answers.

    Args:
        graph: with all its labels.
        splits: one per seed.
        results: the metrics of each seed, see `agssl.fitting.job.fit_seed`.
        threads: for the baselines.
    """
    part = "test" if all(len(split.test) for split in splits) else "val"
    value = float(np.mean([metrics[part]["accuracy"] for metrics in results]))
    nodes = len(np.unique(np.concatenate([split.parts()[part] for split in splits])))
    low, high = wilson_interval(value, nodes)
    sizes = splits[0].sizes()
    where = "heldout" if part == "val" and splits[0].fold is not None else part
    found: dict[str, Any] = {
        "estimate": {"metric": "accuracy", "value": value, "low": low, "high": high, "measured_on": where},
        "labels": {"train": sizes["train"], "choose": sizes["val"], "measure": sizes[part]},
        "baselines": baselines(graph, splits, part, threads),
    }
    predicted = [metrics.get("predicted_classes") for metrics in results]
    return found | {"warnings": _warnings(found, nodes, predicted)}


def _warnings(found: dict[str, Any], nodes: int, predicted: Sequence[int | None]) -> list[str]:
    value, simple = found["estimate"]["value"], found["baselines"]
    shown = f"the model's {value:.1%} is below the {{:.1%}} of {{}}"
    warnings = []
    if value < simple["majority"]:
        warnings.append(shown.format(simple["majority"], "always naming the majority class: do not use it"))
    if value < simple["logistic_regression"]:
        cure = "logistic regression on the features: its edges or settings do not help here"
        warnings.append(shown.format(simple["logistic_regression"], cure))
    alone = predicted.count(1)
    if alone:
        which = "" if len(predicted) == 1 else f" with {alone} of {len(predicted)} seeds"
        warnings.append(f"it predicts one class only{which}: an accuracy then says how common that class is")
    if nodes < FEW:
        some = f"{nodes} nodes" if nodes > 1 else "1 node"
        warnings.append(f"only {some} measured it, so its accuracy is hardly known; label more nodes")
    if found["estimate"]["measured_on"] == "val":
        warnings.append("there are no test nodes: it was measured where its epochs were chosen, which flatters it")
    return warnings
