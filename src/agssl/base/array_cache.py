"""Arrays that are computed once and then read from disk."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from agssl.base.atomic import write_bytes
from agssl.base.errors import DataError

log = logging.getLogger("agssl")

Arrays = Mapping[str, np.ndarray]


def cached_arrays(path: Path | None, compute: Callable[[], Arrays]) -> Arrays:
    """What `compute` gives, from the file `path` if it is there; without a path, computed anew.

    A file that can't be read is computed again, and one that can't be written is left: a cache is never worth an error.
    """
    if path is not None and path.exists():
        try:
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except Exception:  # a damaged archive can raise almost anything
            log.info("the cache file %s is damaged; what it held is computed again", path)
    arrays = compute()
    if path is not None:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        with contextlib.suppress(DataError):
            write_bytes(path, buffer.getvalue())
    return arrays
