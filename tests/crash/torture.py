"""Kill commands at random moments, give them again until they are done, and compare with what was never killed.

    python tests/crash/torture.py --kills 200 --out results/torture.json

Half of the kills come after a random time, half at a random file operation (just before a file is opened, renamed or
removed), where a crash does most harm. After every kill each file must be readable and nothing that was finished may be
gone; a command that came to its end must have given, bit by bit, what it gives undisturbed.

Another command is one more entry in `SUBJECTS`. It runs in a process forked from this one, so that a kill costs no
imports.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open

from agssl.base.jsonl import read_json_lines

WRITES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"}


@dataclass(frozen=True)
class Subject:
    """A command under torture."""

    name: str
    words: tuple[str, ...]  # {graph} and {out} are filled in
    finished: Callable[[Path], set[str]]  # the parts of `out` that are finished, and must stay so
    result: Callable[[Path], str]  # a hash of what the command has written to `out`
    share: float = 1.0  # of the kills, relative to the others


@dataclass
class Tally:
    """What became of one subject."""

    result: str = ""  # the hash of what it gives undisturbed
    kills: int = 0
    at_file_operations: int = 0
    completed: int = 0
    unreadable: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    different: int = 0
    failed: list[str] = field(default_factory=list)  # exits with an error, with the last line

    def good(self) -> bool:
        return not (self.unreadable or self.lost or self.different or self.failed)


def seeds_of_run(out: Path) -> set[str]:
    """Finished seeds, in the run or on their way into it."""
    return {path.parent.name for pattern in ("seed-*", ".agssl/seed-*") for path in out.glob(f"{pattern}/metrics.json")}


def hash_of_run(out: Path) -> str:
    """All that a run says, but how long it took."""
    digest = hashlib.sha256()
    for path in sorted(out.rglob("*")):
        if path.is_dir() or path.name in ("run.json", "metrics.json", "MODEL_CARD.md"):
            continue
        digest.update(str(path.relative_to(out)).encode())
        if path.suffix == ".safetensors":  # the order in its header is not always the same
            with safe_open(path, framework="np") as file:
                for name in sorted(file.keys()):
                    digest.update(name.encode() + file.get_tensor(name).tobytes())
                digest.update(file.metadata()["about"].encode())
        else:
            digest.update(path.read_bytes())
    metrics = json.loads((out / "metrics.json").read_text())
    digest.update(json.dumps({k: v for k, v in metrics.items() if k not in ("seconds", "peak_mb")}).encode())
    return digest.hexdigest()


def cells_of_bench(out: Path) -> set[str]:
    """Records of finished cells."""
    return {record["key"] for _, record in read_json_lines(out / "graph.jsonl")}


def hash_of_bench(out: Path) -> str:
    """All that the records say, but when they were made and how long it took."""
    records = {record["key"]: record for _, record in read_json_lines(out / "graph.jsonl")}
    for record in records.values():
        for name in ("created", "seconds", "cpu_seconds", "peak_mb", "dataset"):
            record.pop(name)
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def trials_of_study(out: Path) -> set[str]:
    """Complete trials."""
    if not (out / "found.db").exists():
        return set()
    with contextlib.closing(sqlite3.connect(out / "found.db")) as database:
        has = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'trials'").fetchone()
        query = "SELECT number FROM trials WHERE state = 'COMPLETE'"
        return {f"trial {number}" for (number,) in database.execute(query)} if has else set()


def outcome_of_study(out: Path) -> str:
    """How many trials are complete, and that their settings were written: a kill changes which ones are tried next."""
    return f"{len(trials_of_study(out))} trials, {tomllib.loads((out / 'found.toml').read_text())['method']}"


QUICK = ("--hidden", "8", "--tasks", "clu:clusters=3,pairdis", "--seeds", "2", "--checkpoint", "0")
FIT = ("fit", "{graph}", "--out", "{out}", *QUICK)
BENCH = ("bench", "table1", "--datasets", "{graph}", "--methods", "gcn,clu,agssl-ts", "--strategies", "jt",
         "--seeds", "2", "--jobs", "1", "--out", "{out}", "--set", "hidden=8", "--set", "epochs=5")  # fmt: skip
TUNE = ("tune", "{graph}", "--method", "gcn", "--trials", "4", "--tuning-seeds", "2", "--epochs", "6",
        "--out", "{out}/found.toml", "--study", "{out}/found.db")  # fmt: skip
SUBJECTS = (
    Subject("fit", (*FIT, "--epochs", "8"), seeds_of_run, hash_of_run, 3.0),
    Subject("fit pf crossfit", (*FIT, "--epochs", "5", "--strategy", "pf", "--weights-from", "crossfit", "--folds", "2",
                                "--norm", "batch"), seeds_of_run, hash_of_run),
    Subject("fit gcn", (*FIT, "--method", "gcn", "--epochs", "30", "--patience", "5"), seeds_of_run, hash_of_run),
    Subject("bench", BENCH, cells_of_bench, hash_of_bench, 2.0),
    Subject("tune", TUNE, trials_of_study, outcome_of_study, 2.0),
)  # fmt: skip


def unreadable(folder: Path) -> list[str]:
    """Files that have their names but not their content. Temporary files have no name yet."""
    broken = []
    for path in folder.rglob("*"):
        if not path.is_file() or path.suffix == ".tmp" or path.name.endswith("lock"):
            continue
        try:
            _read(path)
        except Exception as error:
            broken.append(f"{path.name}: {error}")
    return broken


def _read(path: Path) -> None:
    if path.suffix == ".json":
        json.loads(path.read_text())
    elif path.suffix == ".jsonl":  # a kill may leave a beginning of the last line
        _ = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    elif path.suffix == ".toml":
        tomllib.loads(path.read_text())
    elif path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            _ = [arrays[name] for name in arrays.files]
    elif path.suffix == ".csv":
        with open(path, newline="") as file:
            lengths = {len(row) for row in csv.reader(file)}
        assert len(lengths) == 1, f"rows of {lengths} cells"
    elif path.suffix == ".safetensors":
        with safe_open(path, framework="np") as file:
            _ = [file.get_tensor(name) for name in file.keys()]  # noqa: SIM118
            json.loads(file.metadata()["about"])
    elif path.suffix == ".db":
        with contextlib.closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    elif path.suffix in (".md", ".tex"):
        path.read_text()
    elif not path.name.endswith(("-journal", "-wal", "-shm")):  # SQLite's own, which it plays back
        raise AssertionError("nobody knows what this file is")


def write_graph(folder: Path) -> None:
    """Sixty nodes in two classes that their features and most of their edges tell apart."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = rng.normal(size=(60, 4)) + y[:, None]
    ends = rng.integers(0, 60, size=(2, 300))
    ends = ends[:, (ends[0] < ends[1]) & ((y[ends[0]] == y[ends[1]]) | (rng.random(300) < 0.3))]
    folder.mkdir(parents=True)
    pairs = dict.fromkeys(line for a, b in ends.T for line in (f"{a},{b}", f"{b},{a}"))
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(pairs) + "\n")
    rows = [f"{i},{','.join(f'{v:.4f}' for v in x[i])},{'ab'[y[i]]}" for i in range(60)]
    (folder / "nodes.csv").write_text("id,a,b,c,d,label\n" + "\n".join(rows) + "\n")


