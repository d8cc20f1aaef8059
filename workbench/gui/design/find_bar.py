"""The bar over the canvas that finds layers of the network."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit

from workbench.core.network.search import NetworkSearch
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.zoom_view import ZoomView
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

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
