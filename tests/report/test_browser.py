"""The page in a real browser: Debian's Chromium, driven by Playwright; skipped where one of them is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agssl.cli.main import main
from agssl.store.run import Run
from reference.page import EVIL_CLASS, EVIL_NODE, NODES, TASKS, Page, write_graph
from reference.tab import Tab, opened


def image(tab: Tab) -> list[int]:
    """How many pixels of the map have each colour, most first."""
    tab.page.wait_for_timeout(80)  # the next frame
    return tab.page.evaluate(
        """() => { const c = document.querySelector('.map canvas'), seen = new Map();
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) {
          const k = (d[i] << 16) | (d[i + 1] << 8) | d[i + 2]; seen.set(k, (seen.get(k) ?? 0) + 1); }
        return [...seen].sort((a, b) => b[1] - a[1]).map(([k]) => k).slice(0, 3); }"""
    )


def test_the_results_on_the_page_are_those_of_the_run(tab: Tab, run: Run, gcn: Run) -> None:
    rows = tab.page.locator("#results table tbody tr")
    texts = {row.locator("th").inner_text(): row.inner_text() for row in rows.all()}
    for name, source in (("student", run), ("GCN", gcn)):
        summary = source.metrics
        assert f"{100 * summary['test_accuracy']['mean']:.1f}%" in texts[name]
        assert f"{summary['macro_f1']:.3f}" in texts[name] and f"{summary['ece']:.3f}" in texts[name]
    for teacher in run.metrics["teachers"]:
        text = texts[f"teacher {teacher['task']}"]
        assert f"{100 * teacher['test_accuracy']['mean']:.1f}%" in text and f"{teacher['weight']:.3f}" in text
    first, estimate = tab.page.locator("#headline").inner_text(), run.metrics["estimate"]
    assert f"{100 * estimate['value']:.1f}%" in first
    assert f"{100 * estimate['low']:.1f}% to {100 * estimate['high']:.1f}%" in first
    assert f"{100 * run.metrics['baselines']['logistic_regression']:.1f}%" in first
    assert "of the trust" in first or "about alike" in first
    assert run.about["command"] in tab.page.locator("#made pre").inner_text()


def test_a_node_is_found_and_shown_as_the_run_has_it(tab: Tab, run: Run) -> None:
    row, fitted = run.predictions(1)[20], run.fitted(1)
    tab.page.fill("input[type=search]", "n20")
    tab.page.keyboard.press("Enter")
    panel = tab.page.locator("#node")
    assert panel.locator("h3").inner_text() == "Node n20"
    assert row["prediction"] in panel.locator(".verdict").inner_text()
    assert panel.is_visible() and not tab.page.locator("#headline").is_visible()
    shown = float(panel.locator(".verdict .num").inner_text().rstrip("%"))
    assert shown == pytest.approx(100 * float(row["probability"]), abs=0.0551)
    assert fitted.weights is not None
    for k, task in enumerate(fitted.task_names):
        weight = panel.locator("table tbody tr", has_text=task).locator("td.trust .num").inner_text()
        assert float(weight) == pytest.approx(float(fitted.weights[20, k]), abs=0.00056)
    near = run.graph(1).neighbours(20)
    assert f"{len(near)} neighbour" in panel.locator("header p").inner_text()
    assert panel.locator(".drawing svg g.other").count() == len(near)
    assert panel.locator(".neighbours li").count() == min(len(near), 8)


def test_a_click_on_the_map_shows_the_node_that_lies_there(tab: Tab, page: Page) -> None:
    tab.page.locator(".map").scroll_into_view_if_needed()
    box = tab.page.locator(".map").bounding_box()
    node = 33
    place = tab.page.evaluate(
        """([x, y]) => { const { width, height } = document.querySelector('.map').getBoundingClientRect();
        const high = Math.min(width, height) - 52, wide = Math.min(1.45 * high, width - 52);
        return [(width - wide) / 2 + x * wide, (height - high) / 2 + (1 - y) * high]; }""",
        (page.arrays["place"][node] / page.data["place"]).tolist(),
    )
    tab.page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    name = tab.page.locator("#node h3").inner_text().removeprefix("Node ")
    names = page.arrays["names"].tobytes().decode().split("\0")
    found = names.index(name)
    gap = page.arrays["place"][found].astype(int) - page.arrays["place"][node].astype(int)
    assert abs(gap).max() < 0.02 * page.data["place"]  # itself, or one that lies on it
    tab.page.locator(".neighbours button").first.click()
    assert tab.page.locator("#node h3").inner_text() != f"Node {name}"


def test_colours_and_theme_can_be_switched(tab: Tab) -> None:
    seen = {"class": image(tab)}
    for way in ("trust", "confidence", "right"):
        tab.page.locator(f"input[name=colour][value={way}]").check(force=True)
        seen[way] = image(tab)
    assert len({tuple(colours) for colours in seen.values()}) == 4
    assert "wrong" in tab.page.locator(".legend").inner_text()
    before = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.page.click("button.theme")
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert image(tab) != seen["right"]


def test_names_that_are_markup_show_as_text(tab: Tab) -> None:
    tab.page.fill("input[type=search]", "onerror")
    tab.page.keyboard.press("Enter")
    assert tab.page.locator("#node h3").inner_text() == f"Node {EVIL_NODE}"
    assert EVIL_CLASS in tab.page.locator(".legend").inner_text()
    assert EVIL_CLASS in tab.page.locator("#errors table").inner_text()
    assert tab.page.locator("img").count() == 0


def test_everything_is_reached_by_keyboard(tab: Tab) -> None:
    tab.page.locator(".map").focus()
    first = tab.page.locator("#node h3").inner_text()
    seen = {first}
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "ArrowDown"):
        tab.page.keyboard.press(key)
        seen.add(tab.page.locator("#node h3").inner_text())
    assert len(seen) > 2
    reached = {"theme"}
    tab.page.locator("button.theme").focus()
    for _ in range(60 + NODES):
        tab.page.keyboard.press("Tab")
        reached.add(tab.page.evaluate("document.activeElement.className || document.activeElement.type"))
    assert {"theme", "search", "radio", "map", "select-one"} <= reached


def test_a_phone_scrolls_only_downwards(browser: Any, page_path: Path) -> None:
    tab = opened(browser, page_path, viewport={"width": 390, "height": 844}, color_scheme="dark")
    width = tab.page.evaluate("document.documentElement.scrollWidth")
    assert width == 390 and tab.troubles == []
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.page.locator("#headline").is_visible() and tab.page.locator("#node").is_visible()
    cut = "(e) => e.scrollWidth - e.clientWidth"
    assert tab.page.locator("#results .scroll").evaluate(cut) == 0
    assert tab.page.locator("#node .scroll").evaluate(cut) == 0
    tab.page.close()


@pytest.mark.parametrize("classes", [("いちばん", "a" * 90), tuple(f"class of number {k}" for k in range(40))])
@pytest.mark.parametrize(("width", "theme"), [(1360, "light"), (390, "dark")])
def test_few_and_many_classes_with_long_names_fit(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, classes: tuple[str, ...], width: int, theme: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"classes-{len(classes)}"
    if not folder.exists():
        graph = write_graph(folder / "graph", classes, each=12)
        quick = ("--epochs", "3", "--hidden", "8", "--tasks", TASKS, "--split", "per-class:4/4")
        assert main(["fit", str(graph), *quick, "--out", str(folder / "run")]) == 0
        assert main(["report", str(folder / "run"), "--map", "pca", "--reasons", "20"]) == 0
    tab = opened(
        browser,
        folder / "run" / "report.html",
        "#node=n20",
        viewport={"width": width, "height": 900},
        color_scheme=theme,
    )
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width and tab.troubles == []
    assert tab.page.locator("#node .scroll").evaluate("(e) => e.scrollWidth - e.clientWidth") == 0
    assert tab.page.locator("#node").evaluate("(e) => e.scrollWidth - e.clientWidth") == 0
    bars = tab.page.locator("#node td.trust .bar")
    assert bars.count() == 2 and all(bar.bounding_box()["width"] > 40 for bar in bars.all())
    tab.page.close()


def test_a_comparison_opens_too(browser: Any, run: Run, gcn: Run, tmp_path: Path) -> None:
    path = tmp_path / "compare.html"
    assert main(["compare", str(gcn.path), str(run.path), "-o", str(path)]) == 0
    tab = opened(browser, path)
    assert tab.troubles == [] and tab.requests == [path.resolve().as_uri()]
    text = tab.page.locator("#runs table").inner_text()
    assert f"{100 * run.metrics['test_accuracy']['mean']:.1f}%" in text
    assert "paired, 2 seeds" in tab.page.locator("#differences").inner_text()
    tab.page.close()


def test_it_prints(browser: Any, page_path: Path) -> None:
    tab = opened(browser, page_path)
    assert tab.page.pdf(format="A4").startswith(b"%PDF")
    assert tab.troubles == []
    tab.page.close()
