"""One case of the fuzzer: damage one sound file, read it as a user would, and judge what came out."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from agssl.base.errors import AgsslError
from agssl.cli import main as program
from fuzz.mutate import mutated

SECONDS = 10  # of computing: a case that takes longer hangs
WAITING = 120  # by the clock, for a case that waits for something

Reader = Callable[[Path], None]


class CaseTimeout(BaseException):
    """Not an Exception, so that no reader can swallow it."""


@dataclass(frozen=True)
class Outcome:
    """What a reader did with a damaged file."""

    kind: str
    seed: int
    verdict: str  # accepted | refused | anything else is a fault
    detail: str = ""


def command(*words: object) -> None:
    """Run a command line; anything but 0, or 2 with one line, is a fault."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = program.main([str(word) for word in words])
    lines = err.getvalue().splitlines()
    errors = [line for line in lines if line.startswith("agssl: error:")]
    if code == 0 and not errors and "Traceback" not in err.getvalue():
        return
    if code == 2 and len(errors) == 1 and lines[-1] == errors[0]:
        raise AgsslError(errors[0])
    raise AssertionError(f"exit code {code}: {' / '.join(lines)[-300:]}")


def read_config(folder: Path) -> None:
    from agssl.cli.options import make_plan
    from agssl.fitting.job import check

    plan = make_plan(argparse.Namespace(config=str(folder / "config.toml"), seeds=None, seed=None, split=None))
    check(plan.settings)


def read_planetoid(folder: Path) -> None:
    from agssl.data.planetoid import read_planetoid as read

    read(sorted((folder / "planetoid").iterdir()), name="toy")


def read_ogb(folder: Path) -> None:
    from agssl.data.ogb import read_ogb as read

    read(folder / "ogb.zip", name="toy", notify=False)


def read_run(folder: Path) -> None:
    from agssl.store.run import Run

    run = Run.open(folder / "run")
    _ = run.settings, run.metrics, run.history(), run.predictions(), run.seed_metrics(), run.fitted(), run.graph()
    command("explain", folder / "run", "--degree", "--json")


def read_canaries(folder: Path) -> None:
    """Give hostile files to everything that reads a file by itself."""
    from agssl.data.arrays import Archive
    from agssl.data.unpickle import unpickle
    from agssl.store.fitted import load_fitted

    refused: AgsslError | None = None
    for path in sorted((folder / "canary").iterdir()):
        for read in (unpickle, load_fitted, lambda path: dict(Archive(path))):
            try:
                read(path)
            except AgsslError as error:
                refused = error
    assert refused is not None
    raise refused


def read_frames(folder: Path) -> None:
    """Tables of pandas, as a user of the library has them."""
    import pandas as pd

    from agssl.data.convert import to_graph

    try:
        tables = [pd.read_csv(folder / f"mixed/{name}.csv", sep=";") for name in ("edges", "nodes")]
    except (ValueError, OSError, OverflowError, MemoryError) as error:  # that is pandas' own affair
        raise AgsslError("pandas refuses it") from error
    to_graph((*tables, "label"))


SAID = (
    "--sep",
    ";",
    "--encoding",
    "latin-1",
    "--id",
    "node_id",
    "--source",
    "src",
    "--target",
    "dst",
    "--drop",
    "member",
)
KINDS_SAID = ("--categorical", "age", "--numeric", "height", "--text", "about,city")
NETWORKS = ("gexf", "gml", "graphml", "json")

# kind -> (files that may be damaged, reader)
KINDS: dict[str, tuple[str, Reader]] = {
    "csv": ("tables/*.csv", lambda f: command("data", "info", f / "tables", "--json")),
    "knn": ("tables/nodes.csv", lambda f: command("data", "info", f / "tables/nodes.csv", "--knn", 3, "--json")),
    "mixed": ("mixed/*.csv", lambda f: command("data", "info", f / "mixed", "--json")),
    "mixed-predict": ("mixed/*.csv", lambda f: command("predict", f / "mixed.agssl", f / "mixed", "--json")),
    "mixed-model": ("mixed.agssl", lambda f: command("predict", f / "mixed.agssl", f / "mixed", "--json")),
    "said": ("mixed/*.csv", lambda f: command("data", "info", f / "mixed", *SAID, *KINDS_SAID, "--json")),
    "frame": ("mixed/*.csv", read_frames),
    "parquet": ("parquet/*.parquet", lambda f: command("data", "info", f / "parquet", "--json")),
    "list": ("list/*", lambda f: command("data", "info", f / "list", "--json")),
    **{form: (f"networks/g.{form}", lambda f, form=form: _network(f, form)) for form in NETWORKS},
    "npz": ("graph.npz", lambda f: command("data", "info", f / "graph.npz", "--json")),
    "weights-csv": ("weighted/edges.csv", lambda f: command("data", "info", f / "weighted", "--json")),
    "weights-npz": ("weighted.npz", lambda f: command("data", "info", f / "weighted.npz", "--json")),
    "packed": ("packed/*", lambda f: command("data", "info", f / "packed", "--json")),
    "planetoid": ("planetoid/*", read_planetoid),
    "ogb": ("ogb.zip", read_ogb),
    "config": ("config.toml", read_config),
    "split-npz": ("splits/split.npz", lambda f: _split(f, "npz")),
    "split-json": ("splits/split.json", lambda f: _split(f, "json")),
    "split-csv": ("splits/split.csv", lambda f: _split(f, "csv")),
    "model": ("model.agssl", lambda f: command("predict", f / "model.agssl", f / "tables", "--json")),
    "run": ("run/**/*.*", read_run),
    "canary": ("canary/*", read_canaries),
}

# Kinds whose damaged file is a table: the ten thousand of them are counted apart
TABLES = (
    "csv", "knn", "mixed", "mixed-predict", "said", "frame", "parquet", "list", "weights-csv", "split-csv",
)  # fmt: skip


def _network(folder: Path, form: str) -> None:
    command("data", "info", folder / f"networks/g.{form}", "--label", "kind", "--json")


def _split(folder: Path, ending: str) -> None:
    command("data", "info", folder / "tables", "--split", folder / f"splits/split.{ending}", "--json")


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `CaseTimeout` when the block takes longer."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise CaseTimeout

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, WAITING))
    for timer, number, most in timers:
        signal.signal(number, stop)
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for timer, number, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, signal.SIG_DFL)


def run_case(kind: str, seed: int, corpus: Path, work: Path) -> Outcome:
    """Damage one file of the corpus (copied to `work`) and read it; the copy is whole again afterwards."""
    rng = random.Random(f"{kind}-{seed}")
    pattern, reader = KINDS[kind]
    victim = rng.choice(sorted(p for p in work.glob(pattern) if p.is_file()))
    whole = victim.read_bytes()
    victim.write_bytes(mutated(whole, rng))
    detail = ""
    try:
        with time_limit(SECONDS):
            reader(work)
        verdict = "accepted"
    except AgsslError as error:
        verdict = "refused" if "\n" not in str(error) and str(error) else "fault: message"
        detail = str(error)
    except CaseTimeout:
        verdict = "fault: hang"
    except (Exception, SystemExit) as error:
        verdict, detail = "fault: " + type(error).__name__, f"{victim.name}: {error}"
    finally:
        victim.write_bytes(whole)
    if strangers := sorted(set(os.listdir(work)) - set(os.listdir(corpus))):
        verdict, detail = "fault: wrote", ", ".join(strangers)
        for name in strangers:
            shutil.rmtree(work / name, ignore_errors=True)
    return Outcome(kind, seed, verdict, detail)
