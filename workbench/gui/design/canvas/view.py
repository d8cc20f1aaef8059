"""The view of the canvas: the way from input events to gestures, one at a time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QToolTip

from workbench.errors import WorkbenchError
from workbench.gui.design.canvas.blocks import FrameItem, GroupItem
from workbench.gui.design.canvas.gesture import (
    ARROWS,
    PORT_REACH,
    EdgeScroller,
    Gesture,
    Pan,
    next_node,
)
from workbench.gui.design.canvas.items import EdgeItem, NodeItem
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.kit.labels import plain_tip

_DWELL_MS = 350
"""So long the pointer rests on a layer before its problem is shown: passing over is no question."""

_TIP_FRAME = QSize(40, 48)
"""Pixels of a tooltip around its text, and from the place it is asked for to where Qt puts it."""

NUDGE = 4.0
"""Scene pixels that Ctrl and an arrow move the selection; ten times that with Shift."""
_NUDGING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
"""Modifiers that move nodes with an arrow: some window managers take Alt for their desktops; none
takes Ctrl."""
_COPY_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.Cut)


class GraphView(ZoomView):
    """Runs gestures on the canvas.

    Args:
        scene: What is shown.
        on_press: Makes the gesture that a press of the left button at a pointer begins.
        on_enter: Makes the gesture of what is dragged in; None for what the canvas does not take.

    Signals:
        node_activated(str): Enter or a double click on a node: its settings are wanted.
        menu_asked(QPoint, QPointF, object): A menu at a global and a scene point is wanted: of
            the selected layers (NodeItem, FrameItem), of the connections (EdgeItem), of the
            ground (None).
    """

    node_activated = Signal(str)
    menu_asked = Signal(object, QPointF, object)

    def __init__(
        self,
        scene: GraphScene,
        on_press: Callable[[ZoomView, Pointer], Gesture],
        on_enter: Callable[[ZoomView, QMimeData], Gesture | None],
    ) -> None:
        super().__init__(scene)
        self._on_press, self._on_enter = on_press, on_enter
        self._gesture: Gesture | None = None
        self._drop: Gesture | None = None  # of a layer dragged in, while it is over the canvas
        self._button = Qt.MouseButton.NoButton
        self._hovered: NodeItem | None = None
        self._is_space_held = False
        self._current: str | None = None
        self._scroller = EdgeScroller(self, self._on_scrolled)
        self._dwell = QTimer(self)
        self._dwell.setSingleShot(True)
        self._dwell.setInterval(_DWELL_MS)
        self._dwell.timeout.connect(self._on_dwelt)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Network canvas")
        scene.graph_changed.connect(self._on_graph_changed)

    @property
    def gesture(self) -> Gesture | None:
        """The gesture that is going on."""
        return self._gesture

    def begin(self, gesture: Gesture, pointer: Pointer) -> None:
        """Starts a gesture; one that still runs is canceled first."""
        self.cancel("another gesture began")
        self._set_hovered(None)
        self._gesture = gesture
        if gesture.cursor is not None:
            self.viewport().setCursor(gesture.cursor)
        gesture.start(pointer)
        self._follow(pointer)

    def move_gesture(self, pointer: Pointer) -> None:
        """Follows the pointer of the gesture that is going on."""
        if self._gesture is not None:
            if self._gesture.hides_card:
                self.graph_scene.hold_card(is_held=True)
            self._gesture.move(pointer)
            self._follow(pointer)

    def _follow(self, pointer: Pointer) -> None:
        if self._gesture is not None and self._gesture.scrolls_at_edge:
            self._scroller.follow(pointer)
        else:
            self._scroller.stop()

    def _on_scrolled(self, pointer: Pointer) -> None:
        self.move_gesture(self.pointer(pointer.view, pointer.modifiers))

    def finish(self, pointer: Pointer) -> None:
        """Ends the gesture: it makes its edit."""
        gesture = self._let_go()
        try:
            if gesture is not None:
                gesture.end(pointer)
        except WorkbenchError as error:
            self.show_refusal(f"{error.what} {error.fix}", pointer.view)

    def cancel(self, reason: str) -> None:
        """Gives the gesture up; nothing is changed."""
        if gesture := self._let_go():
            gesture.cancel(reason)

    def _on_graph_changed(self) -> None:
        self.cancel("the network changed")

    def _let_go(self) -> Gesture | None:
        gesture, self._gesture = self._gesture, None
        self.graph_scene.hold_card(is_held=False)
        if gesture is not None:
            gesture.clear()
        self._button = Qt.MouseButton.NoButton
        self._scroller.stop()
        self._show_cursor()
        self.hide_hint()
        return gesture

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if self._gesture is not None:
            self.cancel("another button was pressed")
            return
        button, pointer = event.button(), self._at(event)
        is_left = button == Qt.MouseButton.LeftButton
        if button == Qt.MouseButton.MiddleButton or (is_left and self._is_space_held):
            self.begin(Pan(self), pointer)
        elif is_left:
            self.begin(self._on_press(self, pointer), pointer)
        self._button = button

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._gesture is not None:
            self.move_gesture(self._at(event))
        else:
            self._hover(self._at(event))
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._gesture is not None and event.button() == self._button:
            self.finish(self._at(event))
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        pointer = self._at(event)
        if event.button() != Qt.MouseButton.LeftButton or self._is_space_held:
            self.mousePressEvent(event)
            return
        scene = self.graph_scene
        item, frame = scene.node_at(pointer.scene), scene.frame_at(pointer.scene)
        if isinstance(item, GroupItem):
            self.group_toggled.emit(item.name)
        elif item is not None:
            self.node_activated.emit(item.node_id)
        elif scene.card_at(pointer.scene) is not None:
            self.mousePressEvent(event)
        elif frame is not None:
            self.group_toggled.emit(frame.name)
        else:
            self.search_asked.emit(pointer.scene, "")
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Opens the menu of what is under the pointer, and selects it; by key, of the selection."""
        if self._gesture is not None:
            return
        item: NodeItem | FrameItem | EdgeItem | None
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            card = self._selected_item()
            item, place = card, self._place_of(card)
        else:
            place = event.pos()
            item = self._item_at(self.mapToScene(place))
            if item is None or not self._is_selected(item):
                self._select_only(item)
        self.menu_asked.emit(self.viewport().mapToGlobal(place), self.mapToScene(place), item)
        event.accept()

    def _item_at(self, point: QPointF) -> NodeItem | FrameItem | EdgeItem | None:
        """The card, frame or line at a scene point; a problem's card belongs to its layer."""
        scene = self.graph_scene
        if (card := scene.card_at(point)) is not None:
            return scene.nodes[scene.card_of(card.problem)]
        return scene.node_at(point) or scene.frame_at(point) or self.line_at(point)

    def _is_selected(self, item: NodeItem | FrameItem | EdgeItem) -> bool:
        return item.is_selected if isinstance(item, FrameItem) else item.isSelected()

    def _selected_item(self) -> NodeItem | EdgeItem | None:
        scene = self.graph_scene
        nodes, edges = scene.selected_ids(), scene.selected_edges()
        if nodes:
            return scene.nodes[nodes[-1]]
        return scene.edges[edges[-1]] if edges else None

    def _select_only(self, item: NodeItem | FrameItem | EdgeItem | None) -> None:
        nodes = [item.node_id] if isinstance(item, NodeItem) else []
        if isinstance(item, FrameItem):
            nodes = list(self.graph_scene.shown.full.groups[item.name])
        edges = [item.edge] if isinstance(item, EdgeItem) else []
        self.graph_scene.select(nodes, edges)

    def _place_of(self, item: NodeItem | EdgeItem | None) -> QPoint:
        """Position in the view at which the menu of an item opens; scrolls the item there."""
        if isinstance(item, NodeItem):
            self.reveal([item.node_id])
            return self.mapFromScene(item.card_rect().center())
        if item is not None:
            self.ensureVisible(item.boundingRect())
            return self.mapFromScene(item.middle_point())
        return self.viewport().rect().center()

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)
        self.graph_scene.look_at(None)
        super().leaveEvent(event)

    def _hover(self, pointer: Pointer) -> None:
        scene = self.graph_scene
        item = scene.output_at(pointer.scene, PORT_REACH)
        self._set_hovered(item or scene.node_at(pointer.scene))
        card = scene.card_at(pointer.scene)
        scene.look_at(None if card is None else card.problem)
        is_on_fix = scene.card is not None and scene.card.hover(pointer.scene)
        is_on_fix = is_on_fix and scene.card is not None and scene.card.isVisible()
        is_link = scene.is_data_at(pointer.scene) or bool(scene.group_button_at(pointer.scene))
        if is_on_fix or (card is None and is_link and item is None):
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        elif item is not None:
            self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        else:
            self._show_cursor()

    def _set_hovered(self, item: NodeItem | None) -> None:
        if self._hovered is not item:
            if self._hovered is not None and self._hovered.scene() is self.graph_scene:
                self._hovered.is_hovered = False
            self._hovered = item
            self._dwell.stop()
            if item is not None:
                item.is_hovered = True
                self._dwell.start()

    def _on_dwelt(self) -> None:
        """The pointer rests on a layer: the card of its worst problem opens, but no hint."""
        item = self._hovered
        if item is None or self._gesture is not None or not item.facts.problems:
            return
        problem = item.facts.problems[0]
        if problem.severity != "hint":
            self.graph_scene.open_card(problem)

    def _show_cursor(self) -> None:
        open_hand = Qt.CursorShape.OpenHandCursor
        self.viewport().setCursor(open_hand if self._is_space_held else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """While a gesture lasts no shortcut works: undo in its middle would pull the
        ground away.
        """
        if event.type() == QEvent.Type.ShortcutOverride and self._gesture is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._gesture is not None:
            if event.key() == Qt.Key.Key_Escape:
                self.cancel("Escape was pressed")
            elif self._gesture.key(event):
                middle = QPointF(self.viewport().rect().center())
                self.finish(self.pointer(middle, event.modifiers()))
            event.accept()
            return
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._is_space_held = True
            self._show_cursor()
        elif event.key() == Qt.Key.Key_Escape:
            self.graph_scene.select([])
            self.hide_hint()
        elif event.key() in ARROWS:
            self._on_arrow(event)
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if selected := self.graph_scene.selected_ids():
                self.node_activated.emit(selected[-1])
        elif any(event.matches(keys) for keys in _COPY_KEYS):  # the actions are gray, or took it
            self.say("No layer is selected. Click one, or press Ctrl+A to select all.")
        else:
            event.ignore()

    def _on_arrow(self, event: QKeyEvent) -> None:
        """Arrows walk from node to node; Shift keeps what was selected; Ctrl or Alt moves cards."""
        across, down = ARROWS[Qt.Key(event.key())]
        scene, modifiers = self.graph_scene, event.modifiers()
        selected = scene.selected_ids()
        is_wide = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if modifiers & _NUDGING:
            step = NUDGE * (10 if is_wide else 1)
            places = {key: scene.nodes[key].pos() for key in selected}
            moved = {k: (p.x() + across * step, p.y() + down * step) for k, p in places.items()}
            if moved:
                scene.document.move(moved, merge_key=("nudge", *moved))
            return
        current = self._current if self._current in selected else next(iter(selected), None)
        found = next_node(scene, current, (across, down))
        if found is not None:
            self._current = found
            scene.select({*selected, found} if is_wide else {found})
            self.ensureVisible(scene.nodes[found].card_rect(), 40, 48)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._is_space_held = False
            self._show_cursor()
        else:
            event.ignore()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._is_space_held = False
        super().focusOutEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._drop = self._on_enter(self, event.mimeData())
        if self._drop is None:
            event.ignore()  # an image or a project: the window takes it
            return
        event.acceptProposedAction()
        self.begin(self._drop, self._at(event))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._is_dropping:
            self.move_gesture(self._at(event))
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        if self._is_dropping:
            self.cancel("the layer was dragged away")
        event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        if not self._is_dropping:
            event.ignore()
            return
        event.acceptProposedAction()
        self.finish(self._at(event))
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def _show_tip(self, item: NodeItem, text: str) -> None:
        """Beside a layer, at the right or else at the left: over its port or over the buttons of a
        problem, the tip would take the press. It ends when the pointer leaves the layer.
        """
        layer = self.mapFromScene(item.card_rect()).boundingRect()
        size = QFontMetrics(QToolTip.font()).size(0, text) + _TIP_FRAME
        aside, card = round(PORT_REACH), self.graph_scene.card
        taken = QRect()
        if card is not None and card.isVisible():
            taken = self.mapFromScene(card.mapRectToScene(card.size)).boundingRect()
        for left in (layer.right() + aside, layer.left() - aside - size.width()):
            corner = QPoint(left, layer.top())
            if not QRect(corner, size).intersects(taken):
                place = self.viewport().mapToGlobal(corner)
                QToolTip.showText(place, text, self.viewport(), layer)
                return
        QToolTip.hideText()

    @property
    def _is_dropping(self) -> bool:
        return self._drop is not None and self._gesture is self._drop

    def _at(self, event: QMouseEvent | QDropEvent) -> Pointer:
        return self.pointer(event.position(), event.modifiers())

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            point = self.mapToScene(event.pos())
            text = plain_tip(self.graph_scene.tooltip_at(point))
            item = self.graph_scene.node_at(point)
            if not text or self._gesture is not None:
                QToolTip.hideText()
            elif item is not None:
                self._show_tip(item, text)
            else:
                QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)
