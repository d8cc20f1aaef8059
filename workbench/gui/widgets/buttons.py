"""Buttons in the window's few forms. A button with only an icon always has a name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from workbench.gui.theme import Theme
from workbench.gui.widgets.labels import plain_tip


def button(text: str, *, role: str = "", icon: str = "", theme: Theme | None = None) -> QPushButton:
    """A button with words; roles: "" (plain), "primary", "link", "stop"."""
    result = QPushButton(text)
    result.setProperty("role", role)
    if role == "link":
        result.setCursor(Qt.CursorShape.PointingHandCursor)
    if icon and theme is not None:
        _follow_icon(result, icon, theme, is_primary=role == "primary")
    return result


def _follow_icon(target: QPushButton, name: str, theme: Theme, *, is_primary: bool) -> None:
    def refresh() -> None:
        color = theme.colors.accent_text if is_primary else theme.colors.text
        target.setIcon(theme.icon(name, color))

    refresh()
    connection = theme.changed.connect(refresh)
    target.destroyed.connect(lambda: theme.disconnect(connection))


class IconButton(QToolButton):
    """A button with only an icon; its words are its tooltip and its name for readers."""

    def __init__(
        self, theme: Theme, icon: str, words: str, *, role: str = "icon", size_px: int = 18
    ) -> None:
        super().__init__()
        self._theme = theme
        self._icon_name = icon
        self.setProperty("role", role)
        self.setIconSize(QSize(size_px, size_px))
        self.setAccessibleName(words)
        self.setToolTip(plain_tip(words))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._refresh()
        theme.changed.connect(self._refresh)

    def set_icon_name(self, icon: str) -> None:
        """Shows another icon."""
        self._icon_name = icon
        self._refresh()

    def follow_action(self, action: QAction) -> None:
        """Shows an action's icon and words, and keeps the action's state."""
        self.setDefaultAction(action)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.setAccessibleName(action.text().replace("&", ""))

    def _refresh(self) -> None:
        if self.defaultAction() is None:
            self.setIcon(self._theme.icon(self._icon_name))


class SegmentedSwitch(QFrame):
    """One choice out of a few, side by side. Left and right keys move the choice."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("segments")
        self._buttons: dict[str, QPushButton] = {}
        group = QButtonGroup(self)
        group.setExclusive(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        for key, title in choices:
            segment = QPushButton(title)
            segment.setCheckable(True)
            segment.setAccessibleName(title)
            segment.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            group.addButton(segment)
            row.addWidget(segment)
            self._buttons[key] = segment
        self._keep_widths()

    def _keep_widths(self) -> None:
        """The chosen segment is bold: each is made wide enough for that from the start."""
        for segment in self._buttons.values():
            font = segment.font()
            font.setBold(True)
            segment.setFont(font)
            segment.ensurePolished()
            segment.setMinimumWidth(segment.sizeHint().width())
            font.setBold(False)
            segment.setFont(font)

    def set_current(self, key: str | None) -> None:
        """Marks a choice without telling; None marks none."""
        for name, segment in self._buttons.items():
            group = segment.group()
            group.setExclusive(False)
            segment.setChecked(name == key)
            group.setExclusive(True)

    def segment(self, key: str) -> QPushButton:
        """The button of a choice."""
        return self._buttons[key]
