"""What all items of the canvas share."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from workbench.gui.design.canvas.style import CanvasStyle

T = TypeVar("T")


class CanvasItem(QGraphicsItem):
    """An item with the canvas's look, and a plain `draw`.

    Attributes:
        LEVEL: Items of a higher level lie above those of a lower one.
    """

    LEVEL = 0.0

    def __init__(self, look: CanvasStyle) -> None:
        super().__init__()
        self._look = look
        self.setZValue(self.LEVEL)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draws the item in its own coordinates."""
        raise NotImplementedError


class Shown(Generic[T]):
    """An attribute of an item that is seen: setting another value repaints the item.

    Args:
        start: Its value at first.
        reshapes: Whether the item's bounds depend on it.
    """

    def __init__(self, start: T, *, reshapes: bool = False) -> None:
        self._start = start
        self._reshapes = reshapes

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, item: CanvasItem, _owner: type | None = None) -> T:
        value: T = vars(item).get(self._name, self._start)
        return value

    def __set__(self, item: CanvasItem, value: T) -> None:
        if value == self.__get__(item):
            return
        if self._reshapes:
            item.prepareGeometryChange()
        vars(item)[self._name] = value
        item.update()


def scale_of(painter: QPainter) -> float:
    """Pixels on the screen for one of the scene."""
    return QStyleOptionGraphicsItem.levelOfDetailFromTransform(painter.worldTransform())
