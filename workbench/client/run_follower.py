"""Follows one run through its event log: the same for a run started here, by another
window, by the command line, or long ago. QtCore only.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.errors import RunFolderError
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    Heartbeat,
    LogLine,
    RunEvent,
    RunFinished,
    TimeSpent,
)
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.state.outcome import RunOutcome, outcome_of

POLL_INTERVAL_MS = 250
"""A trainer logs ten times a second; the events since the last poll are added and shown
together. Polling more often takes time from the training and shows no more."""

FIRST_POLL_INTERVAL_MS = 50
"""Interval of polls until there is a first batch, which is waited for. A poll asks for the log's
size."""

OUTCOME_INTERVAL_MS = 1_000
EVENTS_PER_READ = 1_000
EVENTS_AT_ONCE = 64
BUDGET_MS = 5.0
"""How long the window's thread takes in events before it serves the user again."""

MAX_NOTES = 2_000


@dataclass
class _Loaded:
    """What a first reading found; built in another thread, then handed over whole."""

    reader: EventReader
    history: MetricHistory = field(default_factory=MetricHistory)
    notes: deque[RunEvent] = field(default_factory=lambda: deque(maxlen=MAX_NOTES))
    outcome: RunOutcome | None = None


def is_note(event: RunEvent) -> bool:
    """Whether an event belongs into the log panel."""
    return not isinstance(event, Batch | Heartbeat | TimeSpent)


def saves_weights(event: RunEvent) -> bool:
    """Whether weights to classify with were saved: with each checkpoint, and at the end."""
    is_kept = isinstance(event, CheckpointKept) and event.problem is None
    return is_kept or (isinstance(event, RunFinished) and event.kept is not None)


def _load(run: RunFolder, reader: EventReader) -> _Loaded:
    loaded = _Loaded(reader)
    while events := reader.read_new():
        loaded.history.add_all(events)
        loaded.notes.extend(event for event in events if is_note(event))
    if reader.damage_words:
        loaded.notes.append(LogLine(text=reader.damage_words, level="warning"))
    loaded.outcome = _outcome_now(run, loaded.history)
    return loaded


def _outcome_now(run: RunFolder, history: MetricHistory) -> RunOutcome | None:
    """Outcome of the run; None while the folder cannot be read, as on a disk that comes back: it is
    looked at again.
    """
    try:
        return outcome_of(run, history)
    except RunFolderError:
        return None


class RunFollower(QObject):
    """Keeps the history of a run up to date.

    Files are read and decoded in another thread. What a run said before it was followed is
    taken in there too, as a whole; later events are added here, a few milliseconds at a
    time.

    Attributes:
        run: The run folder.
        history: All events so far; only changed on this object's thread.
        notes: The latest events for the log panel (no batches, heartbeats, times).
        outcome: The run's state, None before the first poll.

    Signals:
        loaded: Earlier events are in `history` (a new object).
        events_arrived: list of the events just added to `history`.
        outcome_changed: the RunOutcome, when it is another than before.
    """

    loaded = Signal()
    events_arrived = Signal(list)
    outcome_changed = Signal(object)

    def __init__(self, run: RunFolder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run = run
        self.history = MetricHistory()
        self.notes: deque[RunEvent] = deque(maxlen=MAX_NOTES)
        self.outcome: RunOutcome | None = None
        self.is_loaded = False
        self._reader = EventReader(run.events_path)
        self._background = Background(self, max_threads=1)
        self._pending: deque[RunEvent] = deque()
        self._log_bytes = -1
        self._is_reading = False
        self._has_more = False
        self._may_be_over = False
        self._poll = QTimer(self, interval=FIRST_POLL_INTERVAL_MS)
        self._poll.timeout.connect(self._on_poll)
        self._look = QTimer(self, interval=OUTCOME_INTERVAL_MS)
        self._look.timeout.connect(self._on_look)
        self._drain = QTimer(self, interval=0)
        self._drain.timeout.connect(self._on_drain)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended and all its events have arrived."""
        return self.outcome is not None and self.outcome.is_over

    def start(self) -> None:
        """Begins to follow."""
        self._is_reading = True
        run, reader = self.run, self._reader
        self._background.run(lambda: _load(run, reader), self._on_loaded)

    def go_on(self) -> None:
        """Looks again at a run that was over: it is resumed, or waits for its turn."""
        if self.is_loaded and not self._look.isActive():
            self._log_bytes = -1
            self._poll.start()
            self._look.start()

    def close(self) -> None:
        """Stops following; waits for a reading that is under way."""
        for timer in (self._poll, self._look, self._drain):
            timer.stop()
        self._background.close()

    def _on_loaded(self, loaded: _Loaded) -> None:
        self._is_reading = False
        self.history, self.notes = loaded.history, loaded.notes
        self.is_loaded = True
        self.loaded.emit()
        self._set_outcome(loaded.outcome)
        if not self.is_over:
            self._poll.start()
            self._look.start()

    def _on_poll(self) -> None:
        if self._is_reading or self._pending:
            return
        try:
            size = self.run.events_path.stat().st_size
        except OSError:
            return
        if len(self.history.steps):
            self._poll.setInterval(POLL_INTERVAL_MS)
        if size != self._log_bytes:
            self._log_bytes = size
            self._read()

    def _on_look(self) -> None:
        self._read(with_outcome=True)

    def _read(self, *, with_outcome: bool = False) -> None:
        """Reads new events; the run's outcome costs more and is read less often."""
        if self._is_reading or self._pending:
            return
        self._is_reading = True
        run, reader, history = self.run, self._reader, self.history

        def work() -> tuple[list[RunEvent], RunOutcome | None]:
            # Asked before the reading: when it says "over", the reading is the last one.
            outcome = _outcome_now(run, history) if with_outcome else None
            return reader.read_new(EVENTS_PER_READ), outcome

        self._background.run(work, self._on_read)

    def _on_read(self, found: tuple[list[RunEvent], RunOutcome | None]) -> None:
        self._is_reading = False
        events, outcome = found
        is_last = bool(events) and outcome is not None and outcome.is_over
        self._has_more = len(events) >= EVENTS_PER_READ
        self._may_be_over = is_last or any(isinstance(event, RunFinished) for event in events)
        self._pending.extend(events)
        self._on_drain()
        if not (is_last or self._has_more):
            self._set_outcome(outcome)

    def _on_drain(self) -> None:
        """Adds pending events for a few milliseconds; the rest waits for its turn."""
        deadline = perf_counter() + BUDGET_MS / 1000
        added: list[RunEvent] = []
        while self._pending and perf_counter() < deadline:
            count = min(EVENTS_AT_ONCE, len(self._pending))
            events = [self._pending.popleft() for _ in range(count)]
            self.history.add_all(events)
            self.notes.extend(event for event in events if is_note(event))
            added += events
        if self._pending:
            self._drain.start()
        else:
            self._drain.stop()
        if added:
            self.events_arrived.emit(added)
        if not self._pending and (self._has_more or self._may_be_over):
            self._read(with_outcome=self._may_be_over)

    def _set_outcome(self, outcome: RunOutcome | None) -> None:
        if outcome is not None and outcome.is_over:
            self._poll.stop()
            self._look.stop()
        if outcome is None or outcome == self.outcome:
            return
        self.outcome = outcome
        self.outcome_changed.emit(outcome)
