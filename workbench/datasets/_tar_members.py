"""Members of a downloaded tar archive, read in memory by name; nothing is written to the disk."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import DatasetError

MAX_MEMBER_BYTES = 256 * 2**20


def read_tar_members(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Regular files of a tar archive by their full names, read in memory; nothing is extracted.

    Raises:
        DatasetError: damaged, a member is missing, or larger than MAX_MEMBER_BYTES.
    """
    import tarfile  # noqa: PLC0415 - the window reads SPECs and never unpacks

    found: dict[str, bytes] = {}
    try:
        with open_foreign(path) as file, tarfile.open(fileobj=file, mode="r:*") as archive:
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
