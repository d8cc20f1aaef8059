"""A form made from parameters: a row each, advanced ones folded, errors below their row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from workbench.core.params import Param
from workbench.errors import ParamError
from workbench.gui.widgets.labels import plain_label, plain_tip
from workbench.gui.widgets.param_editors import Editor, make_editor
from workbench.gui.widgets.undo_keys import share_undo_keys

_LABEL_PX = 112


class ParamForm(QWidget):
    """Shows and edits the values of some parameters.

    A value is checked before it is told: a wrong one is marked, with what would be right,
    and stays until it is mended; `value_changed` only ever carries canonical values.
    """

    value_changed = Signal(str, object)

    def __init__(
        self,
        params: Sequence[Param],
        values: Mapping[str, Any] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._params = {param.key: param for param in params}
        self._editors: dict[str, Editor] = {}
        self._errors: dict[str, QLabel] = {}
        self._values: dict[str, Any] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        plain = [param for param in params if not param.is_advanced]
        advanced = [param for param in params if param.is_advanced]
        column.addWidget(self._rows(plain))
        if advanced:
            self._add_fold(column, self._rows(advanced))
        if params:
            self.setFocusProxy(self._editors[(plain or advanced)[0].key].widget)
        self.set_values(values or {})

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Shows these values, the default for each missing one; clears its errors."""
        for key, param in self._params.items():
            value = values.get(key, param.default)
            try:
                shown = param.check(value)
                message = ""
            except ParamError as error:
                shown, message = param.default, str(error)
            if key not in self._values or self._values[key] != shown or self._has_error(key):
                self._values[key] = shown
                self._editors[key].set_value(shown)
            self._show_error(key, message)

    def set_errors(self, errors: Mapping[str, str]) -> None:
        """Marks parameters with a message each; the others are unmarked."""
        for key in self._params:
            self._show_error(key, errors.get(key, ""))

    def editor_widget(self, key: str) -> QWidget:
        """The widget that edits a parameter."""
        return self._editors[key].widget

    def error_text(self, key: str) -> str:
        """The message shown below a parameter, "" for none."""
        return self._errors[key].text() if self._has_error(key) else ""

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
        editor = make_editor(param)
        widget = editor.widget
        tip = plain_tip(f"{param.help}\nAllowed: {param.expected()}.")
        widget.setToolTip(tip)
        widget.setAccessibleName(param.title)
        widget.setAccessibleDescription(param.help)
        widget.setObjectName(f"param_{param.key}")
        widget.setSizePolicy(QSizePolicy.Policy.Expanding, widget.sizePolicy().verticalPolicy())
        label = plain_label(param.title, role="dim", wrap=True)
        label.setToolTip(tip)
        label.setBuddy(widget)
        label.setFixedWidth(_LABEL_PX)
        row = form.rowCount()
        form.addWidget(label, row, 0)
        form.addWidget(widget, row, 1)
        error = plain_label(role="bad", wrap=True)
        error.hide()
        form.addWidget(error, row + 1, 0, 1, 2)
        self._editors[param.key] = editor
        self._errors[param.key] = error
        share_undo_keys(widget)
        editor.committed.connect(lambda value, key=param.key: self._on_committed(key, value))

    def _add_fold(self, column: QVBoxLayout, advanced: QWidget) -> None:
        fold = QToolButton()
        fold.setProperty("role", "fold")
        fold.setText("More settings")
        fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        fold.setArrowType(Qt.ArrowType.RightArrow)
        fold.setCheckable(True)
        fold.setAccessibleName("More settings")
        advanced.hide()

        def unfold(is_open: bool) -> None:  # noqa: FBT001 - Qt's signal
            advanced.setVisible(is_open)
            fold.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
            fold.setText("Fewer settings" if is_open else "More settings")

        fold.toggled.connect(unfold)
        column.addWidget(fold)
        column.addWidget(advanced)

    def _on_committed(self, key: str, value: Any) -> None:
        try:
            checked = self._params[key].check(value)
        except ParamError as error:
            self._show_error(key, f"{error.what} Allowed: {error.expected}.")
            return
        self._show_error(key, "")
        is_new = self._values.get(key) != checked
        self._values[key] = checked
        self._editors[key].set_value(checked)
        if is_new:
            self.value_changed.emit(key, checked)

    def _has_error(self, key: str) -> bool:
        return not self._errors[key].isHidden()

    def _show_error(self, key: str, message: str) -> None:
        label = self._errors[key]
        if label.text() == message and label.isHidden() != bool(message):
            return
        label.setText(message)
        label.setVisible(bool(message))
        widget = self._editors[key].widget
        widget.setProperty("bad", bool(message))
        widget.style().unpolish(widget)
        widget.style().polish(widget)
