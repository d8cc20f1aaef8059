"""Runs to the trash of the desktop, from where they can be put back.

Headless as well: Send2Trash follows the trash specification of freedesktop.org by itself.
"""

from __future__ import annotations

from pathlib import Path

from send2trash import send2trash

from workbench.core.storage.own_file import make_private
from workbench.errors import RunError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.link import read_link
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.ownership import check_own
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
            fix=f"Reconnect with `workbench attach {run.name}`, then stop it.",
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


def _make_home() -> None:
    """The trash is in the home folder, which $HOME may name before there is one."""
    home = Path("~").expanduser()
    what = "The run could not be moved to the trash: there is no home folder."
    fix = "Set HOME to a folder that exists, or delete the run with the file manager."
    with os_errors_as(RunError, what, home, fix=fix):
        make_private(home)
