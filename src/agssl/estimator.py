"""AGSSL as a scikit-learn estimator."""

from __future__ import annotations

import contextlib
import logging
import numbers
import sys
import tempfile
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.config import DESCRIBED, SettingFields, Settings, described, documented
from agssl.data.convert import labelled_graph, to_graph
from agssl.data.datasets import dataset_spec
from agssl.data.graph import Graph
from agssl.data.labels import class_values, clean_labels
from agssl.data.new_nodes import frame_new_nodes
from agssl.explain.groups import by_degree
from agssl.explain.node import Explanation, explain_node
from agssl.explain.plots import embedding_map, training_curves, weights_by_group
from agssl.explain.summary import fit_result, result_html, result_text
from agssl.fitting.fit import split_for
from agssl.fitting.job import Job
from agssl.fitting.progress import Progress
from agssl.fitting.seeds import fit_one, jobs_for
from agssl.fitting.verdict import ONE_CLASS, names_one_class, verdict_lines, verdict_of
from agssl.label.check import CheckedLabel, check_labels
from agssl.label.suggest import Suggestion, suggest
from agssl.metrics import metric_text
from agssl.serve.answers import Answers
from agssl.serve.predictor import Asked, Predictor
from agssl.shipped import settings_for
from agssl.store.checkpoints import Record
from agssl.store.fitted import FittedModel, judged, load_with_graph, save_fitted
from agssl.store.run import Run
from agssl.store.run_writer import columns, records
from agssl.train.infer import infer
from agssl.train.loop import ignore
from agssl.train.setup import schedule_on
from agssl.train.transfer import answer, transfer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger("agssl")


@described  # not AGSSL itself: scikit-learn's classes have no types, and would hide the signature from type checkers
class Parameters(SettingFields):
    """What the estimator takes: all settings, and a few of its own."""

    random_state: int | None = field(default=0, kw_only=False)
    split: str = "auto"
    cache: str | Path | None = None
    device: str = "cpu"
    threads: int = 1
    n_jobs: int | None = None
    verbose: int = 0


