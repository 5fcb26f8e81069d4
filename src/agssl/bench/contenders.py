"""The columns of `agssl bench graphs`: simple baselines, each tuned alike, and AGSSL with different pools of teachers.

To add one: a line below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from agssl.bench.cells import Cell
from agssl.bench.methods import Method
from agssl.bench.scope import Scope
from agssl.config import Settings

SEEDS = 5
# Four settings of each baseline, of which validation chooses one.
_NETWORKS = tuple(f"feature_norm={norm}:weight_decay={decay}" for norm, decay in product(("none", "l2"), (5e-4, 5e-3)))
_STRENGTHS = tuple(f"c={c}" for c in (0, 0.1, 10, 1000))  # 0: chosen among the training nodes
_SHARES = tuple(f"a={a}" for a in (0.1, 0.5, 0.8, 0.95))


@dataclass(frozen=True, eq=False)
class Contender:
    """A column.

    Args:
        name: for `--methods` and records.
        title: for tables.
        tries: of a baseline, what validation chooses from, named as teachers are.
        changes: of AGSSL, its settings.
        configs: whether a dataset's shipped config is used.
    """

    name: str
    title: str
    tries: tuple[str, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)
    configs: bool = False

    @property
    def simple(self) -> bool:
        """Whether it is one of the baselines."""
        return bool(self.tries)

    def cells(self, scope: Scope, graph: str) -> list[Cell]:
        """One cell per seed; none where this version has no such settings."""
        method = Method(self.name, self.title, self.changes or {"method": "gcn"})
        if method.missing() is not None:
            return []
        patience = {"patience": 100} if self.simple else {}  # more than AGSSL has
        settings, config = Settings().replace(**{**patience, **scope.changes, **method.changes}), None
        if self.configs:
            settings, config = method.settings(graph, "jt", scope.configs, scope.changes)
        seeds = range(SEEDS) if scope.seeds is None else scope.seeds
        tries = self.tries
        return [Cell(graph, self.name, settings, s, config=config, whole=True, tries=tries) for s in seeds]


def _baseline(name: str, title: str, settings: tuple[str, ...] = _NETWORKS) -> Contender:
    return Contender(name, title, tuple(f"labels@{name}:{one}" for one in settings))


def _agssl(name: str, title: str, configs: bool = False, **changes: Any) -> Contender:
    return Contender(name, title, changes={"method": "agssl"} | changes, configs=configs)


BASELINES = (
    _baseline("linear:k=0", "logistic, X", _STRENGTHS),
    _baseline("linear", "logistic, hops", _STRENGTHS),
    _baseline("lp", "label prop.", _SHARES),
    _baseline("mlp", "MLP"),
    _baseline("gcn", "GCN"),
    _baseline("sage", "SAGE"),
    _baseline("gat", "GAT"),
    _baseline("gpr", "GPR"),
    _baseline("gcn:view=knn", "kNN-GCN"),
)
PAPER = _agssl("paper", "AGSSL paper", configs=True, teachers=("paper",), integration="lf")
AUTO = _agssl("auto", "AGSSL auto", teachers=("auto",))
QUICK = _agssl("quick", "AGSSL quick", teachers=("auto",), effort="quick")
CONTENDERS = {one.name: one for one in (*BASELINES, PAPER, AUTO, QUICK)}
