"""A channel alone: enlarged, with what is known of its values, and the way to its neighbors."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.classify.feature_maps.channel_figure import ChannelFigure
from workbench.gui.classify.feature_maps.tiles import ShownLayer
from workbench.gui.classify.feature_maps.words import facts_of, name_of
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme


class ChannelPage(QWidget):
    """One of the channels of a layer. Left and right lead to the others, Escape back.

    Signals:
        closed(): All channels are wanted again.
        moved(int): The channel at another position is wanted.
    """

    closed = Signal()
    moved = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.position = 0
        self._count = 0
        self.back = button("All channels")
        self.name = plain_label(role="strong")
        self.figure = ChannelFigure(theme)
        self.facts = plain_label(role="dim", wrap=True)
        self.back.clicked.connect(self.closed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        head = row(self.name, STRETCH, self.back, spacing=8)
        column(head, (self.figure, 1), self.facts, parent=self, spacing=8)

    def show_channel(self, shown: ShownLayer, position: int, *, is_common: bool) -> None:
        """Shows the channel at a position of the answer."""
        answer = shown.answer
        self._count = len(answer.channels)
        self.position = min(max(0, position), self._count - 1)
        channel = answer.channels[self.position]
        self.name.setText(name_of(answer, channel))
        self.back.setText("All filters" if answer.what == "filters" else "All channels")
        self.facts.setText(", ".join(f"{name} {value}" for name, value in facts_of(channel)))
        self.figure.set_channel(shown, self.position, is_common=is_common)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif step and 0 <= self.position + step < self._count:
            self.moved.emit(self.position + step)
        elif not step:
            super().keyPressEvent(event)
