"""The values that one setting of a sweep takes: a list that is typed or checked, or a range."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam
from workbench.errors import UsageError
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.theme import Theme
from workbench.runs.library.sweep_axes import MAX_STEPS, Axis, Sweepable

_STEPS = IntParam("steps", 3, "", minimum=2, maximum=MAX_STEPS)
_BOXES = 4
_FIELD_PX = 92
_FORMS = (("list", "Values"), ("range", "Range"))
_SPACINGS = (("", "even steps"), ("log", "logarithmic steps"))


class AxisRow(Box):
    """A setting and its values.

    Signals:
        changed: Other values.
        removed(str): The setting shall not be compared.
    """

    changed = Signal()
    removed = Signal(str)

    def __init__(self, theme: Theme, setting: Sweepable) -> None:
        super().__init__("card", 10, 6)
        self.setting = setting
        self._is_random = False
        self.form, self.spacing = NoWheelComboBox(), NoWheelComboBox()
        self.list = QLineEdit(", ".join(setting.suggested()))
        self.boxes: dict[str, QCheckBox] = {}
        self.low = self.high = self.steps = NumberField(_STEPS)
        self.remove = IconButton(theme, "close", f"Remove {setting.words}")
        self._choices, self._range = QWidget(), QWidget()
        self._of_steps: tuple[QWidget, ...] = ()
        self._build()
        self._connect()
        self._show_form()

    def _build(self) -> None:
        title = ElidedLabel(self.setting.words)
        title.setFont(plain_label(role="strong").font())
        for box, entries, name in (
            (self.form, _FORMS, "List or range"),
            (self.spacing, _SPACINGS, "Spacing of the steps"),
        ):
            for key, words in entries:
                box.addItem(words, key)
            box.setAccessibleName(f"{name} of {self.setting.words}")
        self.list.setAccessibleName(f"Values of {self.setting.words}")
        self.list.setToolTip(plain_tip(f"Values with commas between them: {self._listed()}"))
        self.column.addLayout(row((title, 1), self.form, self.remove, spacing=8))
        # Only now it has a parent: shown without one, it would be a window of its own.
        self.form.setVisible(self.setting.is_number)
        if isinstance(self.setting.param, ChoiceParam | BoolParam):
            self._add_boxes()
        if self.setting.is_number:
            self._add_range()
        else:
            row(self.steps, self.spacing, parent=self._range)  # hidden with it
        for part in (self.list, self._choices, self._range):
            self.column.addWidget(part)
        self._choices.setVisible(bool(self.boxes))

    def _listed(self) -> str:
        return self.setting.param.listed

    def _add_boxes(self) -> None:
        grid = QGridLayout(self._choices)
        grid.setContentsMargins(0, 0, 0, 0)
        present = _as_typed(self.setting.value)
        for number, value in enumerate(self.setting.suggested()):
            param = self.setting.param
            shown = param.show(value) if isinstance(param, ChoiceParam) else value
            box = self.boxes[value] = QCheckBox(shown)
            # A choice of two is compared as a whole; of many the present one and what is added.
            box.setChecked(len(self.setting.suggested()) <= 2 or value == present)
            box.toggled.connect(lambda _on: self.changed.emit())
            grid.addWidget(box, number // _BOXES, number % _BOXES)

    def _add_range(self) -> None:
        param = cast("IntParam | FloatParam", self.setting.param)
        param = replace(param, is_optional=False)
        self.low, self.high = NumberField(param), NumberField(param)
        known = [float(text) for text in self.setting.suggested()] or [float(param.minimum)]
        for field, value, name in ((self.low, known[0], "from"), (self.high, known[-1], "to")):
            field.set_value(int(value) if isinstance(param, IntParam) else value)
            field.setAccessibleName(f"{self.setting.words} {name}")
        self.steps.setAccessibleName(f"Steps of {self.setting.words}")
        for field in (self.low, self.high, self.steps):
            field.setMinimumWidth(_FIELD_PX)
            field.setMaximumWidth(_FIELD_PX)
            field.entered.connect(lambda value, field=field: self._on_entered(field, value))
        words = (plain_label("From", role="dim"), plain_label("to", role="dim"))
        self._of_steps = (plain_label("in", role="dim"), self.steps, self.spacing)
        ends = (words[0], self.low, words[1], self.high)
        row(*ends, *self._of_steps, STRETCH, parent=self._range, spacing=8)

    def _connect(self) -> None:
        self.list.editingFinished.connect(self.changed)
        self.form.currentIndexChanged.connect(self._show_form)
        self.form.currentIndexChanged.connect(self.changed)
        self.spacing.currentIndexChanged.connect(self.changed)
        self.remove.clicked.connect(lambda: self.removed.emit(self.setting.key))

    def _on_entered(self, field: NumberField, value: object) -> None:
        if isinstance(value, int | float):
            field.set_value(value)
        self.changed.emit()

    def _show_form(self) -> None:
        is_range = self.form.currentData() == "range" and self.setting.is_number
        self._range.setVisible(is_range)
        self.list.setVisible(not is_range and not self.boxes)
        for part in self._of_steps:
            part.setVisible(not self._is_random)

    def set_random(self, *, is_random: bool) -> None:
        """Sets whether values are drawn: a range needs no steps then."""
        self._is_random = is_random
        self._show_form()

    def axis(self) -> Axis:
        """The values that are typed.

        Raises:
            ParamError, UsageError: they are none.
        """
        key = self.setting.key
        if self.boxes:
            chosen = [value for value, box in self.boxes.items() if box.isChecked()]
            return Axis.parse(f"{key}={','.join(chosen)}")
        if self.form.currentData() != "range" or not self.setting.is_number:
            return Axis.parse(f"{key}={self.list.text()}")
        low, high = self.low.checked(), self.high.checked()
        if low >= high:
            raise UsageError(f"{self.setting.words}: the lower end must be below the upper end.")
        steps = 0 if self._is_random else int(self.steps.checked())
        is_log = bool(self.spacing.currentData()) and bool(steps)
        if is_log and low <= 0:
            raise UsageError(f"{self.setting.words}: logarithmic steps begin above 0.")
        return Axis(key, (), (float(low), float(high)), steps, is_log)


def _as_typed(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
