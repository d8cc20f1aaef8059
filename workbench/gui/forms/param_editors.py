"""One editor widget for each kind of parameter; ParamForm puts them into rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from workbench.core.params import (
    ChoiceParam,
    FloatParam,
    IntParam,
    Param,
    PathParam,
    ShapeParam,
    SizeParam,
    TextParam,
)
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.layout import row


class Editor(QObject):
    """Shows one value and emits a signal when the user has set another.

    Attributes:
        widget: The widget in the form.
        committed: The new value, not yet checked.
    """

    committed = Signal(object)

    def __init__(self, widget: QWidget, show: Callable[[Any], None]) -> None:
        super().__init__(widget)
        self.widget = widget
        self._show = show
        self._is_showing = False

    def set_value(self, value: Any) -> None:
        """Shows a value without a signal."""
        self._is_showing = True
        self._show(value)
        self._is_showing = False

    def commit(self, value: Any) -> None:
        """Emits a value the user has set."""
        if not self._is_showing:
            self.committed.emit(value)


class _FormField(QObject):
    """What a box does otherwise than Qt's, in a form that scrolls.

    The mouse wheel passes it by unless it has the focus. A word such as "automatic" means a
    number: what is typed replaces all of it.
    """

    def __init__(self, box: QWidget) -> None:
        super().__init__(box)
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        box.installEventFilter(self)
        if isinstance(box, QAbstractSpinBox):
            box.setKeyboardTracking(False)
            # A style sheet's padding does not reach the line inside a spin box.
            box.lineEdit().setTextMargins(6, 0, 0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QWheelEvent) and not cast("QWidget", watched).hasFocus():
            event.ignore()
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(watched, QAbstractSpinBox):
            typed = cast("QKeyEvent", event).text()
            if typed and typed.isprintable() and watched.text() == watched.specialValueText():
                watched.selectAll()
        return False


class NoWheelSpinBox(QSpinBox):
    """A spin box that the mouse wheel passes by unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        _FormField(self)


class NumberBox(QDoubleSpinBox):
    """A spin box for numbers of any size, written as short as they are: 0.001, 1e-07."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(12)
        _FormField(self)

    def textFromValue(self, val: float) -> str:
        return f"{val:.8g}"

    def valueFromText(self, text: str) -> float:
        try:
            return float(text.replace(",", ".").removesuffix(self.suffix()))
        except ValueError:
            return self.value()

    def validate(
        self,
        input: str,  # noqa: A002 - Qt's name
        pos: int,
    ) -> tuple[QValidator.State, str, int]:
        text = input.replace(",", ".").removesuffix(self.suffix())
        is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE)
        is_start = re.fullmatch(r"[+-]?\d*\.?\d*(e[+-]?\d*)?", text, re.IGNORECASE)
        state = QValidator.State.Intermediate if is_start else QValidator.State.Invalid
        return QValidator.State.Acceptable if is_number else state, input, pos


class NoWheelComboBox(ElidedComboBox):
    """A combo box that the mouse wheel passes by unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumContentsLength(6)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        _FormField(self)


def make_editor(param: Param) -> Editor:
    """The editor for a parameter, by its kind."""
    return _MAKERS[param.kind](param)


def _number_editor(param: Param) -> Editor:
    spec = cast("IntParam | FloatParam", param)
    box: Any = NoWheelSpinBox() if isinstance(spec, IntParam) else NumberBox()
    step = 1 if isinstance(spec, IntParam) else spec.step
    lowest = spec.minimum - step if spec.is_optional else spec.minimum
    box.setRange(lowest, spec.maximum)
    box.setSingleStep(step)
    box.setGroupSeparatorShown(spec.maximum > 9999)
    box.setSuffix(f" {spec.unit}" if spec.unit else "")
    box.setSpecialValueText(spec.none_text if spec.is_optional else "")

    def commit(value: float) -> None:
        editor.commit(None if spec.is_optional and value == box.minimum() else value)

    editor = Editor(box, lambda value: box.setValue(lowest if value is None else value))
    box.valueChanged.connect(commit)
    return editor


