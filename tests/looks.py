"""What is wrong with how a window looks, found from its widgets: clipped texts, controls that
cannot be reached, scroll bars where none is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QScrollArea,
    QScrollBar,
    QStackedLayout,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from workbench.gui.kit.buttons import ElidedComboBox
from workbench.gui.kit.labels import TIP_LETTERS, ElidedLabel
from workbench.gui.kit.layout import scroll_to

SLACK_PX = 1
_CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox)
_MAY_SCROLL_SIDEWAYS = ("Log", "Raw output", "Recent predictions", "Help text", "Tables")
"""Accessible names of what holds long lines that must not be wrapped, or one row of tiles."""
_WORD_ENDS = re.compile("(?<=[-/\N{ZERO WIDTH SPACE}])|[ \n]+")
"""Where Qt breaks a line."""


class _Paints(QObject):
    """Notes whether a widget, or a part of it, is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._widget = widget
        self.is_painted = False

    def eventFilter(self, part: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(part, QWidget):
            self.is_painted |= part is self._widget or self._widget.isAncestorOf(part)
        return False


def wait_until_painted(qtbot, widget: QWidget) -> None:
    """Waits until a widget that is shown is painted anew. What was posted before is done then,
    layouts above all: Qt paints last.
    """
    app, paints = QApplication.instance(), _Paints(widget)
    app.installEventFilter(paints)
    try:
        widget.update()
        qtbot.waitUntil(lambda: paints.is_painted)
    finally:
        app.removeEventFilter(paints)


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong.

    Attributes:
        kind: "clipped", "overlap", "unreachable", "scroll bar" or "tooltip".
        where: The widget, by its class, name and words.
        why: What is too large for what, in pixels.
    """

    kind: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.why}"


def flaws_of(window: QWidget) -> list[Flaw]:
    """All flaws of a window that is shown, of its present size."""
    shown = [widget for widget in window.findChildren(QWidget) if widget.isVisibleTo(window)]
    found = [
        *_clipped(shown),
        *_sideways(shown),
        *_overlapping(shown),
        *_unreachable(window, shown),
        *_wide_tips(shown),
    ]
    return list(dict.fromkeys(found))


def name_of(widget: QWidget) -> str:
    """A widget as a reader of a table finds it."""
    words = getattr(widget, "text", lambda: "")() or widget.accessibleName() or widget.objectName()
    parents = []
    parent = widget.parentWidget()
    while parent is not None and len(parents) < 3:
        if not type(parent).__name__.startswith("Q"):
            parents.append(type(parent).__name__)
        parent = parent.parentWidget()
    path = " < ".join([type(widget).__name__, *parents])
    return f"{path} “{str(words)[:60]}”"


def _clipped(shown: list[QWidget]) -> Iterator[Flaw]:
    for widget in shown:
        why = ""
        if isinstance(widget, QLabel) and not isinstance(widget, ElidedLabel):
            why = _label_why(widget)
        elif isinstance(widget, QAbstractButton) and widget.text():
            why = _button_why(widget)
        elif isinstance(widget, QComboBox) and not isinstance(widget, ElidedComboBox):
            why = _combo_why(widget)
        elif isinstance(widget, QLineEdit):
            why = _line_why(widget)
        if why:
            yield Flaw("clipped", name_of(widget), why)


def _label_why(label: QLabel) -> str:
    if not label.text() or not label.pixmap().isNull():
        return ""
    room = label.contentsRect()
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        widest = max(map(label.fontMetrics().horizontalAdvance, _WORD_ENDS.split(label.text())))
        return _too_large("height", needed, label.height()) or _too_large(
            "width", widest, room.width()
        )
    return _too_large(
        "width", label.sizeHint().width() - label.width() + room.width(), room.width()
    )


def _button_why(button: QAbstractButton) -> str:
    if getattr(button, "is_elided", False):
        return ""
    hint = button.minimumSizeHint() if button.minimumSizeHint().isValid() else button.sizeHint()
    return _too_large("width", hint.width(), button.width()) or _too_large(
        "height", hint.height(), button.height()
    )


def _combo_why(combo: QComboBox) -> str:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    place = combo.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, combo
    )
    text = combo.fontMetrics().horizontalAdvance(combo.currentText())
    return _too_large("width", text, place.width())


def _line_why(line: QLineEdit) -> str:
    """Typed text scrolls; a placeholder cannot."""
    if line.text() or not line.placeholderText():
        return ""
    margins = line.textMargins()
    room = line.contentsRect().width() - margins.left() - margins.right() - 4
    return _too_large("width", line.fontMetrics().horizontalAdvance(line.placeholderText()), room)


def _too_large(what: str, needed: int, there: int) -> str:
    return f"{what} {needed} in {there}" if needed > there + SLACK_PX else ""


def _sideways(shown: list[QWidget]) -> Iterator[Flaw]:
    for widget in shown:
        if isinstance(widget, QHeaderView) or not isinstance(widget, QAbstractScrollArea):
            continue
        bar: QScrollBar = widget.horizontalScrollBar()
        is_meant = widget.accessibleName().startswith(_MAY_SCROLL_SIDEWAYS)
        if bar.isVisible() and bar.maximum() > bar.minimum() and not is_meant:
            yield Flaw(
                "scroll bar", name_of(widget), f"{bar.maximum() - bar.minimum()} px sideways"
            )
        if isinstance(widget, QScrollArea) and widget.widget() is not None:
            off = widget.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            why = _too_large("width", widget.widget().width(), widget.viewport().width())
            if off and why:
                yield Flaw("clipped", name_of(widget), why)


def _overlapping(shown: list[QWidget]) -> Iterator[Flaw]:
    """Widgets of one layout that cover each other, as they do where it has too little room."""
    for widget in shown:
        layout = widget.layout()
        if layout is None or isinstance(layout, QStackedLayout):
            continue
        items = (layout.itemAt(at).widget() for at in range(layout.count()))
        parts = [each for each in items if each is not None and each.isVisibleTo(widget)]
        for first, second in pairwise(parts):
            both = first.geometry().intersected(second.geometry())
            if both.width() > SLACK_PX and both.height() > SLACK_PX:
                size = f"{both.width()} x {both.height()} px"
                yield Flaw("overlap", name_of(first), f"{size} with {name_of(second)}")


def _unreachable(window: QWidget, shown: list[QWidget]) -> Iterator[Flaw]:
    whole = QRect(QPoint(), window.size())
    for widget in shown:
        if not isinstance(widget, _CONTROLS) or not widget.isEnabled() or _is_inner(widget):
            continue
        scroll_to(widget)
        QApplication.sendPostedEvents()
        place = QRect(widget.mapTo(window, QPoint()), widget.size())
        if widget.size().isEmpty() or not whole.contains(place.center()):
            yield Flaw("unreachable", name_of(widget), f"at {place.getRect()} of {whole.getRect()}")
            continue
        over = window.childAt(place.center())
        if over is None or not (over is widget or widget.isAncestorOf(over)):
            yield Flaw(
                "unreachable", name_of(widget), f"covered by {name_of(over) if over else ''}"
            )


def _wide_tips(shown: list[QWidget]) -> Iterator[Flaw]:
    """Qt breaks no line of a plain tooltip: a long one is wider than a small screen."""
    for widget in shown:
        longest = max(map(len, widget.toolTip().split("\n")))
        if longest > TIP_LETTERS:
            yield Flaw("tooltip", name_of(widget), f"{longest} letters in a line")


def _is_inner(widget: QWidget) -> bool:
    """A part of another control, of a view, which scrolls its rows' widgets, or of a scroll bar."""
    parent = widget.parentWidget()
    inner = (QLineEdit, QComboBox, QAbstractSpinBox, QAbstractItemView)
    holders = (parent, parent.parentWidget() if parent else None)
    rows = [each.parentWidget() for each in holders if each is not None]
    in_row = any(isinstance(each, QAbstractItemView) for each in rows)
    return widget.objectName().startswith("qt_") or isinstance(parent, inner) or in_row
