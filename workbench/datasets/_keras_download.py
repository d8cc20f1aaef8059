"""Data sets that Keras downloads: the same addresses, files, checksums and folder.

A file that Keras has already fetched is used as it is; one fetched here is found by Keras.
Nothing is unpacked onto the disk: members are read in memory, by name.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection
from pathlib import Path

from workbench import downloads
from workbench.core.specs import LoadContext
from workbench.downloads import Download, keras_folder
from workbench.errors import DatasetError

MAX_MEMBER_BYTES = 256 * 2**20


def fetch(ctx: LoadContext, download: Download) -> Path:
    """The file, from Keras's folder or else from the internet; errors as `downloads.fetch`."""
    return downloads.fetch(download, keras_folder(), ctx)


def read_tar_members(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Regular files of a tar archive by their full names, read in memory; nothing is extracted.

    Raises:
        DatasetError: damaged, a member is missing, or larger than MAX_MEMBER_BYTES.
    """
    import tarfile  # noqa: PLC0415 - as above

    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.name not in names or not member.isreg():
                    continue
                if member.size > MAX_MEMBER_BYTES:
                    raise _bad_archive(path, f"{member.name} of {member.size:,} bytes")
                opened = archive.extractfile(member)
                found[member.name] = opened.read() if opened else b""
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise _bad_archive(path, str(error)) from error
    missing = sorted(set(names) - found.keys())
    if missing:
        raise _bad_archive(path, "no " + ", ".join(missing))
    return found


def _bad_archive(path: Path, received: str) -> DatasetError:
    return DatasetError(
        "The downloaded archive is damaged.",
        where=str(path),
        received=received,
        fix="Delete it, so that it is downloaded again.",
    )
