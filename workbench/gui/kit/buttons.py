"""Buttons in the window's few forms. A button with only an icon always has a name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QIcon, QPaintEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QWidget,
)

from workbench.gui.kit.labels import plain_tip, restyle
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme, ui_font

# combo ---------------------------------------------------------------------------------------
# A combo box that never cuts a word through: what does not fit ends in an ellipsis.

_PADDING_PX = 4  # Qt draws the text this much inside the field, both sides together
_MAX_VISIBLE = 16  # entries of an open list; the rest is scrolled to


class ElidedComboBox(QComboBox):
    """Shows what fits of its words; its owner gives it a tooltip with all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.setMaxVisibleItems(_MAX_VISIBLE)
        self.currentTextChanged.connect(lambda _text: self.updateGeometry())

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Qt's own, with the text as it fits."""
        super().initStyleOption(option)
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, self._room(option)
        )

    def sizeHint(self) -> QSize:
        """Qt's own, and as much more as the current words need inside the style's padding."""
        hint = super().sizeHint()
        option = QStyleOptionComboBox()
        super().initStyleOption(option)
        option.rect = QRect(0, 0, hint.width(), hint.height())
        needed = self.fontMetrics().horizontalAdvance(self.currentText()) + 1
        return hint + QSize(max(0, needed - self._room(option)), 0)

    def showPopup(self) -> None:
        """Qt's own; the list is as wide as its longest entry, also where the field is narrow."""
        view = self.view()
        bar = view.verticalScrollBar().sizeHint().width()
        around = view.width() - view.viewport().width() + bar
        view.setMinimumWidth(view.sizeHintForColumn(0) + around)
        super().showPopup()

    def _room(self, option: QStyleOptionComboBox) -> int:
        """Width for words, in pixels, of a box of the option's size."""
        combo, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        icon = self.itemIcon(self.currentIndex()) if self.currentIndex() >= 0 else QIcon()
        icon_px = 0 if icon.isNull() else self.iconSize().width() + _PADDING_PX
        return (
            self.style().subControlRect(combo, option, field, self).width() - _PADDING_PX - icon_px
        )


# qt names ------------------------------------------------------------------------------------
# Names for the buttons that Qt makes by itself: screen readers need them too.

_NAMES = {
    "qt_toolbar_ext_button": "More tools",
    "qt_menubar_ext_button": "More menus",
}


def name_own_buttons(root: QWidget) -> None:
    """Names the clear buttons of lines and the overflow buttons of bars below a widget."""
    for button in root.findChildren(QToolButton):
        if button.accessibleName():
            continue
        if isinstance(button.parent(), QLineEdit):
            button.setAccessibleName("Clear")
        elif button.objectName() in _NAMES:
            button.setAccessibleName(_NAMES[button.objectName()])


# buttons -------------------------------------------------------------------------------------

_SEGMENT_PAD_PX, _NARROW_PAD_PX = 36, 28
_LEAST_PX = 80
_LEAST_WORDS_PX, _MOST_WORDS_PX = 48, 260
_SLACK_PX = 4


class TextButton(QPushButton):
    """A button with words and perhaps an icon that follows the theme.

    Roles: "" (plain), "primary", "link", "stop", "status".
    """

    def __init__(
        self, text: str, *, role: str = "", icon: str = "", theme: Theme | None = None
    ) -> None:
        super().__init__(text)
        self._theme = theme
        self._icon_name = icon
        self.setProperty("role", role)
        if role == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        if theme is not None:
            self.refresh_icon()
            theme.changed.connect(self.refresh_icon)

    def set_look(self, text: str, *, role: str, icon: str) -> None:
        """Changes words, role and icon at once."""
        self.setText(text)
        self._icon_name = icon
        restyle(self, role=role)
        self.refresh_icon()

    def refresh_icon(self) -> None:
        """Draws the icon in the color of the words."""
        if self._theme is None or not self._icon_name:
            return
        colors = self._theme.colors
        by_role = {"primary": colors.accent_text, "stop": colors.bad, "link": colors.accent}
        levels = {"error": colors.bad, "warning": colors.warning, "good": colors.good}
        by_role["status"] = colors.dim
        is_blocked = bool(self.property("blocked"))
        color = by_role.get(str(self.property("role")), colors.text)
        color = levels.get(str(self.property("level")), color)
        self.setIcon(self._theme.icon(self._icon_name, colors.dim if is_blocked else color))


