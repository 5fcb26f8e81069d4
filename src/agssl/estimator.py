"""AGSSL as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from agssl.config import TASKS, Settings
from agssl.data.convert import to_graph
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.errors import GraphError
from agssl.explain.groups import by_degree
from agssl.explain.node import Explanation, explain_node
from agssl.explain.plots import embedding_map, training_curves, weights_by_group
from agssl.explain.summary import fit_result, result_html, result_text
from agssl.rng import Rng
from agssl.store.model import Bundle, load_bundle, save_bundle
from agssl.train.fit import fit
from agssl.train.infer import infer
from agssl.train.loop import Record, columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class AGSSL(ClassifierMixin, BaseEstimator):
    """One GNN teacher a pretext task, trusted node by node, distilled into one student.

    Parameters are those of `agssl.config.Settings`, plus:

    Args:
        split: how to split the labelled nodes where the graph brings no split (see `agssl.data.splits`).
        random_state: seed of everything random.
        cache: folder for prepared targets; None keeps them in memory.
        device: "cpu" or a torch device.

    Attributes:
        classes_: names of the classes, in the order of the columns of `predict_proba`.
        task_weights_: lambda [N, K], whom each node trusted (with autossl, the same for all nodes); None for methods
            that learn none.
        task_names_: names of the K teachers, or of the K tasks that autossl weighed.
        teachers_: logits of each teacher by name, [N, C].
        history_: records of every epoch by stage.
        best_: the record of the chosen epoch.
        graph_: the graph that was fitted, with its split.

    Example:
        >>> from agssl import AGSSL, load_dataset  # doctest: +SKIP
        >>> model = AGSSL(integration="ts", random_state=0).fit(load_dataset("digits"))  # doctest: +SKIP
        >>> model.predict_proba().shape  # doctest: +SKIP
        (1797, 10)
    """

    def __init__(
        self,
        tasks: tuple[str, ...] = TASKS,
        integration: str = "ts",
        setting: str = "jt",
        hidden: int = Settings.hidden,
        layers: int = 1,
        dropout: float = Settings.dropout,
        alpha: float | str | Mapping[str, float] | None = None,
        beta: float = Settings.beta,
        tau: float = Settings.tau,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 500,
        patience: int | None = Settings.patience,
        random_state: int | None = 0,
        *,
        method: str = "agssl",
        scaling: str = Settings.scaling,
        self_weight: float = Settings.self_weight,
        head: str = "gcn",
        norm: str = "none",
        input_dropout: float = Settings.input_dropout,
        class_weight: str = "none",
        batch: str = Settings.batch,
        batch_nodes: int = Settings.batch_nodes,
        lambda_fit: str = Settings.lambda_fit,
        folds: int = Settings.folds,
        calibrate: str = Settings.calibrate,
        shrinkage: float = Settings.shrinkage,
        student_gradient: bool = Settings.student_gradient,
        student_dropout: float = Settings.student_dropout,
        student_tasks: Mapping[str, float] | None = None,
        generations: int = Settings.generations,
        task_weights: Mapping[str, float] | None = None,
        outer: str = Settings.outer,
        search: str = Settings.search,
        search_budget: int = Settings.search_budget,
        lambda_lr: float = Settings.lambda_lr,
        split: str = "auto",
        cache: str | Path | None = None,
        device: str = "cpu",
    ) -> None:
        self.tasks = tasks
        self.integration = integration
        self.setting = setting
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.alpha = alpha
        self.beta = beta
        self.tau = tau
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.random_state = random_state
        self.method = method
        self.scaling = scaling
        self.self_weight = self_weight
        self.head = head
        self.norm = norm
        self.input_dropout = input_dropout
        self.class_weight = class_weight
        self.batch = batch
        self.batch_nodes = batch_nodes
        self.lambda_fit = lambda_fit
        self.folds = folds
        self.calibrate = calibrate
        self.shrinkage = shrinkage
        self.student_gradient = student_gradient
        self.student_dropout = student_dropout
        self.student_tasks = student_tasks
        self.generations = generations
        self.task_weights = task_weights
        self.outer = outer
        self.search = search
        self.search_budget = search_budget
        self.lambda_lr = lambda_lr
        self.split = split
        self.cache = cache
        self.device = device

    def settings(self) -> Settings:
        """The parameters as checked settings."""
        own = ("split", "random_state", "cache", "device")
        return Settings(**{name: value for name, value in self.get_params(deep=False).items() if name not in own})

    def fit(self, graph: Any, y: Any = None, *, watch: Any = None) -> AGSSL:
        """Fit a `Graph`, a PyG `Data`, or `(adjacency, X, y)` with -1 for unlabelled nodes.

        Args:
            graph: the graph with its labels.
            y: labels to use in place of the graph's, [N].
            watch: called as `watch(stage, record)` after every epoch; a `agssl.track.Tracker` is one.
        """
        settings, seed = self.settings(), 0 if self.random_state is None else int(self.random_state)
        if y is not None:
            graph = (*graph[:2], y) if isinstance(graph, tuple) else to_graph(graph).with_labels(np.asarray(y))
        graph = to_graph(graph)
        if graph.split is None or self.split != "auto":
            graph = graph.with_split(make_split(self.split, graph, Rng(seed).child("split")))
        result = fit(
            graph,
            settings,
            seed,
            watch=watch or (lambda stage, record: None),
            cache=None if self.cache is None else Path(self.cache),
            device=self.device,
        )
        self._take(Bundle.of(result, graph, settings, seed))
        self.graph_, self.history_ = graph, result.history
        return self

    def _take(self, bundle: Bundle) -> None:
        self.bundle_ = bundle
        self.classes_ = _natural(bundle.classes)
        self.task_names_ = bundle.task_names
        self.task_weights_ = bundle.weights
        self.teachers_ = dict(zip(bundle.task_names, bundle.teacher_logits, strict=bool(len(bundle.teacher_logits))))
        self.best_: Record = bundle.best
        self.n_features_in_ = bundle.shape.features

    def predict_proba(self, graph: Any = None) -> np.ndarray:
        """Class probabilities [N, C] of the fitted nodes, or of all nodes of another graph with the same features."""
        check_is_fitted(self, "bundle_")
        if graph is None:
            logits = self.bundle_.logits
        else:
            logits = infer(self.bundle_.model, to_graph(graph, require_labels=False), self.device).logits
        return torch.softmax(torch.from_numpy(logits).double(), dim=1).numpy()

    def predict(self, graph: Any = None) -> np.ndarray:
        """The name of the likeliest class of every node."""
        probabilities = self.predict_proba(graph)
        return self.classes_[probabilities.argmax(1)]

    def embed(self, graph: Any = None) -> np.ndarray:
        """The student's hidden representations [N, F]."""
        check_is_fitted(self, "bundle_")
        target = self._fitted_graph() if graph is None else to_graph(graph, require_labels=False)
        return infer(self.bundle_.model, target, self.device).hidden

    def score(self, graph: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy: on the test nodes of the fitted graph, or on the labelled nodes of another one."""
        check_is_fitted(self, "bundle_")
        predicted = self.predict(graph)
        if graph is None:
            fitted = self._fitted_graph()
            assert fitted.split is not None
            at = fitted.split.test
        else:
            fitted = to_graph(graph) if y is None else to_graph(graph, require_labels=False)
            at = np.flatnonzero(fitted.y >= 0) if y is None else np.arange(fitted.num_nodes)
        truth = _natural(fitted.classes)[fitted.y[at]] if y is None else np.asarray(y)[at]
        weight = None if sample_weight is None else np.asarray(sample_weight)[at]
        return float(np.average(predicted[at] == truth, weights=weight))

    def explain(self, node: int | str) -> Explanation:
        """Whom a node trusted, what each teacher said of it, and its neighbours."""
        check_is_fitted(self, "bundle_")
        return explain_node(self.bundle_, self._fitted_graph(), node)

    def plot_weights_by_degree(self) -> Figure:
        """A heatmap of whom nodes of each degree trusted (needs the extra `plot`)."""
        check_is_fitted(self, "bundle_")
        return weights_by_group(by_degree(self.bundle_, self._fitted_graph().degree), "degree")

    def plot_history(self) -> Figure:
        """Learning curves of all teachers and students (needs the extra `plot`)."""
        check_is_fitted(self, "history_")
        return training_curves({stage: columns(records) for stage, records in self.history_.items()})

    def plot_embedding(self, colour: str = "class", layout: str = "tsne") -> Figure:
        """A flat map of all nodes by their embedding (needs the extra `plot`).

        Args:
            colour: by predicted `class`, most trusted `task`, `confidence`, or whether it is `right`.
            layout: `tsne`, or `pca`, which is quicker and tells fewer classes apart.
        """
        check_is_fitted(self, "bundle_")
        return embedding_map(self.bundle_, self._fitted_graph(), self.embed(), colour, layout)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        parameters: str = super().__repr__(N_CHAR_MAX)
        return f"{parameters}\n{result_text(self._result())}" if hasattr(self, "bundle_") else parameters

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What a notebook shows: scikit-learn's parameters, and below them what came of the fit."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "bundle_") and "text/html" in shown:
            shown["text/html"] += result_html(self._result())
        return shown

    def _result(self) -> dict[str, Any]:
        return fit_result(self.bundle_, getattr(self, "graph_", None))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file (safetensors; no pickle)."""
        check_is_fitted(self, "bundle_")
        save_bundle(self.bundle_, path)

    @classmethod
    def load(cls, path: str | Path) -> AGSSL:
        """A model written by `save`, or the `model.safetensors` of a run; no code in the file is run."""
        bundle = load_bundle(path)
        values = {f: getattr(bundle.settings, f) for f in vars(bundle.settings)}
        model = cls(random_state=bundle.seed, **values)
        model._take(bundle)
        return model

    def _fitted_graph(self) -> Graph:
        if not hasattr(self, "graph_"):
            raise GraphError("a loaded model does not carry its graph; pass the graph, e.g. model.embed(graph)")
        return self.graph_


def _natural(classes: Sequence[str]) -> np.ndarray:
    """Class names as scikit-learn users expect them: numbers where all are whole numbers, else strings."""
    whole = all(name.lstrip("-").isdecimal() for name in classes)
    return np.array([int(name) for name in classes]) if whole else np.asarray(classes)
