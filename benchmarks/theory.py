"""Test the paper's theory on block models (`agssl.bench.theory`); write records, docs/theory.md and its figure.

python benchmarks/theory.py --seeds 5
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agssl.bench.theory import run
from agssl.bench.theory_figure import figure
from agssl.bench.theory_report import table
from agssl.store.atomic import atomic_write, write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--records", default="results/bench/theory")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    args = parser.parse_args()
    records = run(
        range(args.seeds),
        args.records,
        told=lambda r: print(f"seed {r['seed']}: {r['cpu_seconds']:.0f} CPU seconds", flush=True),
    )
    spent = sum(record["cpu_seconds"] for record in records)
    command = f"`python benchmarks/theory.py --seeds {args.seeds}`"
    note = f"Written by {command} from the records in `{args.records}` ({spent:.0f} CPU seconds to make).\n"
    write_text(args.out / "theory.md", table(records) + "![The three measurements](theory.png)\n\n" + note)
    with atomic_write(args.out / "theory.png") as file:
        figure(records).savefig(file, format="png")


if __name__ == "__main__":
    main()
