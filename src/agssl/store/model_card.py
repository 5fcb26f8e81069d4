"""The model card of a run, for people: what was fitted to what, what it is worth, and where that ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agssl.config import Settings
from agssl.metrics import metric_text

_MEASURED = {
    "test": "test nodes, which nothing was trained on or chosen by",
    "val": "validation nodes, by which epochs were chosen: rather too good",
    "heldout": "labelled nodes, each by networks that had not seen its label",
}


def model_card(about: Mapping[str, Any], settings: Settings, split: str, metrics: Mapping[str, Any]) -> str:
    """The card as text; what is not known of a run is left out.

    Args:
        about: the content of run.json.
        settings: of the fit.
        split: the text that asked for it.
        metrics: over all seeds, as `agssl fit --json` has them.
    """
    graph, classes = about.get("graph", {}), metrics.get("per_class") or ()
    name = _plain(graph.get("name", metrics.get("dataset", "a graph")))
    sections = {
        "Data": _data(graph, classes),
        "Model": _model(about, settings, str(metrics.get("network", settings.encoder))),
        "Labels used": _labels(metrics, split),
        "What it is worth": _worth(metrics),
        "By class": _by_class(classes),
        "Calibration": _calibration(metrics),
        "Trust in the teachers": _trust(metrics.get("trust")),
        "Limits": _limits(metrics),
    }
    parts = [f"# Model card: {_plain(settings.method)} on {name}"]
    parts += [f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items() if lines]
    return "\n\n".join(parts) + "\n"


def _data(graph: Mapping[str, Any], classes: Iterable[Mapping[str, Any]]) -> list[str]:
    if not graph:
        return []
    lines = [f"- Graph: {_plain(graph['name'])}, {graph['nodes']:,} nodes, read from `{_plain(graph['given'])}`"]
    if graph.get("knn"):
        lines.append(f"- Edges: the {graph['knn']} most similar nodes of each, by {_plain(graph['knn_metric'])}")
    names = [_plain(one["class"]) for one in classes]
    lines += [f"- Classes: {', '.join(names)}"] if names else []
    return [*lines, f"- Fingerprint of edges and features: `{_plain(graph['fingerprint'])}`"]


def _model(about: Mapping[str, Any], settings: Settings, network: str) -> list[str]:
    how = f"- Method {settings.method}, encoder {_plain(network)}"
    if settings.method == "agssl":
        pool = f"automatic pool, effort {settings.effort}" if settings.automatic else ", ".join(settings.pool)
        how += f", integration {_plain(settings.integration)}, teachers: {_plain(pool)}"
    lines = [how, f"- Seeds: {', '.join(map(str, about.get('seeds', ())))}; all settings are in `config.toml`"]
    if "versions" in about:
        versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        lines.append(f"- Made {about.get('created', '')} with {versions}")
    return lines


def _labels(metrics: Mapping[str, Any], split: str) -> list[str]:
    labels = metrics.get("labels")
    if not labels:
        return []
    used = f"- {labels['train']:,} trained, {labels['choose']:,} chose, {labels['measure']:,} measured"
    return [f"{used} (split `{_plain(split)}`)"]


def _worth(metrics: Mapping[str, Any]) -> list[str]:
    estimate, simple = metrics.get("estimate"), metrics.get("baselines") or {}
    if not estimate:
        return []
    metric = estimate["metric"]
    value, low, high = (metric_text(metric, estimate[key]) for key in ("value", "low", "high"))
    lines = [f"- {metric}: **{value}**, 95% interval {low} to {high}", f"- On {_MEASURED[estimate['measured_on']]}"]
    for name, other in simple.items():
        lines.append(f"- Beside it, {name.replace('_', ' ')}: {metric_text(metric, other)}")
    return lines


def _by_class(classes: Iterable[Mapping[str, Any]]) -> list[str]:
    rows = [
        f"| {_plain(one['class'])} | " + " | ".join(_number(one[key]) for key in ("precision", "recall", "f1")) + " |"
        for one in classes
    ]
    return ["| class | precision | recall | F1 |", "|---|---|---|---|", *rows] if rows else []


def _calibration(metrics: Mapping[str, Any]) -> list[str]:
    lines, sets = [], metrics.get("coverage")
    if metrics.get("ece") is not None:
        lines.append(f"- ECE {metrics['ece']:.3f}, log-loss {metrics['log_loss']:.3f}, on the nodes that measure")
    if sets:
        lines.append(
            f"- Prediction sets for {sets['asked']:.0%} hold the true class on {sets['coverage']:.1%} of the nodes, "
            f"with {sets['mean_size']:.2f} classes in the mean"
        )
    return lines


def _trust(trust: Mapping[str, Any] | None) -> list[str]:
    if not trust or trust.get("pairs_right") is None:
        return []
    return [
        f"- The teachers disagree on {trust['disagreement']:.1%} of the nodes that measure. There the most trusted is "
        f"right on {trust['most_trusted']:.1%}, a majority on {trust['majority']:.1%}",
        f"- A right teacher outweighs a wrong one in {trust['pairs_right']:.2f} of such pairs; 0.5 is a coin",
    ]


def _limits(metrics: Mapping[str, Any]) -> list[str]:
    return [
        *(f"- **Warning**: {_plain(text)}" for text in metrics.get("warnings") or ()),
        "- The figures are for nodes like the labelled ones of this graph. Of others, and of a graph that has changed "
        "since, they say nothing",
        "- It knows the classes above and no other: a node of none of them gets one all the same",
        "- Whom an error harms, and whether labels or edges are biased, can't be seen from here",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _plain(value: Any) -> str:
    r"""Text of the user's on one line, without what Markdown would take for a table, code or a tag.

    >>> _plain("a|b\n<i>")
    'a\\|b &lt;i>'
    """
    return " ".join(str(value).split()).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
