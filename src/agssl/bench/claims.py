"""`agssl bench theory`: the paper's claims about the Bayes probability, as one of the things that bench makes."""

from __future__ import annotations

from pathlib import Path

from agssl.bench.artifacts import Artifact, Rendered, Say
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.bench.tables import Table
from agssl.theory.figure import figure
from agssl.theory.report import theory_table
from agssl.theory.study import run, stored

SEEDS = 5
FILE = "theory.jsonl"  # below the folder of results


def _seeds(scope: Scope) -> tuple[int, ...]:
    return tuple(range(SEEDS)) if scope.seeds is None else scope.seeds


def _compute(scope: Scope, results: Path, say: Say) -> None:
    say(f"theory: {len(_seeds(scope))} seeds, about half a minute each where they are not there yet")
    run(_seeds(scope), results / FILE, on_done=lambda record: say(f"theory: seed {record['seed']} is done"))


def _render(scope: Scope, records: Records) -> Rendered:
    found = stored(_seeds(scope), records.folder / FILE)
    if not found:
        return Rendered(Table(notes=["*missing*"]))
    rows = [{"seed": r["seed"], "scheme": name} | values for r in found for name, values in r["schemes"].items()]
    return Rendered(Table(entries=rows, notes=[theory_table(found)]), {"theory": lambda: figure(found)}, found)


THEORY = Artifact("The paper's theory, measured", lambda scope: [], _render, figures=True, compute=_compute)
