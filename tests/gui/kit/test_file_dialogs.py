"""The folder that was typed in Qt's dialog is the one that is used."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFileSystemModel,
    QLineEdit,
    QListView,
    QTreeView,
    QWidget,
)

from workbench.gui.kit.dialogs import DialogFolders, ask_folder, ask_folders

LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


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


def test_the_folder_that_was_entered_is_chosen_alone(qtbot, tmp_path):
    """Several can be chosen; the one that was double-clicked stays selected behind."""
    inner = tmp_path / "photos" / "photos"
    inner.mkdir(parents=True)
    parent = QWidget()
    qtbot.addWidget(parent)
    DialogFolders(Nowhere(), lambda: str(tmp_path), parent)

    def enter():
        dialog = QApplication.activeModalWidget()
        rows = dialog.findChild(QListView, "listView").selectionModel()
        files, flags = dialog.findChild(QFileSystemModel), QItemSelectionModel.SelectionFlag
        dialog.setDirectory(str(inner.parent))
        for folder in (inner.parent, inner):
            rows.select(files.index(str(folder)), flags.Select | flags.Rows)
        dialog.findChild(QLineEdit).clear()
        dialog.accept()

    QTimer.singleShot(300, enter)
    assert ask_folders(parent, "Choose", kind="data") == [str(inner.parent)]


def test_folders_that_are_selected_together_are_all_chosen(qtbot, tmp_path):
    parent = QWidget()
    qtbot.addWidget(parent)
    DialogFolders(Nowhere(), lambda: str(tmp_path), parent)
    names = ["a", "b c"]
    for name in names:
        (tmp_path / name).mkdir()

    def enter():
        dialog = QApplication.activeModalWidget()
        views = (*dialog.findChildren(QTreeView), dialog.findChild(QListView, "listView"))
        view = next(each for each in views if each.isVisible())
        files = dialog.findChild(QFileSystemModel)
        for name in names:
            place = view.visualRect(files.index(str(tmp_path / name))).center()
            QTest.mouseClick(view.viewport(), LEFT, CONTROL, place)
        dialog.accept()

    QTimer.singleShot(300, enter)
    assert ask_folders(parent, "Choose", kind="data") == [str(tmp_path / name) for name in names]
