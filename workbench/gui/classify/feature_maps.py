"""What the layers of a network give for a picture, channel by channel, and their filters.

The worker sends one image of levels for all channels; here it is colored, and the table written by
the same function as in the terminal (`channel_table`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QTreeView,
    QWidget,
)

from workbench.client.run_library import LIVE
from workbench.client.service_process import AnswerLoader
from workbench.core.format import shape_text
from workbench.errors import WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture
from workbench.gui.classify.channel_tiles import (
    ORDERS,
    WHATS,
    ChannelPage,
    ShownLayer,
    TileGrid,
    about,
    load_tiles,
)
from workbench.gui.classify.state import ClassifyState, WhenSeen
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.widgets import Box, WaitLabel
from workbench.protocol.trained.feature_maps import (
    LayerPlace,
    LayerShown,
    ShowLayer,
    What,
    channel_table,
)

# layer list ----------------------------------------------------------------------------------
# The layers of a network as a list to choose from.

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


# panel ---------------------------------------------------------------------------------------
# Feature maps: what each layer gives for the picture, and its filters.

_HINT = (
    "Train a model: its layers, what each gives for a picture, and their filters are shown here."
)
_LEAST_PX, _LEAST_GRID_PX = 270, 120
_RANGES = (
    ("own", "Own range", "The colors of each tile go from its least value to its largest"),
    ("common", "One range", "A color means the same value in all tiles"),
)


class FeatureMapsPanel(Box):
    """The layers of the network, and the channels of the chosen one as tiles."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__("card", 16, 8)
        self.setAccessibleName("Feature maps")
        self._state = state
        self._picture = ""
        self._layer = ""
        self._what: What = "maps"
        self._has_newer = False
        self._when_seen = WhenSeen(self)
        self.layer: ShownLayer | None = None
        self.requests = AnswerLoader(state.context.service, state.background, load_tiles, self)
        self.layers = LayerList()
        self.switch = SegmentedSwitch([(key, title) for key, title, _ in WHATS])
        self.order, self.ranges = NoWheelComboBox(), NoWheelComboBox()
        self.input_channel = QSpinBox()
        self.slice_row = QWidget()
        self.grid = TileGrid(state.context.theme)
        self.area: QScrollArea = scroll_area(self.grid)
        self.page = ChannelPage(state.context.theme)
        self.pages = QStackedWidget()
        self.menu_button = SaveFigureButton(state.context.theme, "feature maps")
        self.about = plain_label(role="dim", wrap=True)
        self.wait = WaitLabel()
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.body = QWidget()
        self._build()
        self._connect()
        self.clear()

    def _build(self) -> None:
        self.setMinimumWidth(_LEAST_PX)
        self._fill_choices()
        row(
            plain_label("Input channel", role="dim"),
            self.input_channel,
            STRETCH,
            parent=self.slice_row,
            spacing=8,
        )
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setMinimumHeight(_LEAST_GRID_PX)
        for part in (self.area.viewport(), self.grid):  # the card is seen behind the tiles
            part.setAutoFillBackground(False)
        self.pages.addWidget(self.area)
        self.pages.addWidget(self.page)
        column(
            self.layers,
            row(self.switch, STRETCH, self.menu_button, spacing=8),
            row((self.order, 1), (self.ranges, 1), spacing=8),
            self.slice_row,
            (self.pages, 1),
            self.about,
            self.wait,
            parent=self.body,
            spacing=8,
        )
        self.column.addWidget(self.hint)
        self.column.addWidget(self.body, 1)
        self.column.addStretch(0)

    def _fill_choices(self) -> None:
        for what, _, tip in WHATS:
            self.switch.set_tip(what, tip)
        for box, name, choices in (
            (self.order, "Order of the tiles", ORDERS),
            (self.ranges, "Range of the colors", _RANGES),
        ):
            box.setAccessibleName(name)
            for key, title, tip in choices:
                box.addItem(title, key)
                box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.input_channel.setAccessibleName("Input channel of the filters")
        self.saver = FigureSaver(
            self, self._state.background, "feature-maps", "feature maps", self._writer
        )
        self.menu_button.set_saver(self.saver)

    def _connect(self) -> None:
        state = self._state
        state.shown.connect(self.show_entry)
        state.cleared.connect(self.clear)
        state.layer_chosen.connect(self.show_layer)
        state.run_changed.connect(self._on_run)
        state.context.library.weights_saved.connect(self._on_weights)
        self.saver.said.connect(state.said)
        self.layers.chosen.connect(self.show_layer)
        self.switch.chosen.connect(self._choose_what)
        self.order.activated.connect(lambda _index: self._request())
        self.ranges.activated.connect(lambda _index: self._draw())
        self.input_channel.valueChanged.connect(lambda _value: self._request())
        self.grid.chosen.connect(self._on_tile)
        self.grid.moved.connect(
            lambda cell: self.area.ensureVisible(cell.center().x(), cell.center().y(), 0, 40)
        )
        self.page.closed.connect(self._on_page_closed)
        self.page.moved.connect(self._enlarge)
        self.requests.waiting.connect(self._on_waiting)
        self.requests.loaded.connect(self._on_shown)
        self.requests.failed.connect(self._on_failed)

    # what is wanted ----------------------------------------------------------------------

    def clear(self) -> None:
        """Another project is open: neither picture nor layer is its own."""
        self._picture, self._layer = "", ""
        self._forget()
        self._request()

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Shows what the layer gives for another picture."""
        picture = "" if entry.answer.error is not None else entry.answer.file
        if picture != self._picture:
            self._picture = picture
            self._request()

    def show_layer(self, name: str) -> None:
        """Shows the layer of a name."""
        self._layer = name
        self._request()

    def _on_run(self) -> None:
        self._forget()
        self._request()

    def _on_weights(self, run: str) -> None:
        """Shows a training's newest weights; one request after the other, however fast it saves."""
        if self._state.run is None or run != str(self._state.run):
            return
        if self.requests.is_open:
            self._has_newer = True
        else:
            self._request()

    def _follow(self) -> None:
        if self._has_newer:
            self._request()

    def _choose_what(self, what: What) -> None:
        self._what = what
        self._request()

    def _request(self) -> None:
        has_run, self._has_newer = self._state.run is not None, False
        self.hint.setVisible(not has_run)
        self.body.setVisible(has_run)
        self.requests.drop()
        self._when_seen.do(self._ask)

    def _ask(self) -> None:
        run = self._state.run
        if run is None:
            return
        self._on_waiting("Computing the feature maps")
        self.requests.ask(
            ShowLayer(
                id=0,
                model=str(run),
                picture=self._picture,
                layer=self._layer,
                is_preferred=True,
                what=self._wanted(),
                input_channel=self.input_channel.value(),
                order=self.order.currentData(),
            )
        )

    def _wanted(self) -> What:
        """Without a picture there are only filters."""
        return "filters" if self._what == "filters" or not self._picture else "maps"

    # what is shown -----------------------------------------------------------------------

    def _forget(self) -> None:
        self.requests.drop()
        self.layer = None
        self.grid.set_layer(None)
        self.layers.set_layers([], "")
        self.about.setText("")
        self._say("")
        self.menu_button.setEnabled(False)
        self.slice_row.hide()
        self._show_grid()

    def _on_shown(self, shown: ShownLayer) -> None:
        answer = shown.answer
        channel = self._enlarged()
        self.layer = shown
        self.layers.set_layers(answer.layers, answer.layer)
        self.switch.set_current(answer.what)
        self._show_slices(answer.input_channels, answer.input_channel)
        self.ranges.setEnabled(shown.has_ranges)
        self.menu_button.setEnabled(bool(answer.channels))
        self.about.setText(self._words(answer))
        self._say("")
        positions = {each.index: at for at, each in enumerate(answer.channels)}
        self.grid.set_layer(shown, is_common=self._is_common)
        if channel in positions:
            self._enlarge(positions[channel])
        else:
            self._show_grid()
        self._follow()

    def _words(self, answer: LayerShown) -> str:
        run = self._state.context.library.summary(self._state.run)
        is_training = run is not None and run.outcome in LIVE
        words = [about(answer, has_picture=bool(self._picture), is_training=is_training)]
        if self._layer not in ("", *self.layers.names):
            words.insert(0, f"This model has no layer “{self._layer}”.")
        if self._what != answer.what and answer.what == "maps":
            words.append("It has no filters.")
        return " ".join(words)

    def _show_slices(self, count: int, value: int) -> None:
        self.slice_row.setVisible(count > 1)
        was_blocked = self.input_channel.blockSignals(True)
        self.input_channel.setRange(0, max(0, count - 1))
        self.input_channel.setValue(value)
        self.input_channel.blockSignals(was_blocked)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._say(error.brief, is_bad=True)
        self._follow()

    def _on_waiting(self, words: str) -> None:
        self.wait.show()
        self.wait.wait_for(words)

    def _say(self, words: str, *, is_bad: bool = False) -> None:
        """The room of words that are over is the tiles'."""
        self.wait.say(words, is_bad=is_bad)
        self.wait.setVisible(bool(words))

    @property
    def _is_common(self) -> bool:
        is_single = self.layer is not None and not self.layer.has_ranges
        return is_single or self.ranges.currentData() == "common"

    def _draw(self) -> None:
        self.grid.set_layer(self.layer, is_common=self._is_common)
        if self._enlarged() is not None:
            self._enlarge(self.page.position)

    def _enlarged(self) -> int | None:
        """Index of the channel that is shown alone; None while all are."""
        channels = self.layer.answer.channels if self.layer is not None else []
        if not channels or self.pages.currentWidget() is not self.page:
            return None
        return channels[min(self.page.position, len(channels) - 1)].index

    def _on_tile(self, position: int) -> None:
        self._enlarge(position)
        self.page.setFocus()

    def _on_page_closed(self) -> None:
        self._show_grid()
        self.grid.setFocus()

    def _enlarge(self, position: int) -> None:
        if self.layer is None:
            return
        self.page.show_channel(self.layer, position, is_common=self._is_common)
        self.pages.setCurrentWidget(self.page)

    def _show_grid(self) -> None:
        if self.pages.currentWidget() is self.page:
            self.pages.setCurrentWidget(self.area)
            self.grid.move_to(self.page.position)

    def _writer(self, path: Path) -> Callable[[], None]:
        is_alone = self.pages.currentWidget() is self.page
        figure = self.page.figure if is_alone else self.grid.square()
        return figure_file(path, figure, self.about.text(), self._table)

    def _table(self) -> str:
        return channel_table(self.layer.answer.channels) if self.layer is not None else ""
