"""What lies over the canvas in its corners: the overview, the zoom buttons and their percentage;
and, while there is no layer, how to begin.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import (
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QTransform,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from workbench.core.network.roles import NetworkSearch
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.design.canvas.zoom_view import ZoomView
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

# minimap -------------------------------------------------------------------------------------
# The whole network, small: click or drag in it to go somewhere.

SIZE = QSize(150, 96)
_PADDING = 8.0
_LEAST_VIEW = QSize(620, 360)
"""A smaller view has no room for it, a column of cards and the zoom buttons: it would lie on the
cards."""


class Minimap(QWidget):
    """Cards as colored blocks, and a frame around the part that is shown."""

    def __init__(self, view: ZoomView) -> None:
        super().__init__(view)
        self._view = view
        self._scene = view.graph_scene
        self.setFixedSize(SIZE)
        self.setAccessibleName("Overview of the network")
        self.setToolTip("Overview: click to go there")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene.contents_changed.connect(self._on_changed)
        view.view_changed.connect(self._on_view_changed)
        self._blocks: QPixmap | None = None
        self._on_changed()

    def refresh(self) -> None:
        """Redraws the blocks: cards, or colors, have changed."""
        self._blocks = None
        self.update()

    def _on_changed(self) -> None:
        self._show_where_needed()
        self.refresh()

    def _on_view_changed(self) -> None:
        self._show_where_needed()
        self.update()

    @property
    def has_room(self) -> bool:
        """Whether the view is large enough for it."""
        return self._view.size().expandedTo(_LEAST_VIEW) == self._view.size()

    def _show_where_needed(self) -> None:
        """A network that is in sight as a whole needs no overview, which might cover a card."""
        is_whole = self._view.visible_rect().contains(self._scene.content_rect())
        self.setVisible(self.has_room and len(self._scene.nodes) > 0 and not is_whole)

    def _to_map(self) -> QTransform:
        """Maps the scene to the widget; the network fills it, the middle in the middle."""
        content = self._scene.content_rect()
        room = QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        wide, high = max(content.width(), 600.0), max(content.height(), 400.0)
        scale = min(room.width() / wide, room.height() / high)
        middle = room.center()
        transform = QTransform.fromTranslate(middle.x(), middle.y())
        transform.scale(scale, scale)
        transform.translate(-content.center().x(), -content.center().y())
        return transform

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - small: painted whole
        if self._blocks is None:
            self._blocks = self._draw_blocks()
        look = self._scene.look
        frame = self._to_map().mapRect(self._view.visible_rect())
        frame = frame.intersected(QRectF(self.rect()).adjusted(3, 3, -3, -3))
        shade = QColor(look.accent)
        shade.setAlphaF(0.10)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawPixmap(0, 0, self._blocks)
            painter.setPen(QPen(look.accent, 1))
            painter.setBrush(shade)
            painter.drawRoundedRect(frame, 3, 3)

    def _draw_blocks(self) -> QPixmap:
        """The box and the cards: kept while only the frame moves."""
        look, ratio = self._scene.look, self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(look.border_pen)
            painter.setBrush(look.panel)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
            transform = self._to_map()
            for frame in self._scene.frames.values():
                painter.fillRect(transform.mapRect(frame.area), look.hover)
            for item in self._scene.nodes.values():
                is_bad = item.facts.severity == "error"
                color = look.bad if is_bad else look.category_color(item.facts.category)
                block = transform.mapRect(item.card_rect())
                painter.fillRect(block.adjusted(0, 0, 0, max(0.0, 1.5 - block.height())), color)
        return pixmap

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event.position())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())
        event.accept()

    def _go(self, point: QPointF) -> None:
        self._view.center_on(self._to_map().inverted()[0].map(point))


# find bar ------------------------------------------------------------------------------------
# The bar over the canvas that finds layers of the network.

_WIDTH_PX = 380
_MARGIN_PX = 12
_COUNT_PX = 76
"""Room for "no layer" and "120 of 272"."""
_LAYERS_A_TURN = 50
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class FindBar(QFrame):
    """Type to select the first layer that fits; Enter and Shift+Enter go on, Escape closes.

    Signals:
        hinted(str): While typing, the card of this node, or of its folded group, shall be selected.
        chosen(str): This node shall be selected and shown, also from within a folded group.
        closed(): The keyboard is given back.
    """

    hinted = Signal(str)
    chosen = Signal(str)
    closed = Signal()

    def __init__(self, view: ZoomView, theme: Theme) -> None:
        super().__init__(view)
        self._view = view
        self._scene: GraphScene = view.graph_scene
        self._search = NetworkSearch(self._scene.layers)
        self._found: tuple[str, ...] = ()
        self._start: str | None = None  # what was selected before typing
        self._at: str | None = None  # the match that was shown last
        self.setObjectName("findBar")
        self.setAccessibleName("Find in the network")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find by type, name or setting")
        self.field.setAccessibleName("Find in the network")
        self.count = plain_label(role="dim")
        self.count.setMinimumWidth(_COUNT_PX)
        self.previous = IconButton(theme, "previous", "Previous (Shift+Enter)", size_px=14)
        self.next = IconButton(theme, "next", "Next (Enter)", size_px=14)
        self.close_button = IconButton(theme, "close", "Close (Esc)", size_px=12)
        buttons = (self.previous, self.next, self.close_button)
        row((self.field, 1), self.count, *buttons, parent=self, margins=6, spacing=4)
        self.field.installEventFilter(self)
        view.installEventFilter(self)
        self.field.textEdited.connect(lambda _text: self._look_from_start())
        self.previous.clicked.connect(lambda: self._look(-1))
        self.next.clicked.connect(lambda: self._look(1))
        self.close_button.clicked.connect(self.close_bar)
        self._scene.contents_changed.connect(self._show_count)
        self._scene.selection_changed.connect(lambda _ids: self._show_count())
        self.hide()

    def open(self) -> None:
        """Shows the bar, with the cursor in it and its text selected."""
        self._place()
        self.show()
        self.raise_()
        self._start = self._selected()
        self._show_count()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        QTimer.singleShot(0, self._prepare)

    def close_bar(self) -> None:
        """Closes; what was found stays selected."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def _prepare(self) -> None:
        """Prepares the search by some layers a turn, before the first letter: large networks have
        many words.
        """
        if self.isVisible() and self._search.prepare(self._scene.document.graph, _LAYERS_A_TURN):
            QTimer.singleShot(0, self._prepare)

    def _selected(self) -> str | None:
        shown, cards = self._scene.shown, self._scene.selected_ids()[:1]
        if self._at is not None and [shown.shown_id(self._at)] == cards:
            return self._at
        return next(iter(shown.layers_of(cards)), None)

    def _hint(self, node: str) -> None:
        self._at = node
        self.hinted.emit(node)

    def _choose(self, node: str) -> None:
        self._at = node
        self.chosen.emit(node)

    def _look_from_start(self) -> None:
        """Each letter searches again from where the search began; no match leads back there."""
        self._find()
        if self._found:
            self._hint(self._nearest(self._start, 0))
        elif self._start is not None and self._start in self._scene.document.graph.nodes:
            self._hint(self._start)
        self._show_count()

    def _look(self, step: int) -> None:
        """Goes a match on or back; one that is within a folded group is shown first."""
        self._find()
        if self._found:
            selected = self._selected()
            is_hidden = selected in self._found and selected in self._scene.shown.card_of
            self._choose(self._nearest(selected, 0 if is_hidden else step))
            self._start = self._selected()
        self._show_count()

    def _nearest(self, node: str | None, step: int) -> str:
        """The match behind (1) or before (-1) a node, or from it on (0); all around."""
        order = self._scene.document.graph.order
        at = order.index(node) if node in order else -1
        places = [order.index(match) for match in self._found]
        if step < 0:
            before = [place for place in places if place < at]
            return order[before[-1] if before else places[-1]]
        first = at + step
        return order[next((place for place in places if place >= first), places[0])]

    def _find(self) -> None:
        self._found = self._search.find(self._scene.document.graph, self.field.text())

    def _show_count(self) -> None:
        """Shows "2 of 5", or how many there are while another layer is selected."""
        if not self.isVisible():
            return
        self._find()
        is_lost = bool(self.field.text().strip()) and not self._found
        words = "no layer" if is_lost else ""
        if self._found:
            words = f"{len(self._found)} found"
        if (selected := self._selected()) in self._found:
            words = f"{self._found.index(selected) + 1} of {len(self._found)}"
        self.count.setText(words)
        set_role(self.count, "bad" if is_lost else "dim")
        for button in (self.previous, self.next):
            button.setEnabled(bool(self._found))

    def _place(self) -> None:
        room = self._view.rect()
        width = min(_WIDTH_PX, room.width() - 2 * _MARGIN_PX)
        self.resize(width, self.sizeHint().height())
        self.move(room.width() - width - _MARGIN_PX, _MARGIN_PX)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view:
            if event.type() == QEvent.Type.Resize:
                self._place()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in _ENTER:
            self._look(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            return False
        return True


# overlays ------------------------------------------------------------------------------------

_MARGIN = 12
_HINT_MARGIN = 24
_PERCENT_PX = 44
_ZOOM_BUTTONS = ("zoom_out", "zoom_in", "fit", "arrange")
"""Actions of the canvas; the percentage is behind the first."""


class NoStatusTip(QObject):
    """Keeps the tips of buttons out of the status bar: the figures of the network are there."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return event.type() == QEvent.Type.StatusTip or super().eventFilter(watched, event)


class CanvasOverlays:
    """The overlays of one view.

    Args:
        view: The canvas.
        theme: Icons and colors.
        actions: Those of the canvas by key.

    Attributes:
        minimap: The overview, bottom left.
        zoom_bar: The buttons, bottom right.
        hint: How to begin; shown while the network is empty.
    """

    def __init__(self, view: GraphView, theme: Theme, actions: Mapping[str, QAction]) -> None:
        self._view, self._theme = view, theme
        self._no_status = NoStatusTip(view)
        self.minimap = Minimap(view)
        words = "Drag a layer here, or double-click to search.\nA network starts with Input."
        self.hint = plain_label(words, role="dim", parent=view)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.zoom_bar = QFrame(view)
        self.zoom_bar.setObjectName("zoomBar")
        percent = plain_label("100%", role="dim")
        percent.setAlignment(Qt.AlignmentFlag.AlignCenter)
        percent.setMinimumWidth(_PERCENT_PX)
        view.zoom_changed.connect(lambda zoom: percent.setText(f"{zoom * 100:.0f}%"))
        smaller, *others = (self._button(key, actions[key]) for key in _ZOOM_BUTTONS)
        row(smaller, percent, *others, parent=self.zoom_bar, margins=4, spacing=2)
        self._style()

    def place(self, room: QRect) -> None:
        """Puts them into the corners of the canvas."""
        self.minimap.move(_MARGIN, room.height() - self.minimap.height() - _MARGIN)
        self._view.overview = self.minimap.geometry() if self.minimap.has_room else QRect()
        self.zoom_bar.adjustSize()
        bar = self.zoom_bar.rect()
        bar.moveBottomRight(room.bottomRight() - QPoint(_MARGIN, _MARGIN))
        self.zoom_bar.move(bar.topLeft())
        self.hint.setGeometry(room.adjusted(_HINT_MARGIN, 0, -_HINT_MARGIN, 0))

    def refresh_look(self) -> None:
        """Takes the colors of the theme, once the canvas has them."""
        self._style()
        self.minimap.refresh()

    def _button(self, key: str, action: QAction) -> IconButton:
        button = IconButton(self._theme, key, "")
        button.follow_action(action)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.installEventFilter(self._no_status)
        return button

    def _style(self) -> None:
        """Also that of the search boxes, which are over the canvas too."""
        colors = self._theme.colors
        self._view.setStyleSheet(
            f"QFrame#zoomBar, QFrame#searchAdd, QFrame#findBar {{ background: {colors.panel};"
            f" border: 1px solid {colors.line}; border-radius: 8px; }}"
            f"QFrame#searchAdd QListWidget {{ background: {colors.panel}; border: none; }}"
        )
