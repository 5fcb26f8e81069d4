"""Ways to damage a file: of bytes, of lines and cells, and of the numbers in it."""

from __future__ import annotations

import random
import re

NASTY = [
    b"", b"-1", b"0", b"nan", b"inf", b"-inf", b"1e999", b"1e30", b"99999999999999999999", b"-9223372036854775809",
    b"9223372036854775807", b"4294967296", b"1e-400", b"True", b"null", b"[]", b"{}", b"'", b'"', b"\n", b"\r", b"\0",
    b"\xff\xfe", b"\xef\xbb\xbf", "\u202e".encode(), b"../../evil", b"/etc/passwd", b"%s%n", b"=cmd()", b"<b>x</b>",
    b"9" * 400, b"[" * 2000, b"0x1p3", b"1_000", b"\xe2\x88\x92\x31", b",", b"\t", b"=", b"#", b"a" * 5000,
]  # fmt: skip
HUGE = [2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -1, 0]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The same file after one to four random damages."""
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
