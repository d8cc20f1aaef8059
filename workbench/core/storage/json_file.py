"""Small JSON files that are one msgspec value each."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.save import save_bytes
from workbench.errors import WorkbenchError

K = TypeVar("K")

DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are not what they should be."""


def read_json(path: Path, kind: type[K]) -> K | None:
    """The value in a file of at most 1 MiB; None where there is none, or nothing readable."""
    try:
        return msgspec.json.decode(read_foreign(path, SMALL_BYTES), type=kind)
    except (OSError, *DAMAGED):
        return None


def save_json(path: Path, value: msgspec.Struct, *, is_private: bool = False) -> None:
    """Replaces a file by a value, indented for people; raises SaveError.

    Args:
        path: The file.
        value: Its content.
        is_private: As of `save_bytes`: for what says where a user's files are.
    """
    text = msgspec.json.format(msgspec.json.encode(value), indent=1)
    save_bytes(path, text, is_private=is_private)


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
