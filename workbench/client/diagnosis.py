"""The training coach's findings on the run that is followed, live. QtCore only."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.run_follower import RunFollower
from workbench.client.run_library import RunLibrary
from workbench.core.coach import Advice
from workbench.core.projects.project import Project
from workbench.protocol.events import (
    DataReady,
    EpochFinished,
    LayersMeasured,
    RunEvent,
    RunFinished,
)
from workbench.runs.library.projects import rival_of
from workbench.runs.log.coaching import advice_of, read_project, record_later, with_files

INTERVAL_MS = 1_000
"""Between two looks: epochs of milliseconds are not looked at one by one."""

_NEWS = (DataReady, EpochFinished, LayersMeasured, RunFinished)
"""Events that may change what is found."""

_Found = tuple[list[Advice], Project | None, int]


class RunDiagnosis(QObject):
    """Looks at a run in another thread whenever an epoch has ended.

    Signals:
        changed: There are other findings, or other epochs were looked at.

    Attributes:
        findings: What is found, the gravest first.
        epochs: How many epochs were looked at; 0 before the first look.
        project: What the run trains; None while that is not known.
    """

    changed = Signal()

    def __init__(self, library: RunLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._follower: RunFollower | None = None
        self._background = Background(self, max_threads=1)
        self._is_due = False
        self._pause = QTimer(self, interval=INTERVAL_MS, singleShot=True)
        self._pause.timeout.connect(self._look_if_due)
        self._clear()

    def _clear(self) -> None:
        self.findings: tuple[Advice, ...] = ()
        self.epochs = 0
        self.project: Project | None = None

    def set_follower(self, follower: RunFollower | None) -> None:
        """Looks at another run, or at the same once its earlier events are there."""
        if follower is not self._follower:
            self._follower = follower
            self._clear()
            self.changed.emit()
        self.look()

    def events_arrived(self, events: Sequence[RunEvent]) -> None:
        """The run has logged more."""
        if any(isinstance(event, _NEWS) for event in events):
            self.look()

    def look(self) -> None:
        """Looks at the run as it is now, or soon where it was looked at just now."""
        self._is_due = True
        if not self._pause.isActive():
            self._look_if_due()

    def close(self) -> None:
        """Waits for a look that is under way."""
        self._pause.stop()
        self._background.close()

    def _look_if_due(self) -> None:
        follower = self._follower
        if not self._is_due or self._background.is_busy or follower is None:
            return
        self._is_due = False
        make, run, known = record_later(follower.history), follower.run, self.project
        rival = rival_of(run.path, self._library.runs)

        def work() -> _Found:
            project = known or read_project(run)
            record = make()
            return advice_of(with_files(record, run, project), rival), project, len(record.epochs)

        def show(found: _Found) -> None:
            self._pause.start()
            if follower is not self._follower:
                self._is_due = True
                return
            findings, self.project, epochs = found
            if (tuple(findings), epochs) != (self.findings, self.epochs):
                self.findings, self.epochs = tuple(findings), epochs
                self.changed.emit()

        self._background.run(work, show)
