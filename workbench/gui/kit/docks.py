"""Docks with a slim title: a side panel that can be moved, closed and brought back; and the rails
that stand for panels where a window is too narrow for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QDockWidget, QScrollArea, QToolBar, QWidget

from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

RAIL_PX = 30
_AROUND_WORDS_PX = 28
"""Space at both ends of the words of a rail, together."""


def make_dock(theme: Theme, key: str, title: str, panel: QWidget) -> QDockWidget:
    """A dock around a panel; `key` is its object name, under which its place is stored."""
    dock = QDockWidget(title)
    dock.setObjectName(key)
    dock.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
    on_panel(panel)
    dock.setWidget(panel)
    dock.setTitleBarWidget(_title_bar(theme, dock, title))
    return dock


def on_panel(widget: QWidget) -> None:
    """Gives a widget, and the page of a scroll area, the ground of a panel."""
    page = widget.widget() if isinstance(widget, QScrollArea) else None
    for ground in (widget, page):
        if ground is None:
            continue
        ground.setProperty("role", "panel")
        ground.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def _title_bar(theme: Theme, dock: QDockWidget, title: str) -> QWidget:
    bar = QWidget()
    on_panel(bar)
    close = IconButton(theme, "close", f"Close panel {title}", size_px=12)
    close.clicked.connect(dock.close)
    row((plain_label(title, role="heading"), 1), close, parent=bar, margins=(14, 8, 6, 0))
    return bar


class Rail(QToolBar):
    """A slim bar at a side of a view: a button for each panel that has no room there."""

    def __init__(self, theme: Theme, side: str) -> None:
        super().__init__("Folded panels")
        self.setObjectName(f"rail_{side}")
        self.setProperty("rail", side)
        self.setMovable(False)
        self.setFixedWidth(RAIL_PX)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setVisible(False)  # it is there exactly while it is needed
        self._theme = theme
        self._shown: list[str] = []

    def show_panels(self, panels: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Shows these panels: the title of each, and what shows it. None hides the rail."""
        titles = [title for title, _ in panels]
        if titles != self._shown:
            self._shown = titles
            self.clear()
            for title, follow in panels:
                button = _RailButton(self._theme, title)
                button.clicked.connect(lambda _=False, follow=follow: follow())
                self.addWidget(button)
        self.setVisible(bool(panels))


class _RailButton(QAbstractButton):
    """The title of a panel, written upwards."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme, self._words = theme, title.upper()
        self.setAccessibleName(f"Show panel {title}")
        self.setToolTip(plain_tip(f"Shows the panel {title}; another one gives way"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFont(theme.font(11, weight=600))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Width of the rail, and the length of the words."""
        return QSize(RAIL_PX, self.fontMetrics().horizontalAdvance(self._words) + _AROUND_WORDS_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Words that are read from the bottom, on the ground of a button that is pointed at."""
        colors = self._theme.colors
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.underMouse() or self.hasFocus():
                painter.setPen(QColor(colors.accent if self.hasFocus() else colors.hover))
                painter.setBrush(QColor(colors.hover))
                painter.drawRoundedRect(self.rect().adjusted(3, 3, -4, -4), 5, 5)
            painter.setPen(QColor(colors.dim))
            painter.translate(0, self.height())
            painter.rotate(-90)
            center = int(Qt.AlignmentFlag.AlignCenter)
            painter.drawText(0, 0, self.height(), self.width(), center, self._words)
