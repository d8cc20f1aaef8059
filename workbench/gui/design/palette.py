"""The palette: every layer type by category, found by typing, dragged or chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEvent,
    QMimeData,
    QObject,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QDrag, QKeyEvent, QPainter, QPen, QPixmap, QShortcut
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from workbench.backbones import all_backbones
from workbench.core.format import bytes_text
from workbench.core.specs import CATEGORIES, BackboneSpec, DownloadedWeights, LayerSpec
from workbench.gui.common.layer_search import (
    BACKBONE_CATEGORY,
    COMMON,
    arguments_note,
    backbone_facts,
    backbone_size,
    best_first,
    by_category,
    common_layers,
    find_backbones,
    find_layers,
)
from workbench.gui.design.canvas.gesture import BACKBONE_MIME, LAYER_MIME
from workbench.gui.design.state import DesignState
from workbench.gui.kit.labels import heading_item, plain_label, plain_tip
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme

_LIST_PX = 8
"""The list, whose scroll bar has a margin of its own, is this much wider than the search."""
_KEY = Qt.ItemDataRole.UserRole
_CATEGORY = Qt.ItemDataRole.UserRole + 1
_BACKBONE = Qt.ItemDataRole.UserRole + 2
_COMMON = Qt.ItemDataRole.UserRole + 3
"""Whether the line is one of the group "Common", which a search leaves out: it finds each once."""


class PalettePanel(QWidget):
    """Search above a list."""

    def __init__(self, state: DesignState) -> None:
        super().__init__()
        self._state = state
        self._layers = state.context.layers
        self._theme = state.context.theme
        self.setMinimumWidth(180)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Add layer (Ctrl+K)")
        self.search.setAccessibleName("Add layer")
        self.search.setClearButtonEnabled(True)
        self.list = LayerList(self._theme)
        self._nothing = plain_label(role="dim", wrap=True)
        self._nothing.hide()
        top = column(self.search, margins=(0, 0, _LIST_PX, 0))
        parts = (top, self._nothing, (self.list, 1))
        column(*parts, parent=self, margins=(12, 8, 12 - _LIST_PX, 8), spacing=8)
        self._fill()
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self._on_entered)
        self.list.itemActivated.connect(lambda _item: self._choose_current())
        self.search.installEventFilter(self.list)
        end = QShortcut(Qt.Key.Key_Escape, self)
        end.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        end.activated.connect(self._end_search)
        self._theme.changed.connect(self._refresh_icons)
        state.search_asked.connect(self.start_search)

    def start_search(self) -> None:
        """Puts the cursor into the search line."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _end_search(self) -> None:
        """Escape: shows all layers again and gives the keyboard back."""
        self.search.clear()
        self._state.canvas_asked.emit()

    def _fill(self) -> None:
        self._add_heading(COMMON, "Common")
        for spec in common_layers(self._layers):
            self.list.addItem(self._item(spec, is_common=True))
        groups = list(by_category(self._layers))
        for number, (category, title, specs) in enumerate(groups):
            self._add_heading(category, title)
            for spec in _in_order(specs):
                self.list.addItem(self._item(spec))
            if number == 0:  # behind Input
                self._fill_backbones()
        self._refresh_icons()

    def _fill_backbones(self) -> None:
        self._add_heading(BACKBONE_CATEGORY, "Backbones")
        for spec in find_backbones(all_backbones(), ""):
            self.list.addItem(backbone_item(spec))

    def _add_heading(self, category: str, title: str) -> None:
        header = heading_item(title, 30)
        header.setData(_CATEGORY, category)
        self.list.addItem(header)

    def _item(self, spec: LayerSpec, *, is_common: bool = False) -> QListWidgetItem:
        item = QListWidgetItem(spec.title)
        item.setData(_COMMON, is_common)
        item.setData(_KEY, spec.key)
        item.setData(_CATEGORY, spec.category)
        item.setToolTip(plain_tip(f"{spec.summary}\nDrag it to the canvas, or press Enter."))
        words = f"{spec.title}, {CATEGORIES[spec.category]}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
        item.setSizeHint(QSize(0, 28))
        return item

    def _refresh_icons(self) -> None:
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item.data(_KEY) or item.data(_BACKBONE):
                item.setIcon(self._theme.category_icon(item.data(_CATEGORY)))
            else:
                item.setForeground(QColor(self._theme.colors.dim))

    def _on_search(self, text: str) -> None:
        layers, networks = find_layers(self._layers, text), find_backbones(all_backbones(), text)
        found, backbones = [spec.key for spec in layers], [spec.key for spec in networks]
        is_search = bool(text.strip())
        categories = {spec.category for spec in layers}
        if not is_search:
            categories.add(COMMON)
        if backbones:
            categories.add(BACKBONE_CATEGORY)
        for row in range(self.list.count()):
            item = self.list.item(row)
            key, backbone = item.data(_KEY), item.data(_BACKBONE)
            is_found = key in found if key else item.data(_CATEGORY) in categories
            is_found = is_found and not (is_search and item.data(_COMMON))
            item.setHidden(backbone not in backbones if backbone else not is_found)
        is_none = not found and not backbones
        none = f"No layer matches “{text}”. Try “pool”, “conv” or “noise”." if is_none else ""
        self._nothing.setText(none or arguments_note(text))
        self._nothing.setVisible(bool(self._nothing.text()))
        best = best_first(layers, networks, text) if is_search else []
        self._select(best[0].key if best else "")

    def _select(self, key: str) -> None:
        items = [self.list.item(row) for row in range(self.list.count())]
        keys = [item.data(_KEY) or item.data(_BACKBONE) for item in items]
        shown = [at for at, item in enumerate(items) if keys[at] == key and not item.isHidden()]
        self.list.setCurrentRow(shown[0] if key and shown else -1)

    def _on_entered(self) -> None:
        """Enter adds what was found; the whole list is there again for the next layer."""
        if self.search.text().strip() and self._choose_current():
            self.search.clear()

    def _choose_current(self) -> bool:
        item = self.list.currentItem()
        if item is None or item.isHidden():
            return False
        if item.data(_BACKBONE):
            self._state.backbone_chosen.emit(item.data(_BACKBONE))
        elif item.data(_KEY):
            self._state.layer_chosen.emit(item.data(_KEY))
        else:
            return False
        self._state.canvas_asked.emit()
        return True