class ElidedButton(TextButton):
    """A button that shows what fits of its words; its owner gives it a tooltip with all of them.

    Attributes:
        least_words_px: Room that its words keep.
    """

    least_words_px = _LEAST_WORDS_PX

    def __init__(self, text: str, *, icon: str = "", theme: Theme | None = None) -> None:
        super().__init__(text, icon=icon, theme=theme)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paints as Qt does, with the words as they fit: a name is known by both its ends."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    def shown_text(self) -> str:
        """What fits of its words."""
        if self.width() >= super().sizeHint().width():
            return self.text()
        room = self.width() - self._around()
        # "&&" is one letter: half of it would underline the next one.
        words, middle = self.text().replace("&&", "&"), Qt.TextElideMode.ElideMiddle
        return self.fontMetrics().elidedText(words, middle, room).replace("&", "&&")

    def sizeHint(self) -> QSize:
        """Room for all of its words, within limits."""
        hint = super().sizeHint()
        return QSize(min(hint.width(), self._around() + _MOST_WORDS_PX), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Room for the ends of its words."""
        hint = super().sizeHint()
        return QSize(min(hint.width(), self._around() + self.least_words_px), hint.height())

    def _around(self) -> int:
        """Width of frame, padding and icon."""
        return super().sizeHint().width() - self.fontMetrics().horizontalAdvance(self.text())


class WrappedButton(TextButton):
    """A button whose words take more lines where room is short: nothing is cut off. An ampersand in
    them is shown as it is: names of classes and layers are among them.

    Layouts ask for its sizes many times in each pass: what was measured is kept.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text.replace("&", "&&"))
        self._hint: QSize | None = None
        self._lines: dict[int, str] = {}
        self._heights: dict[int, int] = {}
        policy = QSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(text)

    def lines(self, width: int) -> str:
        """Its words as they are shown at this width in pixels."""
        if width not in self._lines:
            self._lines[width] = self._wrapped(width)
        return self._lines[width]

    def sizeHint(self) -> QSize:
        """Room for all of its words in one line."""
        if self._hint is None:
            self._hint = super().sizeHint() + QSize(_SLACK_PX, 0)
        return self._hint

    def minimumSizeHint(self) -> QSize:
        """May become narrow: it never widens the panel it is in."""
        return QSize(_LEAST_PX, self.sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        """The height that the words need when they are wrapped to this width."""
        if width not in self._heights:
            more = self.lines(width).count("\n") * self.fontMetrics().lineSpacing()
            self._heights[width] = self.sizeHint().height() + more
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:
        """Measures again after a change of font or style."""
        self._hint = None
        self._lines.clear()
        self._heights.clear()
        super().changeEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.lines(self.width())
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    def _wrapped(self, width: int) -> str:
        hint, metrics = self.sizeHint(), self.fontMetrics()
        around = hint.width() - metrics.horizontalAdvance(self.text())
        room = width - around + _SLACK_PX
        lines: list[str] = []
        for word in self.text().split(" "):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and metrics.horizontalAdvance(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        return "\n".join(lines)


def show_instead(shown: QWidget, hidden: QWidget) -> None:
    """Shows a widget in place of another; the focus stays in that place."""
    has_focus = hidden.hasFocus()
    shown.show()
    if has_focus:
        shown.setFocus(Qt.FocusReason.OtherFocusReason)
    hidden.hide()


def button(text: str, *, role: str = "", icon: str = "", theme: Theme | None = None) -> TextButton:
    """A button with words; see TextButton."""
    return TextButton(text, role=role, icon=icon, theme=theme)


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

    def follow_action(self, action: QAction) -> None:
        """Shows an action's icon and words, and keeps the action's state."""
        self.setDefaultAction(action)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.setAccessibleName(action.text().replace("&", ""))

    def _refresh(self) -> None:
        if self.defaultAction() is None:
            self.setIcon(self._theme.icon(self._icon_name))


class SegmentedSwitch(QFrame):
    """One choice out of a few, side by side. Left and right keys move the choice.

    Args:
        choices: Key and title of each.
        is_narrow: With less room around the titles, for many choices.
    """

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], *, is_narrow: bool = False) -> None:
        super().__init__()
        self.setObjectName("segments")
        self.setProperty("narrow", is_narrow)
        pad_px = _NARROW_PAD_PX if is_narrow else _SEGMENT_PAD_PX
        self._buttons: dict[str, QPushButton] = {}
        group = QButtonGroup(self)
        bold = QFontMetrics(ui_font(weight=600))
        for key, title in choices:
            segment = QPushButton(title)
            segment.setCheckable(True)
            segment.setAccessibleName(title)
            # The chosen segment is bold: each is wide enough for that from the start.
            segment.setMinimumWidth(bold.horizontalAdvance(title) + pad_px)
            segment.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            group.addButton(segment)
            self._buttons[key] = segment
        row(*self._buttons.values(), parent=self, margins=3, spacing=2)

    def set_tip(self, key: str, tip: str) -> None:
        """Gives a segment a tooltip."""
        self._buttons[key].setToolTip(plain_tip(tip))

    def set_offered(self, keys: Collection[str]) -> None:
        """Shows some segments alone; a single one is no choice, and the switch is hidden."""
        for key, segment in self._buttons.items():
            segment.setVisible(key in keys)
        self.setVisible(len(keys) > 1)

    def set_current(self, key: str | None) -> None:
        """Marks a choice without a signal; None marks none. The keyboard reaches the chosen segment
        only, as in a group of radio buttons: a frame around another would look like a choice.
        """
        had_focus = any(segment.hasFocus() for segment in self._buttons.values())
        policy = Qt.FocusPolicy
        for name, segment in self._buttons.items():
            segment.group().setExclusive(False)
            segment.setChecked(name == key)
            segment.group().setExclusive(True)
            is_reached = key is None or name == key
            segment.setFocusPolicy(policy.StrongFocus if is_reached else policy.ClickFocus)
        if had_focus and key is not None:
            self._buttons[key].setFocus(Qt.FocusReason.OtherFocusReason)
