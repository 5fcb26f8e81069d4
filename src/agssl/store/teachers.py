"""What a fitted model keeps of its teachers beside their logits, to weigh them at nodes that it was not fitted to.

In the file of a model their tensors are named `teachers.…` and may be left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from agssl.base.errors import DataError
from agssl.base.rng import Rng
from agssl.encoders import Network
from agssl.integrate import INTEGRATORS, Integrator, Knowledge
from agssl.integrate.calibration import Calibration
from agssl.store.networks import read_network, tensors_below

PREFIX = "teachers."


@dataclass(frozen=True, eq=False)
class KeptTeachers:
    """The teachers' networks, their calibration, and the integrator's parameters and buffers."""

    networks: tuple[tuple[Network, ...], ...]  # of each teacher; of a split with folds, one per fold
    integration: str
    state: Mapping[str, Tensor]  # of the integrator
    nodes: int  # of the fitted graph
    heldout: int  # labelled nodes that lambda was fitted to
    calibration: Calibration | None = None

    @property
    def nbytes(self) -> int:
        """What they take in memory and in a file."""
        return sum(tensor.nbytes for tensor in self.tensors().values())

    def integrator(self) -> Integrator:
        """The integrator, in evaluation mode; its parameters and buffers say all that it learnt."""
        teachers, classes = len(self.networks), self.networks[0][0].shape.classes
        zero, none = torch.zeros(()), torch.zeros(self.heldout, dtype=torch.int64)
        logits, heldout = (zero.expand(teachers, n, classes) for n in (self.nodes, self.heldout))
        kind = INTEGRATORS[self.integration]
        found = kind(Knowledge(logits, none, none, heldout, self.calibration), Rng(0))
        try:
            found.load_state_dict(dict(self.state))
        except RuntimeError as error:
            raise DataError(f"the integrator of the model is damaged ({error}); fit again") from error
        return found.eval()

    def tensors(self) -> dict[str, Tensor]:
        """All tensors, by their names in a file."""
        found = {
            f"{PREFIX}{k}.{number}.{name}": tensor.contiguous()
            for k, networks in enumerate(self.networks)
            for number, network in enumerate(networks)
            for name, tensor in network.state_dict().items()
        }
        found |= {f"{PREFIX}integrator.{name}": tensor.contiguous() for name, tensor in self.state.items()}
        if self.calibration is not None:
            found[f"{PREFIX}temperatures"] = self.calibration.temperatures.contiguous()
            found[f"{PREFIX}shifts"] = self.calibration.shifts.contiguous()
        return found

    def about(self) -> dict[str, Any]:
        """All that is no tensor, as plain values: each teacher has a shape of its own."""
        each = [{"shape": dataclasses.asdict(one[0].shape), "networks": len(one)} for one in self.networks]
        return {"each": each, "nodes": self.nodes, "heldout": self.heldout}

    @classmethod
    def read(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor], integration: str) -> KeptTeachers:
        """The inverse of `about` and `tensors`; what does not fit together is a `TypeError` or a `ValueError`."""
        ours = tensors_below(PREFIX, tensors)
        networks = tuple(
            tuple(read_network(one["shape"], tensors_below(f"{k}.{n}.", ours)) for n in range(one["networks"]))
            for k, one in enumerate(about["each"])
        )
        sizes = (about["nodes"], about["heldout"])
        if not all(isinstance(size, int) for size in sizes) or not 0 <= sizes[1] <= sizes[0]:
            raise ValueError(f"lambda was fitted to {sizes[1]} of {sizes[0]} nodes")
        if not networks or not all(networks):
            raise ValueError("a teacher has no network")
        classes, calibration = networks[0][0].shape.classes, None
        if any(network.shape.classes != classes for one in networks for network in one):
            raise ValueError("the teachers have different numbers of classes")
        if "temperatures" in ours:
            calibration = Calibration(ours["temperatures"], ours["shifts"])
            if (*calibration.temperatures.shape, *calibration.shifts.shape) != (len(networks), len(networks), classes):
                raise ValueError("the calibration does not fit the teachers")
        return cls(networks, integration, tensors_below("integrator.", ours), *sizes, calibration)
