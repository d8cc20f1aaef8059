"""A region of the screen, dragged on a still image of it.

The image becomes a file, as all pictures do before they are sent to the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QScreen,
)
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.theme import Theme

# grab ----------------------------------------------------------------------------------------
# Still images of all screens, and why there are none.

_INSTEAD = "Take a screenshot of the region with the desktop, and paste it (Ctrl+V)."


@dataclass(frozen=True)
class StillScreen:
    """A screen as it was at one moment."""

    screen: QScreen
    pixmap: QPixmap


def grab_reason(platform: str, environment: Mapping[str, str]) -> str:
    """Why the screen cannot be grabbed; "" where that may be possible.

    Args:
        platform: Qt's name of the window system.
        environment: Environment variables of this process. On X11 under Wayland only a black screen
            is grabbed.
    """
    is_under = environment.get("XDG_SESSION_TYPE", "") == "wayland"
    if platform.startswith("wayland") or (platform == "xcb" and is_under):
        return f"Wayland does not let applications grab the screen. {_INSTEAD}"
    return ""


def grab_screens() -> list[StillScreen]:
    """All screens; none where the system has refused even one."""
    stills = [StillScreen(each, each.grabWindow(0)) for each in QGuiApplication.screens()]
    return [] if any(still.pixmap.isNull() for still in stills) else stills


def refused_words() -> str:
    """What to do where the system has given no image."""
    return f"Allow it in the settings of the system, or do without: {_INSTEAD}"


# overlay -------------------------------------------------------------------------------------
# The still image of a screen over that screen; a rectangle is dragged on it.

LEAST_PX = 4
"""A shorter side is a slip of the hand."""

WORDS = "Drag a rectangle to classify it · Enter: the whole screen · Esc: cancel"
_SHADE = QColor(0, 0, 0, 120)
_WORDS_MARGIN_PX = (20, 10)


class RegionOverlay(QWidget):
    """Covers one screen.

    Signals:
        chosen(QImage): The region, in the screen's own pixels.
        cancelled(): Esc, or another mouse button.
    """

    chosen = Signal(QImage)
    cancelled = Signal()

    def __init__(self, theme: Theme, still: StillScreen) -> None:
        flags = Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags | Qt.WindowType.Tool)
        self._theme = theme
        self._still = still
        self._start: QPoint | None = None
        self.region = QRect()
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, on=False)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(WORDS)
        self.setScreen(still.screen)
        self.setGeometry(still.screen.geometry())

    # the rectangle -------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._start = event.position().toPoint()
            self.region = QRect()
        else:
            self.cancelled.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._start is not None:
            x, y = self._start.x(), self._start.y()
            corner = event.position().toPoint()
            # Not `normalized`: a rectangle dragged backward would lose a pixel at each side.
            left, top = min(x, corner.x()), min(y, corner.y())
            size = QSize(abs(corner.x() - x) + 1, abs(corner.y() - y) + 1)
            self.region = QRect(QPoint(left, top), size).intersected(self.rect())
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._start is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self.mouseMoveEvent(event)
        self._start = None
        if min(self.region.width(), self.region.height()) >= LEAST_PX:
            self.chosen.emit(self._cut(self.region))
        else:
            self.region = QRect()
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.chosen.emit(self._cut(self.rect()))

    def _cut(self, region: QRect) -> QImage:
        """The pixels of a region: a screen may have several for each of a window's."""
        image = self._still.pixmap.toImage()
        scale = image.width() / max(1, self.width()), image.height() / max(1, self.height())
        corner = QPoint(round(region.x() * scale[0]), round(region.y() * scale[1]))
        size = QSize(round(region.width() * scale[0]), round(region.height() * scale[1]))
        cut = image.copy(QRect(corner, size).intersected(image.rect()))
        cut.setDevicePixelRatio(1.0)
        return cut

    # what it looks like --------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawPixmap(self.rect(), self._still.pixmap)
        painter.fillRect(self.rect(), _SHADE)
        if self.region.isEmpty():
            self._paint_words(painter)
            return
        pixmap = self._still.pixmap
        scale = pixmap.width() / max(1, self.width()), pixmap.height() / max(1, self.height())
        source = QRectF(
            self.region.x() * scale[0],
            self.region.y() * scale[1],
            self.region.width() * scale[0],
            self.region.height() * scale[1],
        )
        painter.drawPixmap(QRectF(self.region), pixmap, source)
        painter.setPen(QPen(QColor(self._theme.colors.accent), 2))
        painter.drawRect(self.region)

    def _paint_words(self, painter: QPainter) -> None:
        colors = self._theme.colors
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(16, weight=600))
        words = painter.boundingRect(self.rect(), Qt.AlignmentFlag.AlignCenter, WORDS)
        across, down = _WORDS_MARGIN_PX
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.panel))
        painter.drawRoundedRect(words.adjusted(-across, -down, across, down), 8, 8)
        painter.setPen(QColor(colors.text))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, WORDS)
