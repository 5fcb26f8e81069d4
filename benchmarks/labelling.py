"""From no label to 40 on Cora, clicked on the page of `agssl label` by what the truth says; needs Chromium.

    python benchmarks/labelling.py --datasets cora --labels 40 --json
    python benchmarks/labelling.py --datasets cora --labels 40 --out results/benchmarks/labelling.json

A real Chromium opens the page, reads which node it shows, and clicks the button of its true class, at a pace
(`--pause`, seconds between clicks) that a person has; refits run in the background meanwhile. In the middle the server
is killed (SIGKILL) right after a click was acknowledged and started again: `lost` counts labels that were acknowledged
and are not in the file. Then `agssl fit --labels` with the same settings, and its accuracy on all nodes that have no
label of ours. The truth is read here alone, for the clicks and for this figure; `random` is the same fit with as many
nodes drawn evenly, by seed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from browser import chromium

from agssl.base.atomic import write_json
from agssl.base.provenance import machine
from agssl.data.datasets import dataset_spec
from agssl.data.graph import Graph
from agssl.data.label_files import read_label_file
from agssl.data.resolve import open_graph

ADDRESS = re.compile(rb"label at (http://\S+)")


class Server:
    """`agssl label` in a process of its own."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "agssl", "label", *words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stderr is not None
        self.lines: list[bytes] = []
        for line in self.process.stderr:
            self.lines.append(line)
            if found := ADDRESS.search(line):
                self.address = found[1].decode()
                threading.Thread(target=self.process.stderr.read, daemon=True).start()  # or it might wait for us
                return
        raise SystemExit(b"".join(self.lines).decode())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)  # a shell in the background lets its children ignore SIGINT
        text, _ = self.process.communicate(timeout=60)
        return text.decode()


def label_until(page: Any, truth: list[str], count: int, pause: float) -> list[tuple[str, str, float]]:
    """Click the true class of whatever node is shown until so many labels are acknowledged; gives them."""
    given = []
    while (said := int(page.get_attribute("html", "data-labels"))) < count:
        node = int(page.get_attribute("html", "data-node"))
        start = time.perf_counter()
        button = page.locator(f'#classes button[data-name="{truth[node]}"]')
        if button.count():
            button.click()
        else:
            page.fill("#new", truth[node])
            page.press("#new", "Enter")
        page.wait_for_selector(f'html[data-labels="{said + 1}"]')
        given.append((str(node), truth[node], time.perf_counter() - start))
        page.wait_for_timeout(1000 * pause)
    return given


def fitted(dataset: str, labels: Path, graph: Graph, truth: list[str], words: list[str]) -> dict[str, Any]:
    """A fit with the labels of a file, and its accuracy on all other nodes."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["fit", dataset, "--labels", str(labels), "--effort", "quick", "--jobs", "1", "--json"]
        run = Path(folder) / "run"
        done = subprocess.run(
            [sys.executable, "-m", "agssl", *command, "--out", str(run), *words], capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        summary = json.loads(done.stdout)
        known = set(read_label_file(labels))
        with open(run / "predictions.csv", encoding="utf-8", newline="") as file:
            right = [
                row["prediction"] == truth[int(row["node"])] for row in csv.DictReader(file) if row["node"] not in known
            ]
    return {"accuracy": float(np.mean(right)), "nodes": len(right), "estimate": summary["estimate"]}


def measure(dataset: str, args: argparse.Namespace, browser: Any) -> dict[str, Any]:
    graph = open_graph(dataset, split=None)
    names = dataset_spec(dataset).class_names or graph.classes
    truth = [names[label] for label in graph.y.tolist()]
    words = args.options.split()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "labels.csv"
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        start, waits, shown = time.perf_counter(), [], []
        lost, killed = 0, args.labels // 2
        for goal, last in ((killed, False), (args.labels, True)):
            server = Server(dataset, "--out", str(file), *words)
            page.goto(server.address)
            page.wait_for_selector("html[data-ready]")
            given = label_until(page, truth, goal, args.pause)
            waits += [seconds for *_, seconds in given]
            if not last:
                server.kill()  # at once after the last click was acknowledged
                kept = read_label_file(file)
                lost = sum(kept.get(node) != label for node, label, _ in given)
                continue
            clicked = time.perf_counter() - start
            page.locator("#estimate", has_text=f"with {args.labels} labels").wait_for(timeout=1000 * args.patience)
            settled = time.perf_counter() - start
            tab = page.evaluate("() => sessionStorage.getItem('agssl-tab')")
            shown = page.evaluate("tab => fetch(`api/state?tab=${tab}`).then((answer) => answer.json())", tab)["curve"]
            ended = server.end()
        page.close()
        labels = read_label_file(file)
        ours = fitted(dataset, file, graph, truth, words)
        rivals = []
        for seed in range(args.random):
            nodes = np.random.default_rng(seed).choice(graph.num_nodes, len(labels), replace=False)
            other = Path(folder) / "random.csv"
            rows = "".join(f'{node},"{truth[node]}"\n' for node in nodes.tolist())
            other.write_text("id,label\n" + rows, encoding="utf-8")
            rivals.append(fitted(dataset, other, graph, truth, words)["accuracy"])
    return {
        "dataset": dataset,
        "labels": len(labels),
        "classes": len(set(labels.values())),
        "lost": lost,
        "killed_after": killed,
        "seconds_to_label": round(clicked, 1),
        "seconds_to_last_fit": round(settled, 1),
        "pause": args.pause,
        "click_ms": {"median": round(1000 * float(np.median(waits)), 1), "most": round(1000 * max(waits), 1)},
        "curve": shown,
        "accuracy": round(ours["accuracy"], 4),
        "estimate": ours["estimate"],
        "random_accuracy": [round(value, 4) for value in rivals],
        "said_at_the_end": ended.strip().splitlines()[0].replace(str(file), "labels.csv"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora", help="names with commas between")
    parser.add_argument("--labels", type=int, default=40, help="how many to click")
    parser.add_argument("--pause", type=float, default=1.5, help="seconds between clicks")
    parser.add_argument("--patience", type=float, default=300, help="seconds to wait for the last fit")
    parser.add_argument("--random", type=int, default=3, help="fits with nodes drawn evenly, to compare with")
    parser.add_argument("--options", default="", help="further settings of the fits")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON value")
    parser.add_argument("--out", help="write the same to a file")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with chromium() as browser:
        rows = [measure(name, args, browser) for name in args.datasets.split(",")]
    found = {"machine": machine(1) | {"load_average": os.getloadavg()[0]}, "rows": rows}
    if args.out:
        write_json(args.out, found)
    if args.json:
        print(json.dumps(found))
        return
    for row in rows:
        print(
            f"{row['dataset']}: {row['labels']} labels in {row['seconds_to_label']} s, {row['lost']} lost by SIGKILL; "
            f"accuracy on all other nodes {row['accuracy']:.1%}, with random nodes "
            f"{', '.join(f'{value:.1%}' for value in row['random_accuracy'])}"
        )


if __name__ == "__main__":
    main()
