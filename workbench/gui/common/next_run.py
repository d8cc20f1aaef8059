"""The next run of the project: its estimate, the check of its target, a trainer kept ready
for it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from statistics import median

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from workbench.client.background import Background
from workbench.client.run_follower import RunFollower
from workbench.client.run_library import RunLibrary
from workbench.core.checks.estimates import MeasuredRun, RunEstimate
from workbench.core.format import count, duration
from workbench.core.projects.project import Choice, Project
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.host.memory import memory_limit
from workbench.protocol.events import Batch, EpochFinished, RunEvent
from workbench.runs.environment import refuse_unready
from workbench.runs.library.projects import OpenProject
from workbench.runs.log.pace import EPOCHS
from workbench.runs.start import ready_trainer
from workbench.runs.state.preparing import data_mark, predict_run, read_speeds
from workbench.runs.trust import check_known
from workbench.settings.options.keeps_trainer_ready import SPEC as KEEPS_READY
from workbench.settings.store import SettingsStore
from workbench.targets.this_computer import cpu_flags

# run estimator -------------------------------------------------------------------------------
# What the next run will take, kept up to date while the project is edited.


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


# target check --------------------------------------------------------------------------------
# Whether the project's place to train is ready: checked when it is chosen, and before each run.

Answer = Callable[[WorkbenchError | None], None]


class TargetCheck(QObject):
    """Runs a target's probe in another thread, and keeps its last result. Of a target with an
    address that has not been confirmed, that is the result: nothing is probed.

    Threads of its own instead of a pool: a driver may take seconds to answer, and closing
    the window must not wait for that.

    Signals:
        changed: `problem` is another than before.
        answered: Number of a question, and its answer; from another thread.
    """

    changed = Signal()
    answered = Signal(int, object)

    def __init__(self, document: ProjectDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._last = 0
        self._waiting: dict[int, tuple[Choice, Answer | None]] = {}
        self._asked: Choice | None = None
        self.problem: WorkbenchError | None = None
        self.answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)
        document.target_changed.connect(self._on_target)
        document.project_replaced.connect(self._on_target)

    def ask(self, on_answer: Answer | None = None) -> None:
        """Looks at the project's place as it is now.

        Args:
            on_answer: Called with what is wrong with it; None for nothing.
        """
        choice = self._document.project.target
        self._last += 1
        self._waiting[self._last] = (choice, on_answer)
        number = self._last

        def look() -> None:
            problem = _problem_of(choice)
            with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
                self.answered.emit(number, problem)

        threading.Thread(target=look, name="target check", daemon=True).start()

    def close(self) -> None:
        """Drops all waiting answers."""
        self._waiting.clear()

    def _on_target(self) -> None:
        choice = self._document.project.target
        if choice == self._asked:
            return
        self._asked = choice
        self._set(None)  # what was said of another place counts no more
        self.ask()

    def _on_answered(self, number: int, problem: WorkbenchError | None) -> None:
        choice, on_answer = self._waiting.pop(number, (None, None))
        if choice is None:
            return
        if choice == self._document.project.target and number == self._last:
            self._set(problem)
        if on_answer is not None:
            on_answer(problem)

    def _set(self, problem: WorkbenchError | None) -> None:
        if str(problem) != str(self.problem):
            self.problem = problem
            self.changed.emit()


def _problem_of(choice: Choice) -> WorkbenchError | None:
    try:
        check_known(choice)
        refuse_unready(choice)
    except WorkbenchError as error:
        return error
    except OSError as error:
        return WorkbenchError(
            "The target could not be checked.", received=error.strerror or str(error)
        )
    return None


# ready keeper --------------------------------------------------------------------------------
# Keeps a trainer ready while a project is worked on.

DELAY_MS = 1_500
"""After the last sign of use: the view that was just opened, or the edit, comes first."""


class ReadyKeeper(QObject):
    """Has a trainer started soon after a project is opened or changed, or after a training, while
    nothing trains here. It ends by itself after a while without use, and where memory is short.
    """

    def __init__(
        self,
        document: ProjectDocument,
        library: RunLibrary,
        settings: SettingsStore,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document, self._library, self._settings = document, library, settings
        self._background = Background(self, max_threads=1)
        self._was_training = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._keep)
        document.project_replaced.connect(self.touch)
        document.edited.connect(self.touch)
        library.runs_changed.connect(self._on_runs_changed)
        self._unlisten = settings.listen(lambda _settings: self.touch())

    def touch(self, *_news: object) -> None:
        """Notes that the project is worked on."""
        self._timer.start()

    def close(self) -> None:
        """Ends the trainer that waits, if one does."""
        self._timer.stop()
        self._unlisten()
        self._background.close()
        ready_trainer.release()

    def _on_runs_changed(self) -> None:
        was_training, self._was_training = self._was_training, self._is_training
        if was_training and not self._is_training:
            self.touch()
        elif self._is_training and not was_training:  # its memory is for the run
            self._release()

    @property
    def _is_training(self) -> bool:
        library = self._library
        return library.is_starting or library.is_training or library.num_waiting > 0

    def _keep(self) -> None:
        project = self._document.project
        if not self._settings.settings.get(KEEPS_READY):
            self._release()
        elif not self._is_training:
            self._background.run(lambda: ready_trainer.keep(project), lambda _is_ready: None)

    def _release(self) -> None:
        self._background.run(ready_trainer.release, lambda _done: None)
