"""Edge weights on the command line: used, said, ignored on request, and known to a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.store.run import Run

QUICK = ("--method", "gcn", "--epochs", "5", "--hidden", "8")


@pytest.fixture
def weighted(graph: Path) -> Path:
    """The small graph with a weight per edge, the same both ways."""
    header, *links = (graph / "edges.csv").read_text().split()
    pairs = [sorted(link.split(",")) for link in links]
    weights = [1 + sum(map(ord, "".join(pair))) % 5 for pair in pairs]
    rows = [f"{link},{weight},{weight / 10}" for link, weight in zip(links, weights, strict=True)]
    (graph / "edges.csv").write_text(f"{header},weight,share\n" + "\n".join(rows) + "\n")
    return graph


def predictions(done: Any) -> list[str]:
    assert done.code == 0, done.err
    lines: list[str] = done.out.splitlines()
    return lines


def test_info_tells_about_weights(agssl: Callable[..., Any], weighted: Path) -> None:
    facts = json.loads(agssl("data", "info", weighted, "--json").out)
    assert (facts["weights"]["min"], facts["weights"]["max"]) == (1, 5)
    assert "min 1.0000, mean" in agssl("data", "info", weighted).out
    shares = json.loads(agssl("data", "info", weighted, "--weight", "share", "--json").out)
    assert shares["weights"]["max"] == pytest.approx(0.5)
    assert "weights" not in json.loads(agssl("data", "info", weighted, "--unweighted", "--json").out)
    both = agssl("data", "info", weighted, "--unweighted", "--weight", "share")
    assert both.code == 2 and "not allowed with" in both.err


def test_fit_says_in_one_line_that_weights_are_used(agssl: Callable[..., Any], weighted: Path) -> None:
    done = agssl("fit", weighted, *QUICK, "--out", "with")
    lines = [line for line in done.err.splitlines() if "weights" in line]
    assert len(lines) == 1 and "edge weights are used (1 to 5, " in lines[0] and "--unweighted" in lines[0]
    assert "edge weights" not in agssl("fit", weighted, *QUICK, "--unweighted", "--out", "without").err
    a, b = (Run.open(name).fitted().logits for name in ("with", "without"))
    assert not np.array_equal(a, b)


def test_a_run_reads_a_graph_as_it_was_fitted(agssl: Callable[..., Any], weighted: Path) -> None:
    agssl("fit", weighted, *QUICK, "--weight", "share", "--out", "share")
    agssl("fit", weighted, *QUICK, "--unweighted", "--out", "plain")
    found = {}
    for run in ("share", "plain"):
        found[run] = predictions(agssl("predict", run, "--proba"))
        assert predictions(agssl("predict", run, weighted, "--proba")) == found[run]
    other = predictions(agssl("predict", "share", weighted, "--proba", "--unweighted"))
    assert other != found["share"]
    assert predictions(agssl("predict", "plain", weighted, "--proba", "--weight", "weight")) != found["plain"]


def test_a_run_that_says_nothing_of_weights_used_none(agssl: Callable[..., Any], weighted: Path) -> None:
    agssl("fit", weighted, *QUICK, "--unweighted", "--out", "old")
    about = json.loads(Path("old/run.json").read_text())
    del about["graph"]["weight"], about["graph"]["unweighted"]
    Path("old/run.json").write_text(json.dumps(about))
    assert Run.open("old").graph().weights is None


def test_packing_keeps_the_weights(agssl: Callable[..., Any], weighted: Path) -> None:
    assert agssl("data", "pack", weighted, "packed").code == 0
    facts = [json.loads(agssl("data", "info", path, "--json").out) for path in (weighted, "packed")]
    assert facts[0]["weights"] == facts[1]["weights"]
    agssl("fit", weighted, *QUICK, "--out", "run")
    assert predictions(agssl("predict", "run", "packed")) == predictions(agssl("predict", "run"))


def test_a_bad_weight_is_one_line(agssl: Callable[..., Any], weighted: Path) -> None:
    path = weighted / "edges.csv"
    first = path.read_text().splitlines()[1]
    path.write_text(path.read_text().replace(first, first.rsplit(",", 2)[0] + ",heavy,1"))
    done = agssl("fit", weighted, *QUICK)
    assert done.code == 2 and len(done.err.splitlines()) == 1
    assert "edges.csv line 2: edge 0 has the weight 'heavy', which is no number" in done.err
    assert agssl("fit", weighted, *QUICK, "--unweighted").code == 0
