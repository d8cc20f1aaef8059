"""The settings of a project that can be swept: training, widths, and what else its layers have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import column
from workbench.runs.library.sweep_axes import TRAINING, WIDTHS, Sweepable

_KEY = int(Qt.ItemDataRole.UserRole)
_OPEN = (TRAINING, WIDTHS)
_WIDTH_PX = 290


class SettingTree(QWidget):
    """A tree with a check mark a setting, and a field to find some.

    Signals:
        toggled(str, bool): The key of a setting, and whether it is to be compared.
    """

    toggled = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self._settings: tuple[Sweepable, ...] = ()
        self._items: dict[str, QTreeWidgetItem] = {}
        self._heads: dict[str, QTreeWidgetItem] = {}
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find settings")
        self.search.setAccessibleName("Find settings")
        self.search.setClearButtonEnabled(True)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Settings to compare")
        self.tree.setHeaderLabels(["Setting", "Now"])
        self.tree.setIndentation(14)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setFixedWidth(_WIDTH_PX)
        column(self.search, (self.tree, 1), parent=self, spacing=8)
        self.search.textChanged.connect(self._filter)
        self.tree.itemChanged.connect(self._on_changed)

    def set_settings(self, settings: Sequence[Sweepable], checked: Iterable[str]) -> None:
        """Shows these settings, some of them checked; no signal."""
        self.tree.blockSignals(True)
        self.tree.clear()
        self._settings = tuple(settings)
        self._items.clear()
        self._heads.clear()
        for group in dict.fromkeys(each.group for each in settings):
            head = QTreeWidgetItem([group])
            head.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.tree.addTopLevelItem(head)
            self._heads[group] = head
            for each in settings:
                if each.group == group:
                    self._add(head, each)
        self.tree.blockSignals(False)
        for key in checked:
            self.set_checked(key, is_checked=True)
        self._filter()

    def _add(self, head: QTreeWidgetItem, setting: Sweepable) -> None:
        item = QTreeWidgetItem([setting.title, setting.param.show(setting.value)])
        item.setData(0, _KEY, setting.key)
        item.setCheckState(0, Qt.CheckState.Unchecked)
        item.setToolTip(0, plain_tip(f"{setting.words}: {setting.param.help}"))
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head.addChild(item)
        self._items[setting.key] = item

    def set_checked(self, key: str, *, is_checked: bool) -> None:
        """Checks or unchecks a setting; no signal."""
        item = self._items.get(key)
        if item is not None:
            self.tree.blockSignals(True)
            item.setCheckState(0, Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked)
            self.tree.blockSignals(False)
            self.tree.viewport().update()

    def item(self, key: str) -> QTreeWidgetItem:
        """The line of a setting."""
        return self._items[key]

    def _on_changed(self, item: QTreeWidgetItem, _column: int) -> None:
        key = item.data(0, _KEY)
        if key:
            self.toggled.emit(key, item.checkState(0) == Qt.CheckState.Checked)

    def _filter(self) -> None:
        words = self.search.text().casefold().strip()
        for group, head in self._heads.items():
            shown = 0
            for setting in self._settings:
                if setting.group == group:
                    is_shown = words in f"{group} {setting.title}".casefold()
                    self._items[setting.key].setHidden(not is_shown)
                    shown += is_shown
            head.setHidden(not shown)
            head.setExpanded(bool(shown) and (bool(words) or group in _OPEN))