class LayerList(QListWidget):
    """The list of layers; a drag carries the layer's key and shows a small node."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName("Layers")
        self.setDragEnabled(True)
        self.setIconSize(QSize(18, 18))
        self.setUniformItemSizes(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def mimeData(self, items: Sequence[QListWidgetItem]) -> QMimeData:
        mime = QMimeData()
        for role, kind in ((_KEY, LAYER_MIME), (_BACKBONE, BACKBONE_MIME)):
            if items and items[0].data(role):
                mime.setData(kind, QByteArray(str(items[0].data(role)).encode()))
        return mime

    def startDrag(self, _actions: Qt.DropAction) -> None:
        item = self.currentItem()
        if item is None or not (item.data(_KEY) or item.data(_BACKBONE)):
            return
        drag = QDrag(self)
        drag.setMimeData(self.mimeData([item]))
        picture = drag_picture(self._theme, item.text(), item.data(_CATEGORY))
        drag.setPixmap(picture)
        drag.setHotSpot(picture.rect().center() / picture.devicePixelRatio())
        drag.exec(Qt.DropAction.CopyAction)
        self._end_hover()
        QTimer.singleShot(0, self, self._end_hover)  # the move that began it hovers only now

    def _end_hover(self) -> None:
        """The list does not notice that the pointer has left it: a drag had the mouse."""
        self.setCurrentRow(-1)
        QCoreApplication.sendEvent(self.viewport(), QEvent(QEvent.Type.Leave))
        self.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down in the search line move through the list."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Up}
        ):
            self.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)


def backbone_item(spec: BackboneSpec) -> QListWidgetItem:
    """A line of the palette for a pretrained network."""
    item, where, weights = QListWidgetItem(spec.title), "Included", spec.weights
    if isinstance(weights, DownloadedWeights):
        where = f"Downloads {bytes_text(weights.num_bytes)} once"
        item.setText(f"{spec.title} · {weights.num_bytes / 1e6:.0f} MB")
    item.setData(_BACKBONE, spec.key)
    item.setData(_CATEGORY, BACKBONE_CATEGORY)
    item.setToolTip(
        plain_tip(
            f"{backbone_facts(spec)}\n{where}. License: {spec.license}\n"
            "Drag it to a connection, or press Enter to insert it behind Input."
        )
    )
    words = f"{spec.title}, backbone, {backbone_size(spec)}, {where}"
    item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
    item.setSizeHint(QSize(0, 28))
    return item


def _in_order(specs: Sequence[LayerSpec]) -> list[LayerSpec]:
    """The common layers first, the others by name."""
    return sorted(specs, key=lambda spec: (spec.common_rank or math.inf, spec.title))


def drag_picture(theme: Theme, title: str, category: str) -> QPixmap:
    """What hangs at the pointer while a layer is dragged: a small node."""
    ratio = 2
    picture = QPixmap(200 * ratio, 36 * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.colors.accent), 1.5))
        painter.setBrush(QColor(theme.colors.panel))
        painter.drawRoundedRect(1, 1, 198, 34, 7, 7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.category_color(category)))
        painter.drawRoundedRect(2, 2, 5, 32, 2, 2)
        painter.setPen(QColor(theme.colors.text))
        painter.setFont(theme.font(13, weight=600))
        painter.drawText(16, 0, 176, 36, Qt.AlignmentFlag.AlignVCenter, title)
    return picture
