"""Image files inside a bundled zip, unpacked into the cache at first use."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.specs import LoadContext
from workbench.datasets._array_cache import cached_entry
from workbench.errors import DatasetError

_FILES = "files"


def bundled_files(ctx: LoadContext, name: str, archive: Path) -> dict[str, str]:
    """The path of each image by its name in the archive, in the archive's order.

    Args:
        ctx: Names the cache folder.
        name: Beginning of the cache entry's name.
        archive: One of our own; its checksums are compared.

    Raises:
        DatasetError: it is damaged, or the cache could not be written.
    """

    def fill(folder: Path) -> Mapping[str, Any]:
        ctx.progress("Unpacking the images")
        return {_FILES: _unpack(archive, folder / _FILES)}

    for _ in range(2):
        entry = cached_entry(ctx, name, archive, fill)
        sizes = entry.facts[_FILES]
        root = entry.path / _FILES
        if all(_size(root / each) == size for each, size in sizes.items()):
            return {each: str(root / each) for each in sizes}
        shutil.rmtree(entry.path)  # someone has tidied up in the cache
    raise DatasetError("The unpacked images are missing.", where=str(root))


def _unpack(archive: Path, folder: Path) -> dict[str, int]:
    """Writes the images below `folder`; their sizes by name."""
    sizes: dict[str, int] = {}
    try:
        with zipfile.ZipFile(archive) as file:
            for member in file.infolist():
                if not member.filename.endswith(".jpg"):
                    continue
                data = file.read(member)
                path = folder / member.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                sizes[member.filename] = len(data)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DatasetError(
            "The bundled images are damaged.",
            where=str(archive),
            received=str(error),
            fix="Reinstall Workbench.",
        ) from error
    return sizes


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
