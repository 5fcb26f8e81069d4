"""Adam: bit-equal to torch's, checkpoints included, and without its imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from agssl.ops.adam import Adam


def parameters() -> list[nn.Parameter]:
    draw = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(shape, generator=draw)) for shape in ((7, 5), (5,), (3, 3))]


def gradients(step: int) -> list[torch.Tensor | None]:
    """The last parameter gets one in every second step only."""
    draw = torch.Generator().manual_seed(step + 1)
    found: list[torch.Tensor | None] = [torch.randn(shape, generator=draw) for shape in ((7, 5), (5,), (3, 3))]
    return found if step % 2 else [*found[:2], None]


def steps(optimizer: Adam | torch.optim.Adam, own: list[nn.Parameter], numbers: range) -> None:
    for number in numbers:
        optimizer.zero_grad()
        for parameter, gradient in zip(own, gradients(number), strict=True):
            parameter.grad = gradient
        optimizer.step()


def test_every_step_is_bit_equal_to_torchs() -> None:
    ours, theirs = parameters(), parameters()
    steps(Adam(ours, 0.01, 5e-4), ours, range(9))
    steps(torch.optim.Adam(theirs, lr=0.01, weight_decay=5e-4, fused=True), theirs, range(9))
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_state_of_one_is_taken_up_by_another() -> None:
    whole, first, second = parameters(), parameters(), parameters()
    steps(Adam(whole, 0.01), whole, range(8))
    before, after = Adam(first, 0.01), Adam(second, 0.01)
    steps(before, first, range(5))
    with torch.no_grad():
        for parameter, value in zip(second, first, strict=True):
            parameter.copy_(value)
    after.load_state_dict(before.state_dict())
    steps(after, second, range(5, 8))
    assert all(torch.equal(a, b) for a, b in zip(whole, second, strict=True))


def test_training_imports_neither_torchs_compiler_nor_scikit_learn() -> None:
    code = (
        "import sys; from agssl.train.methods import train_method; import agssl.fitting.seeds;"
        "from reference.graphs import blocks_graph; from reference.settings import quick;"
        "train_method(blocks_graph(), quick(tasks=('par', 'pairsim'), alpha=1.0));"
        "print('torch._dynamo' in sys.modules, 'sklearn' in sys.modules)"
    )
    folders = os.pathsep.join(path for path in (str(Path(__file__).parents[1]), *sys.path) if path)
    variables = os.environ | {"PYTHONPATH": folders}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
    assert done.stdout.split() == ["False", "False"]
