"""Follows a run's event log to its end: for `train` and the terminal tour.

For a run on another computer, the log here is what its run mirror copies; the state of the
connection is printed on stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from time import monotonic, sleep
from types import FrameType
from typing import Self

import msgspec

from workbench.cli._output import print_line
from workbench.cli._project import agree_on
from workbench.core.format import share
from workbench.core.projects.project import Choice
from workbench.errors import RunFolderError, WorkbenchError
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import RunEvent, RunFinished, RunStarted
from workbench.runs.control import request_skip, request_stop, request_words
from workbench.runs.environment import refuse_unready
from workbench.runs.folder import RunFolder
from workbench.runs.library.series import (
    Plan,
    Spread,
    Trained,
    begin_series,
    call_off,
    is_settled,
    series_runs,
    trained_run,
)
from workbench.runs.link import has_mirror, link_words, read_link
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import may_reattach, reattach
from workbench.runs.state.outcome import UNDER_WAY, RunOutcome, finished_of, outcome_of
from workbench.runs.state.queue import cancel, is_waiting, num_before, start_next, waiting_words

# ctrl c --------------------------------------------------------------------------------------
# Ctrl+C while a run is started and followed: it requests a stop, and drops nothing.

_PATIENCE_S = 1.0
_SLICE_S = 0.05


class CtrlC:
    """Handles Ctrl+C for a run; use as a context manager from before its trainer is started.

    The handler only sets a flag; the next check sends the stop request, the latest one on
    exit. A command that is blocked before its next check, as by a full pipe, is ended by
    the second Ctrl+C.

    Args:
        folder: The run.

    Attributes:
        is_pressed: Ctrl+C was pressed, and no stop requested yet.
        has_asked: A stop of the run was requested.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._is_installed = False
        self._pressed_s = 0.0
        self.is_pressed = False
        self.has_asked = False

    def __enter__(self) -> Self:
        # A shell's background commands ignore the key; other threads never receive it.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._is_installed = True
            signal.signal(signal.SIGINT, self._on_key)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._folder.is_alive():
            self.pass_on()

    def pass_on(self) -> None:
        """Requests a stop of the run if Ctrl+C was pressed since the last call; the next time to
        skip what goes on behind its last step.

        Raises:
            SaveError: the run's folder cannot be written.
        """
        if self.is_pressed:
            self.is_pressed = False
            if self.has_asked:
                request_skip(self._folder)
            else:
                self.has_asked = True
                request_stop(self._folder)

    def sleep(self, seconds: float) -> None:
        """Sleeps, but not on when the key is pressed."""
        until = time.monotonic() + seconds
        while not self.is_pressed and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))

    def _on_key(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.is_pressed and now - self._pressed_s > _PATIENCE_S:
            raise KeyboardInterrupt
        if not self.is_pressed:
            self.is_pressed, self._pressed_s = True, now


# turn ----------------------------------------------------------------------------------------
# Waiting for a run's turn in the queue, in front of a terminal.

_LOOK_S_TURN = 1.0


def wait_for_turn(folder: RunFolder, ctrl_c: CtrlC, *, is_quiet: bool) -> None:
    """Returns when a queued run has been started, here or by another trainer's end.

    Ctrl+C takes it out of the queue; one that has just begun is left to who follows it.

    Raises:
        KeyboardInterrupt: Ctrl+C, and it had not begun.
    """
    said = ""
    while is_waiting(folder):
        if ctrl_c.is_pressed:
            with contextlib.suppress(RunFolderError):  # another process has started it already
                cancel(folder)
                raise KeyboardInterrupt
            return
        start_next(folder.path.parent)  # the last trainer may have been killed
        if not is_waiting(folder):
            return
        words = waiting_words(num_before(folder))
        if words != said and not is_quiet:
            print_line(words)
        said = words
        ctrl_c.sleep(_LOOK_S_TURN)


# follow --------------------------------------------------------------------------------------

_POLL_S = 0.05
_LOOK_S = 0.5
_AGAIN_S = 60.0
_START_S = 60.0


class PastEvents:
    """A run's events from before it is resumed: read once, not printed again.

    Args:
        folder: A run that no trainer works on.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.reader = EventReader(folder.events_path)
        self.history = MetricHistory()
        while events := self.reader.read_new():
            self.history.add_all(events)


def follow(folder: RunFolder, ctrl_c: CtrlC, past: PastEvents | None = None) -> Iterator[RunEvent]:
    """Yields each event as it is written; the last one is always RunFinished.

    A trainer that died without an event yields a failed RunFinished made here. Ctrl+C
    requests a stop and goes on following until the run has saved. A run that goes on
    elsewhere without a run mirror gets one; there a second Ctrl+C detaches from it.

    Args:
        folder: The run.
        ctrl_c: Handler of Ctrl+C, installed before the run was started.
        past: Read before the run was resumed; these events are left out.

    Raises:
        KeyboardInterrupt: after the last event, when it was Ctrl+C that ended the run.
        SaveError: the run's folder cannot be written, so a stop cannot be requested.
    """
    reader = past.reader if past else EventReader(folder.events_path)
    history = past.history if past else MetricHistory()
    started = time.monotonic()
    line = _Line(folder)
    while True:
        line.leave_or(ctrl_c)
        line.look(ctrl_c)
        # Asked before reading: what the trainer wrote before it ended is then still read.
        is_over = not folder.is_alive() and time.monotonic() - started > _grace(history, reader)
        events = reader.read_new()
        for event in events:
            history.add(event)
            if isinstance(event, RunFinished):
                line.tell_request(ctrl_c)
            yield _as_here(event, folder)
            if isinstance(event, RunFinished):
                if ctrl_c.has_asked and event.outcome == "stopped":
                    raise KeyboardInterrupt
                return
        if is_over and not events and not line.is_up_again(history):
            yield _died(folder, history)
            return
        time.sleep(_POLL_S)


class _Line:
    """The state of a run's connection, where it has a run mirror, printed as it changes."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._said: tuple[str, str] = ("", "")
        self._requested = ""
        self._looked = self._tried = -_AGAIN_S

    def leave_or(self, ctrl_c: CtrlC) -> None:
        """Passes Ctrl+C on; the second one detaches from a run that is trained elsewhere.

        Raises:
            KeyboardInterrupt: detached from the run.
        """
        if ctrl_c.is_pressed and ctrl_c.has_asked and has_mirror(self._folder):
            print_line(
                "Detached. The run ends as soon as the stop request arrives there; `workbench "
                f"attach {self._folder.name}` follows it again."
            )
            raise KeyboardInterrupt
        ctrl_c.pass_on()

    def tell_request(self, ctrl_c: CtrlC) -> None:
        """Prints who has requested that the run ends, where it was not Ctrl+C here."""
        words = "" if ctrl_c.has_asked else request_words(self._folder)
        if words and words != self._requested:
            print_line(words)
        self._requested = words

    def look(self, ctrl_c: CtrlC) -> None:
        """Prints what others have requested, and the state of the connection, when that has
        changed; reads both once in a while.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        self.tell_request(ctrl_c)
        link = read_link(self._folder)
        if link is None or (link.state, link.words) == self._said:
            return
        before, self._said = self._said[0], (link.state, link.words)
        words = link_words(link)
        if words and link.state != "refused":  # a refusal is printed at the end
            print_line(words)
        elif link.state == "attached" and before == "lost":
            print_line(f"Connected to {link.host} again.")

    def is_up_again(self, history: MetricHistory) -> bool:
        """Starts a run mirror where the last one was killed; not where nothing is to be had."""
        now = time.monotonic()
        if now - self._tried < _AGAIN_S or outcome_of(self._folder, history).kind != "away":
            return False
        self._tried = now
        if not may_reattach(self._folder):
            return False
        try:
            reattach(self._folder)
        except WorkbenchError as error:
            print_line(str(error))
            return self._folder.is_alive()
        return True


def _as_here(event: RunEvent, folder: RunFolder) -> RunEvent:
    """The event with the run's folder on this computer; the log keeps the one elsewhere."""
    if isinstance(event, RunStarted | RunFinished) and has_mirror(folder):
        return msgspec.structs.replace(event, run=str(folder.path))
    return event


def _grace(history: MetricHistory, reader: EventReader) -> float:
    """Seconds in which a run without a lock may still be about to take it."""
    return 1.0 if history.last_seq or reader.is_too_long else _START_S


def _died(folder: RunFolder, history: MetricHistory) -> RunFinished:
    if (finished := finished_of(folder)) is not None:  # in a log too long to be read up to there
        return finished
    outcome = outcome_of(folder, history)
    return RunFinished(
        seq=history.last_seq + 1,
        time=time.time(),
        outcome="failed",
        run=str(folder.path),
        seconds=history.elapsed_s,
        epochs_done=len(history.epochs),
        error=outcome.error or _parts_of(outcome, folder),
    )


def _parts_of(outcome: RunOutcome, folder: RunFolder) -> ErrorParts:
    is_away = outcome.kind == "away"
    return ErrorParts(
        what=outcome.sentence(),
        where=str(folder.path),
        fix=f"`workbench attach {folder.name}` reconnects."
        if is_away
        else f"The end of the trainer's log is in {folder.log_path}.",
    )


# series --------------------------------------------------------------------------------------
# Training a series of runs in front of a terminal, and its figures for programs.

_STOP_S = 60.0
"""A trainer that stops has a test and a checkpoint to write."""
_POLL_S_SERIES = 0.1


def begin(plan: Plan, arguments: argparse.Namespace, *targets: Choice) -> str:
    """Queues the missing runs of a series and returns it, see `begin_series`.

    Args:
        plan: The series.
        arguments: With the file of the project, and whether to begin `again`.
        targets: Where; none for the project's own target.
    """
    wanted = targets or (plan.project.target,)
    agree_on(arguments, *wanted, plan.project.dataset)
    for target in wanted:
        refuse_unready(target)
    return begin_series(
        plan,
        title=plan.project.title or arguments.project.stem,
        project_path=str(arguments.project.resolve()),
        is_new=arguments.again,
    )


def run_words(each: Trained) -> str:
    """A run of a series as a line: its accuracies, or why it has none."""
    if not each.is_done:
        return f"{each.label}: {outcome_of(each.run).sentence()}"
    figures = (("validation", each.val_accuracy), ("test", each.test_accuracy))
    words = [f"{name} accuracy {share(value)}" for name, value in figures if value is not None]
    return f"{each.label}: {', '.join(words) or 'completed'}"


def train_series(series: str, *, is_quiet: bool) -> None:
    """Waits until all runs of a series, which are queued, are trained, and prints a line of each.
    Ctrl+C stops those that train, and takes the others from the queue.

    Raises:
        KeyboardInterrupt: Ctrl+C; the same command goes on with the series.
    """
    runs = [run for run in series_runs(series) if not is_settled(run)]
    # What was logged before a run is resumed ends with a finish, which is not the one to wait for.
    pasts = [PastEvents(run) for run in runs]
    for run, past in zip(runs, pasts, strict=True):
        try:
            with CtrlC(run) as ctrl_c:
                wait_for_turn(run, ctrl_c, is_quiet=is_quiet)
                for _ in follow(run, ctrl_c, past):
                    pass
        except KeyboardInterrupt:
            _call_off(series)
            if not is_quiet:
                print_line("Stopped. The same command goes on where it stopped.")
            raise
        if not is_quiet:
            print_line(run_words(trained_run(run)))


def _call_off(series: str) -> None:
    """Takes the waiting runs from the queue, and waits for those that train to stop: the same
    command would find them running otherwise, and leave them alone.
    """
    stopping = call_off(series)
    end = monotonic() + _STOP_S
    while monotonic() < end and any(outcome_of(run).kind in UNDER_WAY for run in stopping):
        sleep(_POLL_S_SERIES)


def spread_as_json(spread: Spread | None) -> dict[str, float] | None:
    """Mean, standard deviation and number of values."""
    if spread is None:
        return None
    return {"mean": spread.mean, "std": spread.deviation, "count": spread.count}
