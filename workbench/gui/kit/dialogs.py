"""Dialogs: messages, choice of files and folders, and the base of those that wait for work."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDialog,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QListView,
    QMessageBox,
    QTreeView,
    QWidget,
)

from workbench.client.background import Background
from workbench.errors import InputError, RunError, WorkbenchError
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.labels import plain_label, window_words
from workbench.gui.kit.layout import STRETCH, column, row, within_screen
from workbench.gui.kit.layout import Part as LaidOut
from workbench.gui.kit.widgets import WaitLabel
from workbench.parts import Part, part_of, part_to_install
from workbench.processes.installing import install

# working dialog ------------------------------------------------------------------------------
# Dialogs that work in a thread: closing one calls the work off, and waits for its end. The one of
# the kit installs a part of Workbench that a message names as missing.

T = TypeVar("T")

_INSTALL_PX = QSize(560, 300)
_LONGEST_LINE = 160


class WorkingDialog(QDialog):
    """Base of dialogs whose work takes a while.

    Signals:
        progressed: What is being done; may come from another thread.

    Attributes:
        status: What is being done.
        stop: Closes the dialog, or calls off what is done.
    """

    progressed = Signal(str)

    def __init__(self, title: str, size: QSize, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(within_screen(self, size))
        self._background = Background(self, max_threads=1)
        self._called_off = threading.Event()
        self.is_closing = False
        self.status = WaitLabel()
        self.progressed.connect(self.status.wait_for)
        self.stop = button("Close")
        self.stop.clicked.connect(self.reject)

    def lay_out(self, *parts: LaidOut) -> None:
        """Puts the parts of the dialog below each other."""
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=12)

    # the work ------------------------------------------------------------------------

    def run(self, work: Callable[[], T], on_done: Callable[[T], None], words: str) -> None:
        """Works in the thread; `on_done` gets the result unless the dialog is closing by then."""
        self._called_off.clear()
        self._background.run(work, lambda result: self._on_done(on_done, result), self._on_failed)
        self.status.wait_for(words)
        self.refresh()

    def check(self) -> None:
        """Raises RunError when the work was called off; the work calls it from time to time."""
        if self._called_off.is_set():
            raise RunError("Canceled.")

    def call_off(self) -> None:
        """Lets the work end soon; called once, on the window's thread."""
        self._called_off.set()

    def refresh(self) -> None:
        """Shows what can be done now."""
        self.stop.setText("Cancel" if self._background.is_busy else "Close")

    def show_failure(self, error: WorkbenchError) -> None:
        """Says why the work has failed."""
        self.status.say(" ".join(str(error).split()), is_bad=True)

    def _on_done(self, on_done: Callable[[T], None], result: T) -> None:
        self.status.say("")
        if not self._close_if_asked():
            on_done(result)
            self.refresh()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.show_failure(error)
        self.refresh()
        self._close_if_asked()

    def _close_if_asked(self) -> bool:
        """The work has ended: closes where that was waited for; whether it was."""
        if self.is_closing:
            super().reject()
        return self.is_closing

    def reject(self) -> None:
        """Closes; while something is done, when that has ended."""
        if not self._background.is_busy:
            super().reject()
        elif not self.is_closing:
            self.is_closing = True
            self.call_off()
            self.stop.setEnabled(False)
            self.status.wait_for("Canceling")


class InstallDialog(WorkingDialog):
    """What a part is for, the line that installs it, and a button that runs the line.

    Signals:
        installed: The part is there.
    """

    installed = Signal()

    def __init__(self, part: Part, parent: QWidget | None = None) -> None:
        super().__init__(f"Install {part.library}", _INSTALL_PX, parent)
        self.part = part
        self.line = plain_label(part.install_command, wrap=True)
        self.line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.line.setAccessibleName("The same in a terminal")
        self.begin = button("Install", role="primary")
        self.begin.clicked.connect(self._on_begin)
        self.lay_out(
            plain_label(f"Install {part.library}", role="title"),
            plain_label(
                f"Needed for {part.purpose}. It is downloaded from the Python package index into "
                "the environment that Workbench runs in. Nothing else in it changes.",
                role="dim",
                wrap=True,
            ),
            plain_label("The same in a terminal:", role="dim"),
            self.line,
            STRETCH,
            self.status,
            row(STRETCH, self.begin, self.stop),
        )

    def _on_begin(self) -> None:
        part = self.part
        self.run(
            lambda: install(part, on_progress=self._say, check=self.check),
            lambda _none: self._on_installed(),
            "Connecting to the package index",
        )

    def _say(self, line: str) -> None:
        self.progressed.emit(line[:_LONGEST_LINE])

    def _on_installed(self) -> None:
        self.begin.hide()
        self.status.say("Installed.")
        self.installed.emit()

    def show_failure(self, error: WorkbenchError) -> None:
        """Shows a failure, without what pip printed where the first sentence gives the reason."""
        self.status.say(" ".join(f"{error.what} {error.fix}".split()), is_bad=True)
        self.status.setToolTip(error.received)

    def refresh(self) -> None:
        super().refresh()
        self.begin.setEnabled(not self._background.is_busy)

    def check(self) -> None:
        if self._called_off.is_set():
            raise RunError("Canceled. Nothing was installed.")


