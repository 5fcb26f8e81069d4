"""Networks from the tensors and the shape that a file has of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders import Network, Shape, blueprint

_KINDS: dict[str, Any] = {"int": int, "float": int | float, "str": str}  # of fields of a shape


def read_network(about: Mapping[str, Any], state: Mapping[str, Tensor]) -> Network:
    """The network of a shape with these tensors; what does not fit is a `TypeError`, `ValueError` or `RuntimeError`."""
    shape = Shape(**about)
    for name, kind in ((f.name, _KINDS.get(str(f.type))) for f in dataclasses.fields(shape)):
        if kind is not None and not isinstance(getattr(shape, name), kind):
            raise TypeError(f"{name} is {getattr(shape, name)!r}")
    if shape.layers != len({name.split(".")[2] for name in state if name.startswith("encoder.layers.")}):
        raise ValueError(f"weights do not fit the shape {shape}")
    held, least = sum(v.numel() for v in state.values()), shape.hidden * shape.classes
    if max(least, *(v.numel() for v in blueprint(shape).parameters())) > held:  # don't allocate what is not in the file
        raise ValueError(f"weights do not fit the shape {shape}")
    model = Network(shape, Rng(0))
    model.load_state_dict(dict(state))
    return model


def tensors_below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, by the rest of the name.

    >>> tensors_below("model.", {"model.head.bias": 1, "logits": 2})
    {'head.bias': 1}
    """
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
