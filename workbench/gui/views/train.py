"""The training view: runs | header, plots and log of one run | recipe."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QInputDialog,
    QLineEdit,
    QMainWindow,
    QMessageBox,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
)

from workbench.client.background import Background
from workbench.errors import WorkbenchError
from workbench.exports import all_exports
from workbench.gui.context import WindowContext
from workbench.gui.dialogs.messages import make_box, show_notice
from workbench.gui.dialogs.save_path import ask_save_path
from workbench.gui.panels.log_panel import LogPanel
from workbench.gui.panels.recipe import RecipePanel
from workbench.gui.panels.run_header import RunHeader
from workbench.gui.panels.run_list import RunListPanel
from workbench.gui.panels.run_trouble import RunTrouble
from workbench.gui.plots.plot_pair import PlotPair
from workbench.gui.widgets.docks import make_dock
from workbench.gui.widgets.empty import EmptyPage
from workbench.protocol.events import Heartbeat, LogLine, RunEvent
from workbench.protocol.messages import AnyAnswer, Done, Export, Failed
from workbench.protocol.wire import error_from_parts
from workbench.runs.index import RunSummary
from workbench.runs.outcome import RunOutcome

LEFT_DOCK_PX = 240
RIGHT_DOCK_PX = 300
OUTPUT_LINES = 400


class TrainView(QMainWindow):
    """Everything about training, live.

    Signals:
        train_requested: The user wants to train the project as it is.
        status: A sentence for the status bar.
    """

    train_requested = Signal()
    status = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self._context = context
        self._library = context.library
        self._follower = context.library.current
        self._background = Background(self, max_threads=1)
        theme = context.theme
        self.runs = RunListPanel(theme, context.library)
        self.recipe = RecipePanel(context.document, self._background)
        self.header = RunHeader(theme)
        self.trouble = RunTrouble(theme)
        self.plots = PlotPair(theme)
        self.log = LogPanel(theme)
        self.empty = EmptyPage(
            theme,
            "chart",
            "No run yet",
            "Train the network of this project: loss and accuracy appear here while it learns, "
            "and every run is kept.",
            action="Train",
        )
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._show_current()

    def _build(self) -> None:
        theme = self._context.theme
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setObjectName("train_parts")
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        parts.addWidget(self.plots)
        parts.addWidget(self.log)
        parts.setStretchFactor(0, 5)
        parts.setStretchFactor(1, 1)
        parts.setSizes([600, 130])
        page = QFrame()
        column = QVBoxLayout(page)
        column.setContentsMargins(14, 14, 14, 14)
        column.setSpacing(12)
        column.addWidget(self.header)
        column.addWidget(self.trouble)
        column.addWidget(parts, 1)
        self._pages.addWidget(self.empty)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(page)
        self._pages.addWidget(scroll)
        self.setCentralWidget(self._pages)
        self._left = make_dock(theme, "train_runs", "Runs", self.runs)
        self._right = make_dock(theme, "train_recipe", "Recipe", self.recipe)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._left)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._right)
        self.resizeDocks(self.docks(), [LEFT_DOCK_PX, RIGHT_DOCK_PX], Qt.Orientation.Horizontal)

    def _connect(self) -> None:
        self.empty.pressed.connect(self.train_requested)
        self.header.stop_wanted.connect(self._on_stop)
        self.trouble.terminate_wanted.connect(self._library.terminate)
        self.trouble.kill_wanted.connect(self._library.kill)
        self.plots.failed.connect(self._say)
        self.log.output_wanted.connect(self._on_output_wanted)
        self.runs.rename_wanted.connect(self._on_rename)
        self.runs.folder_wanted.connect(self._on_folder)
        self.runs.delete_wanted.connect(self._on_delete)
        self.runs.export_wanted.connect(self._on_export)
        self._library.current_changed.connect(self._show_current)
        self._library.runs_changed.connect(self._on_runs_changed)
        self._library.stop_offered.connect(self._on_stop_offered)
        self._library.failed.connect(self._on_failed)

    def docks(self) -> list[QDockWidget]:
        """The side panels, for View > Panels."""
        return [self._left, self._right]

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self._background.close()

    # the run shown -----------------------------------------------------------------------

    def _show_current(self) -> None:
        self._unfollow()
        follower = self._follower = self._library.current
        self._pages.setCurrentIndex(0 if follower is None else 1)
        self.log.clear()
        self.trouble.clear()
        self.header.set_follower(follower, self._title())
        if follower is not None and self._library.is_stopping(follower.run.path):
            self.header.set_stopping()
        self.recipe.show_run(follower.run.path if follower is not None else None)
        self.plots.set_history(follower.history if follower is not None else None)
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
        self.plots.set_history(follower.history)
        self.log.clear()
        self.log.add_events(follower.notes, self._epochs())
        self.header.refresh()

    def _on_events(self, events: list[RunEvent]) -> None:
        self.log.add_events(events, self._epochs())
        self.header.events_arrived()
        if any(not isinstance(event, Heartbeat | LogLine) for event in events):
            self.plots.grow()

    def _on_outcome(self, outcome: RunOutcome) -> None:
        self.header.refresh()
        self.trouble.show_outcome(outcome)

    def _on_output_wanted(self) -> None:
        follower = self._follower
        if follower is None:
            return
        run = follower.run

        def show(lines: tuple[str, ...]) -> None:
            if self._follower is follower:
                self.log.show_output(lines)

        self._background.run(lambda: run.log_tail(max_lines=OUTPUT_LINES), show)

    def _epochs(self) -> int:
        started = self._follower.history.started if self._follower is not None else None
        return started.epochs if started is not None else 0

    def _on_runs_changed(self) -> None:
        self.header.set_title(self._title())

    # what the user asks ------------------------------------------------------------------

    def _on_stop(self) -> None:
        self._library.stop()
        self.header.set_stopping()

    def _on_stop_offered(self, path: str) -> None:
        if self._follower is not None and str(self._follower.run.path) == path:
            self.trouble.offer_end()

    def _on_rename(self, run: RunSummary) -> None:
        title, is_given = QInputDialog.getText(
            self, "Rename the run", "Name:", QLineEdit.EchoMode.Normal, run.title
        )
        if is_given and title.strip():
            self._library.rename(run.path, title)

    def _on_folder(self, run: RunSummary) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path))):
            show_notice(self, "No file manager answered.", f"The run is kept in {run.path}.")

    def _on_delete(self, run: RunSummary) -> None:
        what = f"Move the run “{run.title}” to the trash?"
        more = "Its curves and its weights go with it."
        box = make_box(self, QMessageBox.Icon.Question, what, more)
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Yes | buttons.Cancel)
        if box.exec() == buttons.Yes:
            self._library.delete(run.path)

    def _on_export(self, run: RunSummary, key: str) -> None:
        spec = all_exports()[key]
        path, _ = ask_save_path(
            self,
            f"Export {run.title}",
            f"{run.title}{spec.suffix}",
            f"{spec.title} (*{spec.suffix})",
        )
        if not path:
            return
        self._say(f"Exporting {Path(path).name}…")
        request = Export(id=0, model=str(run.path), format=key, path=path)
        self._context.service.send(request, self._on_export_answer)

    def _on_export_answer(self, answer: AnyAnswer) -> None:
        if isinstance(answer, Done):
            self._say(answer.text or "Exported.")
        elif isinstance(answer, Failed):
            self._on_failed(error_from_parts(answer.error))

    def _on_failed(self, error: WorkbenchError) -> None:
        self._say(str(error))

    def _say(self, words: str) -> None:
        self.status.emit(words)
        self.log.add_text(words)
