"""Settings of a sweep: the tree of what can be varied, and the values of each one chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam
from workbench.errors import UsageError
from workbench.gui.forms.number_field import NumberField
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box
from workbench.runs.library.sweep import MAX_STEPS, TRAINING, WIDTHS, Axis, Sweepable

# setting tree --------------------------------------------------------------------------------
# The settings of a project that can be swept: training, widths, and what else its layers have.

_KEY = int(Qt.ItemDataRole.UserRole)
_OPEN = (TRAINING, WIDTHS)
_WIDTH_PX = 290
_MOST_FOUND = 60
_INDENT_PX = 14


class SettingTree(QWidget):
    """A tree with a check mark a setting, and a field to find some.

    A large network has thousands of settings: the lines of a group are made when it is opened.

    Signals:
        toggled(str, bool): The key of a setting, and whether it is to be compared.
    """

    toggled = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self._groups: dict[str, list[Sweepable]] = {}
        self._heads: dict[str, QTreeWidgetItem] = {}
        self._items: dict[str, QTreeWidgetItem] = {}
        self._checked: set[str] = set()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find settings")
        self.search.setAccessibleName("Find settings")
        self.search.setClearButtonEnabled(True)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Settings to compare")
        self.tree.setHeaderLabels(["Setting", "Now"])
        self.tree.setIndentation(_INDENT_PX)
        self.tree.setUniformRowHeights(True)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setFixedWidth(_WIDTH_PX)
        column(self.search, (self.tree, 1), parent=self, spacing=8)
        self.search.textChanged.connect(self._show)
        self.tree.itemChanged.connect(self._on_changed)
        self.tree.itemExpanded.connect(self._on_expanded)

    def set_settings(self, settings: Sequence[Sweepable], checked: Iterable[str]) -> None:
        """Shows these settings, some of them checked; no signal."""
        groups: dict[str, list[Sweepable]] = {}
        for each in settings:
            groups.setdefault(each.group, []).append(each)
        if groups == self._groups and set(checked) == self._checked:
            return
        self._groups, self._checked = groups, set(checked)
        self._show()

    def set_checked(self, key: str, *, is_checked: bool) -> None:
        """Checks or unchecks a setting; no signal."""
        (self._checked.add if is_checked else self._checked.discard)(key)
        item = self._items.get(key)
        if item is not None:
            with QSignalBlocker(self.tree):
                item.setCheckState(0, _state(is_checked=is_checked))
            self.tree.viewport().update()

    def item(self, key: str) -> QTreeWidgetItem:
        """The line of a setting, which is made where it has not been shown; KeyError for none."""
        for group, settings in self._groups.items():
            if group in self._heads and any(each.key == key for each in settings):
                self._fill(group)
        return self._items[key]

    # the lines ---------------------------------------------------------------------------

    def _show(self) -> None:
        """Shows all groups, or the lines of some that have the searched words."""
        words = self.search.text().casefold().strip()
        opened = {name for name, head in self._heads.items() if head.isExpanded()} | {*_OPEN}
        with QSignalBlocker(self.tree):
            self.tree.clear()
            self._heads.clear()
            self._items.clear()
            if words:
                self._show_found(words)
                return
            for group in self._groups:
                self._add_head(group)
            for group in opened & self._groups.keys():
                self._fill(group)
                self._heads[group].setExpanded(True)

    def _show_found(self, words: str) -> None:
        found = [
            each
            for settings in self._groups.values()
            for each in settings
            if words in f"{each.group} {each.title}".casefold()
        ]
        for each in found[:_MOST_FOUND]:
            if each.group not in self._heads:
                self._add_head(each.group).setExpanded(True)
            self._add(each)
        if len(found) > _MOST_FOUND:
            more = QTreeWidgetItem([f"{len(found) - _MOST_FOUND:,} more: type more letters"])
            more.setFlags(Qt.ItemFlag.NoItemFlags)
            self.tree.addTopLevelItem(more)

    def _add_head(self, group: str) -> QTreeWidgetItem:
        head = self._heads[group] = QTreeWidgetItem([group])
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        head.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        self.tree.addTopLevelItem(head)
        return head

    def _on_expanded(self, head: QTreeWidgetItem) -> None:
        if not self.search.text().strip():
            with QSignalBlocker(self.tree):
                self._fill(head.text(0))

    def _fill(self, group: str) -> None:
        if not self._heads[group].childCount():
            for each in self._groups[group]:
                self._add(each)

    def _add(self, setting: Sweepable) -> None:
        item = QTreeWidgetItem([setting.title, setting.param.show(setting.value)])
        item.setData(0, _KEY, setting.key)
        item.setCheckState(0, _state(is_checked=setting.key in self._checked))
        item.setToolTip(0, plain_tip(f"{setting.words}: {setting.param.help}"))
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._heads[setting.group].addChild(item)
        self._items[setting.key] = item

    def _on_changed(self, item: QTreeWidgetItem, _column: int) -> None:
        key = item.data(0, _KEY)
        is_on = item.checkState(0) == Qt.CheckState.Checked
        if key and is_on != (key in self._checked):
            (self._checked.add if is_on else self._checked.discard)(key)
            self.toggled.emit(key, is_on)


def _state(*, is_checked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked


# axis row ------------------------------------------------------------------------------------
# The values that one setting of a sweep takes: a list that is typed or checked, or a range.

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
