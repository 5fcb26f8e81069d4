"""`agssl doctor`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agssl import health
from agssl.base.install import install_line
from agssl.health import Check, folder_size


def fake(*states: str) -> Any:
    return lambda: iter([Check("extra", f"e{i}", state, "x") for i, state in enumerate(states)])


def test_a_sound_installation(agssl: Any) -> None:
    done = agssl("doctor", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["sound"] is True
    assert report["versions"]["agssl"] and report["versions"]["torch"]
    assert report["machine"]["cores"] >= 1 and report["machine"]["blas"]
    assert report["caches"]["cache"]["path"].endswith("cache")
    states = {f"{check['group']} {check['name']}": check["state"] for check in report["checks"]}
    assert states["self-test fit, save, load, predict"] == "ok"
    assert states["kernel sparse product and its gradient"] == "ok"
    assert all(state in ("ok", "absent") for state in states.values())
    assert "self-test" in done.err


@pytest.mark.parametrize(("states", "code"), [(("ok", "absent"), 0), (("ok", "failed"), 1)])
def test_the_code_says_whether_something_is_broken(
    agssl: Any, monkeypatch: pytest.MonkeyPatch, states: tuple[str, ...], code: int
) -> None:
    monkeypatch.setattr(health, "checks", fake(*states))
    done = agssl("doctor")
    assert done.code == code
    assert ("something is broken" in done.out) == bool(code)
    assert "free memory" in done.out


@pytest.mark.slow
def test_a_broken_extra_is_told_from_an_absent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(module: Any) -> str:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(health, "EXTRAS", {"plot": ("json", breaks), "scale": ("no_such_module", breaks)})
    broken, absent = list(health.checks())[:2]
    assert (broken.state, broken.detail) == ("failed", "RuntimeError: two lines")
    assert absent.state == "absent" and install_line("scale") in absent.detail


def test_sums_of_folders(tmp_path: Any) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_bytes(b"123")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    size = folder_size(tmp_path)
    assert 3 <= size < 3 + 4096
