"""The name of a curve, with a piece of its line; a click hides the curve or shows it again."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QToolButton

SWATCH_PX = QSize(16, 12)
HOW = "Click to hide or show; double-click or Ctrl+click to show only this one"

K = TypeVar("K", bound=Hashable)


def only(key: K, keys: Collection[K], hidden: set[K]) -> set[K]:
    """What is hidden to show only `key`; nothing, where it was the only one."""
    others = set(keys) - {key}
    return set() if others and others <= hidden and key not in hidden else others


class CurveButton(QToolButton):
    """Checked while its curve is shown.

    Signals:
        shown: The user hides or shows the curve.
        only_asked: The user shows this curve alone, or all again.
    """

    shown = Signal(bool)
    only_asked = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setCheckable(True)
        self.setChecked(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(SWATCH_PX)
        self.setText(text)
        self.setToolTip(HOW)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._was_checked = True
        self.clicked.connect(self.shown)

    def set_line(
        self, color: str, faint: str, *, width: float = 2.0, has_dot: bool = False
    ) -> None:
        """Draws the piece of line: in its color, dotted and faint while it is hidden."""
        icon = QIcon()
        for state, shown in ((QIcon.State.On, color), (QIcon.State.Off, faint)):
            is_on = state == QIcon.State.On
            pen = QPen(QColor(shown), width)
            pen.setStyle(Qt.PenStyle.SolidLine if is_on else Qt.PenStyle.DotLine)
            pixmap = _line(pen, has_dot=has_dot and is_on)
            for mode in (QIcon.Mode.Normal, QIcon.Mode.Active):
                icon.addPixmap(pixmap, mode, state)
        self.setIcon(icon)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Ctrl+click shows this one alone; anything else is a click."""
        self._was_checked = self.isChecked()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.only_asked.emit()
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Its first click has hidden or shown the curve: that is undone before."""
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton:
            self.shown.emit(self._was_checked)
            self.only_asked.emit()


def _line(pen: QPen, *, has_dot: bool) -> QPixmap:
    pixmap = QPixmap(SWATCH_PX * 2)
    pixmap.setDevicePixelRatio(2.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    painter.drawLine(1, 6, SWATCH_PX.width() - 1, 6)
    if has_dot:
        painter.setBrush(pen.color())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(5, 3, 6, 6)
    painter.end()
    return pixmap
