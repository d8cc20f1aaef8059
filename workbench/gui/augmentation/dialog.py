"""The dialog: the chain of layers at the left, their values, and what they make of the images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QWidget,
)

from workbench.core.checks.analysis import Analysis
from workbench.core.format import share
from workbench.core.network.roles import Layers, is_augmentation
from workbench.core.params import Params
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.gui.augmentation.preview import Previewer, PreviewGrid, PreviewRow
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.widgets import WaitLabel
from workbench.starter import AugmentationAdvice, suggest_augmentation

# chain ---------------------------------------------------------------------------------------
# The augmentation layers as a list: their order, and which of them are used.

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
        self._off = [(entry, before) for entry, before in self._off if entry.node_id not in nodes]
        ids = self._document.augmentation
        found = [ChainRow(key, nodes[key].kind, nodes[key].params) for key in ids]
        for entry, before in self._off:
            places = [n for n, each in enumerate(found) if each.node_id == before]
            found.insert(places[0] if places else len(found), entry)
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


# words ---------------------------------------------------------------------------------------
# What augmentation costs, and what the training settings add to it, in sentences. Qt-free.


def cost_words(analysis: Analysis, recipe: TrainingRecipe, *, is_augmented: bool) -> str:
    """How often the images are augmented, and what that costs."""
    if not analysis.phases[0].copies:
        return "Every image is augmented differently in each epoch." if is_augmented else ""
    copies = recipe.augmented_copies
    if not is_augmented:
        return (
            "The features of the frozen layers are computed once for each image. With "
            f"augmentation there are {copies} copies of it: that takes {copies} times as long."
        )
    if copies == 1:
        return "One augmented copy of each image is made, as the layers behind it are frozen."
    return (
        f"{copies} augmented copies of each image: features of the frozen layers take "
        f"{copies} times as long. The number is in the training settings (Fine-tuning)."
    )


def recipe_words(recipe: TrainingRecipe) -> str:
    """What the recipe does to the images behind these layers; "" for nothing."""
    parts = []
    if recipe.random_erasing:
        parts.append(f"random erasing of {share(recipe.random_erasing, 0)} of the images")
    if recipe.mixing != "none":
        mixing = next(p for p in RECIPE_PARAMS if p.key == "mixing")
        parts.append(mixing.show(recipe.mixing))
    return f"Then, by the training settings: {' and '.join(parts)}." if parts else ""


# dialog --------------------------------------------------------------------------------------

_SIZE_PX, _LEAST_PX = QSize(1040, 680), QSize(720, 460)
_SIDE_PX = 310
_AROUND_PX = 40
"""What of the window stays to be seen around the dialog."""

_NO_LAYERS = "No augmentation. Add a layer, or have a chain suggested that fits the images."
_NO_INPUT = "Add an Input layer with images first."
_COUNTING = "The images are being counted; the suggestion follows."


class AugmentationDialog(QDialog):
    """Edits the augmentation layers of the document, and shows what they do.

    Attributes:
        chain: The rows of the list.
        form: The values of the selected layer; None where none is selected.
    """

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Augmentation — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._document, self._layers = context.document, context.layers
        self._current = ""
        self._is_suggestion_due = False
        self._form_of = ""
        self.chain = Chain(context.document)
        self.form: ParamForm | None = None
        self.previewer = Previewer(context, self)
        theme = context.theme
        self.list = ChainList(context.layers)
        self.add = button("Add layer", icon="add", theme=theme)
        self.add.setMenu(self._add_menu())
        self.up = IconButton(theme, "previous", "Move up", role="icon")
        self.down = IconButton(theme, "next", "Move down", role="icon")
        self.remove = IconButton(theme, "delete", "Remove the layer", role="icon")
        self.suggest = button("Suggest")
        self.hint = plain_label(_NO_LAYERS, role="dim", wrap=True)
        self.error = plain_label(role="bad", wrap=True)
        self.reason = plain_label(role="dim", wrap=True)
        self.cost = plain_label(role="dim", wrap=True)
        self.recipe = plain_label(role="dim", wrap=True)
        self.grid = PreviewGrid(theme)
        self.status = WaitLabel()
        self.load = button("Load images", icon="rescan", theme=theme)
        self.images = button("Other images")
        self.variants = button("Next steps")
        self.images.setToolTip("Shows other images of the training part.")
        self.variants.setToolTip("Shows what the following training steps make of the images.")
        self._build(parent)
        self._connect()
        self._refresh()
        self.previewer.refresh()

    # how it looks ----------------------------------------------------------------------

    def _build(self, around: QWidget) -> None:
        for each in (self.add, self.suggest, self.load, self.images, self.variants):
            each.setAutoDefault(False)
        self._form_place = column()
        middle = QWidget()
        parts = (self.hint, self._form_place, self.error, self.recipe, STRETCH)
        column(*parts, parent=middle, margins=(0, 0, 8, 0), spacing=8)
        scroll = scroll_area(middle)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side = QWidget()
        side.setFixedWidth(_SIDE_PX)
        heading = plain_label("Layers, in order", role="heading")
        head = row(heading, STRETCH, self.up, self.down, self.remove, spacing=4)
        buttons = row(self.add, self.suggest, STRETCH, spacing=8)
        above = (head, self.list, buttons, self.reason)
        column(*above, (scroll, 1), self.cost, parent=side, spacing=8)
        head = row(self.images, self.variants, (self.status, 1), self.load, spacing=8)
        right = column(head, (self.grid, 1), spacing=10)
        row(side, (right, 1), parent=self, margins=16, spacing=16)
        self.load.hide()
        self.setMinimumSize(_LEAST_PX)
        room = around.window().size() - QSize(_AROUND_PX, _AROUND_PX)
        self.resize(_SIZE_PX.boundedTo(room).expandedTo(_LEAST_PX))

    def _add_menu(self) -> QMenu:
        menu = QMenu(self)
        specs = [spec for spec in self._layers.values() if is_augmentation(spec)]
        for spec in sorted(specs, key=lambda spec: spec.title):
            entry = menu.addAction(spec.title)
            entry.setToolTip(plain_tip(spec.summary))
            entry.triggered.connect(partial(self._on_add, spec.key))
        menu.setToolTipsVisible(True)
        return menu

    def _connect(self) -> None:
        document = self._document
        for changed in (document.edited, document.project_replaced):
            changed.connect(self._refresh)
        document.project_replaced.connect(self.chain.forget)
        document.analysis_changed.connect(self._show_words)
        self.list.switched.connect(self._on_switched)
        self.list.moved.connect(lambda row, to: self._edit(lambda: self.chain.move(row, to)))
        self.list.currentRowChanged.connect(self._on_current_changed)
        self.up.clicked.connect(lambda: self._step(-1))
        self.down.clicked.connect(lambda: self._step(1))
        self.remove.clicked.connect(self._on_remove)
        self.suggest.clicked.connect(self._on_suggest)
        self.images.clicked.connect(self.previewer.other_images)
        self.variants.clicked.connect(self.previewer.other_variants)
        self.load.clicked.connect(self.previewer.load)
        self.previewer.waiting.connect(self._on_waiting)
        self.previewer.shown.connect(self._on_shown)
        self.previewer.shown.connect(self._on_counted)
        self.previewer.missing.connect(self._on_missing)
        self.previewer.failed.connect(self._on_failed)
        for action, key in (
            (document.undo_stack.createUndoAction(self), QKeySequence.StandardKey.Undo),
            (document.undo_stack.createRedoAction(self), QKeySequence.StandardKey.Redo),
        ):
            action.setShortcuts(key)
            self.addAction(action)

    # the chain -------------------------------------------------------------------------

    def select(self, node_id: str) -> None:
        """Selects a layer of the chain."""
        self._current = node_id
        self._refresh()

    def _refresh(self) -> None:
        """Shows the document's layers; what was said of an earlier chain goes."""
        self.reason.setText("")
        rows = self.chain.rows
        if rows and self._current not in {each.node_id for each in rows}:
            self._current = rows[0].node_id
        self.list.set_rows(rows, self._current)
        self.hint.setVisible(not rows)
        self._show_current()
        self._show_words()

    def _show_current(self) -> None:
        current = self.list.current()
        at = self.list.currentRow()
        is_on = current is not None and current.is_on
        self.up.setEnabled(is_on and at > 0)
        self.down.setEnabled(is_on and at < len(self.list.rows) - 1)
        self.remove.setEnabled(current is not None)
        self._show_form(current if is_on else None)

    def _show_form(self, current: ChainRow | None) -> None:
        wanted = f"{current.node_id} {current.kind}" if current is not None else ""
        if wanted != self._form_of:
            self._form_of = wanted
            if self.form is not None:
                self._form_place.removeWidget(self.form)
                self.form.hide()
                self.form.deleteLater()
                self.form = None
            spec = None if current is None else self._layers.get(current.kind)
            if current is not None and spec is not None:
                self.form = ParamForm(spec.params)
                self.form.value_changed.connect(partial(self._on_value, current.node_id))
                self._form_place.addWidget(self.form)
        if self.form is not None and current is not None:
            self.form.set_values(current.params)

    def _show_words(self) -> None:
        recipe = self._document.recipe
        is_augmented = bool(self._document.augmentation)
        cost = cost_words(self._document.analysis, recipe, is_augmented=is_augmented)
        for label, words in ((self.cost, cost), (self.recipe, recipe_words(recipe))):
            label.setText(words)
            label.setVisible(bool(words))
        self.reason.setVisible(bool(self.reason.text()))

    # edits -----------------------------------------------------------------------------

    def _edit(self, change: Callable[[], object]) -> None:
        """Runs an edit; the reason of one that is rejected is shown."""
        try:
            change()
            words = ""
        except WorkbenchError as error:
            words = f"{error.what} {error.fix}".strip()
        self.error.setText(words)
        self.error.setVisible(bool(words))
        self._refresh()

    def _on_add(self, kind: str) -> None:
        def add() -> None:
            self._current = self._document.add_augmentation(kind)

        self._edit(add)

    def _on_switched(self, row: ChainRow) -> None:
        def switch() -> None:
            if row.is_on:
                self.chain.switch_off(row)
            else:
                self._current = self.chain.switch_on(row)

        self._edit(switch)

    def _on_remove(self) -> None:
        current = self.list.current()
        if current is not None:
            self._edit(lambda: self.chain.remove(current))

    def _step(self, way: int) -> None:
        current, at = self.list.current(), self.list.currentRow()
        if current is not None:
            self._edit(lambda: self.chain.move(current, at + way))

    def _on_current_changed(self, at: int) -> None:
        if 0 <= at < len(self.list.rows):
            self._current = self.list.rows[at].node_id
            self._show_current()

    def _on_value(self, node_id: str, key: str, value: Any) -> None:
        self._edit(lambda: self._document.set_params(node_id, **{key: value}))

    def _on_counted(self, *_: object) -> None:
        """The first preview counts the images: what was asked for before follows."""
        if self._is_suggestion_due:
            self._on_suggest()

    def _on_suggest(self) -> None:
        shape = self.previewer.input_shape
        self._is_suggestion_due = self.previewer.num_train is None and shape is not None
        if self.previewer.num_train is None or shape is None:
            self._say(_COUNTING if self._is_suggestion_due else _NO_INPUT)
            return
        advice = suggest_augmentation(self.previewer.num_train, shape)
        if not self._has(advice):
            self._edit(lambda: self._document.replace_augmentation(advice.layers))
        self._say(advice.reason)

    def _has(self, advice: AugmentationAdvice) -> bool:
        """Whether the network already has the suggested chain."""
        nodes = [self._document.graph.nodes[key] for key in self._document.augmentation]
        return [node.kind for node in nodes] == [kind for kind, _ in advice.layers] and all(
            {**node.params, **params} == node.params
            for node, (_, params) in zip(nodes, advice.layers, strict=True)
        )

    def _say(self, words: str) -> None:
        self.reason.setText(words)
        self.reason.setVisible(bool(words))

    # the preview -----------------------------------------------------------------------

    def _on_waiting(self, words: str) -> None:
        self.load.hide()
        self.status.wait_for(words)

    def _on_shown(self, rows: list[PreviewRow]) -> None:
        self.status.say("")
        self.grid.set_rows(rows)

    def _on_missing(self, words: str, is_elsewhere: bool) -> None:  # noqa: FBT001 - Qt's signal
        self.grid.set_rows([])
        self.status.say(words)
        self.load.setVisible(is_elsewhere)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.grid.set_rows([])
        self.status.say(f"{error.what} {error.fix}".strip(), is_bad=True)

    def done(self, result: int) -> None:
        """Ends all requests, however the dialog is closed."""
        self.previewer.close()
        super().done(result)
