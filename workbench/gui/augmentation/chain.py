"""The augmentation layers as a list: their order, and which of them are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem

from workbench.core.network.roles import Layers
from workbench.core.params import Params
from workbench.document.project_document import ProjectDocument

_ROW_PX = 40


@dataclass(frozen=True)
class ChainRow:
    """A layer of the chain, or one that was switched off and can be switched on again.

    Attributes:
        node_id: Id of the layer's node; of one that was switched off, the id that it had.
        kind: Key of its type.
        params: Its values.
        is_on: Whether it is in the network.
    """

    node_id: str
    kind: str
    params: Params
    is_on: bool = True


class Chain:
    """The rows of a document: the layers in the network, in order, and between them those that
    were switched off here. Those are no part of the project.
    """

    def __init__(self, document: ProjectDocument) -> None:
        self._document = document
        self._off: list[tuple[ChainRow, str]] = []

    @property
    def rows(self) -> list[ChainRow]:
        """All rows, in order."""
        nodes = self._document.graph.nodes
        # Undo brings a layer back under its old id.
        self._off = [(row, before) for row, before in self._off if row.node_id not in nodes]
        ids = self._document.augmentation
        found = [ChainRow(key, nodes[key].kind, nodes[key].params) for key in ids]
        for row, before in self._off:
            places = [n for n, each in enumerate(found) if each.node_id == before]
            found.insert(places[0] if places else len(found), row)
        return found

    def switch_off(self, row: ChainRow) -> None:
        """Removes a layer from the network and keeps its values here."""
        rows = self.rows
        behind = [each.node_id for each in rows[rows.index(row) + 1 :]]
        off = ChainRow(row.node_id, row.kind, row.params, is_on=False)
        self._document.remove_augmentation(row.node_id)
        self._off.insert(0, (off, behind[0] if behind else ""))

    def remove(self, row: ChainRow) -> None:
        """Removes a layer, or forgets one that is switched off."""
        self._off = [(off, place) for off, place in self._off if off.node_id != row.node_id]
        if row.is_on:
            self._document.remove_augmentation(row.node_id)

    def switch_on(self, row: ChainRow) -> str:
        """Adds a layer with the values that it had, where it was; its id."""
        rows = self.rows
        behind = [each.node_id for each in rows[rows.index(row) + 1 :] if each.is_on]
        before = behind[0] if behind else None
        self._off = [(off, place) for off, place in self._off if off.node_id != row.node_id]
        return self._document.add_augmentation(row.kind, row.params, before=before)

    def move(self, row: ChainRow, to: int) -> None:
        """Puts a layer at another place; `to` is its place among the other rows."""
        others = [each for each in self.rows if each.node_id != row.node_id]
        ids = [each.node_id for each in others[:to] if each.is_on]
        rest = [each.node_id for each in others[to:] if each.is_on]
        order = [*ids, row.node_id, *rest]
        if tuple(order) != self._document.augmentation:
            self._document.reorder_augmentation(order)

    def forget(self) -> None:
        """Forgets what was switched off: in another project it was none of the layers."""
        self._off = []


class ChainList(QListWidget):
    """Shows the rows with a check box each; they are dragged to another place.

    Signals:
        switched(ChainRow): Its check box was clicked.
        moved(ChainRow, int): It was dropped at a place among the others.
    """

    switched = Signal(object)
    moved = Signal(object, int)

    def __init__(self, layers: Layers) -> None:
        super().__init__()
        self._layers = layers
        self.rows: list[ChainRow] = []
        self.setAccessibleName("Augmentation layers")
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.itemChanged.connect(self._on_item_changed)

    def set_rows(self, rows: Sequence[ChainRow], current: str) -> None:
        """Shows rows; the one of the layer `current` is selected."""
        with QSignalBlocker(self):
            self.rows = list(rows)
            self.clear()
            for row in self.rows:
                self.addItem(self._item(row))
            places = [n for n, row in enumerate(self.rows) if row.node_id == current]
            self.setCurrentRow(places[0] if places else -1)

    def current(self) -> ChainRow | None:
        """The selected row."""
        at = self.currentRow()
        return self.rows[at] if 0 <= at < len(self.rows) else None

    def sizeHint(self) -> QSize:
        """Room for four rows."""
        return QSize(240, 4 * _ROW_PX + 8)

    def _item(self, row: ChainRow) -> QListWidgetItem:
        spec = self._layers.get(row.kind)
        title = spec.title if spec else row.kind
        words = spec.describe({**spec.defaults(), **row.params}) if spec else ""
        item = QListWidgetItem(f"{title}\n{words}")
        item.setSizeHint(QSize(0, _ROW_PX))
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        flags |= Qt.ItemFlag.ItemIsUserCheckable
        item.setFlags(flags | Qt.ItemFlag.ItemIsDragEnabled if row.is_on else flags)
        item.setCheckState(Qt.CheckState.Checked if row.is_on else Qt.CheckState.Unchecked)
        return item

    def _on_item_changed(self, item: QListWidgetItem) -> None:
        self.switched.emit(self.rows[self.row(item)])

    def dropEvent(self, event: QDropEvent) -> None:
        """The document is changed, and the rows after it: Qt moves none itself."""
        row, at = self.current(), self._drop_place(event)
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        if row is None or event.source() is not self or not row.is_on:
            return
        own = self.currentRow()
        self.moved.emit(row, at - 1 if at > own else at)

    def _drop_place(self, event: QDropEvent) -> int:
        """The row above which it was dropped; the number of rows for below all."""
        point = event.position().toPoint()
        index = self.indexAt(point)
        if not index.isValid():
            return self.count()
        is_below = point.y() > self.visualRect(index).center().y()
        return index.row() + int(is_below)
