"""From a run directory to the data of its page; every figure is the run's own, or counted from its predictions."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agssl.base.errors import AgsslError, DataError
from agssl.data.datasets import dataset_spec, is_dataset
from agssl.data.graph import Graph
from agssl.explain.groups import by_class, by_degree
from agssl.explain.layout import flat_map
from agssl.metrics import softmax
from agssl.report import arrays, figures
from agssl.report.reasons import MOST, reasons_of, wanted
from agssl.report.results import gain_over, own_name, result_rows
from agssl.report.suggested import suggested
from agssl.report.words import gaps, trust_sentence
from agssl.store.fitted import FittedModel, judged
from agssl.store.run import Run
from agssl.train.infer import infer

PARTS = ("", "train", "val", "test", "measure")
COVERAGE = 0.9  # of the prediction sets
_TOP = 6  # classes a model that the page keeps of each node


def build(
    run: Run, seed: int | None = None, baseline: Run | None = None, layout: str = "tsne", reasons: int = MOST
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The page of a run: what is said once, and the arrays with what is said of every node.

    Args:
        run: the run.
        seed: which of its seeds to show in detail, by default the first; the results are over all of them.
        baseline: a run of method gcn on the same graph, to stand beside it.
        layout: of the map, see `agssl.explain.layout`.
        reasons: of how many nodes to say which features and neighbours moved their predictions.
    """
    seed = run.seeds[0] if seed is None else seed
    fitted, graph = run.fitted(seed), run.graph(seed)
    if len(fitted.logits) != graph.num_nodes:
        raise DataError(f"{run.path} is damaged: a model of {len(fitted.logits)} nodes, {graph.num_nodes} in the graph")
    assert graph.split is not None
    part = "test" if len(graph.split.test) else "val"  # where to measure
    about, summary, nodes = run.about, run.metrics, _Nodes.of(fitted, graph)
    estimate, classes = summary.get("estimate"), _class_names(graph, fitted)
    page: dict[str, Any] = {
        "kind": "report",
        "run": str(run.path),
        "name": graph.name,
        "command": about.get("command"),
        "created": about.get("created"),
        "versions": about.get("versions", {}),
        "method": run.settings.method,
        "integration": run.settings.integration if run.settings.method == "agssl" else None,
        "settings": run.settings.to_dict(),
        "seeds": list(run.seeds),
        "seed": seed,
        "part": part,
        "measured_on": "heldout" if part == "val" and graph.split.fold is not None else part,
        "estimate": estimate,
        "labels": summary.get("labels"),
        "gaps": gaps(estimate, summary.get("baselines")),
        "sentence": None
        if fitted.weights is None
        else trust_sentence(fitted, graph.degree, classes, fitted.decide(fitted.confidence(fitted.logits))),
        "warnings": summary.get("warnings", []),
        "trust": summary.get("trust"),
        "pool": _pool(run),
        "data": graph.info(),
        "split": graph.split.origin,
        "classes": classes,
        "tasks": list(fitted.task_names),
        "weighted": fitted.weights is not None,
        "own": "model" if fitted.weights is None else own_name(fitted),
        "map": layout,
        "coverage": COVERAGE,
        "share": arrays.SHARE,
        "place": arrays.PLACE,
        "results": result_rows(run, graph, part, baseline),
        "gain": None if baseline is None else gain_over(baseline, run, part),
        "best": run.seed_metrics(seed).get("best"),
        "history": _history(run, seed),
    }
    page |= _pictures(fitted, graph, part, run.seed_metrics(seed))
    page["suggested"] = suggested(fitted, graph, classes, nodes.probabilities, nodes.hidden)
    packed = nodes.packed(layout)
    asked = wanted(nodes.models[0], nodes.right, nodes.known, reasons)
    own = fitted.network_logits
    if own is not fitted.logits:  # reasons are the student's, and told where it says what is answered
        asked = asked[fitted.decide(softmax(own[asked])) == nodes.predicted[asked]]
    if len(asked):
        page["features"], why = reasons_of(fitted, graph, nodes.predicted, asked)
        packed |= why
    return page, packed


def _class_names(graph: Graph, fitted: FittedModel) -> list[str]:
    """The classes; those of a named dataset whose files only number them, by their names."""
    spec = dataset_spec(graph.name) if graph.named and is_dataset(graph.name) else None
    numbered = list(fitted.classes) == [str(c) for c in range(len(fitted.classes))]
    return list(spec.class_names if spec and numbered and spec.class_names else fitted.classes)


def _pool(run: Run) -> list[dict[str, Any]]:
    """What the automatic pool tried: what each scored, its share in the selections, what it took, and who kept it."""
    tried = [one for seed in run.seeds for one in run.seed_metrics(seed).get("tried", ())]
    rows = []
    for name in dict.fromkeys(one["name"] for one in tried):
        group = [one for one in tried if one["name"] == name]
        row = {key: group[0].get(key) for key in ("name", "task", "encoder", "view")}
        row |= {key: float(np.mean([one[key] for one in group])) for key in ("accuracy", "log_loss")}
        row |= {"share": sum(one["share"] for one in group) / len(run.seeds)}
        row |= {"seconds": sum(one["seconds"] for one in group), "kept": sum(bool(one["kept"]) for one in group)}
        rows.append(row)
    return rows


