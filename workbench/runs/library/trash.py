"""Runs to the trash of the desktop, and back.

Headless as well: Send2Trash follows the trash specification of freedesktop.org by itself, and what
it has written there is all that is needed to put a run back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from send2trash import plat_other, send2trash

from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.own_file import make_private
from workbench.errors import RunError, RunFolderError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own, runs_home
from workbench.runs.link import read_link
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of

_LEFT = ("gone", "refused")
"""States of a line behind which a run may be lost for good."""


def check_deletable(run: RunFolder) -> None:
    """Removes a waiting run from the queue, so that nothing starts it any more. Raises RunError
    where it still trains, here or elsewhere, SaveError where its folder cannot be written.
    """
    if queue.is_waiting(run):
        queue.cancel(run)
    if run.is_alive():
        raise RunError(
            "A running run cannot be deleted.", where=str(run.path), fix="Stop it first."
        )
    link = read_link(run)
    if link is not None and link.state not in _LEFT and outcome_of(run).kind == "away":
        raise RunError(
            "This run may still be training on another computer. It cannot be deleted: "
            "it could not be stopped any more.",
            where=str(run.path),
            received=outcome_of(run).sentence(),
            fix="Reconnect to it, then stop it: in the window by Reconnect in Train, in a terminal "
            f"by `workbench attach {run.name}`.",
        )


def trash_run(run: RunFolder) -> None:
    """Moves a run that is over to the trash; a link to a run is moved, not what it points to.
    Raises RunError where it still trains, or the trash of its disk cannot be written,
    LinkFoundError where it lies behind a link.
    """
    if not run.path.is_symlink():
        check_own(run.path)
    check_deletable(run)
    _make_home()
    what = "The run could not be moved to the trash."
    fix = "Delete its folder with the file manager."
    with os_errors_as(RunError, what, run.path, fix=fix):
        send2trash(run.path)


def take_out(run: RunFolder) -> bool:
    """Removes a waiting run from the queue; one that never began goes to the trash, as there is
    nothing to look at or to resume. True where it went. Errors as of `queue.cancel` and
    `trash_run`.
    """
    queue.cancel(run)
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    ended = history.finished
    has_begun = history.started is not None or ended is None or ended.outcome != "stopped"
    if has_begun:
        return False
    trash_run(run)
    return True


@dataclass(frozen=True, order=True)
class TrashedRun:
    """A run in the trash.

    Attributes:
        deleted: When it was moved there, local time as "2026-11-27T14:05:09"; "" where unknown.
        path: Where it was.
        place: The folder that it is now.
    """

    deleted: str
    path: Path
    place: Path

    @property
    def info(self) -> Path:
        """The file of the trash that says where it was."""
        return self.place.parent.parent / "info" / f"{self.place.name}.trashinfo"


def trashed_runs(home: Path | None = None) -> list[TrashedRun]:
    """The runs in the trash that were in the runs folder (the user's where None) or whose folder
    was made elsewhere; the last deleted first.
    """
    bins = {*_bins(home or runs_home())}
    return sorted((run for each in bins for run in _runs_in(each)), reverse=True)


def restore_run(run: TrashedRun) -> RunFolder:
    """Moves a run from the trash to where it was. Raises RunError where something is there by now,
    or it cannot be moved.
    """
    if os.path.lexists(run.path):
        raise RunError(
            "The run cannot be put back: something is in its place.",
            where=str(run.path),
            fix="Move that elsewhere first.",
        )
    what = "The run could not be put back."
    with os_errors_as(RunError, what, run.path, fix="Move it with the file manager."):
        run.path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(os.fspath(run.place), os.fspath(run.path))
        run.info.unlink(missing_ok=True)
    return RunFolder(run.path)


def restore_path(path: Path) -> RunFolder:
    """Restores the run that was in a folder, as it was deleted last, as `restore_run` does; raises
    RunFolderError where the trash has none.
    """
    for run in trashed_runs(path.parent):
        if run.path == path:
            return restore_run(run)
    raise RunFolderError(
        "This run is no longer in the trash.", where=str(path), fix="Look in the desktop's trash."
    )


def _bins(home: Path) -> Iterator[Path]:
    """The trash of the user's home, and those at the top of the disk that runs are on."""
    yield Path(plat_other.HOMETRASH)
    if home.exists():
        top = Path(os.fsdecode(plat_other.find_mount_point(os.fsencode(home))))
        yield top / ".Trash" / str(os.getuid())
        yield top / f".Trash-{os.getuid()}"


def _runs_in(trash: Path) -> Iterator[TrashedRun]:
    """What is a run, or a link to one, and says where it was."""
    top = trash.parent if trash.name.startswith(".Trash-") else trash.parent.parent
    is_home = trash == Path(plat_other.HOMETRASH)
    base = trash.parent if is_home else top
    try:
        names = sorted(info.name for info in (trash / "info").iterdir())
    except OSError:
        return
    for name in names:
        place = trash / "files" / name.removesuffix(".trashinfo")
        if RunFolder(place).request_path.is_file():
            fields = _fields(trash / "info" / name)
            path = unquote(fields.get("Path", ""))
            if path and (is_home or _stays_below(top, path)):
                yield TrashedRun(fields.get("DeletionDate", ""), base / path, place)


def _stays_below(top: Path, path: str) -> bool:
    """Whether a path from the top of a disk is one below it, behind no link that leads elsewhere,
    as the trash specification demands: a disk may come from elsewhere, and what it names is put
    back there.
    """
    parts = Path(path).parts
    if "\0" in path or Path(path).is_absolute() or ".." in parts:
        return False
    try:
        return (top / path).parent.resolve().is_relative_to(top.resolve())
    except (OSError, RuntimeError):  # a link in a circle
        return False


def _fields(info: Path) -> dict[str, str]:
    try:
        text = read_foreign(info, SMALL_BYTES).decode(errors="replace")[:10_000]
    except OSError:
        return {}
    return dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)


def _make_home() -> None:
    """The trash is in the home folder, which $HOME may name before there is one."""
    home = Path("~").expanduser()
    what = "The run could not be moved to the trash: there is no home folder."
    fix = "Set HOME to a folder that exists, or delete the run with the file manager."
    with os_errors_as(RunError, what, home, fix=fix):
        make_private(home)
