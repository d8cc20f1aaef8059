"""Follows a run's event log to its end: for `train` and the terminal tour."""

from __future__ import annotations

import time
from collections.abc import Iterator

from workbench.cli._ctrl_c import CtrlC
from workbench.protocol.events import RunEvent, RunFinished
from workbench.protocol.messages import ErrorParts
from workbench.runs.event_log import EventReader
from workbench.runs.folder import RunFolder
from workbench.runs.history import MetricHistory
from workbench.runs.outcome import outcome_of

_POLL_S = 0.05
_START_S = 60.0


class PastEvents:
    """What a run told before it is resumed: read once, not told again.

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

    A trainer that died without a word is told as a failed RunFinished made here. Ctrl+C
    asks the run to stop and goes on following until it has saved.

    Args:
        folder: The run.
        ctrl_c: Hears Ctrl+C, already since before the run was started.
        past: Read before the run was resumed; these events are left out.

    Raises:
        KeyboardInterrupt: after the last event, when it was Ctrl+C that ended the run.
        SaveError: the run's folder cannot be written, so it cannot be asked to stop.
    """
    reader = past.reader if past else EventReader(folder.events_path)
    history = past.history if past else MetricHistory()
    started = time.monotonic()
    while True:
        ctrl_c.pass_on()
        # Asked before reading: what the trainer wrote before it ended is then still read.
        is_over = not folder.is_alive() and time.monotonic() - started > _grace(history)
        events = reader.read_new()
        for event in events:
            history.add(event)
            yield event
            if isinstance(event, RunFinished):
                if ctrl_c.has_asked and event.outcome == "stopped":
                    raise KeyboardInterrupt
                return
        if is_over and not events:
            yield _died(folder, history)
            return
        time.sleep(_POLL_S)


def _grace(history: MetricHistory) -> float:
    """Seconds in which a run without a lock may still be about to take it."""
    return 1.0 if history.last_seq else _START_S


def _died(folder: RunFolder, history: MetricHistory) -> RunFinished:
    outcome = outcome_of(folder, history)
    return RunFinished(
        seq=history.last_seq + 1,
        time=time.time(),
        outcome="failed",
        run=str(folder.path),
        seconds=history.elapsed_s,
        epochs_done=len(history.epochs),
        error=ErrorParts(
            what=outcome.sentence(),
            where=str(folder.path),
            fix=f"The last lines of the trainer are in {folder.log_path}.",
        ),
    )
