"""The training view: runs | header, plots and log of one run | recipe."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
)

from workbench.core.projects.project import HERE
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.docks import Docks
from workbench.gui.common.panel_spec import PanelSpec
from workbench.gui.kit.empty import EmptyPage
from workbench.gui.train.error_banner import ErrorBanner
from workbench.gui.train.finders.controller import FinderController
from workbench.gui.train.info_bar import InfoBar
from workbench.gui.train.log_panel import LogPanel
from workbench.gui.train.run_header import RunHeader
from workbench.gui.train.run_pages import RunPages
from workbench.gui.train.runs.controller import RunActions
from workbench.gui.train.state import TrainState
from workbench.protocol.events import Heartbeat, LogLine, RunEvent, TimeSpent
from workbench.runs.state.outcome import RunOutcome

OUTPUT_LINES = 400


class TrainView(QMainWindow):
    """Everything about training, live.

    Signals:
        train_requested: The user wants to train the project as it is.
        status: A sentence for the status bar.

    Attributes:
        state: What the panels share.
    """

    train_requested = Signal()
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
        self.header = RunHeader(theme)
        self.notice = InfoBar(theme)
        self.trouble = ErrorBanner(theme)
        self.curves = RunPages(theme)
        self.plots = self.curves.plots
        self.log = LogPanel(theme)
        self.empty = EmptyPage(
            theme,
            "chart",
            "No run yet",
            "Train the model of this project. Loss and accuracy appear here during "
            "training; every run is kept.",
            action="Train",
        )
        self._pages = QStackedWidget()
        self._build()
        self.panels = Docks(self, theme, panels, self.state)
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
        column = QVBoxLayout(page)
        column.setContentsMargins(14, 14, 14, 14)
        column.setSpacing(12)
        column.addWidget(self.header)
        column.addWidget(self.notice)
        column.addWidget(self.trouble)
        column.addWidget(parts, 1)
        self._pages.addWidget(self.empty)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(page)
        self._pages.addWidget(scroll)
        self.setCentralWidget(self._pages)

    def _connect(self) -> None:
        self.empty.pressed.connect(self.train_requested)
        self.header.stop_wanted.connect(self._library.stop)
        self.header.pause_wanted.connect(self._library.pause)
        self.header.resume_wanted.connect(self._on_resume)
        self.header.pin_wanted.connect(self._on_pin)
        self.trouble.terminate_wanted.connect(self._library.terminate)
        self.trouble.kill_wanted.connect(self._library.kill)
        self.trouble.resume_wanted.connect(self._on_resume)
        self.trouble.retry_wanted.connect(self._on_retry)
        self.trouble.attach_wanted.connect(self._on_attach)
        self.trouble.move_wanted.connect(self._on_move)
        self.plots.failed.connect(self._say)
        self.plots.saved.connect(self._say)
        self.log.output_wanted.connect(self._on_output_wanted)
        self.state.runs_asked.connect(self.actions_of_runs.do)
        self.actions_of_runs.said.connect(self._say)
        self.state.find_asked.connect(self.finders.find)
        self.finders.said.connect(self._say)
        self.state.overlays.changed.connect(self._show_overlays)
        self._library.current_changed.connect(self._show_current)
        self._library.runs_changed.connect(self._on_runs_changed)
        self._library.asked_changed.connect(self._on_asked_changed)
        self._library.stop_offered.connect(self._on_stop_offered)
        self._library.failed.connect(self._on_failed)

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self.state.background.close()
        self.curves.close_background()
        self.actions_of_runs.close()

    # the run shown -----------------------------------------------------------------------

    def _show_current(self) -> None:
        self._unfollow()
        follower = self._follower = self._library.current
        self._pages.setCurrentIndex(0 if follower is None else 1)
        self.log.clear()
        self.trouble.clear()
        self._shown_title = self._title()
        self.header.set_follower(follower, self._shown_title)
        self._show_asked()
        self._show_time()
        self.state.run_changed.emit(follower.run.path if follower is not None else None)
        self.curves.set_follower(follower, self._shown_title)
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

    def _title(self) -> str:
        path = self._follower.run.path if self._follower is not None else None
        summary = self._library.summary(path)
        return summary.title if summary is not None else (path.name if path else "")

    def _on_loaded(self) -> None:
        follower = self._follower
        if follower is None:
            return
        self.curves.set_follower(follower, self._shown_title)
        self.log.clear()
        self.log.add_events(follower.notes, self._epochs())
        self.header.refresh()
        self._show_time()

    def _on_events(self, events: list[RunEvent]) -> None:
        self.log.add_events(events, self._epochs())
        self.header.events_arrived()
        self.curves.events_arrived(events)
        self._show_time()
        if any(not isinstance(event, Heartbeat | LogLine | TimeSpent) for event in events):
            self.plots.grow()

    def _on_outcome(self, outcome: RunOutcome) -> None:
        self._show_asked()
        self.header.set_can_resume(outcome.can_resume)
        self.trouble.show_outcome(outcome)
        self._show_time()
        if outcome.is_over:
            self.plots.refresh()  # the last values are not to wait for their turn

    def _show_time(self) -> None:
        """Where the time goes, and whether checkpoints can be kept."""
        follower = self._follower
        history = follower.history if follower is not None else None
        self.state.time_changed.emit(history.time_spent if history is not None else None)
        is_over = follower is None or follower.is_over
        self.notice.show_checkpoint(
            history.checkpoint if history is not None else None, is_over=is_over
        )

    def _show_asked(self) -> None:
        """What the trainer was asked and has not done yet."""
        follower = self._follower
        path = follower.run.path if follower is not None else None
        is_over = follower is not None and follower.is_over
        asked = "pause" if self._library.is_pausing(path) else ""
        asked = asked or ("stop" if self._library.is_stopping(path) else "")
        self.header.set_asked("" if is_over else asked)

    def _show_overlays(self) -> None:
        self.plots.set_overlays(self.state.overlays.overlays())

    def _on_output_wanted(self) -> None:
        follower = self._follower
        if follower is None:
            return
        run = follower.run

        def show(lines: tuple[str, ...]) -> None:
            if self._follower is follower:
                self.log.show_output(lines)

        self.state.background.run(lambda: run.log_tail(max_lines=OUTPUT_LINES), show)

    def _epochs(self) -> int:
        started = self._follower.history.started if self._follower is not None else None
        return started.epochs if started is not None else 0

    def _on_runs_changed(self) -> None:
        """A run got another name; a new one is called by its folder until the list is read."""
        title = self._title()
        if title != self._shown_title:
            self._shown_title = title
            self.header.set_title(title)
            self.plots.set_title(title)

    # what the user asks ------------------------------------------------------------------

    def _on_resume(self) -> None:
        follower = self._follower
        if follower is None:
            return
        self.header.set_asked("resume")
        if follower.outcome is not None and follower.outcome.kind == "waiting":
            self._library.start_now(follower.run.path)
        else:
            self._library.resume(follower.run.path, wait=self._library.is_training)

    def _on_retry(self, changes: dict[str, object]) -> None:
        if self._follower is not None:
            self.actions_of_runs.retry(self._follower.run.path, changes)

    def _on_attach(self) -> None:
        if self._follower is not None:
            self._library.attach(self._follower.run.path)

    def _on_move(self) -> None:
        if self._follower is not None:
            self._library.go_on_with(self._follower.run.path, HERE)

    def _on_pin(self, values: dict[str, object]) -> None:
        self._context.document.set_recipe(**values)
        self._say("Execution settings pinned in the training settings. Undo reverts this.")

    def _on_asked_changed(self, _path: str) -> None:
        self._show_asked()
        follower = self._follower
        if follower is not None and follower.outcome is not None:
            self.trouble.show_outcome(follower.outcome)  # an earlier offer to end it is void

    def _on_stop_offered(self, path: str) -> None:
        if self._follower is not None and str(self._follower.run.path) == path:
            self.trouble.offer_end(is_pause=self._library.is_pausing(self._follower.run.path))

    def _on_failed(self, error: WorkbenchError) -> None:
        self.trouble.allow()
        self._show_asked()
        self._say(str(error))

    def _say(self, words: str) -> None:
        self.status.emit(words)
        self.log.add_text(words)
