"""The model card says what the run knows, and nothing of what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agssl.cli.main import main
from agssl.config import Settings
from agssl.metrics import metric_text
from agssl.store.model_card import model_card
from agssl.store.run import Run

GCN = ("--method", "gcn", "--epochs", "3", "--hidden", "4")


def fit(out: Path, *words: str) -> tuple[Run, str]:
    assert main(["fit", "digits", *GCN, "--out", str(out), *words]) == 0
    return Run.open(out), (out / "MODEL_CARD.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [(), ("--split", "cv:2"), ("--metric", "log_loss")])
def test_the_card_has_the_figures_of_the_run(tmp_path: Path, words: tuple[str, ...]) -> None:
    run, text = fit(tmp_path / "run", *words)
    estimate, labels = run.metrics["estimate"], run.metrics["labels"]
    metric = estimate["metric"]
    for key in ("value", "low", "high"):
        assert metric_text(metric, estimate[key]) in text
    assert f"{labels['train']:,} trained" in text and f"{labels['measure']:,} measured" in text
    assert ("had not seen its label" in text) == (estimate["measured_on"] == "heldout")
    assert f"ECE {run.metrics['ece']:.3f}" in text and run.source.fingerprint in text
    assert all(warning in text for warning in run.metrics["warnings"])
    for one in run.metrics["per_class"]:
        assert f"| {one['class']} | {one['precision']:.3f} |" in text
    assert "Trust in the teachers" not in text  # a GCN has none


def test_teachers_and_their_trust_are_on_the_card(tmp_path: Path) -> None:
    trust = {"disagreement": 0.25, "most_trusted": 0.6, "majority": 0.5, "pairs_right": 0.75}
    text = model_card({"seeds": [0, 1]}, Settings(tasks=("par", "clu")), "auto", {"trust": trust})
    assert "teachers: par, clu" in text and "0.75 of such pairs" in text and "Seeds: 0, 1" in text


def test_what_is_not_known_is_left_out() -> None:
    text = model_card({"seeds": [0]}, Settings(), "auto", {})
    assert "## Limits" in text
    assert not any(title in text for title in ("## Data", "## Labels", "## What it is worth", "## Calibration", "None"))


def test_names_of_the_user_do_not_break_the_card() -> None:
    row = {"class": "a|b\n<script>", "precision": None, "recall": 1.0, "f1": 0.5, "support": 3}
    text = model_card({"seeds": [0]}, Settings(), "auto", {"per_class": [row]})
    assert "| a\\|b &lt;script> | - | 1.000 | 0.500 |" in text


def test_a_run_that_is_replaced_gets_a_new_card(tmp_path: Path) -> None:
    _, before = fit(tmp_path / "run")
    _, after = fit(tmp_path / "run", "--seed", "5", "--overwrite")
    assert "Seeds: 0;" in before and "Seeds: 5;" in after
