"""What lies over the canvas in its corners: the overview, the zoom buttons and their percentage;
and, while there is no layer, how to begin.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame

from workbench.gui.design.canvas.minimap import Minimap
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

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
