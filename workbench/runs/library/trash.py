"""Runs to the trash, without Qt: the desktop shows them there and can put them back.

Follows the trash specification 1.0 of freedesktop.org: the home trash for what is on its
disk, else the trash at the top of the disk, so that nothing is ever copied.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from urllib.parse import quote

from workbench.errors import RunError
from workbench.runs.folder import RunFolder
from workbench.runs.link import read_link
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of

_LEFT = ("gone", "refused")
"""States of a line behind which a run may be lost for good."""


def check_deletable(run: RunFolder) -> None:
    """Takes a waiting run out of the queue, so that nothing starts it any more.

    Raises:
        RunError: it still trains, here or elsewhere, or the queue cannot be changed.
        SaveError: its folder cannot be written.
    """
    if queue.is_waiting(run):
        queue.cancel(run)
    if run.is_alive():
        raise RunError(
            "A run that still trains cannot be deleted.", where=str(run.path), fix="Stop it first."
        )
    link = read_link(run)
    if link is not None and link.state not in _LEFT and outcome_of(run).kind == "away":
        raise RunError(
            "A run that may still train on another computer cannot be deleted: nobody could see "
            "it any more, or stop it.",
            where=str(run.path),
            received=outcome_of(run).sentence(),
            fix=f"`workbench attach {run.name}` connects to it again; then stop it.",
        )


def trash_run(run: RunFolder) -> Path:
    """Moves a run that is over to the trash.

    Returns:
        Where it is now.

    Raises:
        RunError: it still trains, or the trash of its disk cannot be written.
    """
    check_deletable(run)
    path = run.path.resolve()
    try:
        return _move(path, _trash_for(path))
    except OSError as error:
        raise RunError(
            "The run could not be moved to the trash.",
            where=str(path),
            received=error.strerror or str(error),
            fix="Delete its folder with the file manager.",
        ) from error


def _trash_for(path: Path) -> Path:
    """The trash folder on the disk of a path, made where it is not there."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    home_trash = (data if data.is_absolute() else Path.home() / ".local/share") / "Trash"
    with contextlib.suppress(OSError):
        home_trash.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home_trash.stat().st_dev == path.parent.stat().st_dev:
            return home_trash
    top = _top_of_disk(path)
    shared = top / ".Trash"
    user = str(os.getuid())
    with contextlib.suppress(OSError):
        mode = shared.lstat().st_mode
        if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:  # else anybody could have made it
            (shared / user).mkdir(mode=0o700, exist_ok=True)
            return shared / user
    own = top / f".Trash-{user}"
    own.mkdir(mode=0o700, exist_ok=True)
    return own


def _top_of_disk(path: Path) -> Path:
    device = path.parent.stat().st_dev
    top = path.parent
    while top.parent != top and top.parent.stat().st_dev == device:
        top = top.parent
    return top


def _move(path: Path, trash: Path) -> Path:
    for name in ("files", "info"):
        (trash / name).mkdir(mode=0o700, exist_ok=True)
    # On another disk than the home, paths are relative to its top.
    is_home = trash.name == "Trash"
    told = path if is_home else path.relative_to(_top_of_disk(path))
    when = time.strftime("%Y-%m-%dT%H:%M:%S")
    text = f"[Trash Info]\nPath={quote(str(told))}\nDeletionDate={when}\n"
    info = _new_info(trash / "info", path.name, text)
    target = trash / "files" / info.name.removesuffix(".trashinfo")
    try:
        path.rename(target)
    except OSError:
        info.unlink()
        raise
    return target


def _new_info(folder: Path, name: str, text: str) -> Path:
    """Makes the file that says where a thing came from; its name is not taken yet."""
    number = 1
    while True:
        path = folder / f"{name if number == 1 else f'{name}.{number}'}.trashinfo"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            number += 1
        else:
            return path
