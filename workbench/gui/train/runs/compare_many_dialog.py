"""Several runs side by side in one table: results first, then what differs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.client.background import Background
from workbench.core.outside_text import tab_cells
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.wait_label import WaitLabel
from workbench.runs.folder import RunFolder
from workbench.runs.library.compare_many import ManySection, compare_many
from workbench.runs.library.projects import full_name
from workbench.runs.library.summary import RunSummary

COLUMN_PX = 170


class CompareManyRuns(QDialog):
    """Compares more than two runs; their folders are read in another thread."""

    def __init__(
        self, theme: Theme, runs: Sequence[RunSummary], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare runs — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(min(1280, 260 + COLUMN_PX * len(runs)), 620)
        self._theme = theme
        self._background = Background(self, max_threads=1)
        self._titles = [full_name(run) for run in runs]
        self._sections: list[ManySection] = []
        self.words = WaitLabel()
        self.tree = QTreeWidget()
        self.copy = button("Copy as text")
        self.close_button = button("Close")
        self._build()
        self.copy.clicked.connect(self._on_copy)
        self.close_button.clicked.connect(self.reject)
        self.words.wait_for(f"Loading {len(runs)} runs")
        folders = [RunFolder(run.path) for run in runs]
        self._background.run(
            lambda: compare_many(folders)[1],
            self.show_sections,
            lambda error: self.words.say(str(error), is_bad=True),
        )

    def _build(self) -> None:
        self.tree.setHeaderLabels(["", *self._titles])
        self.tree.setAccessibleName("Differences")
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        for section, title in enumerate(self._titles, 1):
            header.resizeSection(section, COLUMN_PX)
            self.tree.headerItem().setToolTip(section, plain_tip(title))
        self.copy.setEnabled(False)
        below = row(self.copy, STRETCH, self.close_button)
        parts = (self.words, (self.tree, 1), below)
        column(*parts, parent=self, margins=(16, 16, 16, 14), spacing=10)

    def show_sections(self, sections: list[ManySection]) -> None:
        """Shows what was read; sections that are the same are one line."""
        self._sections = sections
        self.words.say("\n".join(f"{note}." for section in sections for note in section.notes))
        self.copy.setEnabled(True)
        self.tree.clear()
        for section in sections:
            shown = [each for each in section.rows if not each.is_equal or section.key == "results"]
            top = QTreeWidgetItem([section.title if shown else f"{section.title} · the same"])
            top.setFont(0, self._theme.font(weight=600 if shown else 400))
            self.tree.addTopLevelItem(top)
            for each in shown:
                item = QTreeWidgetItem([each.title, *each.values])
                for index, text in enumerate((each.title, *each.values)):
                    item.setToolTip(index, plain_tip(text))
                    weight = 400 if each.is_equal or index == 0 else 600
                    item.setFont(index, self._theme.font(weight=weight, tabular=True))
                top.addChild(item)
            top.setExpanded(True)

    def _on_copy(self) -> None:
        lines = [tab_cells(["", *self._titles])]
        for section in self._sections:
            lines.append(section.title)
            lines += [tab_cells([each.title, *each.values]) for each in section.rows]
            lines += [f"{note}." for note in section.notes]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def done(self, result: int) -> None:
        """Waits for what still reads, however the dialog is closed."""
        self._background.close()
        super().done(result)
