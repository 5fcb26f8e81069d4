"""How fast the report page is: first paint and clicks on graphs of many nodes, and its size on a real one.

python benchmarks/page.py --nodes 20000,170000 --datasets physics --json > results/benchmarks/page.json
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from browser import chromium

from agssl.cli.main import main as agssl

CLASSES = 7
QUICK = ("--epochs", "8", "--hidden", "16", "--folds", "2", "--generations", "1", "--alpha", "1")
# from the click to the frame that shows the answer
CLICK = """(at) => new Promise((done) => {
  const map = document.querySelector('.map'), box = map.getBoundingClientRect(), start = performance.now();
  const where = { clientX: box.left + at[0] * box.width, clientY: box.top + at[1] * box.height, bubbles: true };
  map.dispatchEvent(new MouseEvent('click', where));
  const name = () => document.querySelector('#node h3').textContent;
  requestAnimationFrame(() => setTimeout(() => done([performance.now() - start, name()])));
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="20000", help="sizes of made-up graphs, with commas")
    parser.add_argument("--datasets", default="", help="real graphs, with commas")
    parser.add_argument("--clicks", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        sources = [(n, str(write_graph(Path(folder) / n, int(n)))) for n in args.nodes.split(",") if n]
        sources += [(name, name) for name in args.datasets.split(",") if name]
        for name, source in sources:
            run = Path(folder) / f"run-{name}"
            tasks = () if source == name else ("--tasks", "par,clu,dgi")  # quick to train at any size
            quiet("fit", source, *QUICK, *tasks, "--out", str(run))
            start, cpu = time.perf_counter(), time.process_time()
            quiet("report", str(run), "-o", str(run / "page.html"))
            building = {"build_seconds": time.perf_counter() - start, "build_cpu_seconds": time.process_time() - cpu}
            results.append({"graph": name, **building, **measure(browser, run / "page.html", args.clicks)})
            print(json.dumps(results[-1]), file=sys.stderr)
    if args.json:
        machine = {"cores": os.cpu_count(), "load_average": os.getloadavg()[0], "python": platform.python_version()}
        print(json.dumps({"machine": machine, "pages": results}, indent=2))


def measure(browser: Any, path: Path, clicks: int) -> dict[str, Any]:
    """Open the page afresh three times, then click on the map."""
    paints, readies = [], []
    for _ in range(3):
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        paints.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"))
        readies.append(
            tab.evaluate("new Promise(d => requestAnimationFrame(() => setTimeout(() => d(performance.now()))))")
        )
        if len(paints) < 3:
            tab.close()
    tab.locator(".map").scroll_into_view_if_needed()
    draw = np.random.default_rng(0)
    times, shown = [], set()
    for place in draw.uniform(0.15, 0.85, size=(clicks, 2)).tolist():
        milliseconds, heading = tab.evaluate(CLICK, place)
        times.append(milliseconds)
        shown.add(heading)
    tab.close()
    return {
        "megabytes": path.stat().st_size / 1e6,
        "first_paint_ms": statistics.median(p for p in paints if p is not None),
        "everything_drawn_ms": statistics.median(readies),
        "click_ms": {"median": statistics.median(times), "worst": max(times)},
        "nodes_shown": len(shown),
    }


def write_graph(folder: Path, nodes: int) -> Path:
    """A graph with seven edges per node, most of them within a class."""
    draw = np.random.default_rng(0)
    y = draw.integers(CLASSES, size=nodes)
    x = draw.normal(size=(nodes, 16)) + 2 * np.eye(CLASSES, 16)[y]
    source = draw.integers(nodes, size=7 * nodes)
    same = np.empty_like(source)  # a random node of the same class
    for c in range(CLASSES):
        at = y[source] == c
        same[at] = draw.choice(np.flatnonzero(y == c), size=int(at.sum()))
    target = np.where(draw.random(len(source)) < 0.8, same, draw.integers(nodes, size=len(source)))
    folder.mkdir(parents=True)
    lines = (f"{a},{b}" for a, b in zip(source.tolist(), target.tolist(), strict=True))
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(lines) + "\n")
    rows = (f"{i},{','.join(f'{v:.3f}' for v in x[i].tolist())},class {y[i]}" for i in range(nodes))
    header = ",".join(["id", *(f"f{k}" for k in range(16)), "label"])
    (folder / "nodes.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def quiet(*words: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        code = agssl(list(words))
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    main()
