"""Image files inside a bundled zip, unpacked into the cache at first use."""

from __future__ import annotations

import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.specs import LoadContext
from workbench.core.storage.foreign_file import open_foreign
from workbench.datasets._cached_files import cached_files, file_identity
from workbench.errors import DatasetError


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
