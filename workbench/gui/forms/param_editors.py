"""One editor widget for each kind of parameter; ParamForm puts them into rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, cast

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPushButton,
    QStyle,
    QStyleOptionFrame,
    QWidget,
)

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
    read_value,
)
from workbench.errors import ParamError
from workbench.gui.forms.number_field import NumberField, select_on_focus
from workbench.gui.kit.buttons import ElidedComboBox
from workbench.gui.kit.dialogs import ask_file, ask_folder, ask_folders
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import row

# hint line -----------------------------------------------------------------------------------
# Lines of text that are shown shortened where they do not fit: placeholders, and paths.

_CURSOR_PX = 4
_PADDING_PX = 2  # Qt draws the text this much inside the field, at each side


class HintLine(QLineEdit):
    """A field of one line.

    Attributes:
        hint: The whole placeholder, e.g. the path of a folder that is used while none is chosen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hint = ""

    def set_hint(self, hint: str) -> None:
        """Shows what stands for an empty field."""
        self.hint = hint
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the placeholder for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margins = self.textMargins()
        room = self.contentsRect().width() - margins.left() - margins.right() - _CURSOR_PX
        middle = Qt.TextElideMode.ElideMiddle
        self.setPlaceholderText(self.fontMetrics().elidedText(self.hint, middle, room))


class PathLine(HintLine):
    """A field for a path: until it is typed in, the end of a long path is shown, from the start of
    a folder's name.
    """

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's own where all of it fits, or the cursor is in it."""
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        contents = QStyle.SubElement.SE_LineEditContents
        place = self.style().subElementRect(contents, option, self)
        place = place.marginsRemoved(self.textMargins()).adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
        words = self.words_within(place.width())
        if self.hasFocus() or words == self.text():
            super().paintEvent(event)
            return
        self._paint(option, place, words)

    def words_within(self, room_px: int) -> str:
        """The end of the path that fits in a width; of a name that does not fit, both ends."""
        metrics, text = self.fontMetrics(), self.text()
        parts = PurePath(text).parts
        ends = [str(PurePath("…", *parts[at:])) for at in range(1, len(parts))]
        name = parts[-1] if parts else ""
        fitting = (
            each for each in (text, *ends, name) if metrics.horizontalAdvance(each) <= room_px
        )
        return next(fitting, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room_px))

    def _paint(self, option: QStyleOptionFrame, place: QRect, words: str) -> None:
        painter = QPainter(self)
        panel, text = QStyle.PrimitiveElement.PE_PanelLineEdit, QPalette.ColorRole.Text
        self.style().drawPrimitive(panel, option, painter, self)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        is_on = self.isEnabled()
        self.style().drawItemText(painter, place, left, option.palette, is_on, words, text)
        painter.end()


# number list ---------------------------------------------------------------------------------
# Numbers out of a line such as "3 × 3": sizes and shapes. Qt-free.

_BETWEEN = re.compile(r"\s*[×x*;]\s*|\s*,\s+|\s+,?")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
_WORDS_FOR_REST = frozenset({"rest", "?"})


def parse_numbers(text: str, param: Param) -> Any:
    """Numbers out of "3 × 3", "3x3", "3, 3", "(3, 3)", "1,024 × 3" or, for equal axes, "3".

    Text that is none of these comes back as it is, so that the check can quote it. No text
    means zeros where these have a meaning of their own.

    Raises:
        ParamError: a comma of which nothing says whether it parts axes or thousands.
    """
    if isinstance(param, SizeParam) and param.zero_text and text.strip() in {"", param.zero_text}:
        return 0
    words = text.strip().removesuffix(param.unit).strip().strip("()[]").lower()
    parts = [part for part in _BETWEEN.split(words) if part]
    if len(parts) == 1 and _GROUPED.fullmatch(parts[0]):
        numbers = _one_or_several(parts[0], param)
    else:
        numbers = [number for part in parts for number in _numbers(part)]
    if not numbers or "" in numbers:
        return text
    whole = [int(number) for number in numbers]
    return whole[0] if isinstance(param, SizeParam) and len(whole) == 1 else whole


def _numbers(part: str) -> list[str]:
    """The digits of what is between two separators; "" for what is no number."""
    if _GROUPED.fullmatch(part):
        return [part.replace(",", "")]
    pieces = [("-1" if each in _WORDS_FOR_REST else each) for each in part.split(",") if each]
    return [each if re.fullmatch(r"-?\d{1,12}", each, re.ASCII) else "" for each in pieces]


def _one_or_several(part: str, param: Param) -> list[str]:
    """Digits of "1,024" or "64,100": thousands, or axes, whichever is allowed."""
    several, one = part.split(","), part.replace(",", "")
    if any(each.startswith("0") for each in several) or not _allows(param, several):
        return [one]
    if not _allows(param, [one]):
        return several
    raise ParamError(
        f"“{part}” may be {' × '.join(several)} or {one}.",
        where=param.key,
        received=part,
        fix=f"Enter {' × '.join(several)}, or {one} without a comma.",
    )


def _allows(param: Param, numbers: list[str]) -> bool:
    whole = [int(number) for number in numbers]
    try:
        param.check(whole[0] if isinstance(param, SizeParam) and len(whole) == 1 else whole)
    except ParamError:
        return False
    return True


# param editors -------------------------------------------------------------------------------

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
