"""Rows and columns of widgets, written as they look on the screen."""

from __future__ import annotations

from functools import reduce
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

FRAME_PX = (16, 64)
"""What a window manager's frame and title bar may take of a screen: known only once the window is
shown, too late for its first size."""

L = TypeVar("L", bound=QBoxLayout)

Margins = int | tuple[int, int, int, int]


class Stretch(int):
    """An empty place that grows with its layout; the number is its share of the room."""


class Gap(int):
    """An empty place of a fixed size in pixels."""


Part = QWidget | QLayout | Stretch | Gap | tuple[QWidget | QLayout, int]

STRETCH = Stretch(1)


def row(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = 0, spacing: int = -1
) -> QHBoxLayout:
    """A layout of parts from left to right.

    Args:
        parts: Widgets, layouts, stretches and gaps; as (part, share) it grows with the row.
        parent: The widget that is laid out.
        margins: Pixels around: the same at each side, or left, top, right and bottom; None: the
            style's margins.
        spacing: Pixels between the parts; -1: the style's spacing.
    """
    return _filled(QHBoxLayout(), parts, parent, margins, spacing)


def column(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = 0, spacing: int = -1
) -> QVBoxLayout:
    """A layout of parts from top to bottom; arguments as for `row`."""
    return _filled(QVBoxLayout(), parts, parent, margins, spacing)


def add_to(layout: QBoxLayout, *parts: Part) -> None:
    """Adds parts at the end of a row or column."""
    for part in parts:
        what, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(what, Stretch):
            layout.addStretch(what)
        elif isinstance(what, Gap):
            layout.addSpacing(what)
        elif isinstance(what, QWidget):
            layout.addWidget(what, share)
        else:
            layout.addLayout(what, share)


def scroll_area(widget: QWidget) -> QScrollArea:
    """A scroll area around a widget, which is made as wide as the area."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(widget)
    return area


class FittedArea(QScrollArea):
    """A scroll area around a widget that fills it, and scrolls where that needs more room. Not by
    `setWidgetResizable`, which gives a widget the height that it would like to have.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._inside = widget
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidget(widget)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._inside and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        room, least = self.maximumViewportSize(), self._inside.minimumSizeHint()
        if least.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if least.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        self._inside.resize(room.expandedTo(least))


def scroll_to(widget: QWidget) -> None:
    """Scrolls the areas around a widget as far as it takes to see it; of a high one, its top."""
    # Its place and height are those of before something was shown or hidden, until this is done.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget, 0, 0)
            bar = parent.verticalScrollBar()
            if widget.height() > parent.viewport().height():
                bar.setValue(bar.value() + widget.mapTo(parent.viewport(), QPoint(0, 0)).y())
        parent = parent.parentWidget()


def _filled(
    layout: L,
    parts: tuple[Part, ...],
    parent: QWidget | None,
    margins: Margins | None,
    spacing: int,
) -> L:
    if parent is not None:
        parent.setLayout(layout)
    if margins is not None:
        sides = (margins,) * 4 if isinstance(margins, int) else margins
        layout.setContentsMargins(*sides)
    layout.setSpacing(spacing)
    add_to(layout, *parts)
    return layout


class FlowLayout(QLayout):
    """Widgets from left to right, in as many lines as they need.

    Args:
        parent: The widget that is laid out; None where another layout takes it.
        spacing: Pixels between widgets.
        line_spacing: Pixels between lines.
    """

    def __init__(
        self, parent: QWidget | None = None, *, spacing: int, line_spacing: int | None = None
    ) -> None:
        super().__init__(parent)
        self._line_spacing = spacing if line_spacing is None else line_spacing
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()  # Qt leaves it to the layout to request another pass

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # None ends it
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # None ends it
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal  # room that is left belongs to others

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), is_test=True)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, is_test=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        return reduce(QSize.expandedTo, (item.minimumSize() for item in self._items), QSize())

    def _place(self, rect: QRect, *, is_test: bool) -> int:
        """Height in pixels that the lines need."""
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():  # hidden
                continue
            size = item.sizeHint()
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, line = rect.x(), y + line + self._line_spacing, 0
            if not is_test:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        return y + line - rect.y()


def within_screen(widget: QWidget, size: QSize) -> QSize:
    """A size of a window, with its frame and title bar made to fit the screen."""
    return size.boundedTo(widget.screen().availableSize() - QSize(*FRAME_PX))
