"""Starting, stopping and exporting runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.run_follower import RunFollower
from workbench.core.projects.project import HERE, Project
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.next_run import TargetCheck
from workbench.gui.common.run_text import chip_words, quoted_name
from workbench.gui.kit.dialogs import ask_choice, error_text
from workbench.gui.train.exporting.dialog import ExportAction, ReportAction
from workbench.runs.library.projects import OpenProject
from workbench.runs.library.summary import RunSummary
from workbench.runs.trust import UnknownPlaceError, remember


@dataclass(frozen=True)
class _Asked:
    """What shall be trained: the project as it was when that was requested, from the weights of
    the run in the folder `initial` if there is one; `wait` while another trains.
    """

    project: Project
    path: Path | None
    initial: Path | None
    wait: bool

    @property
    def title(self) -> str:
        """The project as people call it."""
        name = self.path.name.removesuffix(PROJECT_SUFFIX) if self.path else ""
        return name or self.project.title


class RunController(QObject):
    """What the Train button, and the menus about runs, do.

    Signals:
        changed: Whether a run goes on, or why none can start, is another than before.
        started: Path of a run that was just started.
        blocked: Training was requested while errors prevent it.
        said: A sentence about what goes on.
        connect_wanted: The place to train is not ready: another computer shall be connected.
        help_asked: Key of a help page.
        network_export_wanted: There is no trained model to export, but a network.
    """

    changed = Signal()
    started = Signal(str)
    blocked = Signal()
    said = Signal(str)
    connect_wanted = Signal()
    help_asked = Signal(str)
    network_export_wanted = Signal()

    def __init__(self, context: WindowContext, check: TargetCheck, window: QWidget) -> None:
        super().__init__(window)
        self._check = check
        self._is_asking = False
        self._alike = ""
        self._away: RunFollower | None = None
        self._away_words = ""
        self._document = context.document
        self._library = context.library
        self._export = ExportAction(context.theme, context.measurer, window)
        self._export.said.connect(self.said)
        self._export.help_asked.connect(self.help_asked)
        self._report = ReportAction(context.measurer, window)
        self._report.said.connect(self.said)
        self._window = window
        document, library = self._document, self._library
        library.runs_changed.connect(self._follow_elsewhere)
        library.project_changed.connect(self._follow_elsewhere)
        for news in (
            check.changed,
            library.current_changed,
            library.outcome_changed,
            library.runs_changed,
            library.run_started,
            library.project_changed,
            document.analysis_changed,
            document.project_replaced,
        ):
            news.connect(self.changed)
        library.run_started.connect(self.started)
        # The state of a run that is resumed is no longer what was said at its end.
        library.run_started.connect(
            lambda path: self._say_of(path, "the training process has started.")
        )
        library.asked_changed.connect(self._on_asked_changed)
        library.run_queued.connect(self._on_queued)
        library.run_ended.connect(lambda path, outcome: self._say_of(path, outcome.sentence()))
        library.failed.connect(self._on_failed)
        library.place_unknown.connect(self._ask_place)
        library.room_short.connect(self._ask_room)

    @property
    def is_running(self) -> bool:
        """A run of the open project trains, or one is being started."""
        return self._is_asking or self._library.is_starting or self.running is not None

    @property
    def running(self) -> Path | None:
        """The run of the open project that trains: the current one if it does, else the newest."""
        return next((path for path in self._training() if self._is_own(path)), None)

    @property
    def elsewhere(self) -> RunSummary | None:
        """The run of another project that trains; None while there is none."""
        others = (path for path in self._training() if not self._is_own(path))
        return next((run for run in map(self._library.summary, others) if run is not None), None)

    @property
    def elsewhere_words(self) -> str:
        """How far that is: "Flowers: epoch 2 of 3"; "" while there is none."""
        run = self.elsewhere
        if run is None:
            return ""
        follower = self._library.follower(run.path)
        return chip_words(run, follower.history if follower is not None else None)

    @property
    def elsewhere_part(self) -> float:
        """How far that is, 0..1."""
        run = self.elsewhere
        follower = self._library.follower(run.path) if run is not None else None
        return follower.history.progress.fraction if follower is not None else 0.0

    def _follow_elsewhere(self) -> None:
        run = self.elsewhere
        follower = self._library.follower(run.path) if run is not None else None
        if follower is self._away:
            return
        if self._away is not None and shiboken6.isValid(self._away):
            self._away.events_arrived.disconnect(self._on_elsewhere_events)
        self._away = follower
        if follower is not None:
            follower.events_arrived.connect(self._on_elsewhere_events)

    def _on_elsewhere_events(self, _events: object) -> None:
        before, self._away_words = self._away_words, self.elsewhere_words
        if self._away_words != before:
            self.changed.emit()

    def _training(self) -> list[Path]:
        """Runs of any project that train, the current one first."""
        current = self._library.current
        path = current.run.path if current is not None else None
        known = current.outcome if current is not None else None
        # What the list says of the current one may be out of date.
        runs = self._library.runs
        listed = [run.path for run in runs if _trains(run.outcome) and run.path != path]
        is_current = path is not None and known is not None and _trains(known.kind)
        return [path, *listed] if is_current and path is not None else listed

    def _is_own(self, path: Path) -> bool:
        run = self._library.summary(path)
        return run is None or self._library.is_own(run)  # one that was just started is not listed

    @property
    def is_stopping(self) -> bool:
        """A stop of the run that trains was requested."""
        return self._library.is_stopping(self.running)

    @property
    def leads_on(self) -> bool:
        """The project's run that is shown was paused, or has crashed, and can be resumed: that
        comes before another training.
        """
        current = self._library.current
        outcome = current.outcome if current is not None else None
        if current is None or outcome is None or not outcome.can_resume:
            return False
        return outcome.kind in ("paused", "died", "failed") and self._is_own(current.run.path)

    @property
    def is_pausing(self) -> bool:
        """A pause of the run that trains was requested; it can still be stopped instead."""
        return self._library.is_pausing(self.running)

    def reason(self) -> str:
        """Why training cannot start, "" when it can."""
        return self._document.analysis.reason or unready_words(self._check.problem)

    def toggle(self) -> None:
        """Does what the Train button does: starts, or stops what runs."""
        if self.is_running:
            self.stop()
        else:
            self.start()

    def start(self) -> None:
        """Starts a run of the project as it is, or lets it wait while another trains.

        The place to train is checked first: whether it is ready may have changed since it
        was chosen. `blocked` when the project has errors.
        """
        self._start(None)

    def train_again(self, path: Path) -> None:
        """Starts a run as `start` does, from the weights of the run in this folder."""
        self._start(path)

    def _start(self, initial: Path | None) -> None:
        if self._document.analysis.errors:
            self.blocked.emit()
            return
        if self._is_asking:
            return
        document = self._document
        wait = self.is_running or self.elsewhere is not None
        asked = _Asked(document.project, document.path, initial, wait=wait)
        self._is_asking = True
        self._check.ask(lambda problem: self._on_asked(asked, problem))
        self.said.emit("Starting the training process…")
        self.changed.emit()

    def _on_asked(self, asked: _Asked, problem: WorkbenchError | None) -> None:
        self._is_asking = False
        again = partial(self._start, asked.initial)
        if isinstance(problem, UnknownPlaceError):
            self._ask_place(problem, lambda: self._connect(problem, then=again))
            self.changed.emit()
            return
        if problem is not None:
            self.said.emit(unready_words(problem))
            self.changed.emit()
            self._show_unready(problem, again)
            return
        self._alike = self._queued_alike(asked.project) if asked.initial is None else ""
        self._library.start_run(
            asked.project,
            title=asked.title,
            project_path=str(asked.path or ""),
            wait=asked.wait,
            initial=asked.initial,
        )
        self.changed.emit()

    def _connect(self, problem: UnknownPlaceError, *, then: Callable[[], None]) -> None:
        """The person has agreed to connect to an address."""
        try:
            remember(*problem.targets)
        except SaveError as error:
            self._on_failed(error)
            return
        then()

    def _ask_place(self, problem: UnknownPlaceError, go_on: Callable[[], None]) -> None:
        """Asks before an address that came with a file is contacted."""
        words = f"{problem.fix} Nothing has been sent there so far."
        choices = (f"Connect to {problem.where}", "Cancel")
        if ask_choice(self._window, problem.what, words, choices, default=1) == 0:
            go_on()
        else:
            self.said.emit("Training was not started.")
        self.changed.emit()

    def _ask_room(self, problem: WorkbenchError, go_on: Callable[[], None]) -> None:
        """Asks whether to train although the run may not fit onto the disk."""
        words = (
            f"{problem.fix} A run whose disk is full keeps its weights in memory until there is "
            "room, or another folder is named."
        )
        choices = ("Train anyway", "Cancel")
        if ask_choice(self._window, problem.what, words, choices, default=1) == 0:
            go_on()
        else:
            self.said.emit("Training was not started.")
        self.changed.emit()

    def _queued_alike(self, project: Project) -> str:
        """The name of a run that waits or trains and is just the same; "" for none."""
        wanted = OpenProject.of(project)
        runs = (run for run in self._library.runs if not run.is_over and wanted.owns(run))
        return next((run.label for run in runs if run.request_key == wanted.request_key), "")

    def _show_unready(self, problem: WorkbenchError, again: Callable[[], None]) -> None:
        """Shows why nothing was started, and what can be done instead."""
        words = "\n\n".join(filter(None, (error_text(problem), "Training was not started.")))
        choices = ("Connect another computer…", "Train on this computer", "Cancel")
        answer = ask_choice(self._window, problem.what, words, choices)
        if answer == 0:
            self.connect_wanted.emit()
        elif answer == 1:
            self._document.set_target(HERE)
            again()

    def stop(self) -> None:
        """Requests a stop of the project's run that trains; its weights are kept."""
        running = self.running
        if running is not None and not self.is_stopping:
            self._library.stop(running)

    def pause(self) -> None:
        """Requests that the project's run that trains keeps its state and ends, to be resumed."""
        running = self.running
        if running is not None and not self.is_stopping:
            self._library.pause(running)

    def may_close(self) -> bool:
        """Asks what becomes of an export, and of a run that goes on, while the window closes."""
        if not self._export.may_close():
            return False
        elsewhere = self.elsewhere
        running = self.running or (elsewhere.path if elsewhere is not None else None)
        if running is None and not self.is_running:
            return True
        choices = ("Keep training", "Pause", "Stop and save weights", "Cancel")
        words = (
            "Training can continue in the background; curves and weights are there when "
            "Workbench is opened again. A paused run can be resumed later."
        )
        name = self._named(running) if running is not None else "a run"
        what = f"{name[:1].upper()}{name[1:]} is being trained."
        answer = ask_choice(self._window, what, words, choices)
        end = {1: self._library.pause, 2: self._library.stop}.get(answer)
        if running is not None and end is not None:
            end(running)
        return answer in {0, 1, 2}

    def ask_export(self, shown: Path | None = None) -> None:
        """Opens the dialog that exports the run that a view shows, else the current one where the
        user chose it, or the project's newest that is no fold of a cross-validation and the like,
        see `default_models`; without one the network alone may be written.
        """
        library = self._library
        run = library.summary(shown) or library.current_model() or library.default_model()
        if run is not None:
            self._export.ask(run.path, f"{run.project} {run.label}")
            return
        self.network_export_wanted.emit()

    def ask_report(self, shown: Path | None = None) -> None:
        """Writes the report of the run that a view shows, else of the current one, or of the
        project's model.
        """
        run = self._meant(shown) or self._library.default_model()
        if run is None:
            self.said.emit("There is no run to report on yet.")
        else:
            self._report.ask(run.path, f"{run.project} {run.label}")

    def _meant(self, shown: Path | None) -> RunSummary | None:
        current = self._library.current
        path = shown or (current.run.path if current is not None else None)
        return self._library.summary(path) if path is not None else None

    def _on_asked_changed(self, path: str) -> None:
        name = self._named(path)
        if self._library.is_pausing(Path(path)):
            self.said.emit(f"Pausing {name}… A checkpoint is saved; the run can be resumed.")
        else:
            self.said.emit(f"Stopping {name}… The weights are saved after the current step.")
        self.changed.emit()

    def _on_queued(self, _path: str) -> None:
        words = f" It is identical to run {self._alike}." if self._alike else ""
        ahead = self.running or (self.elsewhere.path if self.elsewhere is not None else None)
        when = f"when {self._named(ahead)} has ended" if ahead is not None else "automatically"
        self.said.emit(f"Run queued; it starts {when}.{words}")
        self.changed.emit()

    def _named(self, path: Path | str) -> str:
        return quoted_name(self._library.summary(Path(path)))

    def _say_of(self, path: str, words: str) -> None:
        """A sentence about a run, which need not be one of the open project."""
        name = self._named(path)
        self.said.emit(f"{name[:1].upper()}{name[1:]}: {words[:1].lower()}{words[1:]}")

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit(str(error))
        self.changed.emit()


def unready_words(problem: WorkbenchError | None) -> str:
    """What is wrong with the place to train and what helps; "" for nothing."""
    return " ".join(filter(None, (problem.what, problem.fix))) if problem is not None else ""


def _trains(outcome: str) -> bool:
    return outcome in ("running", "silent")
