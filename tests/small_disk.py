"""A disk of a few megabytes, and one that is full."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[None]:
    """This folder is a disk of its own (Linux, as root); what lies on it is gone afterwards.

    Raises:
        CalledProcessError: Where none can be mounted, with what `mount` says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    subprocess.run(mount, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


@contextlib.contextmanager
def filled(disk: Path, *, but: int = 0) -> Iterator[None]:
    """The disk is full, but for so many bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(ballast, max(ballast.stat().st_size - but, 0))
    try:
        yield
    finally:
        ballast.unlink()
