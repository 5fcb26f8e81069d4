"""Ways to damage a file: of bytes, of lines and cells, and of the numbers in it."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import gzip
import io
import json
import random
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

NASTY = [
    b"", b"-1", b"0", b"nan", b"inf", b"-inf", b"1e999", b"1e30", b"99999999999999999999", b"-9223372036854775809",
    b"9223372036854775807", b"4294967296", b"1e-400", b"True", b"null", b"[]", b"{}", b"'", b'"', b"\n", b"\r", b"\0",
    b"\xff\xfe", b"\xef\xbb\xbf", "\u202e".encode(), b"../../evil", b"/etc/passwd", b"%s%n", b"=cmd()", b"<b>x</b>",
    b"9" * 400, b"[" * 2000, b"0x1p3", b"1_000", b"\xe2\x88\x92\x31", b",", b"\t", b"=", b"#", b"a" * 5000,
]  # fmt: skip
HUGE = [2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -1, 0]


ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -(10**30), 0.5, 1e308, float("nan"), float("inf"), "", "x",
    "nan", "../../evil", "\0", [], {}, [[]], [None], [0], ["a"], {"a": 1}, [[[[[0]]]]], "x" * 2000,
]  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The same file after random damage: of its bytes, or of what is in it with the wrapping made good again.

    Damage to the bytes of an archive rarely gets past its checksums, so most cases go inside.
    """
    inside = next((way for sign, way in INSIDE if sign(data)), None)
    if inside is not None and rng.random() < 0.75:
        try:
            return inside(data, rng)
        except (ValueError, KeyError, zipfile.BadZipFile, OSError, EOFError, zlib.error):
            pass  # it was damaged before; then its bytes will do
    return damaged(data, rng)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes after one to four random damages."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(WAYS)(data, rng)
    return data


def flip_bit(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def set_byte(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))]) + data[at + 1 :]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut_out(data: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(data) + 1), rng.choice((1, 4, 16, 64, 256))
    return data[:at] + data[at + length :]


def repeat(data: bytes, rng: random.Random) -> bytes:
    at, length, times = rng.randrange(len(data) + 1), rng.choice((1, 8, 64, 512)), rng.choice((1, 2, 50))
    return data[: at + length] + data[at : at + length] * times + data[at + length :]


def double(data: bytes, rng: random.Random) -> bytes:
    return data + data


def insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((rng.choice(NASTY), rng.randbytes(rng.choice((1, 8, 100))))) + data[at:]


def overwrite_integer(data: bytes, rng: random.Random) -> bytes:
    width = rng.choice((2, 4, 8))
    if len(data) < width:
        return data
    at = rng.randrange(len(data) - width + 1)
    value = (rng.choice(HUGE) % (1 << (8 * width))).to_bytes(width, rng.choice(("little", "big")))
    return data[:at] + value + data[at + width :]


def replace_number(data: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?", data))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NASTY) + data[match.end() :]


def replace_word(data: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"\w+", data))
    if not found:
        return data
    match, other = rng.choice(found), rng.choice(found)
    return data[: match.start()] + rng.choice((other.group(), rng.choice(NASTY))) + data[match.end() :]


def move_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
    if rng.random() < 0.5:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def drop_separator(data: bytes, rng: random.Random) -> bytes:
    found = [i for i, byte in enumerate(data) if byte in b',\t\n"[]{}:=']
    if not found:
        return data
    at = rng.choice(found)
    return data[:at] + data[at + 1 :]


WAYS = (
    flip_bit, set_byte, truncate, cut_out, repeat, double, insert, overwrite_integer, replace_number, replace_word,
    move_line, drop_separator,
)  # fmt: skip


