"""Widgets that draw themselves."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyleOptionHeader,
    QStyleOptionHeaderV2,
    QWidget,
)

from workbench.gui.kit.theme import Theme

_ARROW_PX = (8, 4)
_ARROW_GAP_PX = 5


class PaintedWidget(QWidget):
    """Draws itself in `paint`, again when the theme changes; only its width can grow.

    Args:
        theme: Colors and fonts.
        hint: Its usual size.
        least_px: Its smallest width.
    """

    def __init__(self, theme: Theme, hint: QSize, least_px: int) -> None:
        super().__init__()
        self._theme = theme
        self._hint = hint
        self._least_px = least_px
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return self._hint

    def minimumSizeHint(self) -> QSize:
        return QSize(self._least_px, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Draws the widget; edges are smoothed."""
        raise NotImplementedError


class SortHeader(QHeaderView):
    """Headings that sort; the arrow has a place of its own beside the words, up when ascending.

    Qt's own is drawn over the end of words that are aligned to the right.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        theme.changed.connect(self.viewport().update)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        """Qt's own, without its arrow."""
        super().initStyleOptionForIndex(option, section)
        option.sortIndicator = QStyleOptionHeader.SortIndicator.None_

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        super().paintSection(painter, rect, section)
        painter.restore()
        if self.isSortIndicatorShown() and section == self.sortIndicatorSection():
            self._paint_arrow(painter, self.arrow_rect(section))

    def words_rect(self, section: int) -> QRect:
        """Rectangle of a heading's words, in pixels of the viewport."""
        option = QStyleOptionHeaderV2()
        self.initStyleOption(option)
        self.initStyleOptionForIndex(option, section)
        option.rect = QRect(
            self.sectionViewportPosition(section), 0, self.sectionSize(section), self.height()
        )
        room = self.style().subElementRect(QStyle.SubElement.SE_HeaderLabel, option, self)
        size = self.fontMetrics().size(0, option.text)
        return QStyle.alignedRect(self.layoutDirection(), option.textAlignment, size, room)

    def arrow_rect(self, section: int) -> QRect:
        """Rectangle of a heading's arrow: left of words that end at the right, else after them."""
        words, (width, height) = self.words_rect(section), _ARROW_PX
        top = words.center().y() - height // 2
        ends_right = bool(self._alignment(section) & Qt.AlignmentFlag.AlignRight)
        left = words.left() - _ARROW_GAP_PX - width if ends_right else words.right() + _ARROW_GAP_PX
        return QRect(left, top, width, height)

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        option = QStyleOptionHeaderV2()
        self.initStyleOptionForIndex(option, section)
        return option.textAlignment

    def _paint_arrow(self, painter: QPainter, rect: QRect) -> None:
        ends, tip = (rect.bottom() + 1, rect.top())
        if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder:
            ends, tip = tip, ends
        middle = rect.left() + rect.width() / 2
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.colors.dim), 1.5))
        painter.drawPolyline(
            [QPointF(rect.left(), ends), QPointF(middle, tip), QPointF(rect.right() + 1, ends)]
        )
        painter.restore()
