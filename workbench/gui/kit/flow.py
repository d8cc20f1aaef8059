"""Widgets that go on in the next line where the room ends."""

from __future__ import annotations

from functools import reduce

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


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