@documented
class AGSSL(ClassifierMixin, BaseEstimator, Parameters):
    """One teacher per pretext task, weighed for each node, distilled into one student.

    By default it finds out by itself which tasks, encoders and views suit the graph (`teachers=("auto",)`).
    `AGSSL.for_dataset(name, teachers=("paper",))` has the paper's tasks with the settings that come with the package
    for a dataset, as `agssl fit name --teachers paper` does.

    Args:
        random_state: seed of everything random, but for a split that the graph brings; None draws another one for each
            fit, by NumPy's global generator. By default 0.
        split: how to split the labelled nodes where the graph brings no split, see `agssl.data.splits`. By default
            'auto': of a graph without a split, no label is set aside, but each is held out in turn ('cv:5').
        cache: folder for prepared targets; by default None, which keeps them in memory.
        device: 'cpu' or a torch device, by default 'cpu'.
        threads: threads of torch while fitting, by default 1.
        n_jobs: processes that train teachers side by side, by default None, which is 1; -1 is one for each core that
            there is memory for. Results do not depend on it. A task, encoder or integration that is defined in a
            script or notebook is not known to other processes: then it is 1.
        verbose: 1 shows on stderr how far the fit is, what came of it and what to be warned of (`verdict`), 0 nothing;
            by default 0. The logger "agssl" gets the result at level INFO in either case.
        {settings}

    Attributes:
        classes_: the classes as they were given (numbers, booleans or text), in the order of the columns of
            `predict_proba`.
        seed_: the seed that was used.
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
        """A model with the settings of `agssl fit name`; with tasks or `teachers=("paper",)`, those that are shipped.

        Fitted on `load_dataset(name)`, it gives the same bits as the command. For another seed, draw the split by it,
        too: `AGSSL.for_dataset(name, random_state=3).fit(load_dataset(name, seed=3))`.

        Args:
            name: as for `load_dataset`; a dataset without a config has the defaults.
            changes: parameters to set otherwise; `method`, `integration`, `strategy`, `tasks` and `teachers` also
                decide which of the dataset's configs is used; an automatic pool has none.
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
        settings, seed = self.settings(), self._seed()
        given = labelled_graph(graph, y)
        graph = split_for(given, self.split, seed)
        jobs = jobs_for(graph, settings, self.n_jobs, self.threads)
        with contextlib.ExitStack() as stack:
            cache, out = None if self.cache is None else Path(self.cache), None
            if jobs > 1:  # teachers are handed over in files
                out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agssl-")))
                cache = cache or out / "targets"
            job = Job(given, settings, self.split, out, cache, self.device, self.threads)
            progress = None
            if self.verbose:
                again = graph.split is not None and graph.split.fold is not None
                epochs = schedule_on(graph, settings.within_budget())
                progress = stack.enter_context(Progress(settings, epochs, again, "agssl: ", seeds=False))
            result = fit_one(job, seed, jobs, progress, watch or ignore)
        self._take(result.fitted)
        self.graph_, self.history_ = graph, result.history
        text = f"{result_text(self._result()).removeprefix('# ')}, {result.seconds:.1f} s"
        log.info(text)
        if not self.verbose and names_one_class(result.fitted, graph):
            log.warning(f"WARNING: {ONE_CLASS.format('')} (`verdict()` says more)")
        if self.verbose:
            for line in (text, *self._verdict_lines()):
                print(f"agssl: {line}", file=sys.stderr, flush=True)
        return self

    def verdict(self) -> dict[str, Any]:
        """What the fit is worth, as `agssl fit --json` says it, on the nodes that measure it.

        `estimate` is the metric with its 95% interval, `labels` how many of them trained, chose and measured,
        `baselines` what the majority class and logistic regression on the features have there, and `warnings` what
        makes the result doubtful.
        """
        check_is_fitted(self, "fitted_")
        return verdict_of(self.fitted_, self._own_graph(), self.threads)

    def _verdict_lines(self) -> list[str]:
        found = self.verdict()
        metric, simple = found["estimate"]["metric"], found["baselines"]
        beside = ", ".join(f"{name.replace('_', ' ')} {metric_text(metric, value)}" for name, value in simple.items())
        columns = [] if self.columns_ is None else [f"columns: {'; '.join(self.columns_.lines())}"]
        warnings = [f"WARNING: {text}" for text in found["warnings"]]
        return [*columns, *verdict_lines(found), f"beside it: {beside}", *warnings]

    def _seed(self) -> int:
        state = self.random_state
        if state is None or isinstance(state, np.random.RandomState):
            return int(check_random_state(state).randint(2**31 - 1))
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31 - 1))
        if not isinstance(state, numbers.Integral) or state < 0:
            raise SettingsError(
                f"random_state is {state!r}, but it is a whole number of 0 or more, a NumPy generator, or None"
            )
        return int(state)

    def _take(self, fitted: FittedModel) -> None:
        self.fitted_ = fitted
        self.classes_ = class_values(fitted.classes, fitted.class_kind)
        self.seed_ = fitted.seed
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
        """Class probabilities [N, C] of the fitted nodes, or of all nodes of another graph with the same features.

        Args:
            graph: None for the fitted one; else another with the same features, as for `fit`; it needs no labels.
        """
        check_is_fitted(self, "fitted_")
        logits = self.fitted_.logits if graph is None else answer(self.fitted_, self._like_fitted(graph), self.device)
        return self.fitted_.confidence(logits)

    def predict(self, graph: Any = None) -> np.ndarray:
        """The class of every node, as it was given: the likeliest, or by the `threshold`.

        Args:
            graph: None for the fitted one; else another with the same features, as for `fit`; it needs no labels.
        """
        probabilities = self.predict_proba(graph)
        return self.classes_[self.fitted_.decide(probabilities)]

    def predict_set(self, coverage: float = 0.9, graph: Any = None, *, by_class: bool = False) -> np.ndarray:
        """Classes that hold the true one with a given chance: conformal prediction sets, smoothed over the graph.

        Where a row has several classes, the model is unsure. Where it is right more often than is asked for, some rows
        have none: no class fits well enough.

        Args:
            coverage: the chance.
            graph: another one with the same features; None for the fitted graph.
            by_class: let the chance hold for the nodes of every class, not only over all; rare classes make sets large.

        Returns:
            bool [N, C], in the order of `classes_`.

        Example:
            >>> sets = model.predict_set(coverage=0.9)  # doctest: +SKIP
            >>> [list(model.classes_[row]) for row in sets[:3]]  # doctest: +SKIP
        """
        check_is_fitted(self, "fitted_")
        if graph is None:
            return self.fitted_.sets(self.fitted_.logits, self._own_graph(), coverage, by_class)
        other = self._like_fitted(graph)
        return self.fitted_.sets(infer(self.fitted_.model, other, self.device).logits, other, coverage, by_class)

    def predict_new(
        self,
        nodes: Any,
        edges: Any = None,
        *,
        coverage: float | None = None,
        weights: bool = False,
        graph: Any = None,
    ) -> Answers:
        """What the model says of new nodes, attached to the fitted graph or alone; the graph itself stays as it is.

        Only what the networks see from the new nodes is read, so the cost does not grow with the graph. Rows that are
        unlike anything in the fitted graph are told apart (`Answers.unlike`). Where the teachers answer in the
        student's place, they do so here, too (`Answers.answered_by`).

        Args:
            nodes: a table with the columns of the model and ids of the rows, as `id`; or an array [m, d], whose rows
                are numbered after the nodes of the graph.
            edges: between new and old nodes, or among new ones: a table with `source` and `target`, or an array [2, E]
                or [E, 2], by the names of nodes or their numbers; None: there are none.
            coverage: with prediction sets that hold the true class with this chance, as 0.9.
            weights: with the weight of each teacher.
            graph: the fitted one, for a model that was loaded from a file; without it new nodes stand alone.

        Returns:
            `nodes`, `chosen` (positions in `classes_`), `probabilities` [m, C], and what was asked for;
            `records()` has it as a list of dicts.

        Example:
            >>> found = model.predict_new(table, edges, coverage=0.9)  # doctest: +SKIP
            >>> found.records()[0]  # doctest: +SKIP
        """
        check_is_fitted(self, "fitted_")
        asked = Asked(weights, coverage)
        past = self.run_.source if hasattr(self, "run_") else None
        predictor = Predictor(
            (self.fitted_,),
            knn=None if past is None or past.knn is None else (past.knn, past.knn_metric),
            ignored=("label" if past is None else past.label, "split"),
            device=self.device,
            cache=None if self.cache is None else Path(self.cache),
        )
        if graph is not None:
            own = self._like_fitted(graph)
            if own.num_nodes != len(self.fitted_.logits):
                raise GraphError(
                    f"the model was fitted to {len(self.fitted_.logits)} nodes, but {own.name} has {own.num_nodes}; "
                    "give the graph that was fitted"
                )
            predictor = predictor.with_graph(own)
        elif hasattr(self, "graph_") or past is not None:
            predictor = predictor.with_graph(self._own_graph())
        else:
            predictor = replace(predictor, names=())
        return predictor.new(frame_new_nodes(nodes, edges, predictor.known), asked)

    def embed(self, graph: Any = None) -> np.ndarray:
        """The student's hidden representations [N, F].

        Args:
            graph: None for the fitted one; else another with the same features, as for `fit`; it needs no labels.
        """
        check_is_fitted(self, "fitted_")
        target = self._own_graph() if graph is None else self._like_fitted(graph)
        return infer(self.fitted_.model, target, self.device).hidden

    def score(self, graph: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, whatever `metric` is, as scikit-learn's classifiers have it: of what `predict` says.

        On the test nodes of the fitted graph (without any, on held-out ones, by networks that had not seen them), or on
        the labelled nodes of a graph that is given.

        Args:
            graph: None for the fitted graph.
            y: the true classes of the graph's nodes, in place of its own labels; missing ones do not count.
            sample_weight: of each node, [N].
        """
        check_is_fitted(self, "fitted_")
        predicted = self.fitted_.decide(self.predict_proba(graph))
        if y is not None:
            at = np.flatnonzero(clean_labels(y, required=False).numbers >= 0)
            right = self.classes_[predicted[at]] == np.asarray(y).ravel()[at]
        else:
            other = self._own_graph() if graph is None else to_graph(graph, columns=self.fitted_.columns)
            if graph is None:
                assert other.split is not None
                said = judged(self.fitted_, other.split, "test" if len(other.split.test) else "val")
                at, predicted[said.nodes] = said.nodes, self.fitted_.decide(said.probabilities)
            else:
                at = np.flatnonzero(other.y >= 0)
            right = np.array(self.fitted_.classes)[predicted[at]] == np.array(other.classes)[other.y[at]]
        weight = None if sample_weight is None else np.asarray(sample_weight)[at]
        return float(np.average(right, weights=weight))

    def teacher_weights(self, graph: Any = None) -> np.ndarray:
        """The per-node teacher weights [N, K] of the fitted nodes, or of all nodes of another graph.

        For another graph the teachers' networks answer, and the integration weighs them as it has learnt to. That of
        `random` and `weighted` settles the weights of the fitted nodes one by one, and has none for others.

        Args:
            graph: with the same features; labels are not needed. None for the fitted graph.
        """
        check_is_fitted(self, "fitted_")
        if self.fitted_.weights is None:
            raise SettingsError(f"method {self.method} weighs no teachers; fit with method agssl or autossl")
        fitted = self.fitted_ if graph is None else self._on(graph)[0]
        assert fitted.weights is not None
        return fitted.weights

    def explain(self, node: int | str, graph: Any = None) -> Explanation:
        """The teacher weights of a node, what each teacher said of it, and its neighbours.

        Args:
            node: by name or number.
            graph: the graph that it is in: another one with the same features, as for `teacher_weights`, or the fitted
                one, for a model that was loaded from a file.
        """
        check_is_fitted(self, "fitted_")
        return explain_node(*self._on(graph), node)

    def suggest(self, n: int = 20, graph: Any = None) -> list[Suggestion]:
        """Which nodes without a label to label next, the most useful first, each with a reason in words.

        They are chosen as a batch: nodes that stand for many others of which the model is unsure, and for others than
        labelled nodes and those before them do.

        Args:
            n: how many.
            graph: as for `explain`.

        Example:
            >>> [(one.node, one.reason) for one in model.suggest(10)]  # doctest: +SKIP
        """
        check_is_fitted(self, "fitted_")
        fitted, target = self._on(graph)
        hidden = infer(fitted.model, target, self.device).hidden
        return suggest([fitted], fitted.confidence(fitted.logits), hidden, target, n)

    def check(self) -> list[CheckedLabel]:
        """The labels of the fitted graph, as networks that had not seen them judge them: the least believed first.

        Without folds (`split="cv:5"` holds out every label), those of validation and test nodes.

        Example:
            >>> [(one.node, one.label, one.looks_like) for one in model.check() if one.suspect]  # doctest: +SKIP
        """
        check_is_fitted(self, "fitted_")
        if not hasattr(self, "graph_") and not hasattr(self, "run_"):
            raise DataError("a model file does not carry its labels; load the folder of its run, or fit again")
        graph = self._own_graph()
        assert graph.split is not None
        return check_labels([(self.fitted_, graph.split)], graph)

    def plot_weights_by_degree(self, graph: Any = None) -> Figure:
        """A heatmap of the teacher weights by degree (needs the extra `plot`); `graph` as for `explain`."""
        check_is_fitted(self, "fitted_")
        fitted, graph = self._on(graph)
        return weights_by_group(by_degree(fitted, graph.degree), "degree")

    def plot_history(self) -> Figure:
        """Learning curves of all teachers and students (needs the extra `plot`)."""
        check_is_fitted(self, "fitted_")
        if not hasattr(self, "history_"):
            raise DataError("a model file has no learning curves; load the folder of its run, or fit again")
        return training_curves({stage: columns(records) for stage, records in self.history_.items()})

    def plot_embedding(self, colour: str = "class", layout: str = "tsne", graph: Any = None) -> Figure:
        """A flat map of all nodes by their embedding (needs the extra `plot`).

        Args:
            colour: by predicted `class`, most trusted `task`, `confidence`, or whether it is `right`.
            layout: `tsne`, or `pca`, which is quicker and tells fewer classes apart.
            graph: as for `explain`.
        """
        check_is_fitted(self, "fitted_")
        fitted, graph = self._on(graph)
        return embedding_map(fitted, graph, self.embed(graph), colour, layout)

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

    def save(self, path: str | Path, *, teachers: bool = True, graph: bool = False) -> None:
        """Write the fitted model to one file (safetensors; no pickle).

        Args:
            path: where to.
            teachers: with their networks, by which new nodes are weighed (`teacher_weights`, `explain`). Each adds as
                much to the file as the student's own, and a split with folds has one per teacher and fold. Without
                them, weights are known of the fitted nodes alone; predictions are the same.
            graph: with the graph that was fitted, its features and labels included, so that the loaded model explains,
                scores and draws it without being given it.
        """
        check_is_fitted(self, "fitted_")
        save_fitted(self.fitted_, path, teachers=teachers, graph=self._own_graph() if graph else None)

    @classmethod
    def load(cls, path: str | Path) -> AGSSL:
        """A fitted estimator from a file that `save` wrote, or from the folder of a run of `agssl fit`.

        Of a run with several seeds it is the first; others are in its `seed-*/model.safetensors`. No code in the file
        is run. A run's graph is opened again where it is needed. A file has it where `save` was asked to keep it; else
        `predict()` and `teacher_weights()` answer for the fitted nodes, and `embed`, `explain`, `score` and the plots
        take it, or another one, as `graph`.

        Args:
            path: the file or the folder.

        Example:
            >>> model = AGSSL.load("runs/digits-agssl-both")  # doctest: +SKIP
            >>> model.predict().shape  # doctest: +SKIP
            (1797,)
        """
        run = Run.open(path) if Path(path).is_dir() else None
        fitted, graph = load_with_graph(path) if run is None else (run.fitted(), None)
        model = cls(random_state=fitted.seed, **vars(fitted.settings))
        model._take(fitted)
        if graph is not None:
            model.graph_ = graph
        if run is not None:
            model.run_ = run
            model.history_ = {stage: records(found) for stage, found in run.history().items()}
        return model

    def _own_graph(self) -> Graph:
        """The graph that was fitted."""
        if not hasattr(self, "graph_"):
            if not hasattr(self, "run_"):
                raise GraphError(
                    "this model does not carry its graph; pass it, as in model.embed(graph) or "
                    "model.explain(node, graph), or save models with it: model.save(path, graph=True)"
                )
            self.graph_ = self.run_.graph()
        found: Graph = self.graph_
        if found.num_nodes != len(self.fitted_.logits):
            raise GraphError(
                f"the model was fitted to {len(self.fitted_.logits)} nodes, but {found.name} has {found.num_nodes}; "
                "give the graph that was fitted"
            )
        return found

    def _on(self, graph: Any = None) -> tuple[FittedModel, Graph]:
        """The model with what it says of a graph, and the graph; without one, those that were fitted."""
        if graph is None:
            return self.fitted_, self._own_graph()
        graph = self._like_fitted(graph)
        return transfer(self.fitted_, graph, self.device), graph
