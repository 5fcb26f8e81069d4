"""Networks whose losses are mixed anew at every step: one function for the methods that do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agssl.train.context import Context, MethodResult
from agssl.train.mixing import Mix
from agssl.train.network import WeightedTask


def fit_mixed(context: Context, choices: Sequence[Sequence[WeightedTask]], mix: Mix) -> MethodResult:
    """One network with all tasks, their losses mixed at every step; alphas by validation.

    Args:
        context: what to work with.
        choices: the tasks with their alphas, once for each choice of these.
        mix: how the losses become one.
    """
    context, name = replace(context, mix=mix), context.settings.method
    rng = context.rng.child(name)
    number, network = context.best_network(choices, rng, name)
    return context.result(network, choices[number], rng, name)