def _history(run: Run, seed: int) -> dict[str, dict[str, list[float | None]]]:
    """The curves, without those by degree (the page shows these at the end of training)."""
    return {
        stage: {name: values for name, values in figures_.items() if "_degree" not in name}
        for stage, figures_ in run.history(seed).items()
    }


def _pictures(fitted: FittedModel, graph: Graph, part: str, noted: dict[str, Any]) -> dict[str, Any]:
    """Everything that is counted over the test nodes (the validation nodes where there are none), and the groups."""
    assert graph.split is not None
    measured = judged(fitted, graph.split, part)
    known = graph.y[measured.nodes] >= 0
    truth, probabilities = graph.y[measured.nodes[known]], measured.probabilities[known]
    predicted = fitted.decide(probabilities)
    found: dict[str, Any] = {
        "confusion": figures.confusion(truth, predicted, len(fitted.classes)).tolist(),
        "reliability": figures.reliability(truth, probabilities),
        "degree": None,
        "by_class": None,
        "agreement": None,
        "changes": None,
        "trusted_right": None,
    }
    if fitted.weights is not None:
        found["degree"] = [group.to_dict() for group in by_degree(fitted, graph.degree)]
        found["by_class"] = [group.to_dict() for group in by_class(fitted)]
        names = dict(zip(fitted.classes, _class_names(graph, fitted), strict=True))
        for group in found["by_class"]:
            group["name"] = names[group["name"]]
        said = measured.teachers[:, known].argmax(2)
        found["agreement"] = figures.agreement(np.vstack([said, predicted])).tolist()
        trusted = fitted.weights[measured.nodes[known]]
        found["trusted_right"] = figures.trusted_right(trusted, said == truth)
        # the best by validation: the one a user without test labels would have taken
        best = int(np.argmax([teacher["val_accuracy"] for teacher in noted["teachers"]]))
        found["changes"] = {
            "best": fitted.task_names[best],
            **figures.changes(predicted == truth, said[best] == truth),
            "by_right": figures.by_teachers_right(predicted == truth, said == truth),
        }
    return found


@dataclass(frozen=True, eq=False)
class _Nodes:
    """What is said of every node; of those that measure, what is said without knowing their labels."""

    fitted: FittedModel
    graph: Graph
    models: list[np.ndarray]  # logits [N, C] of the model, then of its teachers
    known: np.ndarray  # bool [N]: whether right or wrong means something: a label that did not train what is said

    @classmethod
    def of(cls, fitted: FittedModel, graph: Graph) -> _Nodes:
        split = graph.split
        assert split is not None
        models = [fitted.logits.copy(), *(fitted.teacher_logits.copy() if fitted.weights is not None else ())]
        known = np.ones(graph.num_nodes, bool)
        known[split.train] = False
        known[split.judges("val")] = (
            True  # with folds, these train the final network, but not what is said of them here
        )
        if split.fold is not None:
            said = judged(fitted, split, "val")
            for logits, own in zip(models, (said.logits, *said.teachers), strict=False):
                logits[said.nodes] = own
        return cls(fitted, graph, models, known & (graph.y >= 0))

    @cached_property
    def predicted(self) -> np.ndarray:
        """The class of each node, by number."""
        return self.fitted.decide(self.probabilities)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Of the model, [N, C]; of nodes that are held out in turn, calibrated without their labels."""
        found, split = self.fitted.confidence(self.models[0]), self.graph.split
        assert split is not None
        if split.fold is not None:
            said = judged(self.fitted, split, "val")
            found[said.nodes] = said.probabilities
        return found

    @cached_property
    def hidden(self) -> np.ndarray:
        """Representations of all nodes by the student, [N, F]."""
        return infer(self.fitted.model, self.graph).hidden

    @property
    def right(self) -> np.ndarray:
        """Whether it is the label, where that means something."""
        return self.known & (self.predicted == self.graph.y)

    def packed(self, layout: str) -> dict[str, np.ndarray]:
        """The arrays of the page."""
        fitted, graph, split = self.fitted, self.graph, self.graph.split
        assert split is not None
        classes, keep = len(fitted.classes), min(_TOP, len(fitted.classes))
        part = np.zeros(graph.num_nodes, np.uint8)
        for name, members in (split.parts() | ({} if split.measure is None else {"measure": split.measure})).items():
            part[members] = PARTS.index(name)
        degree, steps = arrays.half_edges(graph.indptr, graph.indices)
        says = [self.probabilities, *map(softmax, self.models[1:])]
        tops = [arrays.top(probabilities, keep) for probabilities in says]
        found = {
            "place": arrays.places(flat_map(self.hidden, layout)),
            "label": arrays.small(graph.y, classes),
            "predicted": arrays.small(self.predicted, classes),
            "part": part,
            "known": self.known.astype(np.uint8),
            "edges": degree,
            "steps": steps,
            "top": arrays.small(np.stack([order for order, _ in tops]), classes),  # [1 + K, N, keep]
            "probability": arrays.shares(np.stack([p for _, p in tops])),
        }
        if fitted.weights is not None:
            found["weights"] = arrays.shares(fitted.weights)
        with contextlib.suppress(AgsslError):  # a model that has none: of an earlier version, or of too few labels
            sets = fitted.sets(self.models[0], graph, COVERAGE, by_class=False)
            found["sets"] = np.packbits(sets, axis=1, bitorder="little")
        if graph.node_names is not None:
            text = "\0".join(str(name).replace("\0", " ") for name in graph.node_names)
            found["names"] = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
        return found
