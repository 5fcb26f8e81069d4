"""The sentence of a run, and the gaps beside its result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from agssl.report.words import gaps, trust_sentence


@dataclass
class Fitted:
    """As much of a fitted model as the sentence reads."""

    weights: np.ndarray
    task_names: tuple[str, ...] = ("par", "clu")


DEGREE = np.repeat([1, 2, 3, 4], 10)
CLASSES = np.repeat([0, 1], 20)


def sentence(par: np.ndarray, predicted: np.ndarray = CLASSES) -> str:
    fitted = Fitted(np.stack([par, 1 - par], axis=1))
    return trust_sentence(fitted, DEGREE, ["theory", "practice"], predicted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("par", "expected"),
    [
        (np.full(40, 0.8), "par was trusted most (80% of the trust)."),
        (0.5 + DEGREE / 10, "par was trusted most (75% of the trust), the more so the more neighbours a node has."),
        (1 - DEGREE / 20, "par was trusted most (88% of the trust), the less so the more neighbours a node has."),
        (np.full(40, 0.505), "All teachers were trusted about alike."),
    ],
)
def test_it_says_who_was_trusted_and_how_that_goes_with_neighbours(par: np.ndarray, expected: str) -> None:
    assert sentence(par) == expected


def test_it_names_the_class_that_leans_on_another_teacher() -> None:
    predicted = np.arange(40) % 2
    par = np.where(predicted == 1, 0.3, 0.9)
    assert sentence(par, predicted) == "par was trusted most (60% of the trust); class practice leans on clu."


def test_a_class_of_few_nodes_is_not_spoken_of() -> None:
    predicted = (np.arange(40) >= 35).astype(int)
    assert "leans" not in sentence(np.where(predicted == 1, 0.1, 0.9), predicted)


def test_gaps_are_differences_to_the_runs_own_baselines() -> None:
    found = gaps({"value": 0.9}, {"majority": 0.4, "logistic_regression": 0.95})
    assert [row["gap"] for row in found] == pytest.approx([0.5, -0.05])
    assert gaps(None, {"majority": 0.4}) == [] and gaps({"value": 0.9}, None) == []
