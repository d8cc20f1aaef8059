"""Images that were unpacked into files: kept in the cache by the content of what held them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.specs import LoadContext
from workbench.core.storage.foreign_file import SMALL_BYTES, open_foreign, read_foreign
from workbench.core.storage.own_file import make_own_folder, refuse_link, replace_own
from workbench.errors import DatasetError, os_errors_as
from workbench.pictures.rows import LEFTOVER_AGE_S, remove_leftovers

KEEP_ENTRIES = 6
"""Unpacked sources kept; the longest unused go first, but none used within a day."""

_LAYOUT = 2
_TEMPORARY = ".unpacking-"
_FACTS = "facts.json"
_FILES = "files"
_ID_DIGITS = 40


def cached_files(
    ctx: LoadContext,
    identity: str,
    fill: Callable[[Path], Mapping[str, Any]],
    *,
    where: str,
) -> tuple[Path, Mapping[str, Any]]:
    """The folder that `fill` has filled once, and the facts (JSON values) it has returned.

    An entry appears whole or not at all; one of which a file has gone is filled again.

    Args:
        ctx: Names the cache folder.
        identity: Hexadecimal digits; another content has others.
        fill: Writes files into the folder it is given.
        where: What messages name.

    Raises:
        DatasetError: the cache could not be written (for example, the disk is full).
    """
    with _stored(where):
        archives = _folder(ctx)
        entry = archives / f"{identity[:_ID_DIGITS]}-{_LAYOUT}"
        facts = _read_facts(entry)
        if facts is None:
            refuse_link(entry)
            facts = _make(entry, fill)
            _forget(archives, entry)
        os.utime(entry, follow_symlinks=False)  # used just now
    return entry / _FILES, facts["facts"]


def file_identity(ctx: LoadContext, path: Path) -> str:
    """The sha256 of a file; it is kept by path, size and time of change.

    Raises:
        DatasetError: the file cannot be read.
    """
    with _stored(str(path)):
        path = path.resolve()
        status = path.stat()
        place = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:24]
        known = _folder(ctx) / f"known-{place}.json"
        stamp = [status.st_size, status.st_mtime_ns, status.st_ino]
        found = _known_identity(known, stamp)
        if not found:
            found = _digest(ctx, path, status.st_size)
            replace_own(known, json.dumps({"stamp": stamp, "sha256": found}).encode("ascii"))
    return found


def _known_identity(known: Path, stamp: list[int]) -> str:
    try:
        kept = json.loads(read_foreign(known, SMALL_BYTES))
        is_right = kept["stamp"] == stamp and re.fullmatch("[0-9a-f]{64}", kept["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # not known yet, or damaged: the file is read again
    return str(kept["sha256"]) if is_right else ""


def _digest(ctx: LoadContext, path: Path, size: int) -> str:
    digest, done = hashlib.sha256(), 0
    with open_foreign(path) as file:
        while piece := file.read(1 << 22):
            ctx.check_cancelled()
            done += len(piece)
            ctx.progress(f"Reading {path.name}", min(1.0, done / max(1, size)))
            digest.update(piece)
    return digest.hexdigest()


def _stored(where: str) -> AbstractContextManager[None]:
    """Raises an OSError as a DatasetError that names the source."""
    fix = "Free some space, or set WORKBENCH_HOME to a folder on another disk."
    return os_errors_as(DatasetError, "The images could not be unpacked.", where, fix=fix)


def _folder(ctx: LoadContext) -> Path:
    folder = Path(ctx.cache_folder) / "archives"
    make_own_folder(folder, parents=True)
    return folder


_MAX_FACTS_BYTES = 256 * 1024 * 1024
"""Size limit of the facts, which hold up to a million names of images."""


def _read_facts(entry: Path) -> dict[str, Any] | None:
    """What is known about a complete entry; None where there is none, or something has gone."""
    try:
        facts = json.loads(read_foreign(entry / _FACTS, _MAX_FACTS_BYTES))
        is_whole = list(_size_of(str(entry / _FILES))) == facts["size"]
        is_whole = is_whole and isinstance(facts["facts"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        is_whole = False
    if is_whole and isinstance(facts, dict):
        return facts
    shutil.rmtree(entry, ignore_errors=True)
    return None


def _size_of(folder: str) -> tuple[int, int]:
    """Files and bytes in a folder and those inside."""
    files = size = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner = _size_of(entry.path)
                files, size = files + inner[0], size + inner[1]
            else:
                files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return files, size


def _make(entry: Path, fill: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
    remove_leftovers(entry.parent, _TEMPORARY)
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=entry.parent))
    try:
        (temporary / _FILES).mkdir()
        filled = dict(fill(temporary / _FILES))
        facts = {"size": _size_of(str(temporary / _FILES)), "facts": filled}
        (temporary / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
        try:
            temporary.rename(entry)
        except OSError:
            if not entry.is_dir():  # else another process was faster, and its entry is as good
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return facts


def _forget(archives: Path, made: Path) -> None:
    """Removes the longest unused of the other entries."""
    others = sorted(
        (path for path in archives.glob("*-[0-9]*") if path != made and path.is_dir()),
        key=lambda path: path.lstat().st_mtime,
        reverse=True,
    )
    for path in others[KEEP_ENTRIES - 1 :]:
        if time.time() - path.lstat().st_mtime > LEFTOVER_AGE_S:
            shutil.rmtree(path, ignore_errors=True)


# bundled files -------------------------------------------------------------------------------
# Image files inside a bundled zip, unpacked into the cache at first use.


def bundled_files(ctx: LoadContext, archive: Path) -> dict[str, str]:
    """The path of each image by its name in the archive, in the archive's order.

    Args:
        ctx: Names the cache folder.
        archive: One of our own; its checksums are compared.

    Raises:
        DatasetError: it is damaged, or the cache could not be written.
    """
    identity = file_identity(ctx, archive)
    folder, facts = cached_files(ctx, identity, partial(_unpack, ctx, archive), where=str(archive))
    return {name: str(folder / name) for name in facts["names"]}


def _unpack(ctx: LoadContext, archive: Path, folder: Path) -> dict[str, Any]:
    """Writes the images below `folder`; their names."""
    ctx.progress("Unpacking the images")
    try:
        with open_foreign(archive) as opened, zipfile.ZipFile(opened) as file:
            names = [name for name in file.namelist() if name.endswith(".jpg")]
            for name in names:
                file.extract(name, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DatasetError(
            "The bundled images are damaged.",
            where=str(archive),
            received=str(error),
            fix="Reinstall Workbench.",
        ) from error
    return {"names": names}
