"""The window: bars, menus and views put together; each does its own work."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QUndoStack,
)
from PySide6.QtWidgets import QMainWindow, QWidget

from workbench.core.checks.problems import Problem
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.context import LAYOUT_VERSION, WindowContext, WindowState
from workbench.gui.common.next_run import TargetCheck
from workbench.gui.common.view_spec import WindowServices
from workbench.gui.common.weights import connect_questions
from workbench.gui.files.controller import ChangedFileBar, FileController
from workbench.gui.files.opening import BundleController, DataChooser, RunOpener, StartController
from workbench.gui.help import HelpController
from workbench.gui.images.find_data import MovedData
from workbench.gui.kit.buttons import name_own_buttons
from workbench.gui.kit.dialogs import DialogFolders, show_error
from workbench.gui.kit.labels import window_words
from workbench.gui.kit.layout import FRAME_PX
from workbench.gui.shell.actions import (
    ActionHandlers,
    Menus,
    WindowParts,
    fill_recent,
    fill_themes,
    fill_trash,
    make_actions,
)
from workbench.gui.shell.drop_controller import DropController
from workbench.gui.shell.status_line import ProblemsPopup, StatusLine
from workbench.gui.shell.top_bar import TopBar
from workbench.gui.shell.view_stack import Layouts, Preload, ViewStack
from workbench.gui.targets.controller import NotebookController, TargetController
from workbench.gui.train.run_controller import RunController, unready_words
from workbench.gui.views import all_views, project_views
from workbench.settings.options.display_scale import SCALE_VARIABLE
from workbench.settings.options.display_scale import SPEC as DISPLAY_SCALE
from workbench.settings.store import Settings

if TYPE_CHECKING:
    from workbench.gui.classify.view import ClassifyView
    from workbench.gui.design.view import DesignView


# title ---------------------------------------------------------------------------------------
# The title of the window: which project, whether it is saved, and who else has it open.


class WindowTitle(QObject):
    """Keeps the title, and the action that reverts, in step with the project.

    Args:
        window: The window.
        document: Its project.
        files: Names it.
        revert: The action.
        is_at_start: Whether the welcome page is shown: without a project there is no name.
    """

    def __init__(
        self,
        window: QWidget,
        document: ProjectDocument,
        files: FileController,
        revert: QAction,
        is_at_start: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._document = document
        self._files = files
        self._revert = revert
        self._is_at_start = is_at_start
        document.dirty_changed.connect(lambda _dirty: self.refresh())
        document.path_changed.connect(self.refresh)
        document.disk.changed.connect(self.refresh)
        document.project_replaced.connect(self.refresh)

    def refresh(self) -> None:
        """Shows what is so now."""
        is_bare = self._is_at_start() and not self._files.has_project
        name = f"[*]{self._files.name} — Workbench{self._files.elsewhere}"
        self._window.setWindowTitle("Workbench[*]" if is_bare else name)
        self._window.setWindowModified(self._document.is_dirty)
        self._revert.setEnabled(self._files.can_revert)


# undo report ---------------------------------------------------------------------------------
# What Undo and Redo have done, in words, where it cannot be seen.


class UndoReport(QObject):
    """Follows the actions "undo" and "redo"; `said` carries a sentence for the status line.

    Args:
        stack: What they go back and forth in.
        actions: The window's, by key.
        is_seen: Whether the view that is shown shows a step by itself.
        parent: Its owner.
    """

    said = Signal(str)

    def __init__(
        self,
        stack: QUndoStack,
        actions: Mapping[str, QAction],
        is_seen: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._is_seen = is_seen
        # A step that was undone is the next one to be redone, and the other way round.
        actions["undo"].triggered.connect(lambda: self._report("Undid", stack.redoText()))
        actions["redo"].triggered.connect(lambda: self._report("Redid", stack.undoText()))

    def _report(self, done: str, step: str) -> None:
        if step and not self._is_seen():
            self.said.emit(f"{done}: {step.replace('&&', '&')}")


# main window ---------------------------------------------------------------------------------

MESSAGE_MS = 8_000
_SIZE_PX = (1440, 900)
_SMALLEST_PX = (900, 500)
"""A screen of 1920 x 1080 at a scale of 2, without the frame and a task bar. Where a large text
size leaves less, the window may be smaller, as its parts give way.
"""
_SMALLEST_SCREEN_PX = (1024, 640)
"""Any text size fits it."""


def text_scale(settings: Settings) -> float:
    """The text size of the settings, or as it was set outside, which counts more: 1.5 for 150%."""
    chosen = int(settings.get(DISPLAY_SCALE)) / 100
    try:
        return max(1.0, float(os.environ.get(SCALE_VARIABLE, chosen)))
    except ValueError:  # Qt takes no such factor either
        return 1.0


class MainWindow(QMainWindow):
    """One window, its views, one project."""

    _last_key = "design"

    def __init__(self, context: WindowContext, state: WindowState) -> None:
        super().__init__()
        self.context = context
        self.state = state
        self.setObjectName("main_window")
        self.setAcceptDrops(True)
        self._fit_screen()
        document = context.document
        self.files = FileController(document, state, self)
        self.bundles = BundleController(self.files, self)
        self.start = StartController(context, self.files, self)
        self.run_opener = RunOpener(context, self.files, self)
        self.check = TargetCheck(document, self)
        self.runs = RunController(context, self.check, self)
        self.places = TargetController(context, self)
        self.notebooks = NotebookController(context, self)
        self.dialog_folders = DialogFolders(state, self.files.start_folder, self)
        self.layouts = Layouts(state, self)
        self.help = HelpController(context, self)
        self.actions_by_key = make_actions(self, context.theme, document.undo_stack)
        self.menus = Menus(self.menuBar(), self.actions_by_key)
        self.views = ViewStack(self._services())
        self.handlers = ActionHandlers(self._parts())
        self.preload = Preload(self)
        self.top = TopBar(context, self.actions_by_key["undo"], self.actions_by_key["redo"])
        self.status = StatusLine(context)
        self.popup = ProblemsPopup(context, self)
        self.setCentralWidget(self.views)
        self.addToolBar(self.top)
        self.setStatusBar(self.status)
        revert = self.actions_by_key["revert"]
        self.title = WindowTitle(self, document, self.files, revert, lambda: self._is_at_start)
        self.changed_bar = ChangedFileBar(context, self.files, self.views, self)
        self.data_chooser = DataChooser(context, self)
        self.moved = MovedData(context, self)
        self.drops = DropController(context, self, self.views.currentWidget)
        self._add_submenus()
        self._connect()
        name_own_buttons(self)
        self._bring_back()

    # views ---------------------------------------------------------------------------

    def show_view(self, key: str) -> QWidget:
        """Brings a view, or the welcome page, to the front."""
        is_start = all_views()[key].is_start
        self.top.setVisible(not is_start)
        self.status.setVisible(not is_start)
        self.top.switch.set_current(None if is_start else key)
        for spec in project_views():
            self.actions_by_key[spec.key].setChecked(spec.key == key)
        view = self.views.show_view(key)
        if not is_start:
            self._last_key = key
        self.title.refresh()
        return view

    def show_problem(self, problem: Problem) -> None:
        """Shows where a problem is."""
        self.design().canvas.show_problem(problem)

    def design(self) -> DesignView:
        """Brings the design view to the front."""
        return cast("DesignView", self.show_view("design"))

    def classify(self, pictures: list[str]) -> None:
        """Brings the classify view to the front and classifies images in it."""
        cast("ClassifyView", self.show_view("classify")).classify(pictures)

    def classify_addresses(self, addresses: list[str]) -> None:
        """Brings the classify view to the front and downloads images in it, once it is agreed."""
        cast("ClassifyView", self.show_view("classify")).classify_addresses(addresses)

    def classify_folder(self, folder: str) -> None:
        """Brings the classify view to the front and classifies a folder in it."""
        cast("ClassifyView", self.show_view("classify")).classify_folder(folder)

    def say(self, words: str) -> None:
        """Shows a sentence in the status line for a while."""
        self.status.showMessage(window_words(words), MESSAGE_MS)

    # set-up --------------------------------------------------------------------------

    def _services(self) -> WindowServices:
        return WindowServices(
            context=self.context,
            state=self.state,
            show_view=self.show_view,
            say=self.say,
            new_project=self.files.new,
            open_project=self.files.open,
            open_run=self.run_opener.open,
            start_from_data=self.start.from_data,
            cancel_start=self.start.cancel,
            counting=self.start.said,
            train_again=self.runs.train_again,
            ask_target=self.places.ask,
            hosts_changed=self.places.hosts_changed,
            show_help=self.help.show_page,
            leave_start=lambda: self.show_view(self._last_key),
            project_name=lambda: self.files.name if self.files.has_project else "",
            show_shortcuts=self.show_shortcuts,
            add_actions=self.menus.add_actions,
        )

    def _parts(self) -> WindowParts:
        return WindowParts(
            window=self,
            services=self._services(),
            files=self.files,
            bundles=self.bundles,
            runs=self.runs,
            places=self.places,
            notebooks=self.notebooks,
            layouts=self.layouts,
            help=self.help,
            views=self.views,
            show_problems=self.show_problems,
        )

    def _add_submenus(self) -> None:
        """Adds the submenus whose lines are known only when they open."""
        add, layouts = self.menus.add_submenu, self.layouts
        add("File", "Open &recent", "save", lambda m: fill_recent(m, self.state, self.files.open))
        add(
            "View",
            "&Panels",
            "reset_layout",
            lambda m: layouts.fill_menu(m, self.views.currentWidget()),
        )
        theme, keep = self.context.theme, self.help.keep_theme
        library = self.context.library
        add("Run", "Restore from tr&ash", "find_rate", lambda m: fill_trash(m, library))
        add("View", "T&heme", "full_screen", lambda m: fill_themes(m, theme, keep))

    def _connect(self) -> None:
        self.handlers.connect(self.actions_by_key)
        self._connect_words()
        self.top.switch.chosen.connect(self.show_view)
        self.top.train.clicked.connect(self.runs.toggle)
        self.top.next.clicked.connect(self.runs.start)
        self.top.run_wanted.connect(self.run_opener.open)
        self.top.targets.asked.connect(self.places.ask)
        self.top.targets.notebook_asked.connect(self.notebooks.ask_export)
        self.top.targets.chosen.connect(self.places.choose)
        self.places.hosts_changed.connect(self.top.refresh_target)
        self.places.hosts_changed.connect(self.check.ask)
        self.check.changed.connect(self._on_target_checked)
        self.runs.connect_wanted.connect(lambda: self.places.ask("connect"))
        self.places.help_asked.connect(self.help.show_page)
        self.places.problem_chosen.connect(self.show_problem)
        self.status.problems.clicked.connect(self.show_problems)
        self.context.findings.wanted.connect(lambda: self.show_view("data"))
        self.popup.problem_chosen.connect(self.show_problem)
        self.popup.list.problem_hovered.connect(self._on_problem_hovered)
        self.files.opened.connect(lambda: self.show_view("design"))
        self.files.opened.connect(self.preload.start)
        self.start.started.connect(lambda: self.show_view("data"))
        self.run_opener.opened.connect(lambda: self.show_view("train"))
        self.runs.changed.connect(self._refresh_run)
        self.runs.started.connect(lambda _path: self.show_view("train"))
        self.runs.blocked.connect(self.show_problems)
        self.views.was_built.connect(self.layouts.add)
        self.views.was_built.connect(lambda _key, view: name_own_buttons(view))
        self._connect_exports()
        self._connect_drops()
        self._refresh_run()

    def _connect_words(self) -> None:
        """Connects what goes into the status line."""
        stack, actions = self.context.document.undo_stack, self.actions_by_key
        undo = UndoReport(stack, actions, lambda: self.views.current_key == "design", self)
        parts = (
            self.files,
            self.bundles,
            self.places,
            self.start,
            self.drops,
            self.runs,
            self.notebooks,
            self.layouts,
            self.moved,
        )
        for part in (*parts, undo, self.context.weights):
            part.said.connect(self.say)

    def _connect_exports(self) -> None:
        self.notebooks.blocked.connect(self.show_problems)
        self.runs.network_export_wanted.connect(self.notebooks.ask_network)
        self.runs.help_asked.connect(self.help.show_page)

    def _connect_drops(self) -> None:
        weights = self.context.weights
        self.drops.project_dropped.connect(self.files.open)
        self.drops.pictures_dropped.connect(self.classify)
        self.drops.addresses_dropped.connect(self.classify_addresses)
        self.drops.pictures_folder_dropped.connect(self.classify_folder)
        self.drops.weights_dropped.connect(weights.load)
        self.drops.folder_dropped.connect(self.start.from_folder)
        self.drops.source_dropped.connect(self.start.from_data)
        for part in (self.drops.data_chosen, self.data_chooser.chosen):
            part.connect(lambda: self.show_view("data"))
        weights.failed.connect(lambda error: show_error(self, error))
        connect_questions(weights, self)
        weights.loaded.connect(lambda _run: self.show_view("classify"))
        weights.result_loaded.connect(lambda _run: self.show_view("train"))

    def _fit_screen(self) -> None:
        room = self.screen().availableSize() - QSize(*FRAME_PX)
        # Qt multiplies by the text size; what is meant here are pixels of a screen.
        scale = text_scale(self.context.settings.settings)
        screen = QSize(*_SMALLEST_SCREEN_PX) / scale - QSize(*FRAME_PX)
        self.setMinimumSize(QSize(*_SMALLEST_PX).boundedTo(room).boundedTo(screen))
        self.resize(QSize(*_SIZE_PX).boundedTo(room))

    def _bring_back(self) -> None:
        self.restoreGeometry(self.state.bytes("window/geometry"))
        self.restoreState(self.state.bytes("window/state"), LAYOUT_VERSION)

    # what was clicked ----------------------------------------------------------------

    def show_shortcuts(self) -> None:
        """Shows the keys of all menus."""
        self.help.show_shortcuts(self.menus.listed())

    def _on_problem_hovered(self, problem: Problem | None) -> None:
        if self.views.current_key == "design":
            self.design().state.problem_hovered.emit(problem)

    def show_problems(self) -> None:
        """Opens the list of problems."""
        if self._is_at_start:
            self.show_view("design")
        self.context.document.look_for_data()  # a disk or the network may be back
        self.popup.open_above(self.status.problems)

    @property
    def _is_at_start(self) -> bool:
        spec = all_views().get(self.views.current_key)
        return spec is None or spec.is_start

    def _on_target_checked(self) -> None:
        words = unready_words(self.check.problem)
        self.top.show_target_problem(words)
        if words:
            self.say(words)

    def _refresh_run(self) -> None:
        running, is_stopping = self.runs.is_running, self.runs.is_stopping
        is_pausing, elsewhere = self.runs.is_pausing, self.runs.elsewhere
        self.top.show_elsewhere(elsewhere, self.runs.elsewhere_words, self.runs.elsewhere_part)
        self.top.show_state(
            is_running=running,
            is_stopping=is_stopping,
            is_pausing=is_pausing,
            leads_on=self.runs.leads_on,
            reason=self.runs.reason(),
            num_waiting=self.context.library.num_waiting,
            running=self.context.library.summary(self.runs.running),
        )
        waits = running or elsewhere is not None
        self.actions_by_key["start_run"].setText("Add to &queue" if waits else "&Train")
        pause, stop = self.actions_by_key["pause_run"], self.actions_by_key["stop_run"]
        pause.setText("Pausing…" if is_pausing else "&Pause")
        pause.setEnabled(running and not is_pausing and not is_stopping)
        stop.setText("Stopping…" if is_stopping else "&Stop")
        stop.setEnabled(running and not is_stopping)

    # drops and closing ---------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.drops.enter(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drops.leave()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self.drops.drop(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.may_lose_changes() or not self.runs.may_close():
            event.ignore()
            return
        self.state.set_bytes("window/geometry", self.saveGeometry())
        self.state.set_bytes("window/state", self.saveState(LAYOUT_VERSION))
        self.layouts.save()
        self.start.close()
        self.drops.close()
        self.run_opener.close()
        self.check.close()
        self.places.close()
        self.moved.close()
        for view in self.views.built.values():
            getattr(view, "close_background", lambda: None)()
        event.accept()
