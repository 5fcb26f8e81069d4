"""AGSSL as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from agssl.base.errors import GraphError
from agssl.config import DESCRIBED, SettingFields, Settings, described, documented
from agssl.data.convert import to_graph
from agssl.data.datasets import dataset_spec
from agssl.data.graph import Graph
from agssl.explain.groups import by_degree
from agssl.explain.node import Explanation, explain_node
from agssl.explain.plots import embedding_map, training_curves, weights_by_group
from agssl.explain.summary import fit_result, result_html, result_text
from agssl.fitting.fit import Resources, fit, split_for
from agssl.shipped import settings_for
from agssl.store.checkpoints import Record
from agssl.store.fitted import FittedModel, load_fitted, save_fitted
from agssl.store.run import Run
from agssl.store.run_writer import columns
from agssl.train.infer import infer
from agssl.train.loop import ignore

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@described  # not AGSSL itself: scikit-learn's classes have no types, and would hide the signature from type checkers
class Parameters(SettingFields):
    """What the estimator takes: all settings, and a few of its own."""

    random_state: int | None = field(default=0, kw_only=False)
    split: str = "auto"
    cache: str | Path | None = None
    device: str = "cpu"
    threads: int = 1


@documented
class AGSSL(ClassifierMixin, BaseEstimator, Parameters):
    """One teacher per pretext task, weighed for each node, distilled into one student.

    `AGSSL.for_dataset(name)` has the settings that come with the package for a dataset, as `agssl fit name` does.

    Args:
        random_state: seed of everything random, but for a split that the graph brings; None is 0. By default 0.
        split: how to split the labelled nodes where the graph brings no split, see `agssl.data.splits`. By default
            'auto'.
        cache: folder for prepared targets; by default None, which keeps them in memory.
        device: 'cpu' or a torch device, by default 'cpu'.
        threads: threads of torch while fitting, by default 1.
        {settings}

    Attributes:
        classes_: names of the classes, in the order of the columns of `predict_proba`.
        task_weights_: lambda [N, K], the per-node teacher weights (with autossl, the same for all nodes); None for
            methods that learn none.
        task_names_: names of the K teachers, or of the K tasks that autossl weighed.
        teachers_: logits of each teacher by name, [N, C].
        history_: records of every epoch by stage.
        best_: the record of the chosen epoch.
        graph_: the graph that was fitted, with its split.
        columns_: how the columns of a table became features (`columns_.lines()` says it in words); None for arrays.
        feature_names_in_: names of the columns, where they have any.

    Example:
        >>> from agssl import AGSSL, load_dataset  # doctest: +SKIP
        >>> model = AGSSL(integration="ts", random_state=0).fit(load_dataset("digits"))  # doctest: +SKIP
        >>> model.predict_proba().shape  # doctest: +SKIP
        (1797, 10)
    """

    @classmethod
    def for_dataset(cls, name: str, **changes: Any) -> AGSSL:
        """A model with the settings that come with the package for a dataset, those of `agssl fit name`.

        Fitted on `load_dataset(name)`, it gives the same bits as the command. For another seed, draw the split by it,
        too: `AGSSL.for_dataset(name, random_state=3).fit(load_dataset(name, seed=3))`.

        Args:
            name: as for `load_dataset`; a dataset without a config has the defaults.
            changes: parameters to set otherwise; `method`, `integration`, `strategy` and `tasks` also decide which of
                the dataset's configs is used.
        """
        given = {key: value for key, value in changes.items() if key in DESCRIBED}
        settings, _ = settings_for(dataset_spec(name).name, given)
        return cls(**(vars(settings) | changes))

    def settings(self) -> Settings:
        """The parameters as checked settings."""
        return Settings(**{name: getattr(self, name) for name in DESCRIBED})

    def fit(self, graph: Any, y: Any = None, *, watch: Any = None) -> AGSSL:
        """Fit a `Graph`, a PyG `Data`, a NetworkX graph, or `(edges, X, y)` with -1 for unlabelled nodes.

        Args:
            graph: the graph with its labels. In the tuple, edges are a NetworkX graph, a table with `source` and
                `target`, an array [2, E] or [E, 2] or a sparse adjacency; X is an array or a table of pandas, polars or
                pyarrow, whose columns are encoded as they need it; y has the labels, or is the name of their column.
            y: labels to use in place of the graph's, [N].
            watch: called as `watch(stage, record)` after every epoch; a `agssl.track.Tracker` is one.
        """
        settings, seed = self.settings(), 0 if self.random_state is None else int(self.random_state)
        if y is not None:
            graph = (*graph[:2], y) if isinstance(graph, tuple) else to_graph(graph).with_labels(np.asarray(y))
        graph = to_graph(graph)
        graph = split_for(graph, self.split, seed)
        cache = None if self.cache is None else Path(self.cache)
        where = Resources(cache=cache, device=self.device, threads=self.threads)
        result = fit(graph, settings, seed, where, watch or ignore)
        self._take(result.fitted)
        self.graph_, self.history_ = graph, result.history
        return self

    def _take(self, fitted: FittedModel) -> None:
        self.fitted_ = fitted
        self.classes_ = _natural(fitted.classes)
        self.task_names_ = fitted.task_names
        self.task_weights_ = fitted.weights
        self.teachers_ = dict(zip(fitted.task_names, fitted.teacher_logits, strict=bool(len(fitted.teacher_logits))))
        self.best_: Record = fitted.best
        self.n_features_in_ = fitted.shape.features
        self.columns_ = fitted.columns
        if fitted.columns is not None:
            self.feature_names_in_ = np.array(fitted.columns.names, dtype=object)
            self.n_features_in_ = len(self.feature_names_in_)

    def _like_fitted(self, graph: Any) -> Graph:
        """Another graph, its columns encoded as those of the fitted one."""
        return to_graph(graph, require_labels=False, columns=self.fitted_.columns)

    def predict_proba(self, graph: Any = None) -> np.ndarray:
        """Class probabilities [N, C] of the fitted nodes, or of all nodes of another graph with the same features."""
        check_is_fitted(self, "fitted_")
        if graph is None:
            logits = self.fitted_.logits
        else:
            logits = infer(self.fitted_.model, self._like_fitted(graph), self.device).logits
        return torch.softmax(torch.from_numpy(logits).double(), dim=1).numpy()

    def predict(self, graph: Any = None) -> np.ndarray:
        """The name of the likeliest class of every node."""
        probabilities = self.predict_proba(graph)
        return self.classes_[probabilities.argmax(1)]

    def embed(self, graph: Any = None) -> np.ndarray:
        """The student's hidden representations [N, F]."""
        check_is_fitted(self, "fitted_")
        target = self._fitted_graph() if graph is None else self._like_fitted(graph)
        return infer(self.fitted_.model, target, self.device).hidden

    def score(self, graph: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy: on the test nodes of the fitted graph, or on the labelled nodes of another one."""
        check_is_fitted(self, "fitted_")
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
        """The teacher weights of a node, what each teacher said of it, and its neighbours."""
        check_is_fitted(self, "fitted_")
        return explain_node(self.fitted_, self._fitted_graph(), node)

    def plot_weights_by_degree(self) -> Figure:
        """A heatmap of the teacher weights by degree (needs the extra `plot`)."""
        check_is_fitted(self, "fitted_")
        return weights_by_group(by_degree(self.fitted_, self._fitted_graph().degree), "degree")

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
        check_is_fitted(self, "fitted_")
        return embedding_map(self.fitted_, self._fitted_graph(), self.embed(), colour, layout)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        parameters: str = super().__repr__(N_CHAR_MAX)
        return f"{parameters}\n{result_text(self._result())}" if hasattr(self, "fitted_") else parameters

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What a notebook shows: scikit-learn's parameters, and below them what came of the fit."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "fitted_") and "text/html" in shown:
            shown["text/html"] += result_html(self._result())
        return shown

    def _result(self) -> dict[str, Any]:
        return fit_result(self.fitted_, getattr(self, "graph_", None))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file (safetensors; no pickle)."""
        check_is_fitted(self, "fitted_")
        save_fitted(self.fitted_, path)

    @classmethod
    def load(cls, path: str | Path) -> AGSSL:
        """A fitted estimator from a file that `save` wrote, or from the folder of a run of `agssl fit`.

        Of a run with several seeds it is the first; others are in its `seed-*/model.safetensors`. No code in the file
        is run. The graph is not part of a model: `predict()` answers for the fitted nodes without it, `embed` and
        `explain` need it.

        Args:
            path: the file or the folder.

        Example:
            >>> model = AGSSL.load("runs/digits-agssl-ts")  # doctest: +SKIP
            >>> model.predict().shape  # doctest: +SKIP
            (1797,)
        """
        fitted = Run.open(path).fitted() if Path(path).is_dir() else load_fitted(path)
        model = cls(random_state=fitted.seed, **vars(fitted.settings))
        model._take(fitted)
        return model

    def _fitted_graph(self) -> Graph:
        if not hasattr(self, "graph_"):
            raise GraphError("a loaded model does not carry its graph; pass the graph, e.g. model.embed(graph)")
        return self.graph_


def _natural(classes: Sequence[str]) -> np.ndarray:
    """Class names as scikit-learn users expect them: numbers where all are whole numbers, else strings."""
    whole = all(name.lstrip("-").isdecimal() for name in classes)
    return np.array([int(name) for name in classes]) if whole else np.asarray(classes)
