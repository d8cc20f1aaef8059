"""A page with nothing on it yet: explains what can go there and how, with a button."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QWidget

from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, Gap, Stretch, column, row
from workbench.gui.kit.theme import Theme

ICON_PX = 40
TEXT_WIDTH_PX = 420


class EmptyPage(QWidget):
    """An icon, a title, a sentence and a button (none where its text is empty).

    Signals:
        pressed: The button was pressed.
        second_pressed: The second, plainer button was pressed.
    """

    pressed = Signal()
    second_pressed = Signal()

    def __init__(
        self, theme: Theme, icon: str, title: str, text: str, *, action: str = "", second: str = ""
    ) -> None:
        super().__init__()
        self._theme = theme
        self._icon_name = icon
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = plain_label(title, role="title")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text = plain_label(text, role="dim", wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(TEXT_WIDTH_PX)
        self.action, self.second = button(action, role="primary"), button(second)
        self.action.clicked.connect(self.pressed)
        self.second.clicked.connect(self.second_pressed)
        self._build()
        for each in (self.action, self.second):  # in their place: else it is a window of its own
            each.setVisible(bool(each.text()))
        self._refresh()
        theme.changed.connect(self._refresh)

    def _build(self) -> None:
        # Stretches, not an alignment: an aligned label is measured at the whole width.
        middle = row(STRETCH, self.text, STRETCH)
        buttons = row(STRETCH, self.action, self.second, STRETCH, spacing=8)
        parts = (self._icon, self.title, middle, Gap(6), buttons)
        column(Stretch(2), *parts, Stretch(3), parent=self, margins=None, spacing=10)

    def _refresh(self) -> None:
        icon = self._theme.icon(self._icon_name, self._theme.colors.faint)
        self._icon.setPixmap(icon.pixmap(QSize(ICON_PX, ICON_PX)))
