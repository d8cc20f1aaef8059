"""The training view: runs | header, plots and log of one run | recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QMainWindow, QPushButton, QSplitter, QStackedWidget

from workbench.core.projects.project import HERE
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.panel_hosts import Docks
from workbench.gui.common.view_spec import PanelSpec
from workbench.gui.images.find_data import FindDataButton
from workbench.gui.kit.dialogs import ask_folder
from workbench.gui.kit.labels import window_words
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.widgets import EmptyPage
from workbench.gui.train.banners import ErrorBanner, InfoBar, NextSteps
from workbench.gui.train.diagnosis import DiagnosisController
from workbench.gui.train.finders import FinderController
from workbench.gui.train.log_panel import LogPanel
from workbench.gui.train.run_header import RunHeader
from workbench.gui.train.run_pages import RunPages
from workbench.gui.train.runs.controller import RunActions
from workbench.gui.train.series.dialogs import SeriesController
from workbench.gui.train.state import TrainState
from workbench.protocol.events import Heartbeat, LogLine, PhaseChanged, RunEvent, TimeSpent
from workbench.protocol.wire import error_from_parts
from workbench.runs.library.projects import OpenProject
from workbench.runs.link import has_mirror
from workbench.runs.state.outcome import RunOutcome

_MIDDLE_PX = 400
"""Header and plots of a run."""


class TrainView(QMainWindow):
    """Everything about training, live.

    Signals:
        train_again: The project shall be trained from the weights of the run in this folder.
        view_wanted: The view of this key shall show what the run in this folder can.
        help_asked: Key of a help page.
        project_wanted: The project of the run in this folder is to be opened.
        status: A sentence for the status bar.

    Attributes:
        state: What the panels share.
        whole: The middle, as far as it fits; the rest is scrolled to.
    """

    train_again = Signal(object)
    view_wanted = Signal(str, Path)
    project_wanted = Signal(Path)
    help_asked = Signal(str)
    status = Signal(str)

    def __init__(self, context: WindowContext, panels: Sequence[PanelSpec[TrainState]]) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self._context = context
        self._library = context.library
        self._follower = context.library.current
        self._shown_title = ""
        theme = context.theme
        self.state = TrainState(context, self)
        self.actions_of_runs = RunActions(context, self)
        self.finders = FinderController(context, self)
        self.series = SeriesController(context, self)
        self.header = RunHeader(theme)
        self.next_steps = NextSteps()
        self.notice = InfoBar(theme)
        self.trouble = ErrorBanner()
        self.find_data = FindDataButton(context, self.state.background)
        self.curves = RunPages(theme)
        self.plots = self.curves.plots
        self.diagnosis = DiagnosisController(context, self.curves, self)
        self.log = LogPanel(theme)
        self.empty = EmptyPage(
            theme,
            "chart",
            "No run yet",
            "Train, in the top right corner, starts one. Loss and accuracy appear here during "
            "training; every run is kept.",
        )
        self._pages = QStackedWidget()
        self._build()
        self.panels = Docks(self, theme, panels, self.state, middle_px=_MIDDLE_PX)
        self._connect()
        self.state.refresh_steps()
        self._show_current()

    def _build(self) -> None:
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setObjectName("train_parts")
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        parts.addWidget(self.curves)
        parts.addWidget(self.log)
        parts.setStretchFactor(0, 5)
        parts.setStretchFactor(1, 1)
        parts.setSizes([600, 130])
        page = QFrame()
        strip = self.diagnosis.strip
        find = row(self.find_data, STRETCH)
        above = (self.header, self.next_steps, self.notice, self.trouble, find, strip)
        column(*above, (parts, 1), parent=page, margins=14, spacing=12)
        self._pages.addWidget(self.empty)
        self.whole = scroll_area(page)
        # A press in it takes no focus from where it is.
        self.whole.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._pages.addWidget(self.whole)
        self.setCentralWidget(self._pages)

    def _connect(self) -> None:
        library, header, trouble = self._library, self.header, self.trouble
        presses: tuple[tuple[QPushButton, Callable[[Path], None]], ...] = (
            (header.stop, self.actions_of_runs.end),
            (header.pause, lambda path: self.actions_of_runs.end(path, is_pause=True)),
            (header.resume, self._resume),
            (trouble.resume, self._resume),
            (header.skip, library.skip),
            (trouble.skip, library.skip),
            (trouble.save_again, library.save_again),
            (trouble.save_elsewhere, self._save_elsewhere),
            (trouble.end, library.terminate),
            (trouble.kill, library.kill),
            (trouble.try_now, library.try_now),
            (trouble.attach, library.attach),
            (trouble.go_on, lambda path: library.go_on_with(path, HERE)),
        )
        for pressed, ask in presses:
            pressed.clicked.connect(lambda _checked=False, ask=ask: self._ask(ask))
        trouble.retry_wanted.connect(self._on_retry)
        self.find_data.said.connect(self._say)
        self.find_data.found.connect(self._on_found)
        header.popup.pin_wanted.connect(self._on_pin)
        for part in (self.plots, self.actions_of_runs, self.finders, self.diagnosis):
            part.said.connect(self._say)
        self.actions_of_runs.project_wanted.connect(self.project_wanted)
        self.actions_of_runs.help_asked.connect(self.help_asked)
        self.next_steps.wanted.connect(self._on_step_wanted)
        self.log.output_wanted.connect(self._on_output_wanted)
        self.state.runs_asked.connect(self.actions_of_runs.do)
        self.state.find_asked.connect(self.finders.find)
        self.state.series_asked.connect(self.series.show)
        self.state.width_asked.connect(self.panels.give_width)
        self.state.overlays.changed.connect(self._show_overlays)
        self._library.current_changed.connect(self._show_current)
        self._library.runs_changed.connect(self._on_runs_changed)
        self._library.project_changed.connect(self._show_next_steps)
        self._library.asked_changed.connect(self._on_asked_changed)
        self._library.stop_offered.connect(self._on_stop_offered)
        self._library.failed.connect(self._on_failed)

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self.state.background.close()
        self.curves.close_background()
        self.diagnosis.close()
        self.actions_of_runs.close()

    # the run shown -----------------------------------------------------------------------

    def _show_current(self) -> None:
        self._unfollow()
        before = self._path
        follower = self._follower = self._library.current
        if self._path != before:
            self.whole.verticalScrollBar().setValue(0)  # how far it is, Pause and Stop
        self._pages.setCurrentIndex(0 if follower is None else 1)
        self.log.clear()
        self.trouble.clear()
        self.find_data.show_for(None)
        self._shown_title = self._title()
        self.header.set_follower(follower, self._shown_title)
        self._show_next_steps()
        self._show_asked()
        self._show_time()
        self.state.run_changed.emit(self._path)
        self.curves.set_follower(follower, self._shown_title)
        self.diagnosis.set_follower(follower)
        if follower is None:
            return
        follower.loaded.connect(self._on_loaded)
        follower.events_arrived.connect(self._on_events)
        follower.outcome_changed.connect(self._on_outcome)
        if follower.is_loaded:
            self._on_loaded()
            if follower.outcome is not None:
                self._on_outcome(follower.outcome)

    def _unfollow(self) -> None:
        if self._follower is None or self._follower is self._library.current:
            return
        self._follower.loaded.disconnect(self._on_loaded)
        self._follower.events_arrived.disconnect(self._on_events)
        self._follower.outcome_changed.disconnect(self._on_outcome)

    @property
    def _path(self) -> Path | None:
        """Folder of the run that is shown."""
        return self._follower.run.path if self._follower is not None else None

    def _title(self) -> str:
        summary = self._library.summary(self._path)
        return summary.label if summary is not None else (self._path.name if self._path else "")

    def _on_loaded(self) -> None:
        if self._follower is not None:
            self.curves.set_follower(self._follower, self._shown_title)
            self.diagnosis.set_follower(self._follower)
            self.log.clear()
            self.log.add_events(self._follower.notes, self._epochs())
            self.header.refresh()
            self._show_time()

    def _on_events(self, events: list[RunEvent]) -> None:
        self.log.add_events(events, self._epochs())
        self.header.events_arrived()
        self.curves.events_arrived(events)
        self.diagnosis.events_arrived(events)
        self._show_time()
        if any(isinstance(event, PhaseChanged) for event in events):
            self._show_phase()
        if any(not isinstance(event, Heartbeat | LogLine | TimeSpent) for event in events):
            self.plots.grow()

    def _on_outcome(self, outcome: RunOutcome) -> None:
        self._show_asked()
        self.header.set_can_resume(outcome.can_resume, outcome.resumes)
        self.trouble.show_outcome(outcome)
        self._show_phase()
        error = outcome.error if outcome.kind == "failed" else None
        self.find_data.show_for(error_from_parts(error) if error is not None else None)
        self._show_time()
        if outcome.is_over:
            self.plots.refresh()  # the last values are not to wait for their turn

    def _show_time(self) -> None:
        """Shows where the time goes, and whether checkpoints can be kept."""
        follower = self._follower
        history = follower.history if follower is not None else None
        self.state.time_changed.emit(history.time_spent if history is not None else None)
        is_over = follower is None or follower.is_over
        checkpoint = history.checkpoint if history is not None else None
        self.notice.show_checkpoint(checkpoint, is_over=is_over)

    def _show_phase(self) -> None:
        """Shows what the trainer does now, where it is more than progress."""
        follower = self._follower
        if follower is None or follower.is_over:
            return
        self.trouble.show_phase(follower.history.phase, is_here=not has_mirror(follower.run))
        if follower.history.is_after_training:
            self._show_next_steps()

    def _save_elsewhere(self, path: Path) -> None:
        """Asks for a folder on another disk; the weights go into a new one in it."""
        folder = ask_folder(self, "Folder on another disk", kind="elsewhere")
        if folder:
            self._library.save_elsewhere(path, Path(folder) / path.name)

    def _show_asked(self) -> None:
        """Shows what was requested of the trainer and is not done yet."""
        asked = ""
        if self._follower is None or not self._follower.is_over:
            is_stopping, is_pausing = self._library.is_stopping, self._library.is_pausing
            asked = "pause" if is_pausing(self._path) else "stop" if is_stopping(self._path) else ""
        self.header.set_asked(asked)

    def _show_overlays(self) -> None:
        self.plots.set_overlays(self.state.overlays.overlays())

    def _on_output_wanted(self) -> None:
        follower = self._follower
        if follower is None:
            return

        def show(lines: tuple[str, ...]) -> None:
            if self._follower is follower:
                self.log.show_output(lines)

        self.state.background.run(lambda: follower.run.log_tail(max_lines=400), show)

    def _show_next_steps(self) -> None:
        run = self._library.summary(self._path)
        project = OpenProject.of(self._context.document.project)
        is_saved = self._follower is not None and self._follower.history.is_after_training
        is_own = run is not None and project.owns(run)
        # One that was just started is not listed yet.
        self.header.set_is_stopped_above(is_stopped_above=run is None or is_own)
        self.next_steps.show_run(run, is_own=is_own, is_saved=is_saved)

    def _epochs(self) -> int:
        started = self._follower.history.started if self._follower is not None else None
        return started.epochs if started is not None else 0

    def _on_runs_changed(self) -> None:
        """A run got another name; a new one is called by its folder until the list is read."""
        self._show_next_steps()
        title = self._title()
        if title != self._shown_title:
            self._shown_title = title
            self.header.set_title(title)
            self.plots.set_title(title)

    # what the user asks ------------------------------------------------------------------

    def _ask(self, ask: Callable[[Path], None]) -> None:
        """Calls a function of the run that is shown."""
        if self._path is not None:
            ask(self._path)

    def _on_found(self) -> None:
        outcome = self._follower.outcome if self._follower is not None else None
        if outcome is not None and outcome.can_resume:
            self._ask(self._resume)

    def _resume(self, path: Path) -> None:
        outcome = self._follower.outcome if self._follower is not None else None
        self.header.set_asked("resume")
        if outcome is not None and outcome.kind == "waiting":
            self._library.start_now(path)
        else:
            self._library.resume(path, wait=self._library.is_training)

    def _on_step_wanted(self, key: str) -> None:
        if key == "open_project":
            self._ask(self.project_wanted.emit)
        elif key == "train_again":
            self._ask(self.train_again.emit)
        elif key == "train_longer":
            self._ask(self.actions_of_runs.train_longer)
        elif key == "report":
            self._ask(self._write_report)
        else:
            self._ask(partial(self.view_wanted.emit, key))

    def _write_report(self, path: Path) -> None:
        summary = self._library.summary(path)
        if summary is not None:
            self.actions_of_runs.do("report", [summary])

    def _on_retry(self, changes: dict[str, object]) -> None:
        self._ask(lambda path: self.actions_of_runs.retry(path, changes))

    def _on_pin(self, values: dict[str, object]) -> None:
        self._context.document.set_recipe(**values)
        self._say("Execution settings pinned in the training settings. Undo reverts this.")

    def _on_asked_changed(self, _path: str) -> None:
        self._show_asked()
        follower = self._follower
        if follower is not None and follower.outcome is not None:
            self.trouble.show_outcome(follower.outcome)  # an earlier offer to end it is void

    def _on_stop_offered(self, path: str) -> None:
        if str(self._path) == path:
            phase = self._follower.history.phase if self._follower is not None else None
            self.trouble.offer_end(is_pause=self._library.is_pausing(self._path), phase=phase)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.trouble.allow()
        self._show_asked()
        self._say(str(error))

    def _say(self, words: str) -> None:
        self.status.emit(words)
        self.log.add_text(window_words(words))
