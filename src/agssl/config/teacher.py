"""A teacher as text names it: a task, an encoder and a view, as in `par@gcn` or `labels@mlp:feature_norm=l2`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agssl.base.errors import SettingsError
from agssl.base.spec import Spec
from agssl.config.fields import DESCRIBED

LABELS = "labels"  # the task of a teacher that learns from labels alone
# Settings of a network that a teacher may have for itself; whatever else stands after its encoder is the encoder's own.
OF_NETWORK = (
    "view",
    "feature_norm",
    "skip_weight",
    "norm",
    "residual",
    "hidden",
    "layers",
    "head",
    "dropout",
    "input_dropout",
    "lr",
    "weight_decay",
)


AUTO, PAPER = "auto", "paper"  # a pool that the fit finds; the paper's five tasks on a GCN


@dataclass(frozen=True)
class TeacherSpec:
    """One teacher.

    Args:
        task: a pretext task with its settings, or `labels`.
        encoder: a name with settings of its own; None: that of the fit.
        settings: of its network, where they differ from those of the fit.
        seed: one teacher may be trained several times, with other random numbers.
    """

    task: str
    encoder: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> TeacherSpec:
        """The teacher of a text; settings of its network and of its encoder follow the encoder, after colons.

        >>> spec = TeacherSpec.parse("labels@gat:heads=4:view=knn")
        >>> spec.task, spec.encoder, spec.settings
        ('labels', 'gat:heads=4', {'view': 'knn'})
        >>> TeacherSpec.parse("par:parts=100").encoder is None
        True
        """
        task, at, where = text.strip().partition("@")
        if not task or (at and not where):
            raise SettingsError(f"the teacher {text!r} is not understood; write a task and an encoder, as in par@gcn")
        if not at:
            return cls(task)
        where, _, seed = where.partition(":seed=")
        if seed and not seed.isdecimal():
            raise SettingsError(f"the teacher {text!r}: seed = {seed}, but it is a whole number, and stands last")
        return cls(task, *parse_network(where), int(seed or 0))


def parse_network(text: str) -> tuple[str, dict[str, Any]]:
    """The encoder with its own settings, and those of the network, of a text such as `gcn:view=knn:hidden=128`.

    A view's own settings follow a slash: `view=knn/k=20`.
    """
    spec, settings = Spec.parse(text), {}
    own = []
    for option in spec.options:
        name, equals, value = option.partition("=")
        if name not in OF_NETWORK or not equals:
            own.append(option)
            continue
        value = value.replace("/", ":") if name == "view" else value
        try:
            settings[name] = DESCRIBED[name].check(name, DESCRIBED[name].kind.parse(value))
        except ValueError as error:
            raise SettingsError(f"{text!r}: {name} = {value}, but it must be {DESCRIBED[name].kind.words}") from error
    return str(Spec(spec.name, tuple(own))), settings
