"""The settings themselves, each described once.

Checks, options of the command line, parameters of the estimator with their documentation, what `agssl tune` searches
and what counts for a result all follow from here: a new setting is a field here, and the code that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agssl.config.class_kinds import ClassName, ClassWeight, ClassWeights, Threshold, ThresholdKind
from agssl.config.describe import SearchRange, described, descriptions, setting
from agssl.config.effort import EFFORTS
from agssl.config.kinds import Alpha, AlphaKind, Choice, Flag, Name, Names, Number, TaskWeights, Whole

METHODS = ("agssl", "gcn", "single", "joint", "autossl", "pareto", "auxts", "grand", "cpf")
WITHOUT_TASKS = ("gcn", "cpf")
WHOLE = {"autossl": "searches on", "cpf": "spreads labels over"}  # the whole graph
WEIGHTS_FROM = ("val", "crossfit", "train")
FEATURE_NORMS = ("none", "l2", "binary")
NORMS = ("none", "batch", "layer")
METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "average_precision", "log_loss")
CALIBRATIONS = ("classes", "temperature", "none")

_WITH_TASKS = ("agssl", "single", "joint", "autossl", "pareto", "auxts")
_WEIGHTS = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)  # of a loss; the paper's grid (App. G)
_DROPOUTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def _in_parts(settings: Any) -> bool:
    return settings.batch not in ("auto", "full")


def _weighs_tasks(settings: Any) -> bool:
    """A network that pre-trains on one task alone has nothing to weigh it against."""
    return settings.strategy == "jt" or settings.method not in ("agssl", "single")


def _halves(settings: Any) -> bool:
    """Whether there are alphas to choose from by halving."""
    return settings.alpha_epochs is not None and any(
        settings.alpha_of(text) in (None, "auto") for text in settings.all_tasks
    )


@described
class SettingFields:
    """The fields that `Settings` and the estimator share. Their order is the order in which `agssl tune` asks."""

    method: str = setting(
        default="agssl",
        kind=Choice(names=METHODS),
        help="what to train: agssl (one teacher per task, distilled into a student), gcn (the encoder on labels "
        "alone), single (one task), joint (all tasks in one network), autossl (joint with task weights that are "
        "searched), pareto (joint, weights by the minimum-norm point of the tasks' gradients), auxts (joint, weights "
        "by how gradients agree with the labels'), grand (random views that must agree), cpf (label propagation that "
        "learns, taught by the encoder)",
    )
    tasks: tuple[str, ...] = setting(
        default=(),
        kind=Names(some=True),
        help="pretext tasks by name, on the encoder; settings of a task after colons, as in par:parts=100; without "
        "any, method agssl trains what teachers says, grand its own, and others the paper's five",
        methods=(*_WITH_TASKS, "grand"),
        kw_only=False,
    )
    integration: str = setting(
        default="both",
        kind=Name(example="both"),
        help="how teachers are weighed for each node: both (by held-out labels, near by and everywhere), ts or lf (the "
        "paper's), or another that `agssl list integrations` shows",
        methods=("agssl",),
        kw_only=False,
    )
    strategy: str = setting(
        default="jt",
        kind=Choice(names=("jt", "pf")),
        help="teachers by joint training (jt) or by pre-training and fine-tuning (pf)",
        methods=_WITH_TASKS,
        kw_only=False,
    )
    encoder: str = setting(
        default="gcn",
        kind=Name(example="gcn"),
        help="the network of teachers and students: a name that `agssl list encoders` shows, settings after colons",
        counts=lambda settings: settings.encoder != "gcn",  # results without it are those of gcn
    )
    teachers: tuple[str, ...] = setting(
        default=("auto",),
        kind=Names(some=True),
        help="auto: the fit finds out which encoders, views and tasks suit the graph; paper: the paper's five tasks on "
        "gcn; or a list, each a task (or labels), an encoder and settings of its network, as in "
        "par@gcn,labels@mlp:feature_norm=l2,labels@gcn:view=knn; where tasks or an encoder are "
        "named, these tasks (or the paper's) on that encoder",
        methods=("agssl",),
        counts=lambda settings: bool(settings.teachers),
    )
    effort: str = setting(
        default="standard",
        kind=Choice(names=tuple(EFFORTS)),
        help="what teachers=auto may cost: quick (seconds, no pretext task), standard, or best (more tasks on more "
        "encoders, several seeds of each)",
        methods=("agssl",),
        counts=lambda settings: settings.automatic and settings.effort != "standard",
    )
    student: str = setting(
        default="",
        kind=Name(example="sage"),
        help="the student's encoder, with settings of its network after colons; that of the fit if not given, and a "
        "perceptron in cpf",
        methods=("agssl", "cpf"),
        counts=lambda settings: bool(settings.student),
    )
    view: str = setting(
        default="given",
        kind=Name(example="knn"),
        help="what networks read as the graph's edges: given, or knn, which links nodes with similar features",
        counts=lambda settings: settings.view != "given",
    )
    feature_norm: str = setting(
        default="none",
        kind=Choice(names=FEATURE_NORMS),
        help="none: features as given; l2: rows of unit L2 norm; binary: the same after nonzeros became 1",
        search=SearchRange(FEATURE_NORMS),
        counts=lambda settings: settings.feature_norm != "none",
    )
    skip_weight: float = setting(
        default=0.0,
        kind=Number(below=1),
        help="what a node keeps of itself at each propagation beside its self-loop, if it has one: from 0 to below 1",
        search=SearchRange((0.0, 0.2, 0.4, 0.6)),
        counts=lambda settings: settings.skip_weight != 0,
    )
    norm: str = setting(
        default="none",
        kind=Choice(names=NORMS),
        help="normalisation of hidden layers (not of features): none, batch or layer",
        search=SearchRange(("none", "batch")),
    )
    residual: bool = setting(
        default=False,
        kind=Flag(),
        help="a skip connection around each hidden layer: a linear map of the node's own row is added to its sums",
        counts=lambda settings: settings.residual,
    )
    hidden: int = setting(
        default=64,
        kind=Whole(),
        help="width of the hidden representation",
        search=SearchRange((32, 64, 128, 256, 512)),
        kw_only=False,
    )
    layers: int = setting(default=1, kind=Whole(), help="layers of the encoder", kw_only=False)
    head: str = setting(
        default="conv",
        kind=Choice(names=("conv", "linear")),
        help="the class head: one more layer of the encoder's kind (conv), or one that reads the node alone (linear)",
    )
    dropout: float = setting(
        default=0.5,
        kind=Number(below=1),
        help="dropout of the hidden representation",
        search=SearchRange(_DROPOUTS),
        kw_only=False,
    )
    input_dropout: float = setting(
        default=0.5,
        kind=Number(below=1),
        help="dropout of the features",
        search=SearchRange((0.0, *_DROPOUTS)),
    )
    alpha: Alpha = setting(
        default=None,
        kind=AlphaKind(optional=True),
        help="weight of the pretext losses: a number, one per task (par=10,clu=1), or auto (from the paper's grid); "
        "each task brings a few to choose from by validation if not given",
        methods=_WITH_TASKS,
        search=SearchRange(_WEIGHTS, per_task=True, useful=_weighs_tasks),
        kw_only=False,
    )
    alpha_epochs: int | None = setting(
        default=100,
        kind=Whole(optional=True),
        help="epochs that a network trains with each of the alphas to choose from before the better half of them goes "
        "on; 0 (in Python None): all to the end",
        methods=("agssl", "single", "joint", "pareto", "auxts"),
        counts=_halves,  # results without it are those of alphas trained to the end
    )
    beta: float = setting(
        default=10.0,
        kind=Number(),
        help="weight of the distillation loss",
        methods=("agssl",),
        search=SearchRange(_WEIGHTS),
        kw_only=False,
    )
    tau: float = setting(
        default=1.0,
        kind=Number(zero=False, hint="1 leaves the teachers' probabilities as they are"),
        help="temperature of the distillation",
        methods=("agssl",),
        search=SearchRange((1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0)),
        kw_only=False,
    )
    student_dropout: float = setting(
        default=0.5,
        kind=Number(below=1),
        help="dropout of the student's hidden representation",
        methods=("agssl",),
        search=SearchRange((0.0, *_DROPOUTS)),
    )
    student_tasks: Mapping[str, float] | None = setting(
        default=None,
        kind=TaskWeights(optional=True),
        help="pretext tasks that students train with beside the teachers, and their weights (par=20)",
        methods=("agssl",),
        search=SearchRange((0.0, 5.0, 20.0, 60.0), per_task=True, on_request=True),
    )
    student_gradient: bool = setting(
        default=False,
        kind=Flag(),
        help="let the loss of the teachers' weights move the student, too",
        methods=("agssl",),
    )
    generations: int = setting(
        default=2,
        kind=Whole(),
        help="students in turn; the one before joins the teachers with half the weight, and is kept if the next is "
        "clearly worse",
        methods=("agssl",),
        search=SearchRange((1, 2, 3)),
    )
    weights_from: str = setting(
        default="val",
        kind=Choice(names=WEIGHTS_FROM),
        help="labels that task weights are fitted to: val (validation), crossfit (held-out folds of the training "
        "nodes), train (the paper's)",
        methods=("agssl", "autossl"),
    )
    folds: int = setting(default=3, kind=Whole(least=2), help="folds of crossfit", methods=("agssl", "autossl"))
    calibrate: str = setting(
        default="classes",
        kind=Choice(names=CALIBRATIONS),
        help="calibrate each teacher to the held-out labels: its confidence and how frequent classes are "
        "(classes), its confidence (temperature), or not at all (none)",
        methods=("agssl",),
        search=SearchRange(CALIBRATIONS, useful=lambda settings: settings.weights_from != "train"),
    )
    shrinkage: float = setting(
        default=0.0,
        kind=Number(hint="0.1 is a strong pull"),
        help="pull of the teachers' weights toward equal ones; 0.1 is strong",
        methods=("agssl",),
    )
    lr: float = setting(
        default=0.01, kind=Number(zero=False, hint="0.01 is usual"), help="learning rate", kw_only=False
    )
    weight_decay: float = setting(default=5e-4, kind=Number(), help="L2 penalty", kw_only=False)
    epochs: int = setting(default=500, kind=Whole(), help="most epochs of a stage", kw_only=False)
    patience: int | None = setting(
        default=50,
        kind=Whole(optional=True),
        help="epochs without a better validation result, in the mean of the last 20, before a stage ends; 0 (in "
        "Python None) for never",
        kw_only=False,
    )
    metric: str = setting(
        default="accuracy",
        kind=Choice(names=METRICS),
        help="what epochs, alphas and students are chosen by and results are told in: accuracy, balanced_accuracy, "
        "macro_f1, roc_auc, average_precision or log_loss",
        counts=lambda settings: settings.metric != "accuracy",
    )
    class_weight: ClassWeight = setting(
        default="none",
        kind=ClassWeights(),
        help="none, balanced (rare classes count more), or weights of classes by name (yes=5,no=1), 1 for others",
    )
    threshold: Threshold = setting(
        default="none",
        kind=ThresholdKind(),
        help="of two classes, from which probability on the positive one is predicted: none (where it is likelier), f1 "
        "or precision:0.9 (found on validation labels), or a number",
        counts=lambda settings: settings.threshold != "none",
    )
    positive: str | None = setting(
        default=None,
        kind=ClassName(optional=True),
        help="of two classes, the one that is looked for; the rarer one if not given",
        counts=lambda settings: settings.positive is not None,
    )
    class_shifts: bool = setting(
        default=False,
        kind=Flag(),
        help="add to the final logits a shift of each class, fitted to held-out labels as their temperature is: for "
        "training labels whose classes are not as frequent as those of the graph",
        counts=lambda settings: settings.class_shifts,
    )
    smooth: bool = setting(
        default=False,
        kind=Flag(),
        help="Correct & Smooth: the final prediction is corrected by training and validation labels, which are spread "
        "along the edges, and smoothed; it is for the nodes of the fitted graph alone",
        counts=lambda settings: settings.smooth,
    )
    batch: str = setting(
        default="auto",
        kind=Choice(names=("auto", "full", "partition", "neighbour")),
        help="what a step sees: full (the whole graph), partition or neighbour (a part), auto (full if memory allows)",
        counts=_in_parts,
    )
    batch_nodes: int = setting(
        default=16384,
        kind=Whole(least=2),
        help="nodes of a mini-batch, about",
        counts=_in_parts,
    )
    task_weights: Mapping[str, float] | None = setting(
        default=None,
        kind=TaskWeights(optional=True),
        help="fixed weights of method joint, one per task (par=1,clu=0.2); 1/K each if not given",
        methods=("joint",),
    )
    autossl_objective: str = setting(
        default="labels",
        kind=Choice(names=("labels", "homophily")),
        help="the outer objective of autossl: the loss on labels (of weights_from), or homophily (no labels)",
        methods=("autossl",),
    )
    autossl_search: str = setting(
        default="gradient",
        kind=Choice(names=("gradient", "es")),
        help="how autossl searches task weights: gradient, or es (CMA-ES, one training per candidate; extra es)",
        methods=("autossl",),
    )
    autossl_budget: int = setting(
        default=32,
        kind=Whole(),
        help="trainings of autossl_search = es",
        methods=("autossl",),
    )
    cpf_steps: int = setting(
        default=10,
        kind=Whole(),
        help="propagations of cpf",
        methods=("cpf",),
        search=SearchRange((5, 10)),
    )
    autossl_lr: float = setting(
        default=0.05,
        kind=Number(zero=False, hint="0.05 is usual"),
        help="learning rate of task weights in autossl",
        methods=("autossl",),
    )


DESCRIBED = descriptions(SettingFields)  # by name, in order
