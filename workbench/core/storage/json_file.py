"""Small JSON files that are one msgspec value each.

Their last field is a checksum of what precedes it: a changed bit is damage, never another value.
Text without it is read as it is: of an earlier version, or written again by another program.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.save import save_bytes
from workbench.errors import WorkbenchError

# strict json ---------------------------------------------------------------------------------
# JSON of files, read strictly: what Python's own reader lets through is rejected here.
#
# Refused: NaN and infinities, numbers too large to be finite, doubled keys, deep nesting,
# half surrogates, and anything over a size. Each fault names its place, as in
# `graph.nodes[3].params`.

MAX_DEPTH = 64
MAX_CHARACTERS = 16 * 2**20


class JsonFault(Exception):  # noqa: N818 - turned into an error of the file by the reader
    """A text that is not acceptable JSON; `place` is line and column, or the JSON path."""

    def __init__(self, place: str, received: str, expected: str) -> None:
        super().__init__(f"{place}: {expected} expected, {received} found")
        self.place = place
        self.received = received
        self.expected = expected


class _Doubled(dict[str, Any]):
    """An object whose text had one key twice; found again by the walk, which has the place."""

    key: str = ""


def load(text: str) -> Any:
    """The value of a JSON text: dicts, lists, str, int, float, bool, None.

    Raises:
        JsonFault: with its place in the text.
    """
    if len(text) > MAX_CHARACTERS:
        limit = f"at most {MAX_CHARACTERS // 2**20} MiB of text"
        raise JsonFault("the file", f"{len(text):,} characters", limit)
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_float, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        found = _near(text, error.pos)
        raise JsonFault(f"line {error.lineno}, column {error.colno}", found, "JSON") from None
    except RecursionError:
        raise JsonFault("the file", "deeper nesting", _depth_words()) from None
    except ValueError as error:
        raise JsonFault("the file", str(error), "numbers of ordinary size") from None
    _walk(value)
    return value


def describe(value: Any) -> str:
    """A JSON value in a few words, for "received"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,}"
    if isinstance(value, dict):
        return f"an object with {len(value):,} fields"
    text = json.dumps(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _depth_words() -> str:
    return f"at most {MAX_DEPTH} levels of nesting"


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    doubled = _Doubled(value)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            doubled.key = key
        seen.add(key)
    return doubled


def _near(text: str, position: int) -> str:
    if position >= len(text):
        return "the end of the file"
    return describe(text[position : position + 20])


def _walk(root: Any) -> None:
    """Rejects doubled keys, deep nesting and half surrogates anywhere below `root`."""
    waiting: list[tuple[Any, str, int]] = [(root, "", 1)]
    while waiting:
        value, path, depth = waiting.pop()
        if isinstance(value, str):
            _check_text(value, path)
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH:
                raise JsonFault(path[:200], "deeper nesting", _depth_words())
            if isinstance(value, _Doubled):
                raise JsonFault(
                    path or "the top level", f"{describe(value.key)} twice", "each key once"
                )
            waiting.extend((part, name, depth + 1) for part, name in _parts(value, path))


def _parts(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield part, f"{path}[{index}]"
        return
    for key, part in value.items():
        _check_text(key, path or "the top level")
        yield part, f"{path}.{key[:40]}" if path else key[:40]


def _check_text(text: str, path: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise JsonFault(
            path, "an incomplete character (a lone surrogate)", "complete characters"
        ) from None


# migration chain -----------------------------------------------------------------------------
# Files of earlier versions, brought up to date one version at a time.
#
# A migration is a pure function from the plain dict of version N to that of version N + 1.
# It never rejects: what it does not recognize it leaves in place, and the reader of the
# newest version shows what is wrong with it.

Plain = dict[str, Any]
Migration = Callable[[Plain], Plain]


class MigrationChain:
    """The migrations of one file format, up to the version that this Workbench writes."""

    def __init__(self, newest: int) -> None:
        self._newest = newest
        self._steps: dict[int, Migration] = {}

    def step(self, from_version: int) -> Callable[[Migration], Migration]:
        """Declares the function that brings a dict of `from_version` to the next version."""

        def declare(migration: Migration) -> Migration:
            self._steps[from_version] = migration
            return migration

        return declare

    def migrate(self, plain: Plain, version: int) -> Plain:
        """Brings a dict of an earlier `version` to the newest one; `plain` is not changed."""
        for step in range(version, self._newest):
            plain = {**self._steps[step](plain), "version": step + 1}
        return plain


# json file -----------------------------------------------------------------------------------

K = TypeVar("K")

DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are not what they should be."""

_END = b',\n "crc32": "%08x"\n}'
_CHECKED = re.compile(rb',\n "crc32": "([^"]*)"\n\}\s*')
_END_BYTES = len(_END) + 40
"""In so many last bytes the checksum stands, also where white space follows it."""


def encode_json(value: Any, *, indent: int = -1) -> bytes:
    """A struct or mapping with at least one field as JSON text with its checksum.

    Args:
        value: What is encoded.
        indent: Spaces for each level; -1 for none, on a line.
    """
    text = msgspec.json.format(msgspec.json.encode(value), indent=indent)
    body = text.removesuffix(b"}").rstrip()
    return body + _END % zlib.crc32(body)


def decode_json(data: bytes, kind: Any = Any) -> Any:
    """The value of a kind in JSON text; raises one of DAMAGED, also where the checksum differs."""
    found = _CHECKED.search(data, max(0, len(data) - _END_BYTES))
    if found is not None and found.end() == len(data):
        body = data[: found.start()]
        if found[1] != b"%08x" % zlib.crc32(body):
            raise msgspec.DecodeError("its checksum does not match")
        data = body + b"}"
    return msgspec.json.decode(data, type=kind)


def read_json(path: Path, kind: type[K]) -> K | None:
    """The value in a file of at most 1 MiB; None where there is none, or nothing readable."""
    try:
        found: K = decode_json(read_foreign(path, SMALL_BYTES), kind)
    except (OSError, *DAMAGED):
        return None
    return found


def save_json(path: Path, value: msgspec.Struct, *, is_private: bool = False) -> None:
    """Replaces a file by a value, indented for people; raises SaveError.

    Args:
        path: The file.
        value: Its content.
        is_private: As of `save_bytes`: for what says where a user's files are.
    """
    save_bytes(path, encode_json(value, indent=1), is_private=is_private)


def refuse_newer(
    kind: type[WorkbenchError], what: str, where: object, version: int, known: int
) -> None:
    """Raises `kind` where the version of a file is newer than this program."""
    if version > known:
        raise kind(
            what,
            where=str(where),
            received=f"version {version}",
            expected=f"version {known} or older",
            fix="Update Workbench.",
        )
