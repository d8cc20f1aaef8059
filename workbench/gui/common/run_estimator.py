"""What the next run will take, kept up to date while the project is edited."""

from __future__ import annotations

from statistics import median

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.run_follower import RunFollower
from workbench.client.run_library import RunLibrary
from workbench.core.checks.estimates.measured_run import MeasuredRun
from workbench.core.checks.estimates.run_estimate import RunEstimate
from workbench.core.format import count, duration
from workbench.core.projects.project import Project
from workbench.document.project_document import ProjectDocument
from workbench.host.memory import memory_limit
from workbench.protocol.events import Batch, EpochFinished, RunEvent
from workbench.runs.library.projects import OpenProject
from workbench.runs.log.pace import EPOCHS
from workbench.runs.state.throughput import data_mark, predict_run, read_speeds
from workbench.targets.this_computer import cpu_flags


class RunEstimator(QObject):
    """Predicts with what this computer has trained so far; `changed` with each new figure.

    The file of speeds is read in another thread: at the start, after each run, and after each
    epoch of the one that is followed, whose trainer keeps its speed there.

    Attributes:
        prediction: None while nothing can be said: the network has errors, or the speeds
            are not read yet.
    """

    changed = Signal()

    def __init__(
        self, document: ProjectDocument, library: RunLibrary, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.prediction: RunEstimate | None = None
        self._document = document
        self._background = Background(self, max_threads=1)
        self._speeds: list[MeasuredRun] | None = None
        self._limit_bytes = 0
        self._keyed: tuple[Project, str] | None = None
        document.analysis_changed.connect(lambda _analysis: self.predict())
        library.run_ended.connect(lambda _path, _outcome: self.refresh())
        self._library = library
        self._followed: RunFollower | None = None
        library.current_changed.connect(self._follow)
        QTimer.singleShot(0, self, self.refresh)

    def _follow(self) -> None:
        if self._followed is not None and self._followed is not self._library.current:
            self._followed.events_arrived.disconnect(self._on_events)
        if self._library.current is not None and self._followed is not self._library.current:
            self._library.current.events_arrived.connect(self._on_events)
        self._followed = self._library.current

    def _on_events(self, events: list[RunEvent]) -> None:
        if any(isinstance(event, EpochFinished) for event in events):
            self.refresh()
        elif any(isinstance(event, Batch) for event in events):
            self.predict()

    def close(self) -> None:
        """Waits for what still reads."""
        self._background.close()

    def refresh(self) -> None:
        """Reads the speeds again."""

        def work() -> tuple[list[MeasuredRun], int]:
            cpu_flags()  # read and kept here, not on the window's thread
            return read_speeds(), memory_limit()

        self._background.run(work, self._on_read)

    def _on_read(self, found: tuple[list[MeasuredRun], int]) -> None:
        self._speeds, self._limit_bytes = found
        self.predict()

    def predict(self) -> None:
        """Works out the figures of the project as it is now; under a millisecond."""
        before = self.prediction
        self.prediction = self._predicted()
        if self.prediction != before:
            self.changed.emit()

    def _predicted(self) -> RunEstimate | None:
        document = self._document
        if self._speeds is None or document.analysis.network_errors:
            return None
        predicted = predict_run(
            document.analysis,
            document.recipe,
            document.dataset_facts,
            speeds=self._speeds,
            limit_bytes=self._limit_bytes,
            data=data_mark(document.project.dataset),
        )
        return self._as_measured(predicted)

    def _request_key(self) -> str:
        """Request key of the present project, cached: it takes milliseconds for a large one."""
        project = self._document.project
        if self._keyed is None or self._keyed[0] != project:
            self._keyed = project, OpenProject.of(project).request_key
        return self._keyed[1]

    def _as_measured(self, predicted: RunEstimate) -> RunEstimate:
        """The estimate corrected by the run that trains now, after some of its steps, where it is
        of the project as it is: the header counts down with the same figures.
        """
        current = self._library.current
        if current is None or current.outcome is None or current.outcome.kind != "running":
            return predicted
        run, history = self._library.summary(current.run.path), current.history
        speed, started = history.progress.images_per_second, history.started
        if run is None or not speed or started is None or run.on:
            return predicted
        if run.request_key != self._request_key():
            return predicted
        seconds = [epoch.seconds for epoch in history.epochs[-EPOCHS:]]
        return predicted.measured(speed, median(seconds) if seconds else None, started.epochs)


def time_words(prediction: RunEstimate) -> str:
    """Such as "12 s", of an epoch, or of the run where its epochs differ; the speed where the
    number of images is not known yet.
    """
    if prediction.epoch_s is None:
        return f"{count(_two_digits(prediction.images_per_second))} images/s"
    known_s = None if prediction.is_even else prediction.total_s
    shown_s = prediction.epoch_s if known_s is None else known_s
    if shown_s < 1:
        return "under 1 s"
    seconds = _two_digits(shown_s)
    return f"{seconds} s" if seconds < 10 else duration(seconds)


def time_title(prediction: RunEstimate) -> str:
    """What `time_words` are of."""
    if prediction.epoch_s is None:
        return f"Estimated speed{', head on cached features' * prediction.is_on_features}"
    if prediction.is_live:
        return "Time per epoch"
    return "Estimated time per epoch" if prediction.is_even else "Estimated training time"


def _two_digits(value: float) -> int:
    """A prediction is no better than that."""
    return round(float(f"{value:.2g}"))
