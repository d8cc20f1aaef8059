"""The classes of a map with their colors: a check mark shows or hides the points of one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from workbench.core.format import count
from workbench.gui.kit.labels import plain_tip

_SWATCH_PX = 12
_HOW = "Check to show, double-click or Enter to see the images of the class"


class ClassLegend(QListWidget):
    """One line for each class.

    Signals:
        hidden_changed(frozenset[int]): The numbers of the classes that are hidden now.
        class_chosen(int): All shown images of this class are to be seen.
    """

    hidden_changed = Signal(object)
    class_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Classes on the map")
        self.setToolTip(_HOW)
        self.setIconSize(QSize(_SWATCH_PX, _SWATCH_PX))
        self.setFixedWidth(150)
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(lambda _item: self.hidden_changed.emit(self.hidden()))
        self.itemActivated.connect(lambda item: self.class_chosen.emit(self.row(item)))

    def set_classes(self, names: Sequence[str], colors: Sequence[tuple[int, int, int]]) -> None:
        """Shows these classes, all of them checked."""
        self.blockSignals(True)
        self.clear()
        for name, color in zip(names, colors, strict=True):
            item = QListWidgetItem(_swatch(QColor(*color)), name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            self.addItem(item)
        self.blockSignals(False)

    def set_colors(self, colors: Sequence[tuple[int, int, int]]) -> None:
        """Shows other colors: those of another theme."""
        self.blockSignals(True)
        for row, color in enumerate(colors):
            self.item(row).setIcon(_swatch(QColor(*color)))
        self.blockSignals(False)

    def set_counts(self, counts: Sequence[int]) -> None:
        """Sets how many points each class has, in the tips."""
        self.blockSignals(True)
        for row, number in enumerate(counts):
            item = self.item(row)
            item.setToolTip(plain_tip(f"{item.text()}: {count(number)} images\n{_HOW}"))
        self.blockSignals(False)

    def hidden(self) -> frozenset[int]:
        """The numbers of the classes that are not shown."""
        rows = range(self.count())
        return frozenset(
            row for row in rows if self.item(row).checkState() == Qt.CheckState.Unchecked
        )

    def set_all(self, *, is_shown: bool) -> None:
        """Shows or hides all classes."""
        self.blockSignals(True)
        state = Qt.CheckState.Checked if is_shown else Qt.CheckState.Unchecked
        for row in range(self.count()):
            self.item(row).setCheckState(state)
        self.blockSignals(False)
        self.hidden_changed.emit(self.hidden())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter shows the images of the class; Qt's own does so on some platforms only."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentRow() >= 0:
            self.class_chosen.emit(self.currentRow())
            return
        super().keyPressEvent(event)


def _swatch(color: QColor) -> QIcon:
    pixmap = QPixmap(2 * _SWATCH_PX, 2 * _SWATCH_PX)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(2, 2, 2 * _SWATCH_PX - 4, 2 * _SWATCH_PX - 4)
    painter.end()
    return QIcon(pixmap)
