"""Help pages, shortcuts, settings, about.

Their contents are data: pages in `resources/help`, shortcuts from the actions themselves, settings
from their specs.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from PySide6.QtCore import QObject, QSize, Qt, QUrl, Signal, qVersion
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

import workbench
from workbench.core.params import Param, PathParam
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.layer_search import by_category
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import heading_item, plain_label
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area, within_screen
from workbench.gui.kit.theme import Theme, mono_font
from workbench.help_pages import GENERAL_PAGES, OVERVIEW, found_pages, page_markdown, page_texts
from workbench.runs.home import data_home, default_runs_home
from workbench.settings.options import all_settings
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER
from workbench.settings.store import Settings

# about ---------------------------------------------------------------------------------------
# About: versions and the system, to be copied into a report.

_PACKAGES = (
    "tensorflow",
    "keras",
    "onnxruntime",
    "numpy",
    "msgspec",
    "pillow",
    "PySide6-Essentials",
    "pyqtgraph",
)
_HEIGHT_PX = 250


def system_info() -> str:
    """Versions and system as lines of text; packages are looked up by name, not imported."""
    lines = [
        f"Workbench {workbench.__version__}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"System {platform.platform()}",
        f"Qt {qVersion()}, platform {QGuiApplication.platformName()}",
    ]
    lines += [f"{name} {_version(name)}" for name in _PACKAGES]
    lines.append(f"Data folder {data_home()}")
    return "\n".join(lines)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


class AboutDialog(QDialog):
    """Name, license, versions; a button copies them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Workbench")
        self.setMinimumWidth(520)
        title = plain_label(f"Workbench {workbench.__version__}", role="title")
        words = (
            "Assemble image-classification networks by drag and drop, train them with "
            "TensorFlow and Keras, classify pictures. Free software under the Apache License "
            "2.0. Nothing is sent anywhere unless you train on another computer."
        )
        info = QPlainTextEdit(system_info())
        info.setReadOnly(True)
        info.setFont(mono_font())
        info.setMinimumHeight(_HEIGHT_PX)
        info.setAccessibleName("Versions and system")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy system info", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(info.toPlainText()))
        buttons.rejected.connect(self.reject)
        parts = (title, plain_label(words, wrap=True), info, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)


# settings dialog -----------------------------------------------------------------------------
# The settings, in a dialog made from their specs; each change counts at once.

_LABEL_PX = 216
"""Room for the longest title in one line."""
_SIZE_PX = (560, 600)
_AROUND_PX = 96
"""What the title bar and a task bar take of a screen's height."""
_AFTER_RESTART = "Takes effect after restart."


def _with_place(param: Param) -> Param:
    """The runs folder with the place that it is in where none is chosen."""
    if param.key == RUNS_FOLDER.param.key and isinstance(param, PathParam):
        return replace(param, empty_text=str(default_runs_home()))
    return param


