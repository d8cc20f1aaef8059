"""The formats of a trained model: what each is for, what it writes, and what it lacks here."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from workbench.core.specs import ExportSpec
from workbench.gui.kit.fonts import heading_font
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

_COLUMNS = {"Format": 200, "Purpose": 0, "Writes": 110}
"""Column title -> width in pixels; 0 takes what is left."""

_KEY = int(Qt.ItemDataRole.UserRole)
_ROW_PX, _HEADING_PX = 26, 26
_NUM_SHOWN = 4


class FormatList(QTreeWidget):
    """A line for each format, below the heading of its group; one is chosen.

    Signals:
        picked: Another format was chosen.
    """

    picked = Signal()

    def __init__(self, theme: Theme, specs: Mapping[str, ExportSpec]) -> None:
        super().__init__()
        self._theme = theme
        self._specs = dict(specs)
        self._lacking: dict[str, str] = {}
        self.setObjectName("formats")
        self.setAccessibleName("Formats")
        self.setHeaderLabels(list(_COLUMNS))
        self.setRootIsDecorated(False)
        self.setAllColumnsShowFocus(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(_NUM_SHOWN * _ROW_PX)
        self._set_header()
        self._items: dict[str, QTreeWidgetItem] = {}
        self._headings: list[QTreeWidgetItem] = []
        self._fill()
        self.set_lacking({})
        self._key = next(iter(self._items))
        self.select(self._key)
        self.currentItemChanged.connect(self._on_current)
        theme.changed.connect(self._color)

    def _set_header(self) -> None:
        header = self.header()
        header.setStretchLastSection(False)
        for section, width_px in enumerate(_COLUMNS.values()):
            if width_px:
                header.resizeSection(section, width_px)
            else:
                header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)

    def _fill(self) -> None:
        group = ""
        for key, spec in self._specs.items():
            if spec.group != group:
                group = spec.group
                self._add_heading(group)
            item = QTreeWidgetItem([spec.title, "", spec.suffix or "a folder"])
            item.setData(0, _KEY, key)
            for section in range(len(_COLUMNS)):
                item.setSizeHint(section, QSize(0, _ROW_PX))
            self.addTopLevelItem(item)
            self._items[key] = item

    def _add_heading(self, title: str) -> None:
        item = QTreeWidgetItem([title])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(0, heading_font())
        item.setSizeHint(0, QSize(0, _HEADING_PX))
        self.addTopLevelItem(item)
        self._headings.append(item)
        self.setFirstColumnSpanned(self.indexOfTopLevelItem(item), self.rootIndex(), True)

    @property
    def current(self) -> ExportSpec:
        """The chosen format."""
        return self._specs[self._key]

    def select(self, key: str) -> None:
        """Chooses a format."""
        self.setCurrentItem(self._items[key])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The chosen format stays in sight, also once the exports below take room."""
        super().resizeEvent(event)
        self.scrollToItem(self._items[self._key])

    def _on_current(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self._key = item.data(0, _KEY)
            self.picked.emit()

    def set_lacking(self, lacking: Mapping[str, str]) -> None:
        """Marks the formats that cannot be written here, by key, and why: their lines say so."""
        self._lacking = dict(lacking)
        for key, item in self._items.items():
            spec = self._specs[key]
            words = self._lacking.get(key, spec.summary)
            item.setText(1, words)
            item.setToolTip(1, plain_tip(words))
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{spec.title}: {words}")
        self._color()

    def _color(self) -> None:
        colors = self._theme.colors
        for item in self._headings:
            item.setForeground(0, QColor(colors.dim))
        for key, item in self._items.items():
            is_lacking = key in self._lacking
            for section in range(len(_COLUMNS)):
                usual = colors.dim if section else colors.text
                item.setForeground(section, QColor(colors.faint if is_lacking else usual))
