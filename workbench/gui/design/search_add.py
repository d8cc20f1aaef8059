"""A small search box on the canvas: type, choose with the arrows, Enter adds the layer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from workbench.backbones import all_backbones
from workbench.core.registry import Registry
from workbench.core.specs import BackboneSpec, LayerSpec
from workbench.gui.common.layer_search import (
    BACKBONE_CATEGORY,
    arguments_note,
    backbone_facts,
    best_first,
    find_backbones,
    find_layers,
)
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme

_WIDTH, _HEIGHT = 300, 320
_MARGIN = 8
_CHOSEN = Qt.ItemDataRole.UserRole
"""(key, whether it is a layer type) of an item."""
_KEYS = Qt.Key
_STEPS = {_KEYS.Key_Down: 1, _KEYS.Key_Up: -1, _KEYS.Key_PageDown: 8, _KEYS.Key_PageUp: -8}


class SearchAdd(QFrame):
    """The box: it belongs to the canvas and closes when the keyboard goes elsewhere.

    Signals:
        chosen(str): Key of the layer type.
        backbone_chosen(str): Key of the pretrained network.
        closed(): Nothing (more) is asked.
    """

    chosen = Signal(str)
    backbone_chosen = Signal(str)
    closed = Signal()

    def __init__(self, layers: Registry[LayerSpec], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self._layers = layers
        self._theme = theme
        self._needs_input, self._with_backbones = False, True
        self.setObjectName("searchAdd")
        self.setAccessibleName("Add a layer")
        self._field = QLineEdit()
        self._field.setPlaceholderText("Search layers, press Enter to add")
        self._field.setAccessibleName("Search layers")
        self._field.setClearButtonEnabled(True)
        self._list = QListWidget()
        self._list.setAccessibleName("Layers found")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setIconSize(QSize(18, 18))
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        column(self._field, self._list, parent=self, margins=_MARGIN, spacing=_MARGIN)
        self._field.textChanged.connect(self._fill)
        self._field.installEventFilter(self)
        self._list.itemClicked.connect(self._choose)
        self.hide()

    def open_at(
        self, place: QPoint, *, needs_input: bool = False, with_backbones: bool = True
    ) -> None:
        """Opens near a point of the canvas, inside it.

        Args:
            place: In pixels of the canvas.
            needs_input: Offers only layers that something can lead into.
            with_backbones: Offers pretrained networks too.
        """
        self._needs_input, self._with_backbones = needs_input, with_backbones
        room = self._canvas.rect()
        height = min(_HEIGHT, max(160, room.height() - 2 * _MARGIN))
        self.setFixedSize(_WIDTH, height)
        left = max(_MARGIN, min(place.x(), room.width() - _WIDTH - _MARGIN))
        top = max(_MARGIN, min(place.y(), room.height() - height - _MARGIN))
        self.move(left, top)
        self._field.clear()
        self._fill("")
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_box(self) -> None:
        """Closes without adding."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def _fill(self, text: str) -> None:
        self._list.clear()
        layers = find_layers(self._layers, text, needs_input=self._needs_input)
        backbones = find_backbones(all_backbones(), text) if self._with_backbones else []
        for spec in best_first(layers, backbones, text):
            self._list.addItem(self._item(spec))
        if not self._list.count():
            exists = self._needs_input and find_layers(self._layers, text)
            words = "This layer cannot have an input" if exists else ""
            item = QListWidgetItem(words or "No layer has that name")
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        elif note := arguments_note(text):
            item = QListWidgetItem(note)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _item(self, spec: LayerSpec | BackboneSpec) -> QListWidgetItem:
        is_layer = isinstance(spec, LayerSpec)
        category = spec.category if isinstance(spec, LayerSpec) else BACKBONE_CATEGORY
        tip = spec.summary if isinstance(spec, LayerSpec) else backbone_facts(spec)
        item = QListWidgetItem(self._theme.category_icon(category), spec.title)
        item.setData(_CHOSEN, (spec.key, is_layer))
        item.setToolTip(plain_tip(tip))
        return item

    def _choose(self, item: QListWidgetItem | None) -> None:
        chosen = item.data(_CHOSEN) if item is not None else None
        if chosen:
            key, is_layer = chosen
            self.hide()
            (self.chosen if is_layer else self.backbone_chosen).emit(key)
            self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.close_box()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        """The field keeps the keyboard; these keys are for the list and the box."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            row = self._list.currentRow() + _STEPS[key]
            self._list.setCurrentRow(max(0, min(self._list.count() - 1, row)))
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._choose(self._list.currentItem())
        elif key in {Qt.Key.Key_Escape, Qt.Key.Key_Tab}:
            self.close_box()
        else:
            return False
        return True
