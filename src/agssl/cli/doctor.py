"""`agssl doctor`: is this installation sound."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agssl.cli.common import command_parser, console, json_text, say, table

if TYPE_CHECKING:
    from agssl.health import Check

_EXAMPLES = """\
examples:
  agssl doctor
  agssl doctor --json

The exit code is 0 if everything that is installed works, and 1 if something is broken. An optional package that is
absent is no fault.
"""


def add_parser(subparsers: Any) -> None:
    """Add `doctor`."""
    parser = command_parser(subparsers, "doctor", "check this installation, in about ten seconds", _EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    parser.set_defaults(handler=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Run every check and print what was found; 1 if any failed."""
    from agssl import health

    found = []
    for check in health.checks():
        say(f"{check.group} {check.name}: {check.state} ({check.seconds:.1f} s)")
        found.append(check)
    sound = all(check.state != "failed" for check in found)
    facts = {"versions": health.versions(), "machine": health.machine_facts(), "caches": health.caches()}
    if args.json:
        sys.stdout.write(json_text({"sound": sound, **facts, "checks": [asdict(check) for check in found]}))
    else:
        show(facts, found, sound)
    return 0 if sound else 1


def show(facts: dict[str, Any], found: list[Check], sound: bool) -> None:
    """Print everything for people."""
    from agssl.base.system import size_text

    machine, out = facts["machine"], console()
    rows = table("what", "value", left=("what", "value"))
    for name, version in facts["versions"].items():
        rows.add_row(name, version)
    rows.add_row("system", f"{machine['system']}, {machine['cores']} cores" + (", CUDA" if machine["cuda"] else ""))
    rows.add_row("torch", f"{machine['torch_threads']} threads, BLAS: {machine['torch_blas']}")
    for pool in machine["blas"]:
        rows.add_row("threads of", f"{pool['library']} {pool['version'] or ''}: {pool['threads']}")
    if machine["free_memory"] is not None:
        rows.add_row("free memory", size_text(machine["free_memory"]))
    for name, place in facts["caches"].items():
        rows.add_row(name, "not set" if place["path"] is None else f"{place['path']} ({size_text(place['bytes'])})")
    out.print(rows)
    out.print()
    checks = table("check", "state", "detail", left=("check", "state", "detail"))
    for check in found:
        checks.add_row(f"{check.group} {check.name}", check.state, check.detail)
    out.print(checks)
    out.print("everything that is installed works" if sound else "something is broken: see the lines that say failed")
