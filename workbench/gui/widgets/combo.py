"""A combo box that never cuts a word through: what does not fit ends in an ellipsis."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

_PADDING_PX = 4  # Qt draws the text this much inside the field, both sides together


class ElidedComboBox(QComboBox):
    """Shows what fits of its words; its owner gives it a tooltip with all of them."""

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Qt's own, with the text as it fits."""
        super().initStyleOption(option)
        option.currentText = self._fitting(option)

    def shown_text(self) -> str:
        """The words as they are drawn."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return str(option.currentText)

    def _fitting(self, option: QStyleOptionComboBox) -> str:
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        room = field.width() - _PADDING_PX
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
