"""Other revisions of this repository, to be compared with this checkout."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commit_of(revision: str) -> str:
    """The commit, twelve digits; ends the program where there is none of that name."""
    return _git("rev-parse", "--short=12", f"{revision}^{{commit}}").decode().strip()


@contextmanager
def source_of(revision: str) -> Iterator[Path]:
    """A folder with `src/` and `benchmarks/` of a revision, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agssl-before-") as folder:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", revision, "src", "benchmarks"))) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def _git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)} failed: {done.stderr.decode().strip()}")
    return done.stdout
