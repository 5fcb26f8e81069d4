"""Many damaged files, in processes whose memory is limited: `python tests/fuzz/torture.py --cases 26000`.

Every case is a kind of file and a number, so a fault can be had again: `--kind npz --first 1234 --cases 1`.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

MEMORY = 3 << 30  # bytes of address space: torch's libraries take most of it
BATCH = 2500  # cases a process


def child(kinds: list[str], first: int, count: int, corpus: Path, report: Path) -> None:
    """Run cases one after the other, a line of JSON each; the parent sees by the lines how far it came."""
    import torch  # before the limit, since loading it takes address space that is never used

    import agssl.fitting.seeds  # noqa: F401 (nor should the first case pay for it)
    from agssl.cli import main as program
    from fuzz.cases import KINDS, run_case

    torch.set_num_threads(1)
    program.build_parser = functools.cache(program.build_parser)  # built anew, it would take half of the time
    resource.setrlimit(resource.RLIMIT_AS, (_taken() + MEMORY, resource.RLIM_INFINITY))
    names = [kind for kind in KINDS if kind in kinds]
    work = report.parent / "work"
    shutil.copytree(corpus, work)
    _adopt(work, corpus)
    with open(report, "a") as file:
        for number in range(first, first + count):
            outcome = run_case(names[number % len(names)], number, corpus, work)
            file.write(json.dumps(vars(outcome)) + "\n")
            file.flush()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        file.write(json.dumps({"peak_mb": peak}) + "\n")


def _adopt(work: Path, corpus: Path) -> None:
    """Let the run in `work` know its graph by its new place."""
    path = work / "run/run.json"
    path.write_text(path.read_text().replace(str(corpus), str(work)))


def _taken() -> int:
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(fields["VmSize"].split()[0]) * 1024


def torture(cases: int, kinds: list[str] | None = None, first: int = 0, batch: int = BATCH) -> dict:
    """Run the cases; the figures, with every fault."""
    from fuzz.cases import KINDS, TABLES

    chosen = kinds or list(KINDS)
    start, seen, peak, crashes = time.monotonic(), [], 0, []
    with tempfile.TemporaryDirectory(prefix="agssl-fuzz-") as name:
        root = Path(name)
        canary = root / "canary"
        environment = os.environ | {"AGSSL_CACHE": str(root / "cache"), "AGSSL_FUZZ_CANARY": str(canary)}
        corpus = root / "corpus"
        build = f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\nfrom pathlib import Path\n"
        build += f"from fuzz.corpus import write_corpus; write_corpus(Path({str(corpus)!r}))"
        subprocess.run([sys.executable, "-c", build], env=environment, check=True, capture_output=True)
        number, last = first, first + cases
        while number < last:
            place = Path(tempfile.mkdtemp(dir=root))
            report = place / "report.jsonl"
            size = min(batch, last - number)
            words = [sys.executable, __file__, "--child", str(corpus), str(report), ",".join(chosen)]
            done = subprocess.run([*words, str(number), str(size)], env=environment, capture_output=True, text=True)
            lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
            peak = max([peak, *(line["peak_mb"] for line in lines if "peak_mb" in line)])
            outcomes = [line for line in lines if "verdict" in line]
            seen += outcomes
            number += len(outcomes)
            if done.returncode or len(outcomes) < size:
                crashes.append({"case": number, "code": done.returncode, "stderr": done.stderr[-500:]})
                number += 1  # the case that killed the process
            shutil.rmtree(place)
        ran_code = canary.exists()
    faults = [o for o in seen if o["verdict"] not in ("accepted", "refused")]
    by_kind: dict[str, collections.Counter] = {kind: collections.Counter() for kind in chosen}
    for outcome in seen:
        by_kind[outcome["kind"]][outcome["verdict"].split(":")[0]] += 1
    return {
        "cases": len(seen) + len(crashes),
        "tables": sum(o["kind"] in TABLES for o in seen),
        "refused": sum(o["verdict"] == "refused" for o in seen),
        "accepted": sum(o["verdict"] == "accepted" for o in seen),
        "faults": len(faults) + len(crashes),
        "code_run": ran_code,
        "peak_mb": peak,
        "memory_limit_mb": MEMORY >> 20,
        "seconds": round(time.monotonic() - start, 1),
        "kinds": {kind: dict(sorted(counts.items())) for kind, counts in by_kind.items()},
        "found": faults[:50] + crashes,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=26_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--out", help="write the figures to this file")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        corpus, report, kinds, first, count = args.child
        child(kinds.split(","), int(first), int(count), Path(corpus), Path(report))
        return 0
    figures = torture(args.cases, args.kind, args.first)
    text = json.dumps(figures, indent=2) + "\n"
    if args.out:
        Path(args.out).write_text(text)
    print(text, end="")
    return 1 if figures["faults"] or figures["code_run"] else 0


if __name__ == "__main__":
    sys.exit(main())
