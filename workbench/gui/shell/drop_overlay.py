"""A veil over the window while something is dragged over it: says what a drop will do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.theme import Theme

_MARGIN_PX = 16


class DropOverlay(QWidget):
    """Covers its parent; never takes part in the drag itself."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._covered = parent
        self._words = ""
        self._is_welcome = True
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        parent.installEventFilter(self)

    @property
    def words(self) -> str:
        """What is said, "" while hidden."""
        return "" if self.isHidden() else self._words

    def say(self, words: str, *, is_welcome: bool) -> None:
        """Covers the window with a sentence."""
        self._words = words
        self._is_welcome = is_welcome
        self.setAccessibleName(words)
        self.resize(self._covered.size())
        self.show()
        self.raise_()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.resize(self._covered.size())
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._theme.colors
        veil = QColor(colors.panel)
        veil.setAlpha(225)
        painter.fillRect(self.rect(), veil)
        line = QColor(colors.accent if self._is_welcome else colors.warning)
        painter.setPen(QPen(line, 2, Qt.PenStyle.DashLine))
        frame = self.rect().adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX)
        painter.drawRoundedRect(frame, 10, 10)
        painter.setPen(QColor(colors.text))
        painter.setFont(self._theme.font(18, weight=600))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(frame.adjusted(48, 0, -48, 0), flags, self._words)
