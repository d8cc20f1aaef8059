"""Lines of text that are shown shortened where they do not fit: placeholders, and paths."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionFrame

_CURSOR_PX = 4
_PADDING_PX = 2  # Qt draws the text this much inside the field, at each side


class HintLine(QLineEdit):
    """A field of one line.

    Attributes:
        hint: The whole placeholder, e.g. the path of a folder that is used while none is chosen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hint = ""

    def set_hint(self, hint: str) -> None:
        """Shows what stands for an empty field."""
        self.hint = hint
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the placeholder for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margins = self.textMargins()
        room = self.contentsRect().width() - margins.left() - margins.right() - _CURSOR_PX
        middle = Qt.TextElideMode.ElideMiddle
        self.setPlaceholderText(self.fontMetrics().elidedText(self.hint, middle, room))


class PathLine(HintLine):
    """A field for a path: until it is typed in, the end of a long path is shown, from the start of
    a folder's name.
    """

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's own where all of it fits, or the cursor is in it."""
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        contents = QStyle.SubElement.SE_LineEditContents
        place = self.style().subElementRect(contents, option, self)
        place = place.marginsRemoved(self.textMargins()).adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
        words = self.words_within(place.width())
        if self.hasFocus() or words == self.text():
            super().paintEvent(event)
            return
        self._paint(option, place, words)

    def words_within(self, room_px: int) -> str:
        """The end of the path that fits in a width; of a name that does not fit, both ends."""
        metrics, text = self.fontMetrics(), self.text()
        parts = PurePath(text).parts
        ends = [str(PurePath("…", *parts[at:])) for at in range(1, len(parts))]
        name = parts[-1] if parts else ""
        fitting = (
            each for each in (text, *ends, name) if metrics.horizontalAdvance(each) <= room_px
        )
        return next(fitting, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room_px))

    def _paint(self, option: QStyleOptionFrame, place: QRect, words: str) -> None:
        painter = QPainter(self)
        panel, text = QStyle.PrimitiveElement.PE_PanelLineEdit, QPalette.ColorRole.Text
        self.style().drawPrimitive(panel, option, painter, self)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        is_on = self.isEnabled()
        self.style().drawItemText(painter, place, left, option.palette, is_on, words, text)
        painter.end()
