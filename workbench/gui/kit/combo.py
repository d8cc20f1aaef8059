"""A combo box that never cuts a word through: what does not fit ends in an ellipsis."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

_PADDING_PX = 4  # Qt draws the text this much inside the field, both sides together
_MAX_VISIBLE = 16  # entries of an open list; the rest is scrolled to


class ElidedComboBox(QComboBox):
    """Shows what fits of its words; its owner gives it a tooltip with all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.setMaxVisibleItems(_MAX_VISIBLE)
        self.currentTextChanged.connect(lambda _text: self.updateGeometry())

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Qt's own, with the text as it fits."""
        super().initStyleOption(option)
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, self._room(option)
        )

    def sizeHint(self) -> QSize:
        """Qt's own, and as much more as the current words need inside the style's padding."""
        hint = super().sizeHint()
        option = QStyleOptionComboBox()
        super().initStyleOption(option)
        option.rect = QRect(0, 0, hint.width(), hint.height())
        needed = self.fontMetrics().horizontalAdvance(self.currentText()) + 1
        return hint + QSize(max(0, needed - self._room(option)), 0)

    def showPopup(self) -> None:
        """Qt's own; the list is as wide as its longest entry, also where the field is narrow."""
        view = self.view()
        bar = view.verticalScrollBar().sizeHint().width()
        around = view.width() - view.viewport().width() + bar
        view.setMinimumWidth(view.sizeHintForColumn(0) + around)
        super().showPopup()

    def _room(self, option: QStyleOptionComboBox) -> int:
        """Width for words, in pixels, of a box of the option's size."""
        combo, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        icon = self.itemIcon(self.currentIndex()) if self.currentIndex() >= 0 else QIcon()
        icon_px = 0 if icon.isNull() else self.iconSize().width() + _PADDING_PX
        return (
            self.style().subControlRect(combo, option, field, self).width() - _PADDING_PX - icon_px
        )
