"""Folders of what is not in a project file: runs and caches."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import platformdirs

from workbench.core.storage.own_file import make_private, refuse_link, take_lock
from workbench.errors import LinkFoundError, RunFolderError, SaveError, os_errors_as
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER
from workbench.settings.store import Settings, read_settings

APP_NAME = "workbench"


def data_home() -> Path:
    """The folder of everything kept; $WORKBENCH_HOME replaces the user's data folder."""
    chosen = os.environ.get("WORKBENCH_HOME", "").strip()
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_data_path(APP_NAME)


@contextlib.contextmanager
def locked_record(name: str, what: str) -> Iterator[Path]:
    """The path of a record in `data_home`, which no other process changes meanwhile; SaveError with
    these words where the folder cannot be written.
    """
    path = data_home() / name
    with os_errors_as(SaveError, what, path.parent, fix="Make the settings folder writable."):
        make_private(path.parent)
        lock = take_lock(path.with_suffix(".lock"))
    try:
        yield path
    finally:
        if lock is not None:
            os.close(lock)


def runs_home(settings: Settings | None = None) -> Path:
    """The folder of runs: the one that `settings` name (None: those in `data_home`), if any."""
    settings = settings or read_settings(data_home())
    chosen = settings.get(RUNS_FOLDER)
    return Path(chosen).absolute() if chosen else default_runs_home()


def default_runs_home() -> Path:
    """The folder of runs where no other is chosen."""
    return data_home() / "runs"


def cache_home() -> Path:
    """The folder of downloads and decoded images: may be deleted at any time."""
    if os.environ.get("WORKBENCH_HOME", "").strip():
        return data_home() / "cache"
    return platformdirs.user_cache_path(APP_NAME)


def parcels_home() -> Path:
    """The folder of images that were sent here by other computers, by their sha256."""
    return data_home() / "parcels"


def made_cache(folder: Path) -> str:
    """Makes a cache folder where there is none yet; returns its path. Raises SaveError; a link
    below `cache_home` is rejected, `cache_home` itself may be one.
    """
    what = "The folder for downloads and cached images could not be created."
    fix = "Make its parent folder writable, or set WORKBENCH_HOME to another folder."
    if folder != cache_home():
        refuse_link(folder)
    with os_errors_as(SaveError, what, folder, fix=fix):
        make_private(folder)
    return str(folder)


# ownership -----------------------------------------------------------------------------------
# Whether a run folder is the program's own to write into.
#
# A run folder that is a link, or lies behind one inside the runs folder, leads elsewhere: it is
# listed and read, and nothing is written there. The runs folder itself may be a link, and what is
# above it: the user has put it there.

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
