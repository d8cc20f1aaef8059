"""The weights of a training are written, whatever the disk is like: older checkpoints give way to
them, and where that is not enough the trainer holds them in memory until there is room, or somebody
names another folder.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import is_full_disk
from workbench.errors import RunError, SaveError, os_errors_as
from workbench.protocol.events import RunFinished
from workbench.runs.control import take_request
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventWriter
from workbench.runs.log.history import UNSAVED
from workbench.runs.log.pace import seconds_logged
from workbench.runs.store.checkpoint import has_checkpoint, remove_older
from workbench.worker.checkpoints.prepared import TrainingJob

_SPARE_BYTES = 32 * 1024
"""For the model card, which is as large as the network is deep, and what is logged meanwhile."""

_LOOK_S = 0.2
_AGAIN_S = 5.0

Write = Callable[[RunFolder], None]
"""Writes weights and model card into the folder of a run; raises SaveError."""


def write_weights(
    job: TrainingJob, write: Write, num_bytes: int, report: Callable[[SaveError], None]
) -> None:
    """Writes the weights into the folder of the run; returns when they are there.

    Args:
        job: The run.
        write: Does it.
        num_bytes: Size of the weights.
        report: Called once with why they cannot be written, before the wait.

    Raises:
        SaveError: the run's folder was removed, or a signal has ended the wait.
        RunError: they were written to another folder, on request.
    """
    for make_room in _rooms(job.run, num_bytes + _SPARE_BYTES):
        make_room()
        try:
            write(job.run)
        except SaveError as error:
            problem = error
            if not is_full_disk(error):
                break
        else:
            return
    report(problem)
    _wait(job, write, problem)


def _end_log(copy: RunFolder) -> None:
    """The log of the copy ends where the weights are: nothing more comes there."""
    card, seconds = copy.model_card(), seconds_logged(copy.events_path)
    with EventWriter(copy.events_path) as writer:
        writer.write(
            RunFinished(
                outcome="stopped",
                run=str(copy.path),
                seconds=seconds,
                epochs_done=card.epochs_done,
                kept=card.kept,
                best=card.best,
                reason="Saved here, as there was no room in the folder of the run.",
            )
        )


def _rooms(run: RunFolder, needed: int) -> Iterator[Callable[[], None]]:
    """What is given up, one after the other, for the weights, where they fit then: as long as
    possible there is something on the disk that a kill would leave.
    """
    yield lambda: None
    yield lambda: remove_older(run)
    old = [run.weights_path, run.card_path]
    if has_checkpoint(run) and _fits_without(needed, run, old):
        yield lambda: _remove(old)
    checkpoints = list(run.checkpoints_path.glob("*.npz"))
    if _fits_without(needed, run, checkpoints):
        yield lambda: _remove(checkpoints)


def _fits_without(needed: int, run: RunFolder, paths: Iterable[Path]) -> bool:
    """Whether so many bytes have room once some files are gone."""
    try:
        free = shutil.disk_usage(run.path).free
        return free + sum(path.stat().st_size for path in paths if path.exists()) >= needed
    except OSError:
        return False


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _wait(job: TrainingJob, write: Write, problem: SaveError) -> None:
    """Tries again and again, and whenever that is requested. A stop gives no weights up: that one
    has come before them, or means to have them saved; a signal from now on does.
    """
    signals = job.stop.num_signals
    job.events.phase(
        UNSAVED, f"Weights held in memory, not saved: {problem.what} {problem.fix}".strip()
    )
    tried_at = time.monotonic()
    while not job.run.is_gone() and job.stop.num_signals == signals:
        time.sleep(_LOOK_S)
        request = take_request(job.run)
        if request is not None and request[0] == "save":
            _write_elsewhere(job, write, request[1])
        is_wanted = request is not None and request[0] == "again"
        if not is_wanted and time.monotonic() - tried_at < _AGAIN_S:
            continue
        tried_at = time.monotonic()
        with contextlib.suppress(SaveError):
            write(job.run)
            job.events.log_line("The weights are saved.")
            return
    raise problem


def _write_elsewhere(job: TrainingJob, write: Write, folder: Path) -> None:
    """Copies the run, without checkpoints, to a new folder and writes the weights there.

    Raises:
        RunError: that is done; so the run ends.
    """
    run = job.run
    names = ("checkpoints", "*.reserve", run.weights_path.name, run.card_path.name)
    left_out = shutil.ignore_patterns(*names, run.lock_path.name, "features", "tensorboard")
    is_made = False
    try:
        with os_errors_as(SaveError, "The run could not be copied.", folder):
            make_private(folder.parent)
            folder.mkdir(mode=0o700)  # there may be one by now
            is_made = True
            shutil.copytree(run.path, folder, ignore=left_out, symlinks=True, dirs_exist_ok=True)
        copy = RunFolder(folder)
        write(copy)
        _end_log(copy)
    except SaveError as error:
        if is_made:
            shutil.rmtree(folder, ignore_errors=True)
        job.events.log_line(str(error), level="error")
        return
    raise RunError(
        "The weights were saved in another folder, as there was no room in the run's own.",
        where=str(folder),
        fix=f"Use the run there, as in `workbench evaluate {folder}`.",
    )
