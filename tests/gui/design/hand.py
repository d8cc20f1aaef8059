"""Hands that press, move, drop and type on a canvas."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QMouseEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from workbench.core.network.graph import Edge, Graph, Node
from workbench.gui.design.canvas.gesture import LAYER_MIME
from workbench.gui.design.canvas_panel import CanvasPanel

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.MouseButton.NoButton


def chain(layers, *kinds: str) -> Graph:
    """A graph of these kinds in a row: ids n1, n2, ..."""
    graph = Graph()
    for number, kind in enumerate(kinds, 1):
        params = layers[kind].defaults() if kind in layers else {"secret": 7}
        graph = graph.with_node(Node(f"n{number}", kind, graph.new_name(kind), params))
        if number > 1:
            graph = graph.with_edge(Edge(f"n{number - 1}", f"n{number}"))
    return graph


def hint(panel: CanvasPanel) -> str:
    """The words shown beside the pointer, or ""."""
    label = panel.view.findChild(QLabel, "canvasHint")
    return "" if label.isHidden() else label.text()


class Hand:
    """Sends real events to the viewport, at scene points."""

    def __init__(self, panel: CanvasPanel) -> None:
        self.view = panel.view
        self.viewport = panel.view.viewport()
        self._mimes: list[QMimeData] = []

    def at(self, point: QPointF) -> QPoint:
        return self.view.mapFromScene(point)

    def press(self, point, *, button=LEFT, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        QTest.mousePress(self.viewport, button, modifiers, self.at(point))

    def move(self, point, *, button=LEFT, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        place = QPointF(self.at(point))
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            place,
            QPointF(self.viewport.mapToGlobal(place)),
            NONE,
            button,
            modifiers,
        )
        QApplication.sendEvent(self.viewport, event)

    def release(self, point, *, button=LEFT, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        QTest.mouseRelease(self.viewport, button, modifiers, self.at(point))

    def drag(self, start, end, *, button=LEFT, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        self.press(start, button=button, modifiers=modifiers)
        for part in (0.3, 0.7, 1.0):
            self.move(start + (end - start) * part, button=button, modifiers=modifiers)
        self.release(end, button=button, modifiers=modifiers)

    def click(self, point, *, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        self.press(point, modifiers=modifiers)
        self.release(point, modifiers=modifiers)

    def double_click(self, point) -> None:
        QTest.mouseDClick(self.viewport, LEFT, Qt.KeyboardModifier.NoModifier, self.at(point))

    def key(self, key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.view, key, modifiers)

    def enter(self, key: str, point: QPointF) -> bool:
        """Drags a layer onto the canvas; True when the canvas takes it."""
        mime = QMimeData()
        mime.setData(LAYER_MIME, QByteArray(key.encode()))
        self._mimes.append(mime)  # an event does not keep its data alive
        return self.enter_mime(mime, point)

    def enter_mime(self, mime: QMimeData, point: QPointF) -> bool:
        self._mimes.append(mime)
        event = QDragEnterEvent(
            self.at(point),
            Qt.DropAction.CopyAction,
            mime,
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(self.viewport, event)
        return event.isAccepted()

    def drag_over(self, point: QPointF) -> bool:
        event = QDragMoveEvent(
            self.at(point),
            Qt.DropAction.CopyAction,
            self._mimes[-1],
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(self.viewport, event)
        return event.isAccepted()

    def leave(self) -> None:
        QApplication.sendEvent(self.viewport, QDragLeaveEvent())

    def drop(self, point: QPointF) -> bool:
        event = QDropEvent(
            QPointF(self.at(point)),
            Qt.DropAction.CopyAction,
            self._mimes[-1],
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(self.viewport, event)
        return event.isAccepted()

    def drop_layer(self, key: str, point: QPointF) -> None:
        """The whole way from the palette."""
        assert self.enter(key, point + QPointF(40, 0))
        assert self.drag_over(point)
        assert self.drop(point)