class FileOperations:
    """Counts this process's file operations below a folder from now on, and kills it just before the n-th."""

    def __init__(self, folder: Path, die_at: int | None = None) -> None:
        self.folder, self.die_at, self.count = str(folder), die_at, 0
        sys.addaudithook(self)

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if event in WRITES and args and str(args[0]).startswith(self.folder):
            self.count += 1
            if self.count == self.die_at:
                os.kill(os.getpid(), signal.SIGKILL)


def start(words: list[str], log: Path, watched: Path, die_at: int | None = None, count: Path | None = None) -> int:
    """Run a command in a fork; it kills itself at its n-th file operation below `watched`, if so asked."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        operations = FileOperations(watched, die_at)
        from agssl.cli.main import main

        code = main(words)
        if count is not None:
            os.write(os.open(count, os.O_WRONLY | os.O_CREAT), str(operations.count).encode())
    finally:
        os._exit(code)


def warm_up() -> None:
    """Import everything heavy, and what is only imported when something is trained; in one thread, as forks need."""
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported
    import pyarrow.csv  # noqa: F401
    import torch

    import agssl.data.resolve  # noqa: F401
    from agssl import AGSSL
    from agssl.bench import catalog  # noqa: F401
    from agssl.cli import progress  # noqa: F401
    from agssl.search import study  # noqa: F401

    torch.set_num_threads(1)
    edges = sp.csr_matrix(np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6)))
    AGSSL(tasks=("clu", "pairdis"), epochs=1).fit((edges, np.eye(12, dtype=np.float32), np.arange(12) // 6))


def torture(subject: Subject, kills: int, draw: random.Random, folder: Path) -> Tally:
    """Kill a subject so many times."""
    out, log = folder / "out", folder / "log"
    words = [word.format(graph=folder / "graph", out=out) for word in subject.words]
    begun = time.monotonic()
    os.waitpid(start(words, log, out, count=folder / "count"), 0)
    seconds, operations = time.monotonic() - begun, int((folder / "count").read_text())
    tally = Tally(subject.result(out))
    shutil.rmtree(out)
    finished: set[str] = set()
    while tally.kills < kills or out.exists():
        last = tally.kills >= kills  # come to an end undisturbed
        by_operation = not last and draw.random() < 0.5
        pid = start(words, log, out, draw.randint(1, 1 + operations // 2) if by_operation else None)
        timer = threading.Timer(draw.uniform(0, seconds / 2), os.kill, (pid, signal.SIGKILL))
        if not last and not by_operation:
            timer.start()
        # WNOWAIT: the process keeps its number until the timer is gone, or the timer might hit another
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        _, status = os.waitpid(pid, 0)
        tally.unreadable += unreadable(out) + unreadable(folder / "cache")
        if os.WIFSIGNALED(status):
            tally.kills += 1
            tally.at_file_operations += by_operation
            tally.lost += sorted(finished - subject.finished(out))
            finished = subject.finished(out)
        elif os.WEXITSTATUS(status) == 0:
            tally.completed += 1
            tally.different += subject.result(out) != tally.result
            finished = set()
            shutil.rmtree(out)
        else:
            tally.failed.append(log.read_text()[-300:])
            shutil.rmtree(out, ignore_errors=True)
    return tally


def main() -> int:
    """Torture every subject, print and write what became of them; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one subject")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.kills:
        warm_up()
    subjects = [subject for subject in SUBJECTS if args.only in (None, subject.name)]
    shares = np.cumsum([0.0] + [subject.share for subject in subjects])
    borders = np.rint(args.kills * shares / shares[-1]).astype(int)
    results: dict[str, Tally] = {}
    for number, subject in enumerate(subjects):
        # what a killed process wrote is there even before it is on a disk, so memory will do, and is faster
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
            write_graph(Path(name) / "graph")
            os.environ["AGSSL_CACHE"] = str(Path(name) / "cache")
            draw = random.Random(args.seed * 1000 + number)
            tally = torture(subject, int(borders[number + 1] - borders[number]), draw, Path(name))
        results[subject.name] = tally
        print(f"{subject.name}: {asdict(tally)}", file=sys.stderr, flush=True)
    report = {
        "kills": sum(tally.kills for tally in results.values()),
        "seed": args.seed,
        "good": all(tally.good() for tally in results.values()),
        "subjects": {name: asdict(tally) for name, tally in results.items()},
    }
    text = json.dumps(report, indent=2)
    print(text)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n")
    return 0 if report["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
