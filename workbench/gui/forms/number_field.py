"""The field of a number: typed, computed, or stepped by keys, arrows and the mouse wheel.

What is typed is kept as it is until it is entered, and is then taken or refused: a field never
makes another number of it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit

from workbench.core.params import FloatParam, IntParam, evaluate
from workbench.errors import ParamError
from workbench.gui.kit.labels import restyle

# select on focus -----------------------------------------------------------------------------
# What is typed into a field replaces its value, unless the cursor was placed by the mouse.

_BY_HAND = frozenset(
    {
        Qt.FocusReason.MouseFocusReason,
        Qt.FocusReason.ActiveWindowFocusReason,
        Qt.FocusReason.PopupFocusReason,
        Qt.FocusReason.MenuBarFocusReason,
    }
)
"""Ways to get the focus that leave the cursor where it is."""


def selects_on(event: QFocusEvent) -> bool:
    """Whether a field that gets the focus in this way selects its text."""
    return event.reason() not in _BY_HAND


class _SelectOnFocus(QObject):
    """Selects the text of one line."""

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self._line = line
        line.installEventFilter(self)
        line.editingFinished.connect(self._on_finished)

    def _on_finished(self) -> None:
        if self._line.hasFocus():
            self._line.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn and selects_on(cast("QFocusEvent", event)):
            self._line.selectAll()
        return super().eventFilter(watched, event)


def select_on_focus(line: QLineEdit) -> None:
    """Selects a line's text when the focus comes by key or by program, and when it was entered.

    A click places the cursor, a double click selects.
    """
    _SelectOnFocus(line)


# number field --------------------------------------------------------------------------------

_AROUND_PX = 40
"""Borders, margins and the two arrows."""

_NO_STEP = QAbstractSpinBox.StepEnabledFlag.StepNone
_UP = QAbstractSpinBox.StepEnabledFlag.StepUpEnabled
_DOWN = QAbstractSpinBox.StepEnabledFlag.StepDownEnabled


class NumberField(QAbstractSpinBox):
    """Shows a number, and what follows it.

    Args:
        param: What is allowed, how far a step goes, and what no number is called.

    Signals:
        entered(object): What was typed or stepped to, not checked: a number; None for nothing
            where that is allowed; the text where it is no number.
    """

    entered = Signal(object)

    def __init__(self, param: IntParam | FloatParam) -> None:
        super().__init__()
        self._suffix = ""
        self._is_mixed = False
        self._is_typed = False  # Qt sets the line's text when it is entered: then it forgets
        self._double_click_ms = -math.inf
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        line = self.lineEdit()
        # A style sheet's padding does not reach the line inside a spin box.
        line.setTextMargins(6, 0, 0, 0)
        line.installEventFilter(self)
        line.textEdited.connect(self._on_typed)
        self.editingFinished.connect(self._on_finished)
        self._value: float | None = None
        self.set_param(param)
        self.set_value(param.default)

    def set_param(self, param: IntParam | FloatParam) -> None:
        """Sets other bounds; what is shown stays."""
        self._param = param
        self._unit = f" {param.unit}" if param.unit else ""

    def value(self) -> Any:
        """The number last set; None for none."""
        return self._value

    def set_value(self, value: float | None) -> None:
        """Shows a number without a signal."""
        self._is_mixed = False
        self._value = value
        self._show()

    def set_mixed(self, words: str) -> None:
        """Shows no number, as several values are meant at once; `words` are pale in its place."""
        self._is_mixed, self._value = True, None
        self.lineEdit().setPlaceholderText(words)
        self._show()

    def set_suffix(self, words: str) -> None:
        """Shows these words behind the number."""
        self._suffix = words
        self._show()

    def maximum(self) -> float:
        """The largest number allowed."""
        return self._param.maximum

    def checked(self) -> Any:
        """The number in the field, for a field without a form; the field is marked when wrong.

        Raises:
            ParamError: that is not allowed.
        """
        try:
            value = self._param.check(self._read())
        except ParamError:
            restyle(self, bad=True)
            raise
        restyle(self, bad=False)
        self.set_value(value)
        return value

    def _show(self) -> None:
        self._is_typed = False
        if self.lineEdit().text() != (text := self._text()):
            self.lineEdit().setText(text)
        self.lineEdit().setModified(False)
        self.update()  # an arrow may be gray now

    def _text(self) -> str:
        if self._is_mixed:
            return ""
        if self._value is None:
            return self._param.none_text
        is_whole = isinstance(self._param, IntParam)
        digits = f"{self._value:,}" if is_whole else f"{self._value:.8g}"
        return f"{digits}{self._unit}{self._suffix}"

    def _read(self) -> Any:
        """What is typed as a number, None, or text; see `entered`."""
        param, text = self._param, self.lineEdit().text()
        words = text.strip()
        for behind in (self._suffix, self._unit):
            words = words.removesuffix(behind.strip()).strip()
        if param.is_optional and words in {"", param.none_text}:
            return None
        try:
            return evaluate(words, is_whole=isinstance(param, IntParam))
        except ParamError:
            return text

    def _on_typed(self) -> None:
        self._is_typed = True

    def _on_finished(self) -> None:
        if self._is_typed:
            self._is_typed = False
            self.entered.emit(self._read())
            if self.hasFocus():
                self.select_number()

    def select_number(self) -> None:
        """Selects what typing shall replace: all but what follows the number."""
        line = self.lineEdit()
        text = line.text()
        behind = f"{self._unit}{self._suffix}"
        line.setSelection(0, len(text.removesuffix(behind) if behind else text))

    def sizeHint(self) -> QSize:
        """Room for the largest number and the arrows."""
        largest = f"{self._param.maximum:,.8g}{self._unit}"
        wide = self.fontMetrics().horizontalAdvance(largest)
        return QSize(wide + _AROUND_PX, super().sizeHint().height())

    # steps ---------------------------------------------------------------------------

    def stepBy(self, steps: int) -> None:
        wanted = self._stepped(steps)
        if wanted != self._value or self._is_typed:
            self._is_typed = False
            self.entered.emit(wanted)
            self.select_number()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        if self.isReadOnly() or self._is_mixed:
            return _NO_STEP
        value, param = self._value, self._param
        can_fall = value is not None and (value > param.minimum or param.is_optional)
        can_rise = value is None or value < param.maximum
        return (_DOWN if can_fall else _NO_STEP) | (_UP if can_rise else _NO_STEP)

    def _stepped(self, steps: int) -> float | None:
        """So many steps from what is typed, within the bounds; below them is no number."""
        param, start = self._param, self._value
        if self._is_typed and not isinstance(typed := self._read(), str):
            start = typed
        is_whole = isinstance(param, IntParam)
        if start is None:
            return param.minimum if steps > 0 else None
        if param.is_optional and steps < 0 and start <= param.minimum:
            return None
        step = Fraction(1) if isinstance(param, IntParam) else Fraction(repr(param.step))
        exact = Fraction(repr(start)) + steps * step
        wanted = int(exact) if is_whole else float(exact)
        wanted = max(param.minimum, min(param.maximum, wanted))
        try:
            return param.check(wanted)
        except ParamError:
            return start  # a bound that is itself excluded

    # events --------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if selects_on(event):
            self.select_number()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_word = self._value is None and self.lineEdit().text() == self._text()
        if is_word and event.text() and event.text().isprintable():
            self.lineEdit().selectAll()  # a word such as "automatic" means a number
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # the form scrolls

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A double click selects the whole number, thousands and decimals alike; one click more
        leaves it selected.
        """
        if watched is self.lineEdit() and self._selects_all(event):
            self.select_number()
            return True
        return super().eventFilter(watched, event)

    def _selects_all(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonDblClick:
            self._double_click_ms = cast("QMouseEvent", event).timestamp()
            return True
        if event.type() != QEvent.Type.MouseButtonPress:
            return False
        since = cast("QMouseEvent", event).timestamp() - self._double_click_ms
        return since < QGuiApplication.styleHints().mouseDoubleClickInterval()