class InstallLink(TextButton):
    """Offers to install the part that shown words name as missing; hidden without one.

    Signals:
        installed: The part is there: what failed can be tried again.
    """

    installed = Signal()

    def __init__(self) -> None:
        super().__init__("", role="link")
        self._part: Part | None = None
        self.clicked.connect(lambda _=False: self._open())
        self.hide()

    def offer(self, words: str) -> None:
        """Shows itself where the words name a part that can be installed here."""
        self._offer(part_to_install(words))

    def offer_any(self, keys: Iterable[str]) -> None:
        """Shows itself for the first part of these keys that is known."""
        self._offer(next(filter(None, map(part_of, keys)), None))

    def _offer(self, part: Part | None) -> None:
        self._part = part
        if self._part is not None:
            self.setText(f"Install {self._part.library}…")
        self.setVisible(self._part is not None)

    def _open(self) -> None:
        if self._part is not None:
            install_part(self._part, self).installed.connect(self._on_installed)

    def _on_installed(self) -> None:
        self.hide()
        self.installed.emit()


def install_part(part: Part, parent: QWidget) -> InstallDialog:
    """Opens the dialog above the window of a widget."""
    dialog = InstallDialog(part, parent.window())
    dialog.open()
    return dialog


# messages ------------------------------------------------------------------------------------
# Message boxes: errors with all their parts, and the questions the window asks.

_FIELD_PX = 420
"""Width of a field for a line of text."""

_UNSAVED_TEXTS = {
    QMessageBox.StandardButton.Save: "&Save",
    QMessageBox.StandardButton.Discard: "&Discard",
    QMessageBox.StandardButton.Cancel: "&Cancel",
}
"""With Alt keys, also where the platform's own texts have none."""


class Answer(Enum):
    """What the user chose when asked about unsaved changes."""

    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def error_text(error: WorkbenchError) -> str:
    """The parts of an error after its first sentence, a line each."""
    return "\n".join(filter(None, (error_details(error), error.fix)))


def error_details(error: WorkbenchError) -> str:
    """Lines with the place of an error, what was received and what was expected."""
    parts = (
        ("Where", error.where),
        ("Received", error.received),
        ("Expected", error.expected),
    )
    return "\n".join(f"{name}: {text}" for name, text in parts if text)


def show_error(parent: QWidget | None, error: WorkbenchError) -> None:
    """Shows what happened and what to do, the details folded, and waits for OK."""
    part = part_to_install(error.fix)
    # Its button is below.
    fix = error.fix if part is None else error.fix.replace(f"{part.install_words}.", "").strip()
    box = make_box(parent, QMessageBox.Icon.Warning, error.what, fix)
    box.setDetailedText(error_details(error))
    if part is None:
        box.exec()
        return
    box.addButton(QMessageBox.StandardButton.Close)
    install = box.addButton(f"Install {part.library}…", QMessageBox.ButtonRole.ActionRole)
    box.exec()
    if box.clickedButton() is install:
        InstallDialog(part, parent).exec()


def show_notice(parent: QWidget | None, what: str, more: str = "") -> None:
    """Shows a sentence and waits for OK."""
    make_box(parent, QMessageBox.Icon.Information, what, more).exec()


def ask_unsaved(parent: QWidget | None, name: str) -> Answer:
    """Asks what to do with unsaved changes."""
    box = make_box(
        parent,
        QMessageBox.Icon.Question,
        f"Save changes to “{name}”?",
        "Your changes will be lost if you don't save them.",
    )
    buttons = QMessageBox.StandardButton
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    for kind, text in _UNSAVED_TEXTS.items():
        box.button(kind).setText(text)
    box.setDefaultButton(buttons.Save)
    answers = {buttons.Save: Answer.SAVE, buttons.Discard: Answer.DISCARD}
    return answers.get(buttons(box.exec()), Answer.CANCEL)


