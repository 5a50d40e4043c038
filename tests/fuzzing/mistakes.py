"""Mistakes in files: bytes that are changed, cut, renamed, encoded, packed or replaced."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from fuzzing.corpora import KINDS, Files, whole_files
from fuzzing.hostility import NAMES, NUMBERS, PIECES, VALUES


def with_mistakes(random: Random, files: Files) -> Files:
    """Files of which one or two have mistakes, or one is gone."""
    changed = dict(files)
    for _ in range(random.choice((1, 1, 1, 2))):
        path = random.choice([*changed])
        if len(changed) > 1 and random.random() < 0.1:
            del changed[path]
            continue
        for _ in range(random.choice((1, 1, 2, 3))):
            changed[path] = random.choice(MISTAKES)(random, changed[path])
    return changed


def _flip(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _behead(random: Random, data: bytes) -> bytes:
    return data[random.randrange(len(data) + 1) :]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(PIECES) + data[place + random.choice((0, 0, 1, 5)) :]


def _edit_lines(random: Random, data: bytes) -> bytes:
    """Lines repeated, removed, exchanged, or moved to the end."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    what = random.randrange(4)
    if what == 0:
        lines.insert(other, lines[one])
    elif what == 1:
        del lines[one : one + random.choice((1, 1, 3))]
    elif what == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.append(lines.pop(one))
    return b"".join(lines)


def _edit_columns(random: Random, data: bytes) -> bytes:
    """A column of one line or of all of them dropped, repeated, or made of something else."""
    separator = b"\t" if b"\t" in data else b" "
    lines = data.split(b"\n")
    column = random.randrange(12)
    chosen = range(len(lines)) if random.random() < 0.4 else [random.randrange(len(lines))]
    what, piece = random.randrange(3), random.choice(PIECES)
    for place in chosen:
        cells = lines[place].split(separator)
        if column < len(cells):
            cells[column : column + 1] = ([], cells[column : column + 1] * 2, [piece])[what]
        lines[place] = separator.join(cells)
    return b"\n".join(lines)


def _rename(random: Random, data: bytes) -> bytes:
    """A word or number, in one place or everywhere, becomes a hostile name or number."""
    words = re.findall(rb"\w+", data)
    if not words:
        return data
    old, name = random.choice(words), random.choice(random.choice((NAMES, NAMES, NUMBERS)))
    if data.lstrip()[:1] in (b"{", b"[") and random.random() < 0.8:
        new = json.dumps(name, ensure_ascii=random.random() < 0.5)[1:-1].encode(
            "utf-8", "surrogatepass"
        )
    else:
        new = name.encode("utf-8", "surrogatepass")
    count = random.choice((1, -1))
    return re.sub(rb"\b" + old + rb"\b", lambda _: new, data, count=max(count, 0))


def _edit_json(random: Random, data: bytes) -> bytes:
    """Something somewhere in a JSON file becomes something else, or goes, or comes twice."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    try:
        root = [json.loads(lines[place])]
    except ValueError:
        return _insert(random, data)
    parent: Any = root
    while True:
        keys = [*parent] if isinstance(parent, dict) else range(len(parent))
        key = random.choice([*keys])
        child = parent[key]
        if not (isinstance(child, dict | list) and child) or random.random() < 0.3:
            break
        parent = child
    what = random.randrange(5)
    if what == 0 and parent is not root:
        del parent[key]
    elif what == 1 and isinstance(parent, list):
        parent.append(child)
    elif what == 2:
        parent[key] = [child]
    else:
        parent[key] = random.choice(VALUES)
    lines[place] = json.dumps(root[0], ensure_ascii=random.random() < 0.7).encode(
        "utf-8", "surrogatepass"
    )
    return b"\n".join(lines)


def _encode(random: Random, data: bytes) -> bytes:
    encoding = random.choice(
        (
            "utf-8-sig",
            "utf-16",
            "utf-16-le",
            "utf-16-be",
            "utf-32",
            "latin-1",
            "cp1252",
            "utf-7",
            "cp037",
        )
    )
    try:
        return data.decode().encode(encoding, "replace")
    except UnicodeError:
        return b"\xef\xbb\xbf" + data


def _end_lines(random: Random, data: bytes) -> bytes:
    end = random.choice((b"\r\n", b"\r", b"\n\n", b"", b"\n\r", b" \n", b"\x85", b"\n "))
    return data.replace(b"\n", end)


def _pack(random: Random, data: bytes) -> bytes:
    """Gzip, whole, cut, damaged, twice, or with something behind it."""
    packed = gzip.compress(data, mtime=0)
    return random.choice(
        (lambda: packed, lambda: _cut(random, packed), lambda: _flip(random, packed),
         lambda: gzip.compress(packed, mtime=0), lambda: packed + b"x", lambda: packed + packed)
    )()  # fmt: skip


def _replace(random: Random, data: bytes) -> bytes:
    """Nothing, blanks, noise, the file twice, or something of another format."""
    return random.choice(
        (lambda: b"", lambda: b"\n", lambda: b" \t\n" * 3, lambda: data + data,
         lambda: b"\x00" * 20,
         lambda: random.randbytes(30), lambda: b"".join(random.choices(PIECES, k=20)),
         lambda: data + b"\n" + next(iter(whole_files(random.choice(KINDS), 0, 0).values())))
    )()  # fmt: skip


MISTAKES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip, _cut, _behead, _insert, _insert, _insert, _edit_lines, _edit_lines, _edit_columns,
    _rename, _rename, _rename, _edit_json, _edit_json, _encode, _end_lines, _pack, _replace,
)  # fmt: skip