def in_zip(data: bytes, rng: random.Random) -> bytes:
    """Damage, drop, double or exchange one member, with checksums that are right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at, other = rng.randrange(len(members)), rng.randrange(len(members))
    name, content = members[at]
    act = rng.randrange(8)
    if act == 0:
        del members[at]
    elif act == 1:
        members[at] = (name, members[other][1])
    elif act == 2:
        members.append((rng.choice(["../../evil", "/evil", name, "x.npy"]), content))
    elif content.startswith(b"\x93NUMPY"):
        members[at] = (name, in_array(content, rng))
    else:
        members[at] = (name, mutated(content, rng))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice is what we want
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def in_array(data: bytes, rng: random.Random) -> bytes:
    """Another array in the place of one: other values, another shape, another type; or damaged bytes."""
    act = rng.randrange(6)
    if act == 0:
        return damaged(data, rng)
    array = np.load(io.BytesIO(data), allow_pickle=False).copy()
    if act == 1:
        array = array.ravel()[: rng.randrange(array.size + 1)]
    elif act == 2:
        array = array.reshape(rng.choice([(-1, 1), (1, -1), (-1,), (1, 1, -1)]))
    elif act == 3:
        kind = rng.choice(["f4", "f8", "i1", "u8", "?", "U3", "S3", "c16", "M8[s]", ">i4", "i4,f4", "V0", "f2"])
        array = np.zeros(array.shape, dtype=kind)
    elif array.size:
        values = (
            [0, -1, 1, 2**31 - 1, 2**40, 2**63 - 1, -(2**63)] if array.dtype.kind in "iu" else [np.nan, np.inf, 1e30]
        )
        with contextlib.suppress(OverflowError), np.errstate(all="ignore"):
            array.ravel()[rng.randrange(array.size)] = rng.choice(values)
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def in_parquet(data: bytes, rng: random.Random) -> bytes:
    """A column with odd values, of another type, gone, twice or under another name; or other rows."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    at, act = rng.randrange(table.num_columns), rng.randrange(7)
    name, column = table.column_names[at], table.column(at)
    if act == 0:
        table = table.remove_column(at)
    elif act == 1:
        table = table.append_column(name, column)
    elif act == 2:
        table = table.set_column(at, rng.choice(["", " ", "split", "weight", "\0", table.column_names[0]]), column)
    elif act == 3:
        table = table.slice(rng.randrange(table.num_rows), rng.choice((0, 1, table.num_rows)))
    elif act == 4:
        table = table.set_column(at, name, pa.array(rng.choice(PARQUET_COLUMNS)(table.num_rows)))
    else:
        values = column.to_pylist()
        values[rng.randrange(len(values))] = rng.choice([None, *ODD_VALUES])
        try:
            table = table.set_column(at, name, pa.array(values))
        except (pa.ArrowException, OverflowError):  # odd among these: then all are text
            table = table.set_column(at, name, pa.array([str(value) for value in values]))
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def in_gzip(data: bytes, rng: random.Random) -> bytes:
    return gzip.compress(damaged(gzip.decompress(data), rng), mtime=0)


def in_json(data: bytes, rng: random.Random) -> bytes:
    """Other values, or other keys, in JSON that stays JSON."""
    return json.dumps(changed(json.loads(data), rng)).encode()


def changed(value: Any, rng: random.Random) -> Any:
    """The value with something odd somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key, act = rng.choice(sorted(value)), rng.random()  # safetensors writes them in any order
        if act < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if act < 0.2:
            return value | {rng.choice(["", "x", key + "_"]): value[key]}
        return value | {key: changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at, act = rng.randrange(len(value)), rng.random()
        if act < 0.2:
            return value[:at] + value[at + 1 :]
        if act < 0.4:
            return [*value, value[at]]
        return [*value[:at], changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, str) and value[:1] in ("{", "[") and rng.random() < 0.9:
        return json.dumps(changed(json.loads(value), rng))  # JSON in JSON: the header of a model
    return rng.choice(ODD_VALUES)


def in_safetensors(data: bytes, rng: random.Random) -> bytes:
    """Another header of the right length, or other weights."""
    size = int.from_bytes(data[:8], "little")
    header, body = data[8 : 8 + size], data[8 + size :]
    act = rng.random()
    if act < 0.2:
        body = damaged(body, rng)
    elif act < 0.3:
        header = damaged(header, rng)
    else:
        about = json.loads(header)
        part = "__metadata__" if rng.random() < 0.7 else rng.choice(sorted(about))
        header = json.dumps(about | {part: changed(about[part], rng)}).encode()
    return len(header).to_bytes(8, "little") + header + body


# What a column of n rows may hold instead
PARQUET_COLUMNS: tuple[Callable[[int], list[Any]], ...] = (
    lambda n: [None] * n,
    lambda n: [b"\xff\xfe"] * n,
    lambda n: [[1, 2]] * n,
    lambda n: [{"a": 1}] * n,
    lambda n: [float("inf")] * n,
    lambda n: [decimal.Decimal("1.5")] * n,
    lambda n: [datetime.datetime.max] * n,
    lambda n: [datetime.timedelta(days=1)] * n,
    lambda n: [datetime.time(1, 2)] * n,
    lambda n: [-(2**63)] * n,
    lambda n: [True] * n,
)

INSIDE: tuple[tuple[Callable[[bytes], bool], Callable[[bytes, random.Random], bytes]], ...] = (
    (lambda data: data.startswith(b"PK"), in_zip),
    (lambda data: data.startswith(b"\x1f\x8b"), in_gzip),
    (lambda data: data.startswith(b"PAR1"), in_parquet),
    (lambda data: data.startswith(b"\x93NUMPY"), in_array),
    (lambda data: data[8:9] == b"{", in_safetensors),
    (lambda data: data[:1] in (b"{", b"["), in_json),
)
