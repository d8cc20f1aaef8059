"""Whether a run folder is the program's own to write into.

A run folder that is a link, or lies behind one inside the runs folder, leads elsewhere: it is
listed and read, and nothing is written there. The runs folder itself may be a link, and what is
above it: the user has put it there.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from workbench.core.storage.own_file import refuse_link
from workbench.errors import LinkFoundError, RunFolderError, os_errors_as
from workbench.runs.home import runs_home

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFREG: "a file",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def is_own(folder: Path) -> bool:
    """Whether nothing leads from the runs folder to elsewhere on the way to a run folder."""
    return _link_to(folder) is None


def check_own(folder: Path) -> None:
    """Raises LinkFoundError where a run folder may only be read."""
    link = _link_to(folder)
    if link is not None:
        raise LinkFoundError(
            "This run is behind a link: it can be viewed, but not changed.",
            where=str(folder),
            received=f"“{link.name}” is a link to {link.readlink()}"[:300],
            expected="the run folder itself in the runs folder",
            fix="Copy the folder that the link points to into the runs folder.",
        )


def check_writable(files: Iterable[Path], folders: Iterable[Path]) -> None:
    """Raises LinkFoundError, RunFolderError where something else is under a name that a training
    writes to: it would be found out at the end of an epoch, or of the training.
    """
    for paths, kind in ((files, stat.S_IFREG), (folders, stat.S_IFDIR)):
        for path in paths:
            refuse_link(path)
            with os_errors_as(RunFolderError, "The run folder cannot be read.", path.parent):
                try:
                    mode = path.lstat().st_mode
                except FileNotFoundError:
                    continue
            if stat.S_IFMT(mode) != kind:
                raise RunFolderError(
                    f"“{path.name}” of the run is not {_KINDS[kind]}.",
                    where=str(path),
                    received=_KINDS.get(stat.S_IFMT(mode), "something else"),
                    expected=f"{_KINDS[kind]} that can be written",
                    fix="Move it elsewhere, then try again.",
                )


def _link_to(folder: Path) -> Path | None:
    """The link that is the run folder, or is above it inside the runs folder."""
    if folder.is_symlink():
        return folder
    above = [parent for parent in folder.parents if parent.is_symlink()]
    if not above:
        return None
    home = runs_home()
    return next((link for link in above if home in link.parents), None)
