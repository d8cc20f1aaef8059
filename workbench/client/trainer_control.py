"""Starting, pausing, stopping and resuming trainers, and the queue of runs that wait.
QtCore only; folders are read and written in other threads.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.own_file import has_open
from workbench.errors import NoRoomError, RunError, SaveError, WorkbenchError
from workbench.runs.control import (
    request_again,
    request_pause,
    request_retry,
    request_save,
    request_skip,
    request_stop,
    send_command,
)
from workbench.runs.folder import Extension, RunFolder
from workbench.runs.library.trash import take_out
from workbench.runs.link import has_mirror
from workbench.runs.start import reap, reattach, start_trainer
from workbench.runs.state import queue
from workbench.runs.state.preparing import (
    extension_to,
    go_on_with,
    refuse_no_room,
    with_remembered_split,
)
from workbench.runs.store.weights_file import create_run_from
from workbench.runs.trust import UnknownPlaceError, check_known, place_of, remember

# stop ladder ---------------------------------------------------------------------------------
# Ends or pauses a run step by step: ask, offer to terminate, kill. QtCore only.

OFFER_AFTER_S = 15.0
"""After a stop request a trainer finishes its step and saves; this is more than enough
for most networks. After it the user may choose to end it hard."""


class StopLadder(QObject):
    """One run being stopped or paused.

    Attributes:
        is_pause: A pause was requested: to keep a checkpoint and end.

    Signals:
        terminate_offered: The request was made `OFFER_AFTER_S` ago and the trainer still runs.
        failed: The request itself failed; the WorkbenchError.
    """

    terminate_offered = Signal()
    failed = Signal(object)

    def __init__(
        self,
        run: RunFolder,
        background: Background,
        parent: QObject | None = None,
        *,
        is_pause: bool = False,
    ) -> None:
        super().__init__(parent)
        self.run = run
        self.is_pause = is_pause
        self.is_offered = False
        self._background = background
        self._timer = QTimer(self, singleShot=True, interval=int(OFFER_AFTER_S * 1000))
        self._timer.timeout.connect(self._on_timeout)

    def ask(self) -> None:
        """Takes the first step: a request to finish the current step, save and end."""
        run, ask = self.run, request_pause if self.is_pause else request_stop
        self._background.run(
            lambda: ask(run, sender="the window"), lambda _none: None, self.failed.emit
        )
        self._timer.start()

    def close(self) -> None:
        """The run has ended: nothing more to offer."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        self.is_offered = True
        self.terminate_offered.emit()


def end_trainer(run: RunFolder, pid: int, *, is_hard: bool) -> WorkbenchError | None:
    """Second and third step: SIGTERM, or SIGKILL where `is_hard`.

    The signal is sent only to a process that has the run's lock open: a process id alone may
    be of an earlier trainer, here or on another computer, and be reused by now. A trainer
    elsewhere is ended by the run mirror, on request: its process id is a number of another
    computer.

    Returns why it could not be done, or None.
    """
    if has_mirror(run):
        return _end_elsewhere(run, is_hard=is_hard)
    if pid <= 1 or not run.is_alive():
        return RunError("The training process has already ended.", where=str(run.path))
    if not has_open(pid, run.lock_path):
        return RunError(
            "Another training process has taken over this run.",
            where=str(run.path),
            received=f"process {pid}",
            fix="Try again in a moment.",
        )
    try:
        os.kill(pid, signal.SIGKILL if is_hard else signal.SIGTERM)
    except OSError as error:
        return RunError(
            "The training process could not be terminated.",
            where=f"process {pid}",
            received=error.strerror or str(error),
            fix="Terminate it in the system monitor.",
        )
    return None


def _end_elsewhere(run: RunFolder, *, is_hard: bool) -> WorkbenchError | None:
    if not run.is_alive():
        return RunError(
            "Not connected to the computer that trains this run.",
            where=str(run.path),
            fix="Reconnect first.",
        )
    try:
        send_command(run, "kill" if is_hard else "terminate")
    except SaveError as error:
        return error
    return None


# trainer control -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Begun:
    """What became of a run that was to begin.

    Attributes:
        path: Its folder.
        pid: Process id of its trainer; 0 where another trainer's end may have started it.
        is_waiting: Others are before it.
    """

    path: Path
    pid: int = 0
    is_waiting: bool = False


