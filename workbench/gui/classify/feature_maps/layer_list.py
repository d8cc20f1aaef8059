"""The layers of a network as a list to choose from."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView

from workbench.core.format import shape_text
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.trained.feature_maps import LayerPlace

_ROWS = 4


class LayerList(QTreeView):
    """A row for each layer: its name, and the shape of its output.

    Signals:
        chosen(str): The user has gone to the layer of a name.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._places: list[LayerPlace] = []
        self._model = QStandardItemModel(0, 2, self)
        self.setModel(self._model)
        self.setAccessibleName("Layers of the network")
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setHeaderHidden(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setFixedHeight(_ROWS * (self.fontMetrics().lineSpacing() + 6))
        self.selectionModel().currentRowChanged.connect(
            lambda now, _before: self._on_row(now.row())
        )

    @property
    def names(self) -> list[str]:
        """Names of the listed layers, in order."""
        return [place.name for place in self._places]

    @property
    def current(self) -> str:
        """Name of the layer that is marked; "" for none."""
        row = self.currentIndex().row()
        return self._places[row].name if row >= 0 else ""

    def set_layers(self, places: list[LayerPlace], current: str) -> None:
        """Shows the layers and marks one, without a signal."""
        was_blocked = self.selectionModel().blockSignals(True)
        if places != self._places:
            self._places = places
            self._model.removeRows(0, self._model.rowCount())
            for place in places:
                self._model.appendRow(_items(place))
        row = self.names.index(current) if current in self.names else -1
        if row != self.currentIndex().row():
            flag = QItemSelectionModel.SelectionFlag
            index = self._model.index(row, 0)
            self.selectionModel().setCurrentIndex(index, flag.ClearAndSelect | flag.Rows)
            self.scrollTo(index)
        self.selectionModel().blockSignals(was_blocked)
        self.viewport().update()

    def _on_row(self, row: int) -> None:
        if row >= 0:
            self.chosen.emit(self._places[row].name)


def _items(place: LayerPlace) -> list[QStandardItem]:
    name, shape = QStandardItem(place.name), QStandardItem(shape_text(place.shape))
    shape.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    more = [f"Part of {place.group}"] if place.group else []
    words = [f"{place.name}: {place.title}", *more]
    if place.has_filters:
        words.append("Has filters to show")
    for item in (name, shape):
        item.setToolTip(plain_tip("\n".join(words)))
    return [name, shape]
