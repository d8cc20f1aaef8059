"""One editor widget for each kind of parameter; ParamForm puts them into rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
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

# A style sheet's padding does not reach the line inside a spin box.
_TEXT_MARGINS = (6, 0, 0, 0)


class Editor(QObject):
    """Shows one value and tells when the user has set another.

    Attributes:
        widget: What stands in the form.
        committed: The new value, not yet checked.
    """

    committed = Signal(object)

    def __init__(self, widget: QWidget, show: Callable[[Any], None]) -> None:
        super().__init__(widget)
        self.widget = widget
        self._show = show
        self._is_showing = False

    def set_value(self, value: Any) -> None:
        """Shows a value without telling."""
        self._is_showing = True
        self._show(value)
        self._is_showing = False

    def commit(self, value: Any) -> None:
        """Tells of a value the user has set."""
        if not self._is_showing:
            self.committed.emit(value)


def _give_way(box: QAbstractSpinBox, event: QKeyEvent) -> None:
    """A word such as "automatic" stands for a number: what is typed replaces all of it."""
    if event.text() and event.text().isprintable() and box.text() == box.specialValueText():
        box.selectAll()


class NoWheelSpinBox(QSpinBox):
    """A spin box that the mouse wheel passes by unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setKeyboardTracking(False)
        self.lineEdit().setTextMargins(*_TEXT_MARGINS)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        _give_way(self, event)
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class NumberBox(QDoubleSpinBox):
    """A spin box for numbers of any size, written as short as they are: 0.001, 1e-07."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setKeyboardTracking(False)
        self.setDecimals(12)
        self.lineEdit().setTextMargins(*_TEXT_MARGINS)

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
        state = QValidator.State.Invalid
        if is_number:
            state = QValidator.State.Acceptable
        elif is_start:
            state = QValidator.State.Intermediate
        return state, input, pos

    def keyPressEvent(self, event: QKeyEvent) -> None:
        _give_way(self, event)
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class NoWheelComboBox(ElidedComboBox):
    """A combo box that the mouse wheel passes by unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumContentsLength(6)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def make_editor(param: Param) -> Editor:
    """The editor for a parameter, by its kind."""
    return _MAKERS[param.kind](param)


def _int_editor(param: Param) -> Editor:
    spec = cast("IntParam", param)
    box = NoWheelSpinBox()
    lowest = spec.minimum - 1 if spec.is_optional else spec.minimum
    box.setRange(lowest, spec.maximum)
    if spec.is_optional:
        box.setSpecialValueText(spec.none_text)
    if spec.unit:
        box.setSuffix(f" {spec.unit}")
    box.setGroupSeparatorShown(spec.maximum > 9999)

    def is_none(value: int) -> bool:
        return spec.is_optional and value == lowest

    editor = Editor(box, lambda value: box.setValue(lowest if value is None else int(value)))
    box.valueChanged.connect(lambda value: editor.commit(None if is_none(value) else value))
    return editor


def _float_editor(param: Param) -> Editor:
    spec = cast("FloatParam", param)
    box = NumberBox()
    lowest = spec.minimum - spec.step if spec.is_optional else spec.minimum
    box.setRange(lowest, spec.maximum)
    box.setSingleStep(spec.step)
    if spec.is_optional:
        box.setSpecialValueText(spec.none_text)
    if spec.unit:
        box.setSuffix(f" {spec.unit}")

    def is_none(value: float) -> bool:
        return spec.is_optional and value == box.minimum()

    editor = Editor(box, lambda value: box.setValue(lowest if value is None else float(value)))
    box.valueChanged.connect(lambda value: editor.commit(None if is_none(value) else value))
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
    line.editingFinished.connect(lambda: _commit_numbers(editor, line, param))
    return editor


def _commit_numbers(editor: Editor, line: QLineEdit, param: Param) -> None:
    if line.isModified():
        line.setModified(False)
        editor.commit(parse_numbers(line.text(), param))


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
    row = QHBoxLayout(frame)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    line = QLineEdit()
    line.setPlaceholderText("no folder chosen" if spec.is_folder else "no file chosen")
    browse = QPushButton("Browse…")
    browse.setAccessibleName(f"Browse for {spec.title.lower()}")
    row.addWidget(line, 1)
    row.addWidget(browse)
    frame.setFocusProxy(line)

    editor = Editor(frame, lambda value: line.setText(str(value)))

    def ask() -> None:
        path = _ask_path(frame, spec, line.text())
        if path:
            line.setText(path)
            editor.commit(path)

    def finish() -> None:
        if line.isModified():
            line.setModified(False)
            editor.commit(line.text().strip())

    browse.clicked.connect(ask)
    line.editingFinished.connect(finish)
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

    def finish() -> None:
        if line.isModified():
            line.setModified(False)
            editor.commit(line.text().strip())

    line.editingFinished.connect(finish)
    return editor


_MAKERS: dict[str, Callable[[Param], Editor]] = {
    IntParam.kind: _int_editor,
    FloatParam.kind: _float_editor,
    "bool": _bool_editor,
    ChoiceParam.kind: _choice_editor,
    SizeParam.kind: _numbers_editor,
    ShapeParam.kind: _numbers_editor,
    PathParam.kind: _path_editor,
    TextParam.kind: _text_editor,
}
