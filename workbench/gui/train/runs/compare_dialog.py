"""Two runs side by side: what differs between them first, what is the same folded away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QComboBox, QDialog, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.client.background import Background
from workbench.core.format import list_text, plural
from workbench.core.outside_text import tab_cells
from workbench.errors import WorkbenchError
from workbench.gui.common.run_text import when
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import WaitLabel
from workbench.runs.folder import RunFolder
from workbench.runs.library.compare import (
    ManySection,
    RunComparison,
    Section,
    compare_many,
    compare_runs,
)
from workbench.runs.library.projects import full_name, project_key
from workbench.runs.library.summary import RunSummary
from workbench.runs.naming import Row

# compare many dialog -------------------------------------------------------------------------
# Several runs side by side in one table: results first, then what differs.

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


# compare dialog ------------------------------------------------------------------------------


class CompareRuns(QDialog):
    """Compares any two of some runs, `left` and `right` first; their folders are read in
    another thread.
    """

    def __init__(
        self,
        theme: Theme,
        runs: Sequence[RunSummary],
        left: Path,
        right: Path,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare runs — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 620)
        self._theme = theme
        self._background = Background(self, max_threads=1)
        self._asked = 0
        self.comparison: RunComparison | None = None
        self.left, self.right = _chooser(runs, left, "Left"), _chooser(runs, right, "Right")
        self.words = WaitLabel()
        self.tree = QTreeWidget()
        self.copy = button("Copy as text")
        self.swap = button("Swap")
        self.close_button = button("Close")
        self._build()
        self.left.currentIndexChanged.connect(self.compare)
        self.right.currentIndexChanged.connect(self.compare)
        self.copy.clicked.connect(self._on_copy)
        self.swap.clicked.connect(self._on_swap)
        self.close_button.clicked.connect(self.reject)
        theme.changed.connect(self._fill_tree)
        self.compare()

    def _build(self) -> None:
        self.tree.setColumnCount(4)
        self.tree.setAccessibleName("Differences")
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        fit, grow = QHeaderView.ResizeMode.ResizeToContents, QHeaderView.ResizeMode.Stretch
        for section, mode in enumerate((fit, grow, grow, fit)):
            header.setSectionResizeMode(section, mode)
        choosers = row((self.left, 1), self.swap, (self.right, 1), spacing=8)
        below = row(self.copy, STRETCH, self.close_button)
        parts = (choosers, self.words, (self.tree, 1), below)
        column(*parts, parent=self, margins=(16, 16, 16, 14), spacing=10)

    def compare(self) -> None:
        """Reads both runs again and shows what differs."""
        left, right = self.left.currentData(), self.right.currentData()
        self._asked += 1
        number = self._asked
        self.copy.setEnabled(False)
        self.words.wait_for("Loading both runs")

        def show(comparison: RunComparison) -> None:
            if number == self._asked:
                self.show_comparison(comparison)

        def fail(error: WorkbenchError) -> None:
            if number == self._asked:
                self.comparison = None
                self._fill_tree()
                self.words.say(str(error), is_bad=True)

        self._background.run(lambda: compare_runs(RunFolder(left), RunFolder(right)), show, fail)

    def show_comparison(self, comparison: RunComparison) -> None:
        """Shows a comparison; sections with differences are open."""
        self.comparison = comparison
        self.words.say(summary_words(comparison))
        self.copy.setEnabled(True)
        self._fill_tree()

    def _fill_tree(self) -> None:
        self.tree.clear()
        names = [box.currentText() for box in (self.left, self.right)]
        self.tree.setHeaderLabels(["", *names, "Difference"])
        for index, name in enumerate(names, 1):
            self.tree.headerItem().setToolTip(index, plain_tip(name))
        sections = self.comparison.sections if self.comparison is not None else ()
        for section in sorted(sections, key=lambda each: (each.key != "results", each.is_equal)):
            self._add_section(section)

    def _add_section(self, section: Section) -> None:
        different = [row for row in section.rows if not row.is_equal]
        equal = [row for row in section.rows if row.is_equal]
        same = section.note or "the same"
        state = same if section.is_equal else plural(len(different), "difference")
        top = self._item(f"{section.title} · {state}")
        top.setFont(0, self._theme.font(weight=400 if section.is_equal else 600))
        self.tree.addTopLevelItem(top)
        top.setFirstColumnSpanned(True)
        for each in different:
            item = self._row(each)
            for index in (1, 2):
                item.setFont(index, self._theme.font(weight=600, tabular=True))
            top.addChild(item)
        folded = top
        if different and equal:
            folded = self._item(f"{plural(len(equal), 'equal value')}")
            folded.setForeground(0, QColor(self._theme.colors.dim))
            top.addChild(folded)
            folded.setFirstColumnSpanned(True)
        for each in equal:
            folded.addChild(self._row(each))
        top.setExpanded(bool(different))

    def _row(self, row: Row) -> QTreeWidgetItem:
        item = self._item(row.title, row.left, row.right, row.difference)
        for index in (0, 3):
            item.setForeground(index, QColor(self._theme.colors.dim))
        return item

    def _item(self, *texts: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(list(texts))
        for index, text in enumerate(texts):
            item.setToolTip(index, plain_tip(text))
        return item

    def _on_swap(self) -> None:
        left, right = self.left.currentIndex(), self.right.currentIndex()
        with QSignalBlocker(self.left), QSignalBlocker(self.right):
            self.left.setCurrentIndex(right)
            self.right.setCurrentIndex(left)
        self.compare()

    def _on_copy(self) -> None:
        if self.comparison is not None:
            titles = (self.left.currentText(), self.right.currentText())
            QGuiApplication.clipboard().setText(comparison_text(self.comparison, *titles))

    def done(self, result: int) -> None:
        """Waits for what still reads, however the dialog is closed."""
        self._background.close()
        super().done(result)


def summary_words(comparison: RunComparison) -> str:
    """Whether one run is better by more than chance, where two runs differ, and what differs in
    their data edits: a sentence each.
    """
    different = [section for section in comparison.sections if not section.is_equal]
    if not different:
        return "Both runs are identical in everything that is compared."
    where = f"The runs differ in {list_text([each.title.lower() for each in different])}."
    accuracy = comparison.accuracy.words if comparison.accuracy is not None else ""
    edits = f"{comparison.edits.words}." if comparison.edits.words else ""
    return " ".join(filter(None, (accuracy, where, edits)))


def comparison_text(comparison: RunComparison, left: str, right: str) -> str:
    """The differences as lines of text, with tabs between the columns."""
    lines = [tab_cells(["", left, right])]
    for section in comparison.sections:
        rows = [row for row in section.rows if not row.is_equal]
        lines.append(section.title if rows else f"{section.title}: the same")
        lines += [f"{tab_cells([r.title, r.left, r.right])}\t{r.difference}".rstrip() for r in rows]
    if comparison.edits.words:
        lines.append(f"{comparison.edits.words}.")
    if comparison.accuracy is not None:
        lines.append(comparison.accuracy.words)
    return "\n".join(lines)


def _chooser(runs: Sequence[RunSummary], chosen: Path, name: str) -> ElidedComboBox:
    box = ElidedComboBox()
    box.setAccessibleName(f"{name} run")
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(20)
    is_mixed = len({project_key(run) for run in runs}) > 1
    for index, run in enumerate(runs):
        label = full_name(run) if is_mixed else run.label
        box.addItem(f"{label} · {when(run.created)}", run.path)
        if run.path == chosen:
            box.setCurrentIndex(index)
    box.currentTextChanged.connect(lambda text: box.setToolTip(plain_tip(text)))
    box.setToolTip(plain_tip(box.currentText()))
    return box
