"""Everything on the page filters everything, and the address keeps it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.cli.main import main
from agssl.store.run import Run
from reference.page import TASKS, Page
from reference.tab import Tab, opened


def listed(tab: Tab) -> int:
    """How many nodes pass, as the table says."""
    return int(tab.page.locator(".table-tools > .quiet").inner_text().split(" of ")[0].replace(",", ""))


def test_a_cell_of_the_confusion_matrix_shows_its_nodes(tab: Tab, page: Page) -> None:
    confusion = np.array(page.data["confusion"])
    row, column = np.argwhere(confusion > 0)[0]
    tab.page.locator("#errors table tbody tr").nth(int(row)).locator("td").nth(int(column)).locator("button").click()
    assert listed(tab) == confusion[row, column]
    assert tab.page.locator(".filter").count() == 2
    tab.page.locator(".filters .link-button").click()
    assert listed(tab) == page.data["data"]["nodes"] and tab.page.locator(".filter").count() == 0


@pytest.mark.parametrize("change", ["rescued", "spoiled", "both_right", "both_wrong"])
def test_what_integration_changed_shows_its_nodes(tab: Tab, page: Page, change: str) -> None:
    tab.page.locator(f"[data-change={change}]").click()
    assert listed(tab) == page.data["changes"][change]
    tab.page.locator(f"[data-change={change}]").click()
    assert listed(tab) == page.data["data"]["nodes"]


def test_trust_by_degree_and_the_legend_filter_alike(tab: Tab, page: Page) -> None:
    trusted = page.arrays["weights"].argmax(1)
    tab.page.locator("input[name=colour][value=trust]").check(force=True)
    tab.page.locator(".legend button").nth(1).click()
    assert listed(tab) == (trusted == 1).sum()
    tab.page.locator("#trust table").first.locator("tbody tr").first.locator("button").first.click()
    assert tab.page.locator("[data-filter=degree]").count() == 1
    assert tab.page.locator("[data-filter=trusted]").inner_text().startswith("trusts clu:clusters=3 most")


def test_pairs_that_differ_and_bins_of_confidence_show_their_nodes(browser: Any, page_path: Path, page: Page) -> None:
    part = page.arrays["part"] == 3
    said = page.arrays["top"][:, part, 0]
    differ = opened(browser, page_path, "#differ=1-2")
    assert listed(differ) == (said[1] != said[2]).sum() == round((1 - page.data["agreement"][0][1]) * part.sum())
    bin_ = page.data["reliability"][-1]
    sure = opened(browser, page_path, f"#sure={bin_['low']:.4f}-{bin_['high']:.4f}")
    assert listed(sure) == bin_["nodes"]
    assert differ.troubles == sure.troubles == []


def test_the_table_sorts_and_saves_what_passes(tab: Tab, page: Page) -> None:
    tab.page.locator("[data-pick=wrong]").click()
    wrong = page.arrays["known"].astype(bool) & (page.arrays["predicted"] != page.arrays["label"])
    assert listed(tab) == wrong.sum()
    sure = [float(cell.rstrip("%")) for cell in tab.page.locator(".nodes tbody td:nth-child(3)").all_inner_texts()]
    assert sure == sorted(sure, reverse=True)
    with tab.page.expect_download() as saved:
        tab.page.locator(".csv").click()
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8"))))
    names = page.arrays["names"].tobytes().decode().split("\0")
    assert {row["node"] for row in rows} == {names[i] for i in np.flatnonzero(wrong)}
    assert {row["right"] for row in rows} == {"wrong"} and "trust in pairdis" in rows[0]
    tab.page.locator(".nodes th button", has_text="Node").click()
    assert tab.page.locator(".nodes th[aria-sort=ascending]").inner_text().startswith("Node")


def test_what_to_label_next_is_listed_with_reasons(browser: Any, tab: Tab, page: Page, page_path: Path) -> None:
    tab.page.locator("[data-pick=ask]").click()
    assert listed(tab) == len(page.data["suggested"]) == 4
    names = page.arrays["names"].tobytes().decode().split("\0")
    rows = tab.page.locator(".nodes tbody tr")
    for row, (at, one) in zip(rows.all(), enumerate(page.data["suggested"], 1), strict=True):
        assert row.locator("td").first.inner_text() == names[one["node"]]
        assert row.locator(".why").inner_text() == f"{at}. {one['reason']}"
    rows.nth(1).click()
    assert page.data["suggested"][1]["reason"] in tab.page.locator("#node .verdict").inner_text()
    again = opened(browser, page_path, tab.page.evaluate("location.hash"))
    assert listed(again) == 4 and again.page.locator(".nodes tbody .why").count() == 4 and again.troubles == []
    again.page.close()
    with tab.page.expect_download() as saved:
        tab.page.locator(".csv").click()
    saved_rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8"))))
    assert [(row["label next"], row["why label it"]) for row in saved_rows] == [
        (str(at), one["reason"]) for at, one in enumerate(page.data["suggested"], 1)
    ]
    tab.page.locator("[data-filter=pick]").click()
    assert tab.page.locator(".nodes th", has_text="Part").count() == 1  # and the table is what it was


def test_right_and_wrong_are_said_of_nodes_that_did_not_train(tab: Tab, page: Page) -> None:
    train, part = page.arrays["part"] == 1, page.arrays["part"]
    assert not page.arrays["known"][train].any() and page.arrays["known"][part == 3].all()
    names = page.arrays["names"].tobytes().decode().split("\0")
    tab.page.fill("input[type=search]", names[int(np.flatnonzero(train)[0])])
    tab.page.keyboard.press("Enter")
    assert "it was trained on" in tab.page.locator(".verdict").inner_text()
    tab.page.locator("select").select_option("unlabelled")
    assert listed(tab) == (page.arrays["label"] < 0).sum() == 4


def test_a_link_keeps_what_is_looked_at(browser: Any, tab: Tab, page_path: Path) -> None:
    tab.page.fill("input[type=search]", "n20")
    tab.page.keyboard.press("Enter")
    tab.page.locator("input[name=colour][value=confidence]").check(force=True)
    tab.page.locator("select").select_option("3")
    state = tab.page.evaluate("location.hash")
    again = opened(browser, page_path, state)
    assert again.page.locator("#node h3").inner_text() == "Node n20"
    assert again.page.locator("input[type=search]").input_value() == "n20"
    assert again.page.locator("input[value=confidence]").is_checked() and listed(again) == listed(tab)
    again.page.locator(".map").focus()
    again.page.keyboard.press("ArrowRight")
    moved = again.page.locator("#node h3").inner_text().removeprefix("Node ")
    assert again.page.locator("input[type=search]").input_value() == moved != "n20"
    again.page.close()


def test_a_link_of_another_run_shows_all(browser: Any, page_path: Path, page: Page) -> None:
    tab = opened(browser, page_path, "#node=nobody&class=77&colour=taste&trusted=9&sort=nothing")
    assert listed(tab) == page.data["data"]["nodes"] and tab.troubles == []
    tab.page.close()


def test_figures_are_saved_as_svg_and_png(tab: Tab) -> None:
    places = tab.page.locator(".save")
    assert places.count() >= 9
    for number in (0, places.count() // 2, places.count() - 1):
        place = places.nth(number)
        place.scroll_into_view_if_needed()
        for kind, head in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with tab.page.expect_download() as saved:
                place.locator("button", has_text=kind).click(force=True)
            found = Path(saved.value.path()).read_bytes()
            assert found.startswith(head) and len(found) > 2000
            assert saved.value.suggested_filename.endswith(kind.lower())


def test_a_word_of_the_glossary_is_explained(tab: Tab, page: Page) -> None:
    tab.page.locator("#results [data-term=ECE]").hover()
    tip = tab.page.locator("#term-tip")
    assert tip.is_visible() and tip.inner_text() == page.data["glossary"]["ECE"]
    tab.page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_the_card_says_which_features_moved_the_prediction(tab: Tab, page: Page, run: Run) -> None:
    tab.page.fill("input[type=search]", "n20")
    tab.page.keyboard.press("Enter")
    text = tab.page.locator("#node .reasons").inner_text()
    row = page.arrays["why_node"].tolist().index(20)
    first = page.data["features"][page.arrays["why_feature"][row, 0]]["name"]
    assert f"{first} = " in text
    value = page.arrays["why_value"][row, 0]
    raw = (run.path.parent / "graph" / "nodes.csv").read_text().splitlines()[21].split(",")
    assert value == pytest.approx(float(raw[1 + int(first[1:])]), abs=2e-4)  # as the table has it


def test_held_out_runs_say_held_out(fit: Callable[..., Run], browser: Any, tmp_path: Path) -> None:
    run, path = fit("--tasks", TASKS, "--split", "cv:3"), tmp_path / "page.html"
    assert main(["report", str(run.path), "--map", "pca", "-o", str(path)]) == 0
    tab = opened(browser, path)
    text = tab.page.locator("main").inner_text().lower()
    assert "held-out accuracy" in text and "validation" not in text and tab.troubles == []
    tab.page.close()
