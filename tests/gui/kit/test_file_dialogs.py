"""The folder that was typed in Qt's dialog is the one that is used."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFileSystemModel,
    QLineEdit,
    QListView,
    QWidget,
)

from workbench.gui.kit.file_dialogs import DialogFolders, ask_folder, ask_folders


class Nowhere:
    """No folder is kept."""

    def folder(self, _kind):
        return ""

    def set_folder(self, _kind, _folder):
        pass


@pytest.mark.parametrize("ask", [ask_folder, ask_folders])
def test_a_folder_that_was_typed_is_not_one_that_lies_above_it(qtbot, tmp_path, ask):
    """Qt selects each folder whose path was typed on the way, where it is fast enough: done here."""
    wanted = tmp_path / "photos" / "flowers"
    wanted.mkdir(parents=True)
    parent = QWidget()
    qtbot.addWidget(parent)
    DialogFolders(Nowhere(), lambda: str(wanted.parent), parent)

    def enter():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        line = dialog.findChild(QLineEdit)
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, str(wanted))
        files = dialog.findChild(QFileSystemModel)
        above, rows = files.index(str(wanted.parent)), dialog.findChild(QListView, "listView")
        flags = QItemSelectionModel.SelectionFlag
        rows.selectionModel().select(above, flags.Select | flags.Rows)
        passed.extend(dialog.selectedFiles())
        dialog.accept()

    QTimer.singleShot(300, enter)
    passed = []
    chosen = ask(parent, "Choose", kind="data")
    assert ([chosen] if isinstance(chosen, str) else chosen) == [str(wanted)]
    assert set(passed) == {str(wanted), str(wanted.parent)}
