"""The settings of a project that can be swept: training, widths, and what else its layers have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import column
from workbench.runs.library.sweep_axes import TRAINING, WIDTHS, Sweepable

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
