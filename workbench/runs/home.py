"""Folders of what is not in a project file: runs and caches."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.own_file import make_private, refuse_link
from workbench.errors import SaveError, os_errors_as
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER
from workbench.settings.schema import Settings
from workbench.settings.settings_file import read_settings

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