class SettingsDialog(QDialog):
    """A form of all settings, which scrolls where the screen is low.

    Args:
        context: The parts of the window.
        started: The settings that the window has started with.
        parent: The window.

    Signals:
        restart_asked: The dialog is closed; the window shall start again, with what it reads only
            when it starts.
    """

    restart_asked = Signal()

    def __init__(
        self, context: WindowContext, started: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._started = context.settings, started
        self.setWindowTitle("Settings — Workbench")
        title = plain_label("Settings", role="title")
        specs = all_settings().values()
        params = [_with_place(spec.param) for spec in specs]
        notes = {spec.key: _AFTER_RESTART if spec.needs_restart else spec.note for spec in specs}
        values = self._settings.settings.values
        self.form = ParamForm(params, values, label_px=_LABEL_PX, notes=notes)
        problem = plain_label(self._settings.note, role="bad", wrap=True)
        page = QWidget()
        column(self.form, STRETCH, parent=page, margins=(20, 4, 20, 4))
        self.restart = button("Restart now", role="link")
        self.restart.clicked.connect(self._on_restart)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        form = scroll_area(page)
        form.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = column(title, problem, margins=(20, 18, 20, 0), spacing=8)
        end = row(self.restart, STRETCH, buttons, margins=(20, 0, 20, 14))
        column(head, (form, 1), end, parent=self, spacing=12)
        problem.setVisible(bool(self._settings.note))
        width, height = _SIZE_PX
        self.resize(width, min(height, self.screen().availableSize().height() - _AROUND_PX))
        self.form.value_changed.connect(self._on_value_changed)
        self._show_restart()

    def _show_restart(self) -> None:
        """Offers a restart where the window has not yet what is set."""
        settings = self._settings.settings
        late = [spec for spec in all_settings().values() if spec.needs_restart]
        is_new = any(settings.get(spec) != self._started.get(spec) for spec in late)
        self.restart.setVisible(is_new)

    def _on_restart(self) -> None:
        self.accept()
        self.restart_asked.emit()

    def _on_value_changed(self, key: str, value: Any) -> None:
        try:
            self._settings.change(**{key: value})
        except WorkbenchError as error:
            self.form.set_errors({key: str(error)})
        self._show_restart()


# shortcuts -----------------------------------------------------------------------------------
# The sheet of all shortcuts, made from the actions themselves.

Group = tuple[str, list[tuple[str, str]]]

_KEYS_PX = 170
_SIZE = QSize(920, 800)
_MOUSE: Group = (
    "Mouse on the canvas",
    [
        ("Drag from a port", "Connect"),
        ("Drag on empty canvas", "Select several layers"),
        ("Drop a layer on a connection", "Insert, or move it there"),
        ("Ctrl or Alt + drag a layer", "Duplicate"),
        ("Shift + drag a layer", "Move freely"),
        ("Drop a connection on a taken input", "Replace the connection"),
        ("Double-click a group or its title", "Open or fold it"),
        ("Ctrl + wheel", "Zoom at the pointer"),
        ("Space or middle button + drag", "Move the canvas"),
        ("Esc", "Cancel"),
    ],
)
_KEYS: Group = (
    "Keys on the canvas",
    [
        ("Arrows", "Go to the next layer"),
        ("Shift + arrows", "Extend selection"),
        ("Ctrl or Alt + arrows", "Nudge selection"),
        ("Enter", "Edit the layer's settings"),
    ],
)


def groups_of(menus: Iterable[tuple[str, list[QAction]]]) -> list[Group]:
    """(menu, [(keys, words)]) for all actions that have keys.

    The words are the action's short ones: "Undo" now and then also says what.
    """
    groups: list[Group] = []
    for title, actions in menus:
        rows = [(keys_text(action), action.iconText()) for action in actions]
        shown = [(keys, words.rstrip("…")) for keys, words in rows if keys]
        if shown:
            groups.append((title, shown))
    return groups


def keys_text(action: QAction) -> str:
    """An action's keys as people write them: "Ctrl+K or Ctrl+F"."""
    form = QKeySequence.SequenceFormat.NativeText
    return " or ".join(keys.toString(form) for keys in action.shortcuts() if not keys.isEmpty())


def balanced(groups: Iterable[Group]) -> tuple[list[Group], list[Group]]:
    """The groups in two columns: each goes where there is more room left."""
    left: list[Group] = []
    right: list[Group] = []
    for group in groups:
        (left if _height(left) <= _height(right) else right).append(group)
    return left, right


def _height(groups: Iterable[Group]) -> int:
    """Rows that groups fill, their headings among them."""
    return sum(len(rows) + 2 for _, rows in groups)


class ShortcutsSheet(QDialog):
    """Two columns of groups; a row is the keys and what they do."""

    def __init__(self, groups: list[Group], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts — Workbench")
        self.resize(within_screen(self, _SIZE))
        page = QWidget()
        columns = (
            (column(*(_group(*group) for group in below), STRETCH, spacing=16), 1)
            for below in balanced([*groups, _KEYS, _MOUSE])
        )
        row(*columns, parent=page, margins=16, spacing=32)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        sheet = scroll_area(page)
        bar = sheet.verticalScrollBar().sizeHint().width()
        sheet.setMinimumWidth(page.minimumSizeHint().width() + bar)
        column(sheet, buttons, parent=self, margins=None)


def _group(title: str, rows: list[tuple[str, str]]) -> QVBoxLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(0, 1)
    for index, (keys, words) in enumerate(rows):
        grid.addWidget(plain_label(words, wrap=True), index, 0)
        shown = plain_label(keys, role="strong")
        shown.setWordWrap(True)
        shown.setFixedWidth(_KEYS_PX)
        grid.addWidget(shown, index, 1)
    return column(plain_label(title, role="heading"), grid, spacing=6)


# viewer --------------------------------------------------------------------------------------
# The help window: pages in Markdown, shipped with the application; works offline.

_KEY = Qt.ItemDataRole.UserRole
_HEADING_PX = 16
_PARAGRAPH_PX = 8
_ITEM_PX = 5
_LINE_PERCENT = 120
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


class PageBrowser(QTextBrowser):
    """Shows our own pages only: it opens no file and no address."""

    def loadResource(self, type: int, name: QUrl | str) -> object:  # noqa: A002, ARG002
        return QImage()

    def show_markdown(self, text: str) -> None:
        """Shows a page; raw HTML in it stays text."""
        document = self.document()
        document.setMarkdown(
            text,
            QTextDocument.MarkdownFeature.MarkdownDialectGitHub
            | QTextDocument.MarkdownFeature.MarkdownNoHTML,
        )
        space_out(document)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(0)


def space_out(document: QTextDocument) -> None:
    """Gives paragraphs and headings of a Markdown page room: Qt sets them solid."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        is_heading = form.headingLevel() > 0
        in_list = block.textList() is not None
        in_table = QTextCursor(block).currentTable() is not None
        if not in_table:
            form.setTopMargin(_HEADING_PX if is_heading and block.blockNumber() else 0)
            form.setBottomMargin(_ITEM_PX if in_list else _PARAGRAPH_PX)
            form.setLineHeight(_LINE_PERCENT, _PROPORTIONAL)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
        block = block.next()


class PageHistory:
    """The pages that were shown, and the place among them."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._place = -1

    def visit(self, key: str) -> None:
        """Shows another page; the one that is there already changes nothing."""
        if not self._keys or self._keys[self._place] != key:
            self._keys[self._place + 1 :] = [key]
            self._place += 1

    def back(self) -> str:
        """Goes to the page before; "" where there is none."""
        return self._step(-1)

    def forward(self) -> str:
        """Goes to the page after; "" where there is none."""
        return self._step(1)

    def _step(self, by: int) -> str:
        if not 0 <= self._place + by < len(self._keys):
            return ""
        self._place += by
        return self._keys[self._place]


class HelpViewer(QDialog):
    """A list of pages at the left with a search box above it, the page at the right. Alt+Left and
    Alt+Right go through the pages that were shown; Ctrl+F searches.
    """

    def __init__(
        self, layers: Registry[LayerSpec], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help — Workbench")
        self.resize(860, 640)
        self._layers = layers
        self._texts: dict[str, str] = {}
        self._theme = theme
        self.list = QListWidget()
        self.list.setAccessibleName("Help pages")
        self.list.setFixedWidth(228)
        self.list.setIconSize(QSize(18, 18))
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search (Ctrl+F)")
        self.search.setAccessibleName("Search the help pages")
        self.search.setClearButtonEnabled(True)
        self.nothing = plain_label("No page contains these words.", role="dim", wrap=True)
        self.nothing.hide()
        self._history = PageHistory()
        self.page = PageBrowser()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName("Help page")
        self.page.document().setDocumentMargin(18)
        self.page.anchorClicked.connect(lambda url: self.show_page(url.toString()))
        left = column(self.search, self.nothing, (self.list, 1), spacing=8)
        row(left, (self.page, 1), parent=self, margins=12, spacing=12)
        self.search.setFixedWidth(self.list.width())
        self._fill()
        self.list.currentItemChanged.connect(self._on_item_changed)
        self.search.textChanged.connect(self._on_searched)
        self.search.returnPressed.connect(self._find_next)
        for keys, act in (
            ("Alt+Left", lambda: self._go(self._history.back())),
            ("Alt+Right", lambda: self._go(self._history.forward())),
            ("Ctrl+F", self._start_search),
            ("F3", self._find_next),
        ):
            QShortcut(QKeySequence(keys), self, act)

    def show_page(self, key: str) -> None:
        """Shows a page by its key: a layer's key, or one of the general pages."""
        self.search.clear()
        self._select(key)
        self.show()
        self.raise_()
        self.activateWindow()

    def _select(self, key: str) -> None:
        for place in range(self.list.count()):
            if self.list.item(place).data(_KEY) == key:
                self.list.setCurrentRow(place)

    def _go(self, key: str) -> None:
        """Shows a page of the history; "" for none."""
        if key:
            self.search.clear()
            self._select(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape first ends a search."""
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            return
        super().keyPressEvent(event)

    # searching -----------------------------------------------------------------------

    def _start_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _on_searched(self, text: str) -> None:
        """Lists the pages that contain all words, and shows the best unless one of them is."""
        words = text.split()
        self._texts = self._texts or page_texts(self._layers)
        found = [key for key, _ in found_pages(words, self._layers, self._texts)]
        for item in (self.list.item(place) for place in range(self.list.count())):
            item.setHidden(bool(words) and item.data(_KEY) not in found)
        self.nothing.setVisible(not found)
        current = self.list.currentItem()
        if found and (current is None or current.isHidden()):
            self._select(found[0])
        self._find_first()

    def _find_first(self) -> None:
        """Marks the first place of the searched words in the page."""
        self.page.moveCursor(QTextCursor.MoveOperation.Start)
        if self.search.text().strip():
            self._find_next()

    def _find_next(self) -> None:
        """Marks the next place; from the end it goes on at the start."""
        text = self.search.text().strip()
        if text and not self.page.find(text):
            self.page.moveCursor(QTextCursor.MoveOperation.Start)
            self.page.find(text)

    # pages ---------------------------------------------------------------------------

    def _fill(self) -> None:
        for key, title in GENERAL_PAGES:
            self._add(title, key)
        for category, title, specs in by_category(self._layers):
            self.list.addItem(heading_item(title, 28))
            for spec in specs:
                self._add(spec.title, spec.key, category)

    def _add(self, title: str, key: str, category: str = "") -> None:
        item = QListWidgetItem(title)
        item.setData(_KEY, key)
        if category:
            item.setIcon(self._theme.category_icon(category))
        self.list.addItem(item)

    def _on_item_changed(self, item: QListWidgetItem | None, _old: object) -> None:
        if item is not None and item.data(_KEY):
            key = str(item.data(_KEY))
            self._history.visit(key)
            self.page.show_markdown(page_markdown(key, self._layers))
            if self.search.text():
                self._find_first()


# controller ----------------------------------------------------------------------------------
# Help, about and settings: dialogs that are made when first opened.


class HelpController(QObject):
    """Opens the window's small dialogs.

    Signals:
        restart_asked: The window shall start again, with the settings that are set now.
    """

    restart_asked = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._viewer: HelpViewer | None = None
        self._started = context.settings.settings

    def show_page(self, key: str) -> None:
        """Opens the help window at a page."""
        if self._viewer is None:
            self._viewer = HelpViewer(self._context.layers, self._context.theme, self._window)
        self._viewer.show_page(key)

    def show_layer(self, kinds: Collection[str]) -> None:
        """Opens the page of a layer type where they are all one, else the overview."""
        known = [kind for kind in kinds if kind in self._context.layers]
        self.show_page(known[0] if len(known) == 1 else OVERVIEW)

    def show_shortcuts(self, menus: list[tuple[str, list[QAction]]]) -> None:
        """Shows all keys."""
        ShortcutsSheet(groups_of(menus), self._window).exec()

    def show_about(self) -> None:
        """Shows versions and license."""
        AboutDialog(self._window).exec()

    def show_settings(self) -> None:
        """Shows the settings, made from their schema."""
        dialog = SettingsDialog(self._context, self._started, self._window)
        dialog.restart_asked.connect(self.restart_asked)
        dialog.exec()

    def keep_theme(self, mode: str) -> None:
        """Stores the chosen theme."""
        self._context.settings.change(theme=mode)
