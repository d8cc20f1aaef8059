"""Files from the internet that are kept: each appears under its name once its checksum is right. A
process whose file another one is fetching waits for it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.own_file import make_private, open_own, refuse_link, take_lock
from workbench.downloads.download import Download, Progress
from workbench.downloads.transfer import Transfer, checksum_of, stored_in

PARTIAL_PREFIX = ".workbench-downloading-"
PARTIAL_AGE_S = 7 * 86_400.0
"""What a download that was never finished has left is kept for so long."""


def fetch(download: Download, folder: Path, ctx: Progress) -> Path:
    """The file in `folder`, where it is already there and right, or else from the internet.

    Raises:
        DownloadError: no connection, rejected by the server, or a wrong checksum.
        LinkFoundError: a link has the file's name.
    """
    found = _kept(download, folder, ctx)
    if found is not None:
        return found
    with stored_in(folder):
        make_private(folder)
        _remove_old_partials(folder)
        partial = folder / f"{PARTIAL_PREFIX}{download.checksum[:16]}"
        with _locked(partial, download, ctx) as descriptor:
            # Another process may have finished it while its lock was waited for.
            found = _kept(download, folder, ctx)
            if found is None:
                with os.fdopen(os.dup(descriptor), "rb+") as file:
                    Transfer(download, file, folder, ctx).run()
                found = folder / download.kept_name
                refuse_link(found)
                partial.replace(found)
            else:
                partial.unlink(missing_ok=True)
    return found


def fetch_unknown(download: Download, path: Path, ctx: Progress, *, max_bytes: int) -> None:
    """Fetches a file whose checksum nobody knows into the new file `path`, with at most
    `max_bytes`; what is incomplete is removed.

    Raises:
        DownloadError: as `fetch`, or it is larger.
        LinkFoundError: a link has the file's name.
    """
    with stored_in(path.parent):
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        try:
            with os.fdopen(descriptor, "rb+") as file:
                Transfer(download, file, path.parent, ctx, max_bytes).run()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _kept(download: Download, folder: Path, ctx: Progress) -> Path | None:
    for name in download.kept_names:
        path = folder / name
        if path.is_file():
            ctx.progress(f"Checking {download.title}")
            with open_foreign(path) as file:
                if checksum_of(file, download, ctx) == download.checksum:
                    return path
    return None


@contextlib.contextmanager
def _locked(partial: Path, download: Download, ctx: Progress) -> Iterator[int]:
    """The partial file, open and locked for this process alone."""
    while True:
        descriptor = take_lock(partial, wait_s=0.2)
        if descriptor is None:
            ctx.check_cancelled()
            ctx.progress(f"Another process is downloading {download.title}")
            continue
        if _is_at(descriptor, partial):
            break
        os.close(descriptor)  # finished and renamed by its owner while it was waited for
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _remove_old_partials(folder: Path) -> None:
    for path in folder.glob(f"{PARTIAL_PREFIX}*"):
        with contextlib.suppress(OSError):  # another process has just finished it
            if time.time() - path.lstat().st_mtime > PARTIAL_AGE_S:
                path.unlink()
