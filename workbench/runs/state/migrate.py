"""Continuing a run on another target, because its computer is gone or too slow.

The request stays unchanged; the folder keeps where the run goes on. What was fetched is
enough to go on from: the log, the checkpoints, and the project's own data set.
"""

from __future__ import annotations

import time

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.errors import RunError, RunFolderError
from workbench.runs.control import clear_command, send_command
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder
from workbench.runs.link import abandon_remote, read_remote
from workbench.runs.places import check_known
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.targets import all_targets

_LEAVE_S = 40.0
"""A run mirror that is just connecting reads the command when that has failed, within 20 s."""


def go_on_with(run: RunFolder, target: Choice) -> int:
    """Lets a run that is over or away go on at another target, from the newest checkpoint here;
    returns the process id of its trainer or run mirror.

    A run mirror that still tries to reach the place before is ended by command. What may still
    train
    there is left to itself: nothing of it counts any more.

    Raises:
        RunFolderError: it trains, is completed, or there is nothing here to go on from.
        RunError: the target is unknown, or its process cannot be started.
        SaveError: the run's folder cannot be written.
    """
    check_can_move(run, target)
    if run.is_alive():
        _end_mirror(run)
    abandon_remote(run)
    run.move_to(target)
    return start_trainer(run, resume=True)


def check_can_move(run: RunFolder, target: Choice) -> None:
    """Raises what `go_on_with` would refuse; changes nothing."""
    outcome = outcome_of(run)
    if not outcome.can_move:
        raise RunFolderError(
            "This run cannot be continued on another target now.",
            where=str(run.path),
            received=outcome.sentence(),
            expected="a paused, stopped or lost run with a checkpoint",
        )
    is_remote(target)  # raises where there is no such target
    check_known(target, run.project().dataset)


def is_moving(run: RunFolder, target: Choice) -> bool:
    """Whether a target is another than the one that the run is trained on."""
    remote = read_remote(run)
    now = remote.choice() if remote is not None else run.project().target
    return _whole(now) != _whole(target)


def _whole(target: Choice) -> Choice:
    """The choice with all its parameters, defaults included."""
    spec = all_targets().get(target.key)
    return target if spec is None else Choice(target.key, check_all(spec.params, target.params)[0])


def _end_mirror(run: RunFolder) -> None:
    send_command(run, "leave")
    deadline = time.monotonic() + _LEAVE_S
    while run.is_alive():
        if time.monotonic() > deadline:
            clear_command(run)
            raise RunError(
                "The background connection of this run does not end.",
                where=str(run.path),
                fix="Try again, or terminate the process in the system monitor.",
            )
        time.sleep(0.05)
