"""How fast the report page is: first paint and clicks on graphs of many nodes, and its size on a real one.

python benchmarks/page.py --nodes 20000,170000 --datasets physics --json > results/benchmarks/page.json

With --against REV the page of another revision, of the same run, is measured in turns with it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from browser import chromium
from revisions import ROOT, commit_of, source_of

from agssl.cli.main import main as agssl

CLASSES = 7
OPENED = 6  # times that each page is opened
QUICK = ("--epochs", "8", "--hidden", "16", "--folds", "2", "--generations", "1", "--alpha", "1")
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
DRAWN = "new Promise(d => requestAnimationFrame(() => setTimeout(() => d(performance.now()))))"
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
    parser.add_argument("--against", metavar="REV", help="measure the page of this revision, too")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = []
    with contextlib.ExitStack() as stack:
        folder, browser = stack.enter_context(tempfile.TemporaryDirectory()), stack.enter_context(chromium())
        sides = {"after": ROOT} | ({"before": stack.enter_context(source_of(args.against))} if args.against else {})
        sources = [(n, str(write_graph(Path(folder) / n, int(n)))) for n in args.nodes.split(",") if n]
        sources += [(name, name) for name in args.datasets.split(",") if name]
        for name, source in sources:
            run = Path(folder) / f"run-{name}"
            tasks = () if source == name else ("--tasks", "par,clu,dgi")  # quick to train at any size
            quiet("fit", source, *QUICK, *tasks, "--out", str(run))
            built = {side: build(run, source, side) for side, source in sides.items()}
            found = measure(browser, {side: run / f"{side}.html" for side in sides}, args.clicks)
            rows = {side: {**built[side], **found[side]} for side in sides}
            results.append({"graph": name, **rows.pop("after"), **rows})
            print(json.dumps(results[-1]), file=sys.stderr)
    if args.json:
        machine = {"cores": os.cpu_count(), "load_average": os.getloadavg()[0], "python": platform.python_version()}
        about = {"against": commit_of(args.against)} if args.against else {}
        print(json.dumps({**about, "machine": machine, "pages": results}, indent=2))


def build(run: Path, source: Path, side: str) -> dict[str, float]:
    """Write the page by the sources in a folder: the whole command, on the wall and in processor time."""
    words = [sys.executable, "-m", "agssl", "report", str(run), "-o", str(run / f"{side}.html")]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=os.environ | {"PYTHONPATH": str(source / "src")}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"build_seconds": time.perf_counter() - start, "build_cpu_seconds": cpu}


def measure(browser: Any, paths: dict[str, Path], clicks: int) -> dict[str, dict[str, Any]]:
    """Open each page afresh in turns, then click on their maps in turns."""
    paints, readies, times, shown = ({side: [] for side in paths} for _ in range(4))
    tabs = {}
    for turn in range(OPENED):
        for side in reversed(paths) if turn % 2 else paths:
            if side in tabs:
                tabs[side].close()
            tab = tabs[side] = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(paths[side].as_uri())
            tab.wait_for_selector("html[data-ready]")
            paints[side].append(tab.evaluate(PAINT))
            readies[side].append(tab.evaluate(DRAWN))
    for tab in tabs.values():
        tab.locator(".map").scroll_into_view_if_needed()
    for place in np.random.default_rng(0).uniform(0.15, 0.85, size=(clicks, 2)).tolist():
        for side, tab in tabs.items():
            tab.bring_to_front()  # others are not drawn
            milliseconds, heading = tab.evaluate(CLICK, place)
            times[side].append(milliseconds)
            shown[side].append(heading)
    for tab in tabs.values():
        tab.close()
    return {
        side: {
            "megabytes": path.stat().st_size / 1e6,
            "first_paint_ms": statistics.median(p for p in paints[side] if p is not None),
            "everything_drawn_ms": statistics.median(readies[side]),
            "click_ms": {"median": statistics.median(times[side]), "worst": max(times[side])},
            "nodes_shown": len(set(shown[side])),
        }
        for side, path in paths.items()
    }


def write_graph(folder: Path, nodes: int) -> Path:
    """A graph with seven edges per node, most of them within a class; every other node has a label."""
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
    rows = (
        f"{i},{','.join(f'{v:.3f}' for v in x[i].tolist())},{f'class {y[i]}' if i % 2 else ''}" for i in range(nodes)
    )
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
