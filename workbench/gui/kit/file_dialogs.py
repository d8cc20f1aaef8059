"""Asks for files and folders to open. Each kind of dialog starts where it was used last, else in
the folder of the project. Folders are shown in the file manager.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, QProcess, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFileDialog,
    QLineEdit,
    QListView,
    QMessageBox,
    QTreeView,
    QWidget,
)

from workbench.client.background import Background
from workbench.errors import InputError, WorkbenchError
from workbench.gui.kit.messages import make_box, show_error

_OPENER = "xdg-open"
_REFUSED_S = 10
"""An opener that fails later was the file manager itself, which was used until then."""


class Store(Protocol):
    """Keeps folders of dialogs between starts of the application."""

    def folder(self, kind: str) -> str:
        """The folder of a kind of dialog; "" when there is none yet."""

    def set_folder(self, kind: str, folder: str) -> None:
        """Keeps a folder."""


class DialogFolders(QObject):
    """The memory of a window's dialogs. A child of the window: dialogs find it from the widget
    that opens them, and nothing is global.

    Args:
        store: Where it is kept.
        at_first: Gives the folder for a kind that has none yet.
        window: Its owner.
    """

    def __init__(self, store: Store, at_first: Callable[[], str], window: QWidget) -> None:
        super().__init__(window)
        self._store = store
        self._at_first = at_first

    def start(self, kind: str, at_first: str = "") -> str:
        """Folder in which a dialog of this kind begins: at first `at_first`, where given."""
        folder = self._store.folder(kind)
        return folder if folder and Path(folder).is_dir() else at_first or self._at_first()

    def keep(self, kind: str, path: str) -> None:
        """Keeps where a file or folder was chosen."""
        if path:
            self._store.set_folder(kind, str(Path(path).parent))


def start_folder(parent: QWidget, kind: str, at_first: str = "") -> str:
    """Folder in which a dialog of this kind begins, as of `DialogFolders.start`: "" leaves it to
    Qt.
    """
    folders = _folders_of(parent)
    return folders.start(kind, at_first) if folders is not None else at_first


def keep_folder(parent: QWidget, kind: str, path: str) -> None:
    """Keeps where something was chosen."""
    folders = _folders_of(parent)
    if folders is not None:
        folders.keep(kind, path)


def ask_file(parent: QWidget, title: str, filters: str, *, kind: str, start: str = "") -> str:
    """Asks for a file to open, from `start` where that is known; "" when canceled."""
    begin = start or start_folder(parent, kind)
    path, _ = QFileDialog.getOpenFileName(parent, title, begin, filters)
    keep_folder(parent, kind, path)
    return path


def ask_files(parent: QWidget, title: str, filters: str, *, kind: str) -> list[str]:
    """Asks for files to open; none when canceled."""
    paths, _ = QFileDialog.getOpenFileNames(parent, title, start_folder(parent, kind), filters)
    keep_folder(parent, kind, paths[0] if paths else "")
    return paths


def ask_folder(parent: QWidget, title: str, *, kind: str, start: str = "") -> str:
    """Asks for a folder, from `start` where that is known; "" when canceled."""
    path = choose_folder(parent, title, start or start_folder(parent, kind))
    keep_folder(parent, kind, path)
    return path


def choose_folder(parent: QWidget, title: str, start: str) -> str:
    """A folder by the dialog of the system, or by Qt's where it has none; "" when canceled."""
    dialog = QFileDialog(parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return next(iter(_chosen(dialog)), "")


def ask_folders(parent: QWidget, title: str, *, kind: str) -> list[str]:
    """Asks for one or several folders, by name; none when canceled. Qt's own dialog: those of
    systems choose a single one.
    """
    dialog = QFileDialog(parent, title, start_folder(parent, kind))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOptions(QFileDialog.Option.DontUseNativeDialog | QFileDialog.Option.ShowDirsOnly)
    for view in (*dialog.findChildren(QListView, "listView"), *dialog.findChildren(QTreeView)):
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    chosen = sorted(_chosen(dialog))
    keep_folder(parent, kind, chosen[0] if chosen else "")
    return chosen


def _chosen(dialog: QFileDialog) -> list[str]:
    """The folders that were chosen; none when canceled.

    The line of Qt's dialog says which: what was typed or selected, nothing for the folder that is
    shown. Its selection also has folders that were passed on the way there.
    """
    is_accepted = dialog.exec()
    dialog.deleteLater()
    if not is_accepted:
        return []
    line = dialog.findChild(QLineEdit)
    if line is None:  # the dialog of a system
        return dialog.selectedFiles()
    here = dialog.directory()
    named = Path(here.absoluteFilePath(line.text()))
    if named.is_dir():
        return [str(named)]
    return [each for each in dialog.selectedFiles() if Path(each).parent == Path(here.path())]


def open_folder(parent: QWidget, folder: Path, words: str) -> None:
    """Opens a folder in the file manager; where there is none, says which folder it is: "The run
    folder". Qt itself does not wait for what the opener of Linux desktops says.
    """
    opener = shutil.which(_OPENER)
    if opener is None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            _show_place(parent, folder, words)
        return
    process = QProcess(QCoreApplication.instance())  # goes on where a dialog is closed
    began = time.monotonic()

    def end(code: int) -> None:
        process.deleteLater()
        if code and time.monotonic() - began < _REFUSED_S:
            _show_place(QApplication.activeWindow(), folder, words)

    process.finished.connect(end)
    process.errorOccurred.connect(
        lambda error: end(1) if error is QProcess.ProcessError.FailedToStart else None
    )
    process.start(opener, [str(folder)])


def _show_place(parent: QWidget | None, folder: Path, words: str) -> None:
    what = "No file manager was found."
    box = make_box(parent, QMessageBox.Icon.Information, what, f"{words} is {folder}.")
    copy = box.addButton("Copy path", QMessageBox.ButtonRole.ActionRole)
    box.addButton(QMessageBox.StandardButton.Ok)
    box.exec()
    if box.clickedButton() is copy:
        QGuiApplication.clipboard().setText(str(folder))


def show_in_folder(parent: QWidget, background: Background, path: Path) -> None:
    """Opens the folder that a file or folder is in, once it is seen to be there."""

    def look() -> Path:
        if not path.exists():
            raise InputError(
                f"{path.name} is no longer there.",
                where=str(path.parent),
                fix="It was moved, renamed or deleted.",
            )
        return path.parent

    def fail(error: WorkbenchError) -> None:
        show_error(parent, error)

    background.run(look, lambda folder: open_folder(parent, folder, "The folder"), fail)


def _folders_of(parent: QWidget) -> DialogFolders | None:
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    widget: QWidget | None = parent
    while widget is not None:
        found = widget.findChild(DialogFolders, options=direct)
        if found is not None:
            return found
        widget = widget.parentWidget()
    return None
