"""Draw docs/report.png, a screenshot of the report page, and docs/embedding.png from a run (default: Cora, fitted now).

python benchmarks/screenshots.py --run runs/cora-agssl-ts --baseline runs/cora-gcn
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from browser import chromium

from agssl.cli.main import main as agssl
from agssl.explain.plots import embedding_map
from agssl.store.run import Run
from agssl.train.infer import infer

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="a run of method agssl")
    parser.add_argument("--baseline", type=Path, help="a run of method gcn on the same graph")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for the pictures (default: %(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, baseline = args.run or Path(folder) / "agssl", args.baseline or Path(folder) / "gcn"
        if args.run is None:
            agssl(["fit", "cora", "--teachers", "paper", "--seeds", "2", "--out", str(run)])
        if args.baseline is None:
            agssl(["fit", "cora", "--method", "gcn", "--seeds", "2", "--out", str(baseline)])
        page = Path(folder) / "report.html"
        agssl(["report", str(run), "--baseline", str(baseline), "-o", str(page)])
        take(page, args.out / "report.png")
        draw(Run.open(run), args.out / "embedding.png")


def take(page: Path, picture: Path) -> None:
    """The page from its top to the end of the table of nodes."""
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.wait_for_timeout(500)
        box = tab.locator("#nodes").bounding_box()
        clip = {"x": 0, "y": 0, "width": 1280, "height": box["y"] + box["height"] + 40}
        tab.screenshot(path=str(picture), full_page=True, clip=clip)


def draw(run: Run, picture: Path) -> None:
    """The map of the nodes, by the teacher that each trusted most."""
    fitted, graph = run.fitted(), run.graph()
    embedding_map(fitted, graph, infer(fitted.model, graph).hidden, "task").savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
