"""What differs between the project in the window and its file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.core.format import local_time
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.core.storage.file_stamp import FileStamp
from workbench.document.project_document import ProjectDocument
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import column
from workbench.gui.kit.wait_label import WaitLabel
from workbench.runs.library.compare import Section, compare_projects

_NOTHING = "Network, training settings and data are the same; only positions on the canvas differ."


def changed_words(found: FileStamp | None, *, is_open_elsewhere: bool) -> str:
    """When a file was changed, and whether another window may have done it."""
    then = None if found is None else local_time(found.modified_at)
    when = "" if then is None else then.strftime(" at %H:%M:%S")
    elsewhere = " The project is also open in another window." if is_open_elsewhere else ""
    return f"The file was changed{when}, after it was last read or saved here.{elsewhere}"


class CompareWithFile(QDialog):
    """A table of differences. The file is read by the document's writer; the window goes on."""

    def __init__(self, document: ProjectDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare with the file — Workbench")
        self.resize(720, 460)
        self.words = WaitLabel()
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Differences")
        self.tree.setHeaderLabels(["", "In this window", "In the file"])
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        for section in range(3):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        title = plain_label("Compare with the file", role="title")
        parts = (title, self.words, (self.tree, 1), buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)
        self._read(document)

    def show_sections(self, sections: Sequence[Section]) -> None:
        """Fills the table."""
        self.tree.clear()
        different = [section for section in sections if section.rows]
        total = sum(len(section.rows) for section in different)
        noun = "difference" if total == 1 else "differences"
        self.words.say(f"{total} {noun}" if total else _NOTHING)
        for section in different:
            top = QTreeWidgetItem([section.title])
            top.setFont(0, ui_font(weight=600))
            self.tree.addTopLevelItem(top)
            top.setFirstColumnSpanned(True)
            for each in section.rows:
                item = QTreeWidgetItem([each.title, each.left, each.right])
                for index, text in enumerate((each.title, each.left, each.right)):
                    item.setToolTip(index, plain_tip(text))
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                top.addChild(item)
            top.setExpanded(True)

    def _read(self, document: ProjectDocument) -> None:
        path, mine = document.path, document.project
        if path is None:
            return
        self.words.wait_for("Reading the file")
        found: list[Project] = []
        failed: list[WorkbenchError] = []

        def read() -> None:
            try:
                found.append(read_project(path))
            except WorkbenchError as error:
                failed.append(error)

        def show(_error: SaveError | None) -> None:
            if found:
                self.show_sections(compare_projects(mine, found[0]))
            else:
                self.words.say(" ".join(map(str, failed)), is_bad=True)

        document.writer.write(read, show)
