"""A form made from parameters: a row each, errors below their row.

Parameters of a group are under its heading, folded; advanced ones of none under one more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QGridLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from workbench.core.params import BoolParam, IntParam, Param, PathParam, PathsParam
from workbench.errors import ParamError
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.param_editors import MIXED, Editor, make_editor
from workbench.gui.kit.labels import plain_label, plain_tip, restyle, set_role
from workbench.gui.kit.layout import column
from workbench.gui.kit.widgets import CollapsibleSection

# shared editor -------------------------------------------------------------------------------
# The editor of a number that several replicas share: what is edited is one replica's part.
#
# With eight replicas a batch of 1,024 reads "128 × 8 = 1,024"; setting 64 makes it 512. What
# cannot be shared evenly reads "12 × 8 ≠ 100". With one replica it is a plain field.

_MOST_LETTERS = 15
"""What has more is written closer, or its end would not be in sight in a narrow panel."""

_HAIR_SPACE = "\N{HAIR SPACE}"


class SharedEditor(Editor):
    """Shows a whole, edits a part of it, and emits the whole."""

    def __init__(self, param: IntParam, replicas: int = 1) -> None:
        self._field = NumberField(param)
        super().__init__(self._field, self._show_whole, lambda: self._field.set_mixed(MIXED))
        self._param = self._part = param
        self._whole = int(param.default)
        self._field.entered.connect(self._on_part_entered)
        self.set_replicas(replicas)

    def set_replicas(self, replicas: int) -> None:
        """Sets how many replicas share the number from now on; the whole stays as it is."""
        self._replicas = replicas
        lowest = max(1, -(-self._param.minimum // replicas))
        highest = max(lowest, self._param.maximum // replicas)
        self._part = replace(self._param, minimum=lowest, maximum=highest, default=lowest)
        self._field.set_param(self._part)
        self.set_value(self._whole)

    def _show_whole(self, value: Any) -> None:
        self._whole = int(value)
        self._field.set_suffix("")
        self._field.set_value(max(1, self._whole // self._replicas))
        self._show_product()

    def _on_part_entered(self, part: Any) -> None:
        try:
            checked = self._part.check(part)
        except ParamError as error:
            each = f" for each of {self._replicas:,} replicas" if self._replicas > 1 else ""
            self.refused.emit(f"Enter {error.expected}{each}.")
            return
        if checked is not None:
            self.commit(checked * self._replicas)

    def _show_product(self) -> None:
        """Shows what follows the part; the whole too where it cannot be shared evenly."""
        if self._replicas == 1:
            self._field.setAccessibleDescription(self._param.help)
            return
        part, replicas = int(self._field.value()), self._replicas
        product = part * replicas
        is_even = product == self._whole
        words = f" × {replicas:,} {'=' if is_even else '≠'} {self._whole:,}"
        if len(f"{part:,}{words}") > _MOST_LETTERS:
            words = words.replace(" ", _HAIR_SPACE)
        self._field.set_suffix(words)
        rest = "" if is_even else f", not {self._whole:,}"
        self._field.setAccessibleDescription(
            f"{part:,} for each of {replicas:,} replicas, {product:,} together{rest}."
        )


# undo keys -----------------------------------------------------------------------------------
# Undo and redo by keys while a field has the cursor: of the typing, else of the project.

_UNDO = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class _UndoKeys(QObject):
    """Keeps a field from taking the keys for what is no longer typing."""

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self._line = line

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and any(event.matches(key) for key in _UNDO)
            and not self._line.isModified()
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def share_undo_keys(widget: QWidget) -> None:
    """Lets Ctrl+Z in a field, or in the field inside a widget, undo the project's last step
    once its text is entered. Text that is being typed is still undone in the field.
    """
    line = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    if line is None:
        return
    keys = _UndoKeys(line)
    line.installEventFilter(keys)
    if isinstance(widget, QAbstractSpinBox):  # it gets the event before its line does
        widget.installEventFilter(keys)


# param form ----------------------------------------------------------------------------------

_TYPED_LENGTH = 40
"""Letters of what was typed that a message repeats."""
_LABEL_PX = 112


class ParamForm(QWidget):
    """Shows and edits the values of some parameters.

    A value is checked before it is emitted: a wrong one is marked, with what would be right,
    and stays until it is corrected; `value_changed` only ever carries canonical values.

    Args:
        params: What is edited.
        values: Their values; defaults for those that are missing.
        shared: Keys of whole numbers that replicas share, see `set_replicas`.
        label_px: Width of the titles.
        notes: Words below some parameters, by key.

    Attributes:
        sections: The fold of each group, by its heading.
    """

    value_changed = Signal(str, object)

    def __init__(
        self,
        params: Sequence[Param],
        values: Mapping[str, Any] | None = None,
        *,
        shared: Collection[str] = (),
        label_px: int = _LABEL_PX,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._label_px, self._notes = label_px, notes or {}
        self._shared = frozenset(shared)
        self._replicas = 1
        self._params = {param.key: param for param in params}
        self._editors: dict[str, Editor] = {}
        self._errors: dict[str, QLabel] = {}
        self._values: dict[str, Any] = {}
        self._labels: dict[str, QLabel] = {}
        self._messages: dict[str, str] = {}
        self._warnings: Mapping[str, str] = {}
        self._mixed: frozenset[str] = frozenset()
        self._keys: dict[QObject, str] = {}
        self._unused: frozenset[str] = frozenset()
        self._unbuilt: dict[str, Callable[[], None]] = {}
        self.sections: dict[str, CollapsibleSection] = {}
        self._column = column(parent=self, spacing=6)
        loose = [param for param in params if not param.group]
        plain = [param for param in loose if not param.is_advanced]
        advanced = [param for param in loose if param.is_advanced]
        self._column.addWidget(self._rows(plain))
        if advanced:
            more = CollapsibleSection("More settings", open_title="Fewer settings")
            self._add_fold(more, advanced)
        for group in dict.fromkeys(param.group for param in params if param.group):
            fold = self.sections[group] = CollapsibleSection(group)
            self._add_fold(fold, [param for param in params if param.group == group])
        if params:
            self.setFocusProxy(self.editor_widget((plain or list(params))[0].key))
        self.set_values(values or {})

    def set_values(self, values: Mapping[str, Any], mixed: Collection[str] = ()) -> None:
        """Shows these values, the default for each missing one; clears its errors.

        Args:
            values: The values by key.
            mixed: Keys of which several values are meant at once: they show none of them, and
                what is entered counts for all.
        """
        before, self._mixed = self._mixed, frozenset(mixed)
        for key, param in self._params.items():
            value = values.get(key, param.default)
            try:
                shown = param.check(value)
                message = ""
            except ParamError as error:
                shown, message = param.default, f"{error.what} Enter {error.expected}."
            is_same = self._values.get(key, self) == shown and (key in before) == (key in mixed)
            if not is_same or self._messages.get(key):
                self._values[key] = shown
                self._show_value(key)
            self._show_error(key, message)
        self._note_sections()

    def _show_value(self, key: str) -> None:
        if key not in self._editors:
            return
        if key in self._mixed:
            self._editors[key].set_mixed()
        else:
            self._editors[key].set_value(self._values.get(key, self._params[key].default))

    def set_replicas(self, replicas: int) -> None:
        """Sets how many replicas share what is shared: those rows then edit one replica's part."""
        self._replicas = replicas
        for editor in self._editors.values():
            if isinstance(editor, SharedEditor):
                editor.set_replicas(replicas)

    def set_unused(self, keys: Collection[str]) -> None:
        """Leaves out the rows of parameters that change nothing at present."""
        if self._unused != frozenset(keys):
            self._unused = frozenset(keys)
            for key in self._editors:
                self._show_row(key)

    def _show_row(self, key: str) -> None:
        """Shows or leaves out a row, with its message where it has one."""
        if key in self._unbuilt:
            return
        is_shown, message = key not in self._unused, self._messages.get(key, "")
        widget, error = self._editors[key].widget, self._errors[key]
        warning = self._warnings.get(key, "")
        self._labels[key].setVisible(is_shown)
        widget.setVisible(is_shown)
        error.setText(message or warning)
        error.setVisible(is_shown and bool(message or warning))
        role = "bad" if message else "warning"
        if error.property("role") != role:
            set_role(error, role)
        if bool(widget.property("bad")) != bool(message):
            restyle(widget, bad=bool(message))

    def add_below_first(self, widget: QWidget) -> None:
        """Puts a widget below the rows that are always in sight."""
        self._column.insertWidget(1, widget)

    def set_errors(self, errors: Mapping[str, str]) -> None:
        """Marks parameters with a message each; the others are unmarked."""
        for key in self._params:
            self._show_error(key, errors.get(key, ""))

    def set_warnings(self, warnings: Mapping[str, str]) -> None:
        """Shows below some parameters what is odd about their values, which hold all the same."""
        changed = {key for key in self._params if warnings.get(key) != self._warnings.get(key)}
        self._warnings = dict(warnings)
        for key in changed & self._editors.keys():
            self._show_row(key)

    def editor_widget(self, key: str) -> QWidget:
        """The widget that edits a parameter."""
        self._build(key)
        return self._editors[key].widget

    def _add_fold(self, fold: CollapsibleSection, params: Sequence[Param]) -> None:
        """Adds a folded part; its rows are made when it is first opened, which is mostly never."""

        def build() -> None:
            for param in params:
                del self._unbuilt[param.key]
            fold.body.addWidget(self._rows(params))
            for param in params:
                self._show_value(param.key)
                self._show_row(param.key)

        self._unbuilt.update((param.key, build) for param in params)
        fold.opening.connect(lambda: self._build(params[0].key))
        self._column.addWidget(fold)

    def _build(self, key: str) -> None:
        """Makes the rows of a parameter's fold if they are not there."""
        if build := self._unbuilt.get(key):
            build()

    def _note_sections(self) -> None:
        """Notes beside each heading how many values under it are not the defaults."""
        for group, fold in self.sections.items():
            params = [param for param in self._params.values() if param.group == group]
            changed = sum(not param.is_usual(self._values.get(param.key)) for param in params)
            fold.set_note(f"{changed} not default" if changed else "")

    def _rows(self, params: Sequence[Param]) -> QWidget:
        frame = QWidget()
        # Not a QFormLayout: that gives a wrapped message too little height.
        form = QGridLayout(frame)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.setColumnStretch(1, 1)
        for param in params:
            self._add_row(form, param)
        return frame

    def _add_row(self, form: QGridLayout, param: Param) -> None:
        editor = self._make_editor(param)
        widget = editor.widget
        tip = plain_tip(_tip(param))
        widget.setToolTip(tip)
        widget.setAccessibleName(param.title)
        widget.setAccessibleDescription(param.help)
        widget.setObjectName(f"param_{param.key}")
        widget.setSizePolicy(QSizePolicy.Policy.Expanding, widget.sizePolicy().verticalPolicy())
        label = plain_label(param.title, role="dim", wrap=True)
        label.setToolTip(tip)
        label.setBuddy(widget)
        error = plain_label(role="bad", wrap=True)
        error.hide()
        row = form.rowCount()
        is_wide = isinstance(param, PathParam | PathsParam)  # too long for a part of the width
        if is_wide:
            form.addWidget(label, row, 0, 1, 2)
            form.addWidget(widget, row + 1, 0, 1, 2)
        else:
            label.setFixedWidth(self._label_px)
            form.addWidget(label, row, 0)
            form.addWidget(widget, row, 1)
        form.addWidget(error, form.rowCount(), 0, 1, 2)
        if note := self._notes.get(param.key, ""):
            words, first = plain_label(note, role="dim", wrap=True), form.rowCount()
            form.addWidget(words, first, 0 if is_wide else 1, 1, 2 if is_wide else 1)
        self._editors[param.key] = editor
        self._labels[param.key] = label
        self._errors[param.key] = error
        share_undo_keys(widget)
        for part in filter(None, {widget, editor.line}):
            self._keys[part] = param.key
            part.installEventFilter(self)
        editor.committed.connect(lambda value, key=param.key: self._on_committed(key, value))
        editor.refused.connect(lambda words, key=param.key: self._reject(key, words))

    def _make_editor(self, param: Param) -> Editor:
        if param.key in self._shared and isinstance(param, IntParam):
            return SharedEditor(param, self._replicas)
        return make_editor(param)

    def _on_committed(self, key: str, value: Any) -> None:
        try:
            checked = self._params[key].check(value)
        except ParamError as error:
            self._reject(key, f"Enter {error.expected}.")
            return
        self._show_error(key, "")
        is_new = self._values.get(key) != checked or key in self._mixed
        self._mixed -= {key}
        self._values[key] = checked
        self._show_value(key)
        self._note_sections()
        if is_new:
            self.value_changed.emit(key, checked)

    def _reject(self, key: str, message: str) -> None:
        """Shows the value that holds, which a run would be trained with, and why no other does."""
        line = self._editors[key].line
        typed = line.text()[:_TYPED_LENGTH] if line is not None else ""
        self._show_value(key)
        is_named = not typed or f"“{typed}”" in message
        self._show_error(key, message if is_named else f"“{typed}” was not accepted. {message}")

    def _show_error(self, key: str, message: str) -> None:
        self._messages[key] = message
        self._show_row(key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape in a field takes back what was typed and not entered, or was rejected."""
        is_escape = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Escape
        )
        if is_escape and (key := self._keys.get(watched)) is not None:
            line = self._editors[key].line
            if line is not None and (line.isModified() or self._messages.get(key)):
                line.setModified(False)
                self._show_value(key)
                self._show_error(key, "")
                return True
        return super().eventFilter(watched, event)


def _tip(param: Param) -> str:
    """What a parameter means and may be; a box to check shows the latter."""
    if isinstance(param, BoolParam):
        return param.help
    return f"{param.help}\nAllowed: {param.listed}."