class TrainerControl(QObject):
    """What a window does to the trainers of a home folder. Each call returns at once; signals
    follow.

    Signals:
        asked_changed: Path of a run whose stop or pause was just requested.
        stop_offered: Path of a run that still runs after such a request: it can be
            ended with `terminate`, and after that with `kill`.
        failed: A WorkbenchError: a request could not be carried out.
        room_short: A NoRoomError, and a function that starts the run all the same.
        place_unknown: An UnknownPlaceError, and a function that goes on: a person has to agree
            to connect to the address first.
    """

    asked_changed = Signal(str)
    stop_offered = Signal(str)
    failed = Signal(object)
    place_unknown = Signal(object, object)
    room_short = Signal(object, object)

    def __init__(self, home: Path, parent: QObject | None) -> None:
        super().__init__(parent)
        self.home = home
        self._background = Background(self)
        self._ladders: dict[Path, StopLadder] = {}
        self._pids: dict[Path, int] = {}
        self._num_starting = 0

    def close(self) -> None:
        """Stops offering anything. Trainers go on: they are processes of their own."""
        for ladder in self._ladders.values():
            ladder.close()
        self._background.close()

    @property
    def is_starting(self) -> bool:
        """Whether a trainer is being started here."""
        return self._num_starting > 0

    def refresh(self) -> None:
        """The list of runs may be another than before."""
        raise NotImplementedError

    def _on_started(self, path: Path) -> None:
        """A trainer of a run was just started."""
        raise NotImplementedError

    def _on_queued(self, path: Path) -> None:
        """A run waits for its turn now."""
        raise NotImplementedError

    def _on_deleted(self, path: Path) -> None:
        """The folder of a run is in the trash."""
        raise NotImplementedError

    # beginning ---------------------------------------------------------------------------

    def start_run(
        self,
        project: Project,
        *,
        title: str = "",
        project_path: str = "",
        wait: bool = False,
        initial: Path | None = None,
        may_be_short: bool = False,
    ) -> None:
        """Makes a run of the project and starts its trainer, in another thread.

        Its weights start from those of the run `initial`, where one is given.
        Unless it `may_be_short` of disk space, `room_short` comes instead where it is.
        Where `wait`, it is started when no other trains and it is its turn. `run_started`
        and `current_changed` follow, or `run_queued`, or `failed` with the reason.
        """
        home = self.home

        def work() -> _Begun:
            check_known(project.target, project.dataset)
            if not may_be_short:
                refuse_no_room(project, home)
            remembered = with_remembered_split(project, home)
            source = RunFolder(initial) if initial is not None else None
            how = {"title": title, "project_path": project_path, "home": home}
            run = create_run_from(source, remembered, **how)
            return _wait_for_turn(run) if wait else _Begun(run.path, start_trainer(run))

        start = partial(
            self.start_run,
            project,
            title=title,
            project_path=project_path,
            wait=wait,
            initial=initial,
            may_be_short=True,
        )
        self._begin(work, may_be_one_of_many=wait, start_short=start)

    def resume(self, path: Path, *, wait: bool = False) -> None:
        """Lets a run that is over go on where it stopped; signals as of `start_run`."""
        run = RunFolder(path)

        def work() -> _Begun:
            if wait:
                return _wait_for_turn(run, resume=True)
            return _Begun(path, start_trainer(run, resume=True))

        self._begin(work, may_be_one_of_many=wait)

    def train_longer(self, path: Path, epochs: int, *, wait: bool = False) -> None:
        """Lets a completed run go on to so many epochs in total; signals as of `start_run`."""
        run = RunFolder(path)

        def work() -> _Begun:
            extension = extension_to(run, epochs)
            if wait:
                return _wait_for_turn(run, resume=True, extension=extension)
            return _Begun(path, start_trainer(run, resume=True, extension=extension))

        self._begin(work, may_be_one_of_many=wait)

    def go_on_with(self, path: Path, target: Choice) -> None:
        """Lets a run that is over or lost go on at a target; signals as of `start_run`."""
        self._begin(lambda: _Begun(path, go_on_with(RunFolder(path), target)))

    def attach(self, path: Path) -> None:
        """Connects again to a run that another computer trains, whose address the button has
        named; signals as of `start_run`.
        """

        def work() -> _Begun:
            run = RunFolder(path)
            remember(place_of(run))
            return _Begun(path, reattach(run))

        self._begin(work)

    def try_now(self, path: Path) -> None:
        """Lets a run whose connection is lost be connected to now instead of later."""
        self._change(lambda: request_retry(RunFolder(path)))

    def skip(self, path: Path, *, is_all: bool = False) -> None:
        """Lets a run leave out what goes on behind its last step: one phase, or all."""
        self._change(lambda: request_skip(RunFolder(path), is_all=is_all))

    def save_again(self, path: Path) -> None:
        """Lets a run that has no room for its weights try to save them now."""
        self._change(lambda: request_again(RunFolder(path)))

    def save_elsewhere(self, path: Path, folder: Path) -> None:
        """Lets a run that has no room for its weights save them in a new folder."""
        self._change(lambda: request_save(RunFolder(path), folder))

    def start_now(self, path: Path) -> None:
        """Starts a waiting run although it is not its turn; signals as of `start_run`."""

        def work() -> _Begun:
            queue.start_now(RunFolder(path))
            return _Begun(path)

        self._begin(work)

    def _begin(
        self,
        work: Callable[[], _Begun],
        *,
        may_be_one_of_many: bool = False,
        start_short: Callable[[], None] | None = None,
    ) -> None:
        """Starts a trainer, unless one is being started: a second press of the button reports that.
        Many runs may wait.
        """
        if self.is_starting and not may_be_one_of_many:
            # Reported, not ignored: the button was pressed.
            self.failed.emit(
                RunError(
                    "A training process is already being started.", fix="Try again in a moment."
                )
            )
            return
        self._num_starting += 1
        self._background.run(
            work, self._on_begun, lambda error: self._on_not_begun(error, work, start_short)
        )

    def _on_begun(self, begun: _Begun) -> None:
        self._num_starting -= 1
        if begun.is_waiting:
            self._on_queued(begun.path)
            return
        if begun.pid:
            self._pids[begun.path] = begun.pid
        self._on_started(begun.path)

    def _on_not_begun(
        self,
        error: WorkbenchError,
        work: Callable[[], _Begun],
        start_short: Callable[[], None] | None,
    ) -> None:
        self._num_starting -= 1
        if isinstance(error, NoRoomError) and start_short is not None:
            self.room_short.emit(error, start_short)
        elif isinstance(error, UnknownPlaceError):
            go_on = partial(self._begin_at, error.targets, work, start_short)
            self.place_unknown.emit(error, go_on)
        else:
            self.failed.emit(error)

    def _begin_at(
        self,
        targets: tuple[Choice, ...],
        work: Callable[[], _Begun],
        start_short: Callable[[], None] | None,
    ) -> None:
        """Begins after all: a person has agreed to connect to the targets."""

        def remembered() -> _Begun:
            remember(*targets)
            return work()

        self._begin(remembered, may_be_one_of_many=True, start_short=start_short)

    # the queue ---------------------------------------------------------------------------

    def move_in_queue(self, path: Path, by: int) -> None:
        """Moves a waiting run some places; -1 is one place nearer to its turn."""
        self._change(lambda: queue.move(RunFolder(path), by))

    def _cancel(self, path: Path) -> None:
        """Takes a waiting run out of the queue, to the trash where it never began; stops it when it
        has just begun.
        """
        run = RunFolder(path)

        def work() -> Callable[[], None]:
            if not queue.is_waiting(run):
                return lambda: self._ask(path, is_pause=False)
            return (lambda: self._on_deleted(path)) if take_out(run) else (lambda: None)

        def on_done(then: Callable[[], None]) -> None:
            then()
            self.refresh()

        def on_failed(error: WorkbenchError) -> None:
            self.refresh()
            self.failed.emit(error)

        self._background.run(work, on_done, on_failed)

    def _change(self, work: Callable[[], object], then: Callable[[], None] | None = None) -> None:
        self._background.run(work, lambda _done: (then or self.refresh)(), self.failed.emit)

    # ending ------------------------------------------------------------------------------

    def _ask(self, path: Path, *, is_pause: bool) -> None:
        """Requests a stop or a pause of a run; a pause under way becomes a stop."""
        before = self._ladders.get(path)
        if before is not None:
            if is_pause or not before.is_pause:
                return
            self._forget_asked(path)
        ladder = StopLadder(RunFolder(path), self._background, self, is_pause=is_pause)
        ladder.terminate_offered.connect(lambda: self.stop_offered.emit(str(path)))
        ladder.failed.connect(self.failed)
        self._ladders[path] = ladder
        ladder.ask()
        self.asked_changed.emit(str(path))

    def is_stopping(self, path: Path | None) -> bool:
        """Whether a stop of a run was requested here."""
        ladder = self._ladders.get(path) if path is not None else None
        return ladder is not None and not ladder.is_pause

    def is_pausing(self, path: Path | None) -> bool:
        """Whether a pause of a run was requested here."""
        ladder = self._ladders.get(path) if path is not None else None
        return ladder is not None and ladder.is_pause

    def _end_trainer(self, path: Path, reported_pid: int, *, is_hard: bool) -> None:
        """Ends a run's trainer with a signal; `reported_pid` is from its log."""
        run, pid = RunFolder(path), self._pids.get(path, 0) or reported_pid

        def on_done(error: WorkbenchError | None) -> None:
            if error is not None:
                self.failed.emit(error)

        # Requests to run mirrors are written to the disk: not on the window's thread.
        self._background.run(
            lambda: end_trainer(run, pid, is_hard=is_hard), on_done, self.failed.emit
        )

    def _forget_asked(self, path: Path) -> None:
        """The run has ended: nothing is left to ask or to offer."""
        ladder = self._ladders.pop(path, None)
        if ladder is not None:
            ladder.close()
        if self._pids.pop(path, None) is not None:
            reap()


def _wait_for_turn(
    run: RunFolder, *, resume: bool = False, extension: Extension | None = None
) -> _Begun:
    queue.enqueue(run, resume=resume, extension=extension)
    queue.start_next(run.path.parent)  # nothing may be training
    return _Begun(run.path, is_waiting=queue.is_waiting(run))
