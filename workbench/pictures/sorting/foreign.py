"""What an undo file that was not written by this user on this computer may do: little.

A folder from elsewhere may hold one, with any file beside it under the name of an image and any
path as the place where it was. Only pictures are put back, into folders that are there and not
hidden; only copies are deleted whose original has the same content.
"""

from __future__ import annotations

import filecmp
import os
from pathlib import Path, PurePosixPath

from workbench.core.storage.foreign_file import open_foreign
from workbench.pictures.folders import ENDINGS
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff


def why_not_foreign(source: str, target: Path, *, is_move: bool) -> str:
    """Why an image of a foreign undo file is left alone; "" where it may be taken back.

    Args:
        source: Where it was, as the file says.
        target: Where it is.
        is_move: It is to be put back; else the copy at `target` is to be deleted.

    Raises:
        OSError: it cannot be read.
    """
    if not os.path.isabs(source) or not _is_picture(target, source):  # noqa: PTH117 - many
        return "is no picture"
    if _is_hidden(target):
        return "is in a hidden folder"
    if not is_move:
        return "" if _are_same(Path(source), target) else "is not like its original"
    folder = Path(source).parent
    if os.path.lexists(source):
        return "another file is where it was"
    if not folder.is_dir():
        return "its folder is not there"
    return "its folder is hidden" if _is_hidden(Path(source)) else ""


def _is_picture(target: Path, source: str) -> bool:
    """Whether a file is an image by its content and by both names."""
    with open_foreign(target, follows_links=False) as file:
        kind = sniff(file.read(HEAD_BYTES))
    names = (target.suffix.lower(), PurePosixPath(source).suffix.lower())
    return kind in DECODED and all(name in ENDINGS for name in names)


def _is_hidden(path: Path) -> bool:
    """Whether the file or one of its folders is hidden, also where a link leads."""
    real = Path(os.path.realpath(path.parent)) / path.name
    return any(part.startswith(".") for each in (path, real) for part in each.parts)


def _are_same(source: Path, target: Path) -> bool:
    return source.is_file() and filecmp.cmp(source, target, shallow=False)