def ask_choice(
    parent: QWidget | None, what: str, more: str, choices: Sequence[str], *, default: int = 0
) -> int:
    """Asks to choose; Enter takes `default`, Esc the last. Returns the index of the choice."""
    box = make_box(parent, QMessageBox.Icon.Question, what, more)
    box.setStandardButtons(QMessageBox.StandardButton.NoButton)
    buttons = [box.addButton(text, QMessageBox.ButtonRole.ActionRole) for text in choices]
    box.setDefaultButton(buttons[default])
    box.setEscapeButton(buttons[-1])
    box.exec()
    clicked = box.clickedButton()
    return buttons.index(clicked) if clicked in buttons else -1


def ask_text(parent: QWidget | None, title: str, label: str, text: str = "") -> str | None:
    """Asks for a line of text, in a dialog that is wide enough for its title and for what is
    typed; None where it was canceled.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    field = dialog.findChild(QLineEdit)
    if field is not None:
        field.setMinimumWidth(_FIELD_PX)
        field.selectAll()
    is_given = dialog.exec() == QInputDialog.DialogCode.Accepted
    dialog.deleteLater()
    return dialog.textValue() if is_given else None


def make_box(parent: QWidget | None, icon: QMessageBox.Icon, what: str, more: str) -> QMessageBox:
    """A message box with plain texts."""
    box = QMessageBox(parent)
    box.setWindowTitle("Workbench")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIcon(icon)
    box.setText(window_words(what))
    # The informative text has no plain format of its own: "<" is what would make it rich.
    box.setInformativeText(window_words(more).replace("<", "‹").replace(">", "›"))
    return box


# dialog head ---------------------------------------------------------------------------------
# The top of a dialog: what it is for, and a link to its help page.


class DialogHead(QWidget):
    """A title, a few sentences, and a link that opens the help page with a key: `page`."""

    help_asked = Signal(str)

    def __init__(self, title: str, words: str, page: str) -> None:
        super().__init__()
        self.learn = button("Learn more", role="link")
        self.learn.setAutoDefault(False)
        self.learn.clicked.connect(lambda: self.help_asked.emit(page))
        top = row(plain_label(title, role="title"), STRETCH, self.learn)
        column(top, plain_label(words, role="dim", wrap=True), parent=self, spacing=12)


# file dialogs --------------------------------------------------------------------------------
# Asks for files and folders to open. Each kind of dialog starts where it was used last, else in
# the folder of the project. Folders are shown in the file manager.

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


# save path -----------------------------------------------------------------------------------
# Dialog for the path of a file to write: asked once, and never over another file without a
# question.


def ask_save_path(
    parent: QWidget,
    title: str,
    start: str,
    filters: str,
    *,
    kind: str,
    is_format_by_name: bool = False,
) -> tuple[str, str]:
    """Asks where to write a file; its ending is added where it was not typed.

    The dialog asks about replacing the name that was typed. Where the ending makes another
    name of it, and that file is there already, this asks once more.

    Args:
        parent: The window that waits.
        title: Title of the dialog.
        start: Name that is offered, and the folder if it has one.
        filters: In Qt's notation, e.g. "CSV table (*.csv);;All files (*)". The ending is the
            chosen one's, else the first one's.
        kind: Dialogs of a kind begin where one was used last.
        is_format_by_name: The ending decides on the format: any of the filters may be typed,
            whichever is chosen.

    Returns:
        The path and the filter that was chosen; two "" when called off.
    """
    whole_start = str(Path(start_folder(parent, kind)) / start)
    path, chosen = QFileDialog.getSaveFileName(parent, title, whole_start, filters)
    if not path:
        return "", ""
    keep_folder(parent, kind, path)
    is_named = is_format_by_name and with_any_ending(path, filters)
    whole = path if is_named else with_ending(path, f"{chosen};;{filters}")
    if whole != path and Path(whole).exists() and not _may_replace(parent, Path(whole)):
        return "", ""
    return whole, chosen


def with_ending(path: str, filters: str) -> str:
    """A path with the first ending that filters name, if it lacks it."""
    found = re.search(r"\*(\.[\w.]+)", filters)
    ending = found.group(1) if found else ""
    return path if path.lower().endswith(ending) else path + ending


def with_any_ending(path: str, filters: str) -> bool:
    """Whether a path has one of the endings that filters name."""
    return path.lower().endswith(tuple(re.findall(r"\*(\.[\w.]+)", filters)))


def _may_replace(parent: QWidget, path: Path) -> bool:
    what = f"Replace {path.name}?"
    more = f"A file with that name already exists in {path.parent}."
    return ask_choice(parent, what, more, ("Replace", "Cancel"), default=1) == 0
