"""Follows a run's event log to its end: for `train` and the terminal tour.

For a run on another computer, the log here is what its run mirror copies; the state of the
connection is printed on stderr.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from workbench.cli._ctrl_c import CtrlC
from workbench.cli._output import print_line
from workbench.errors import WorkbenchError
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import RunEvent, RunFinished, RunStarted
from workbench.runs.control import request_words
from workbench.runs.folder import RunFolder
from workbench.runs.link import has_mirror, link_words, read_link
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import may_reattach, reattach
from workbench.runs.state.outcome import RunOutcome, finished_of, outcome_of

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
