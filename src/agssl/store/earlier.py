"""What a folder holds before a fit writes its run there: nothing, an unfinished fit, or a finished run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agssl.base.errors import DataError
from agssl.store.run import FORMAT
from agssl.store.unfinished import FOLDER, Unfinished, difference

Plan = Mapping[str, Any]


def finished_run(path: Path) -> dict[str, Any] | None:
    """The content of run.json, if there is a finished run."""
    try:
        about = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) and about.get("format") == FORMAT else None


def is_done(path: Path, plan: Plan, seeds: Sequence[int]) -> bool:
    """Whether a finished run of just this plan and these seeds is there; what a kill left beside it is removed."""
    about = finished_run(path)
    if about is None or _asked(about) != _plain({**plan, "seeds": list(seeds)}):
        return False
    Unfinished(path, plan).tidy()
    return True


def refuse_finished(path: Path, plan: Plan, seeds: Sequence[int]) -> None:
    """An error if a finished run is there, which says how it differs."""
    about = finished_run(path)
    if about is None:
        return
    what = difference(_asked(about), _plain({**plan, "seeds": list(seeds)})) if "plan" in about else "other settings"
    raise DataError(
        f"{path} holds a finished run with {what}; name another folder with --out, or replace it with --overwrite"
    )


def free_folder(base: str, plan: Plan, seeds: Sequence[int]) -> str:
    """The folder of this name, or with -2, -3, ... after it, that holds no fit with other settings."""
    number, path = 1, base
    while _holds_other(Path(path), plan, seeds):
        number += 1
        path = f"{base}-{number}"
    return path


def _holds_other(path: Path, plan: Plan, seeds: Sequence[int]) -> bool:
    if finished_run(path) is not None:
        return not is_done(path, plan, seeds)
    try:
        stored = json.loads((path / FOLDER / "plan.json").read_text(encoding="utf-8"))["plan"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(stored != _plain(plan))


def _asked(about: Plan) -> dict[str, Any]:
    return {**about.get("plan", {}), "seeds": about.get("seeds")}


def _plain(plan: Plan) -> dict[str, Any]:
    return dict(json.loads(json.dumps(plan)))
