"""The sheet of all shortcuts, made from the actions themselves."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area, within_screen

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
