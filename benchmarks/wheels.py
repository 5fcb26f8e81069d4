"""For which versions of Python pip finds wheels of all that the package needs: `python benchmarks/wheels.py`.

Nothing is installed. It is resolved for Linux on this machine's kind of processor, each package by itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
VERSIONS, EXTRAS = "3.11,3.12,3.13,3.14", "metis,tune,es,plot,pyg"


def requirements(extras: list[str]) -> list[str]:
    """What the package needs, with these extras."""
    about = tomllib.loads(PROJECT.read_text())["project"]
    return [*about["dependencies"], *(need for extra in extras for need in about["optional-dependencies"][extra])]


def found(version: str, needs: list[str]) -> dict[str, object]:
    """The wheels that pip would take, or what it says."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps"]
        words += ["--target", folder, "--python-version", version, "--only-binary", ":all:", "--report", str(report)]
        done = subprocess.run([*words, *needs], capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return {"python": version, "complete": False, "error": " ".join(errors)[:300]}
        taken = {
            item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(report.read_text())["install"]
        }
    return {"python": version, "complete": len(taken) == len(needs), "versions": taken}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", default=VERSIONS)
    parser.add_argument("--extras", default=EXTRAS)
    parser.add_argument("--needs", help="these packages, in place of all")
    parser.add_argument("--out", help="write the rows to this file")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    needs = args.needs.split(",") if args.needs else requirements(args.extras.split(","))
    rows = [found(version, needs) for version in args.versions.split(",")]
    if args.out:
        Path(args.out).write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(json.dumps(rows) if args.json else "\n".join(str(row) for row in rows))


if __name__ == "__main__":
    main()
