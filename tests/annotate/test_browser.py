"""The page of `agssl label` in a real browser: Debian's Chromium, driven by Playwright; skipped without them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.annotate.session import Learned, Session
from agssl.data.label_files import read_label_file
from reference.graphs import blocks_graph
from reference.labelling import Client, served
from reference.tab import Tab, opened

EVIL = '<img src=x onerror="alert(1)">'
LONG = "a name of a class that is far too long for any button, " * 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.csv"


@pytest.fixture
def served_page(path: Path) -> Iterator[tuple[Client, Session]]:
    graph = blocks_graph(60)
    names = np.array([f"{EVIL if i % 3 == 0 else 'n'}{i}" for i in range(60)])
    with served(replace(graph, y=np.full(60, -1), classes=(), split=None, node_names=names), path) as found:
        yield found


@pytest.fixture
def tab(browser: Any, served_page: tuple[Client, Session]) -> Iterator[Tab]:
    """The page; at the end nothing may have gone wrong, and no request have gone elsewhere."""
    client, _ = served_page
    found = opened(browser, client.address, color_scheme="light")
    yield found
    assert found.troubles == []
    assert {url for url in found.requests if not url.startswith(client.address)} <= {"data:,"}
    found.page.close()


def said(tab: Tab, count: int) -> None:
    tab.page.wait_for_selector(f'html[data-labels="{count}"]')


def node(tab: Tab) -> int:
    return int(tab.page.get_attribute("html", "data-node"))


def test_click_key_new_class_skip_undo_and_reload(tab: Tab, path: Path, served_page: tuple[Client, Session]) -> None:
    page, names = tab.page, served_page[1].names
    assert "no classes yet" in page.locator("#classes").inner_text()
    first = node(tab)
    page.keyboard.press("n")
    page.keyboard.type(EVIL)
    page.keyboard.press("Enter")
    said(tab, 1)
    second = node(tab)
    page.fill("#new", LONG)
    page.click("#other button")
    said(tab, 2)
    third = node(tab)
    page.keyboard.press("1")
    said(tab, 3)
    fourth = node(tab)
    page.locator("#classes button").nth(1).click()
    said(tab, 4)
    expected = {first: EVIL, second: LONG.strip(), third: EVIL, fourth: LONG.strip()}
    assert read_label_file(path) == {names[at]: label for at, label in expected.items()}
    assert page.locator("#classes button span").first.inner_text() == EVIL  # as text
    skipped = node(tab)
    page.keyboard.press("s")
    page.wait_for_selector(f'html:not([data-node="{skipped}"])')
    page.keyboard.press("u")
    page.wait_for_selector(f'html[data-node="{skipped}"]')
    page.click("#undo")
    said(tab, 3)
    assert node(tab) == fourth and names[fourth] not in read_label_file(path)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    said(tab, 3)
    assert node(tab) == fourth
    page.keyboard.press("u")  # what this tab did before it was loaded again
    said(tab, 2)
    page.keyboard.press("z")  # of no class: nothing happens
    page.keyboard.press("Control+1")
    page.wait_for_timeout(100)
    assert len(read_label_file(path)) == 2


def test_a_label_is_changed_from_the_list_and_from_a_neighbour(tab: Tab, path: Path) -> None:
    page = tab.page
    for name in ("a", "b"):
        page.fill("#new", name)
        page.press("#new", "Enter")
        page.wait_for_selector(f"#classes button:nth-child({'ab'.index(name) + 1})")
    suggested = node(tab)
    page.locator("#recent button").first.click()
    page.wait_for_selector('#classes button[aria-pressed="true"]')
    page.keyboard.press("1")
    page.wait_for_selector(f'html[data-node="{suggested}"]')
    assert list(read_label_file(path).values()) == ["a", "a"]
    page.locator("#recent button").first.click()
    page.click("#remove")
    said(tab, 1)
    page.locator("#near button").first.click()
    page.wait_for_selector("#back:not([hidden])")
    page.click("#back")
    page.wait_for_selector(f'html[data-node="{suggested}"]')


def test_two_tabs_label_different_nodes_and_overwrite_nothing(
    tab: Tab, browser: Any, served_page: tuple[Client, Session], path: Path
) -> None:
    client, session = served_page
    other = opened(browser, client.address, color_scheme="dark")
    assert node(tab) != node(other)
    shown = node(tab)
    assert client.label(shown, "theirs", tab="a third").status == 200
    tab.page.fill("#new", "ours")
    tab.page.press("#new", "Enter")
    tab.page.wait_for_selector("#trouble:not([hidden])")
    assert "is labelled theirs by now" in tab.page.locator("#trouble").inner_text()
    assert read_label_file(path) == {session.names[shown]: "theirs"}
    tab.page.wait_for_selector('#classes button[aria-pressed="true"]')
    other.page.fill("#new", "mine")
    other.page.press("#new", "Enter")
    said(other, 2)
    said(tab, 2)  # it hears of the other one
    assert other.troubles == [] and len(read_label_file(path)) == 2
    tab.troubles[:] = [text for text in tab.troubles if "409" not in text]  # the browser's own line about the refusal
    other.page.close()


def test_the_estimate_is_drawn_as_it_climbs(tab: Tab, served_page: tuple[Client, Session]) -> None:
    session = served_page[1]
    for labels, value in ((6, 0.5), (12, 0.75), (20, 0.9)):
        estimate = {"metric": "accuracy", "value": value, "low": value - 0.1, "high": value + 0.1}
        session.learn(Learned(labels, estimate, 1.0, [(5, "why")], [EVIL] * 60, np.full(60, 0.7)))
    tab.page.wait_for_selector('html[data-fits="3"]')
    assert tab.page.locator("#estimate").inner_text().startswith("90.0%")
    heights = [float(one.get_attribute("cy")) for one in tab.page.locator("#curve circle").all()]
    assert len(heights) == 3 and heights == sorted(heights, reverse=True)
    tab.page.wait_for_selector("#now .dot")
    assert EVIL in tab.page.locator("#now").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser: Any, served_page: tuple[Client, Session], scheme: str) -> None:
    client, _ = served_page
    client.label(0, LONG)
    client.label(1, "W" * 150)
    tab = opened(browser, client.address, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 390
    box = tab.page.locator("#classes button").first.bounding_box()
    assert box["height"] >= 40 and box["y"] < 844  # to be hit without scrolling
    back = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(19, 21, 24)") == (scheme == "dark")
    tab.page.close()


ATTACK = """<!doctype html><title>elsewhere</title>
<form id="f" method="post" enctype="text/plain" target="frame"></form>
<iframe name="frame"></iframe><script>
const found = {};
const said = JSON.stringify({tab: "x", node: 1, label: "stolen", before: null});
async function attempt(name, call) { try { found[name] = await call(); } catch { found[name] = "refused"; } }
const post = (more) => ({method: "POST", body: said, ...more});
const json = {headers: {"Content-Type": "application/json"}};
const text = (answer) => answer.text();
const loads = (element, property, url) => new Promise((done) => {
  element.onload = () => done("loaded"); element.onerror = () => done("refused");
  element[property] = url; document.body.append(element);
});
async function attack(base) {
  await attempt("read", () => fetch(base + "api/state?tab=x").then(text));
  await attempt("page", () => fetch(base).then(text));
  await attempt("write", () => fetch(base + "api/label", post(json)).then(text));
  await attempt("simple", () => fetch(base + "api/label", post({mode: "no-cors"})).then((got) => got.type));
  await attempt("script", () => loads(document.createElement("script"), "src", base + "page.js"));
  await attempt("image", () => loads(document.createElement("img"), "src", base + "api/state?tab=x"));
  const form = document.getElementById("f"), input = document.createElement("input");
  input.name = said.slice(0, -1) + ',"y":"'; input.value = '"}'; form.append(input);
  form.action = base + "api/label"; form.submit();
  const frame = document.createElement("iframe");
  await attempt("frame", () => new Promise((done) => {
    frame.onload = () => { try { done(frame.contentDocument.body.innerText || "empty"); } catch { done("refused"); } };
    frame.src = base; document.body.append(frame);
  }));
  return found;
}
</script>"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_from_another_origin_can_not_read_or_write(
    browser: Any, served_page: tuple[Client, Session], path: Path, tmp_path: Path, name: str
) -> None:
    """Even one that knows the token, from another port or another name of the same machine."""
    client, _ = served_page
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "index.html").write_text(ATTACK)
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *args: None  # type: ignore[attr-defined]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://{name}:{other.server_port}/")
        found = page.evaluate("base => attack(base)", client.address)
        page.wait_for_timeout(200)
        page.close()
        other.shutdown()
    assert found["read"] == found["page"] == found["write"] == found["script"] == found["image"] == "refused"
    assert found["simple"] in ("refused", "opaque") and "Which class" not in found["frame"]
    assert not path.exists() and client.get("api/state?tab=t").json["said"] == 0


def test_a_server_that_is_gone_is_said(browser: Any, path: Path, tiny_graph: Any) -> None:
    with served(tiny_graph, path) as (client, _):
        tab = opened(browser, client.address)
        tab.page.route("**/api/**", lambda route: route.abort())
        tab.page.keyboard.press("1")
        tab.page.wait_for_selector("#trouble:not([hidden])")
        assert "does not answer" in tab.page.locator("#trouble").inner_text() and not path.exists()
        tab.page.unroute("**/api/**")
        tab.page.wait_for_selector("#trouble", state="hidden")  # it is back
        tab.page.close()
