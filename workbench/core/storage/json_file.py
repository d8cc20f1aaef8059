"""Small JSON files that are one msgspec value each.

Their last field is a checksum of what precedes it: a changed bit is damage, never another value.
Text without it is read as it is: of an earlier version, or written again by another program.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.save import save_bytes
from workbench.errors import WorkbenchError

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
