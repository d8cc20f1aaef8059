"""One editor widget for each kind of parameter; ParamForm puts them into rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPushButton, QWidget

from workbench.core.param_text import read_value
from workbench.core.params import (
    ChoiceParam,
    FloatParam,
    IntParam,
    Param,
    PathParam,
    PathsParam,
    ShapeParam,
    SizeParam,
    TextParam,
)
from workbench.errors import ParamError
from workbench.gui.forms.hint_line import HintLine, PathLine
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.number_list import parse_numbers
from workbench.gui.forms.select_on_focus import select_on_focus
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.file_dialogs import ask_file, ask_folder, ask_folders
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import row

MIXED = "mixed"
"""Stands for the value where several layers have different ones."""


class Editor(QObject):
    """Shows one value and emits a signal when the user has set another.

    Args:
        widget: The widget in the form.
        show: Shows a value in it.
        show_mixed: Shows in it that several values are meant at once.

    Attributes:
        line: The line of text in it, where it has one.
        committed: The new value, not yet checked.
        refused: Why what was entered can be no value, in a sentence.
    """

    committed = Signal(object)
    refused = Signal(str)

    def __init__(
        self, widget: QWidget, show: Callable[[Any], None], show_mixed: Callable[[], None]
    ) -> None:
        super().__init__(widget)
        self.widget = widget
        self.line = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
        self._show = show
        self._show_mixed = show_mixed
        self._is_showing = False

    def set_value(self, value: Any) -> None:
        """Shows a value without a signal."""
        self._is_showing = True
        self._show(value)
        self._is_showing = False

    def set_mixed(self) -> None:
        """Shows that several values are meant at once; any value set counts for all."""
        self._is_showing = True
        self._show_mixed()
        self._is_showing = False

    def commit(self, value: Any) -> None:
        """Emits a value the user has set."""
        if not self._is_showing:
            self.committed.emit(value)


class NoWheelComboBox(ElidedComboBox):
    """A combo box that the mouse wheel passes by unless it has the focus: the form scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumContentsLength(6)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def make_editor(param: Param) -> Editor:
    """The editor for a parameter, by its kind."""
    return _MAKERS[param.kind](param)


def _number_editor(param: Param) -> Editor:
    field = NumberField(cast("IntParam | FloatParam", param))
    editor = Editor(field, field.set_value, lambda: field.set_mixed(MIXED))
    field.entered.connect(editor.commit)
    return editor


def _bool_editor(param: Param) -> Editor:
    box = QCheckBox()
    box.setAccessibleName(param.title)

    def show(value: Any) -> None:
        box.setTristate(False)
        box.setChecked(bool(value))

    editor = Editor(box, show, lambda: box.setCheckState(Qt.CheckState.PartiallyChecked))
    box.clicked.connect(editor.commit)
    return editor


def _choice_editor(param: Param) -> Editor:
    spec = cast("ChoiceParam", param)
    box = NoWheelComboBox()
    box.setPlaceholderText(MIXED)
    for choice in spec.choices:
        box.addItem(spec.show(choice), choice)

    def show(value: Any) -> None:
        box.setCurrentIndex(spec.choices.index(value) if value in spec.choices else -1)

    editor = Editor(box, show, lambda: box.setCurrentIndex(-1))
    box.activated.connect(lambda index: editor.commit(box.itemData(index)))
    return editor


def _line_editor(
    widget: QWidget,
    line: HintLine,
    as_text: Callable[[Any], str],
    read: Callable[[str], Any],
) -> Editor:
    """An editor of one line; `read` makes a value of a text, or raises ParamError."""
    hint = line.hint

    def show(value: Any) -> None:
        line.set_hint(hint)
        line.setText(as_text(value))

    def show_mixed() -> None:
        line.set_hint(MIXED)
        line.clear()

    def finish() -> None:
        if not line.isModified():
            return
        line.setModified(False)
        try:
            editor.commit(read(line.text()))
        except ParamError as error:
            editor.refused.emit(f"{error.what} {error.fix}")

    editor = Editor(widget, show, show_mixed)
    line.editingFinished.connect(finish)
    select_on_focus(line)
    return editor


def _numbers_editor(param: Param) -> Editor:
    line = HintLine()
    zero_text = param.zero_text if isinstance(param, SizeParam) else ""
    line.set_hint(zero_text)

    def as_text(value: Any) -> str:
        text = param.show(value)
        return "" if text == zero_text else text

    return _line_editor(line, line, as_text, lambda text: parse_numbers(text, param))


def _path_editor(param: Param) -> Editor:
    spec = cast("PathParam", param)
    frame = QWidget()
    line = PathLine()
    nothing = "no folder chosen" if spec.is_folder else "no file chosen"
    line.set_hint(spec.empty_text or nothing)
    line.setToolTip(plain_tip(spec.empty_text))
    browse = QPushButton("Browse…")
    browse.setAccessibleName(f"Browse for {spec.title.lower()}")
    row((line, 1), browse, parent=frame, spacing=6)
    frame.setFocusProxy(line)
    # A long path is shown shortened; without one the tip is that of the frame.
    line.textChanged.connect(lambda text: line.setToolTip(plain_tip(text or spec.empty_text)))
    editor = _line_editor(frame, line, str, str.strip)

    def ask() -> None:
        path = _ask_path(frame, spec, line.text())
        if path:
            line.setText(path)
            editor.commit(path)

    browse.clicked.connect(ask)
    return editor


def _ask_path(parent: QWidget, spec: PathParam, start: str) -> str:
    title, kind = f"Choose {spec.title.lower()}", f"param_{spec.key}"
    if spec.is_folder:
        return ask_folder(parent, title, kind=kind, start=start)
    patterns = " ".join(spec.patterns)
    filters = f"{spec.title} ({patterns});;All files (*)" if patterns else "All files (*)"
    return ask_file(parent, title, filters, kind=kind, start=start)


def _paths_editor(param: Param) -> Editor:
    frame, line = QWidget(), HintLine()
    line.set_hint("no folders chosen")
    add = QPushButton("Add…")
    add.setAccessibleName(f"Add to {param.title.lower()}")
    row((line, 1), add, parent=frame, spacing=6)
    frame.setFocusProxy(line)
    line.textChanged.connect(lambda text: line.setToolTip(plain_tip(text)))
    editor = _line_editor(frame, line, param.show, lambda text: read_value(param, text))

    def ask() -> None:
        added = ask_folders(frame, "Add folders", kind=f"param_{param.key}")
        if added:
            paths = dict.fromkeys((*read_value(param, line.text()), *added))
            line.setText(param.show(tuple(paths)))
            editor.commit(tuple(paths))

    add.clicked.connect(ask)
    return editor


def _text_editor(param: Param) -> Editor:
    line = HintLine()
    line.setMaxLength(cast("TextParam", param).max_length)
    return _line_editor(line, line, str, str.strip)


_MAKERS: dict[str, Callable[[Param], Editor]] = {
    IntParam.kind: _number_editor,
    FloatParam.kind: _number_editor,
    "bool": _bool_editor,
    ChoiceParam.kind: _choice_editor,
    SizeParam.kind: _numbers_editor,
    ShapeParam.kind: _numbers_editor,
    PathParam.kind: _path_editor,
    PathsParam.kind: _paths_editor,
    TextParam.kind: _text_editor,
}