def _bool_editor(param: Param) -> Editor:
    box = QCheckBox()
    box.setAccessibleName(param.title)
    editor = Editor(box, lambda value: box.setChecked(bool(value)))
    box.toggled.connect(editor.commit)
    return editor


def _choice_editor(param: Param) -> Editor:
    spec = cast("ChoiceParam", param)
    box = NoWheelComboBox()
    for choice in spec.choices:
        box.addItem(spec.show(choice), choice)

    def show(value: Any) -> None:
        box.setCurrentIndex(spec.choices.index(value) if value in spec.choices else -1)

    editor = Editor(box, show)
    box.activated.connect(lambda index: editor.commit(box.itemData(index)))
    return editor


def _numbers_editor(param: Param) -> Editor:
    line = QLineEdit()
    zero_text = param.zero_text if isinstance(param, SizeParam) else ""
    line.setPlaceholderText(zero_text)

    def show(value: Any) -> None:
        text = param.show(value)
        line.setText("" if text == zero_text else text)

    editor = Editor(line, show)
    _on_typed(line, lambda text: editor.commit(parse_numbers(text, param)))
    return editor


def _on_typed(line: QLineEdit, commit: Callable[[str], None]) -> None:
    """Calls `commit` with each text that the user has entered."""

    def finish() -> None:
        if line.isModified():
            line.setModified(False)
            commit(line.text())

    line.editingFinished.connect(finish)


def parse_numbers(text: str, param: Param) -> Any:
    """Numbers out of "3 × 3", "3x3", "3, 3", "(3, 3)" or, for equal axes, "3".

    Text that is none of these comes back as it is, so that the check can quote it. No text
    means zeros where these have a meaning of their own.
    """
    if isinstance(param, SizeParam) and param.zero_text and text.strip() in {"", param.zero_text}:
        return 0
    words = text.removesuffix(param.unit).strip().strip("()[]").lower()
    parts = [part.strip() for part in re.split(r"[×x*,;\s]+", words) if part.strip()]
    parts = ["-1" if part in {"rest", "?"} else part for part in parts]
    if not parts or not all(re.fullmatch(r"-?\d{1,12}", part) for part in parts):
        return text
    numbers = [int(part) for part in parts]
    if isinstance(param, SizeParam) and len(numbers) == 1:
        return numbers[0]
    return numbers


def _path_editor(param: Param) -> Editor:
    spec = cast("PathParam", param)
    frame = QWidget()
    line = QLineEdit()
    line.setPlaceholderText("no folder chosen" if spec.is_folder else "no file chosen")
    browse = QPushButton("Browse…")
    browse.setAccessibleName(f"Browse for {spec.title.lower()}")
    row((line, 1), browse, parent=frame, spacing=6)
    frame.setFocusProxy(line)
    editor = Editor(frame, lambda value: line.setText(str(value)))

    def ask() -> None:
        path = _ask_path(frame, spec, line.text())
        if path:
            line.setText(path)
            editor.commit(path)

    browse.clicked.connect(ask)
    _on_typed(line, lambda text: editor.commit(text.strip()))
    return editor


def _ask_path(parent: QWidget, spec: PathParam, start: str) -> str:
    title = f"Choose {spec.title.lower()}"
    if spec.is_folder:
        return QFileDialog.getExistingDirectory(parent, title, start)
    patterns = " ".join(spec.patterns)
    filters = f"{spec.title} ({patterns});;All files (*)" if patterns else "All files (*)"
    return QFileDialog.getOpenFileName(parent, title, start, filters)[0]


def _text_editor(param: Param) -> Editor:
    line = QLineEdit()
    line.setMaxLength(cast("TextParam", param).max_length)
    editor = Editor(line, lambda value: line.setText(str(value)))
    _on_typed(line, lambda text: editor.commit(text.strip()))
    return editor


_MAKERS: dict[str, Callable[[Param], Editor]] = {
    IntParam.kind: _number_editor,
    FloatParam.kind: _number_editor,
    "bool": _bool_editor,
    ChoiceParam.kind: _choice_editor,
    SizeParam.kind: _numbers_editor,
    ShapeParam.kind: _numbers_editor,
    PathParam.kind: _path_editor,
    TextParam.kind: _text_editor,
}
