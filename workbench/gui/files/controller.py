"""New, open, save: the way of project files through the window, with its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.core.format import local_time
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX, read_project
from workbench.core.storage.save import FileStamp
from workbench.document.disk_file import DiskState
from workbench.document.project_document import ProjectDocument
from workbench.errors import FileChangedError, SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext, WindowState
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.dialogs import (
    Answer,
    ask_choice,
    ask_file,
    ask_save_path,
    ask_unsaved,
    show_error,
    start_folder,
)
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import ui_font
from workbench.gui.kit.widgets import WaitLabel
from workbench.moving.bundle import BUNDLE_SUFFIX
from workbench.runs.library.compare import Section, compare_projects

# compare with file ---------------------------------------------------------------------------
# What differs between the project in the window and its file.

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


# controller ----------------------------------------------------------------------------------

_CHANGED_CHOICES = ("Save as…", "Overwrite", "Reload", "Compare…", "Cancel")
_ELSEWHERE_MS = 5_000
"""Between looks while another window has the project open: its end is not reported."""
_FILTER = f"Workbench projects (*{PROJECT_SUFFIX});;All files (*)"
_OPENED = f"Workbench projects and bundles (*{PROJECT_SUFFIX} *{BUNDLE_SUFFIX});;All files (*)"


class FileController(QObject):
    """Opens and saves projects; asks before anything unsaved is lost, here or in a file that
    another program has changed. The file is checked whenever the window becomes active.

    `opened` is emitted after another project has taken the document's place; `said` carries a
    sentence for the status line; `bundle_wanted` the path of a bundle that is to be opened.
    """

    opened = Signal()
    bundle_wanted = Signal(str)
    said = Signal(str)

    def __init__(self, document: ProjectDocument, state: WindowState, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._state = state
        self._window = window
        self._was_elsewhere = False
        self.elsewhere_timer = QTimer(self)
        self.elsewhere_timer.setInterval(_ELSEWHERE_MS)
        self.elsewhere_timer.timeout.connect(document.disk.look)
        window.installEventFilter(self)
        document.disk.changed.connect(self._on_disk_changed)
        document.disk.rearranged.connect(self._on_rearranged)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate:
            self._document.disk.look()
            self._document.look_for_data()
        return super().eventFilter(watched, event)

    @property
    def name(self) -> str:
        """What the project is called: its file, else its title."""
        path = self._document.path
        if path:
            return Path(path).name.removesuffix(PROJECT_SUFFIX)
        original = self._document.recovered_from
        if original is not None:
            return f"{original.name.removesuffix(PROJECT_SUFFIX)} (recovered)"
        return self._document.project.title or "untitled"

    @property
    def has_project(self) -> bool:
        """There is something to go back to: a file, a network, or unsaved work."""
        document = self._document
        return document.path is not None or bool(document.graph.nodes) or document.is_dirty

    @property
    def elsewhere(self) -> str:
        """The end of the title where another window has the project open, else nothing."""
        return " · also open in another window" if self._document.disk.is_open_elsewhere else ""

    @property
    def can_revert(self) -> bool:
        """The project has a file, and it differs from what is shown."""
        disk = self._document.disk
        is_other = self._document.is_dirty or disk.state is DiskState.CHANGED
        return self._document.path is not None and disk.state is not DiskState.GONE and is_other

    def new(self, project: Project | None = None) -> bool:
        """Starts a project (an empty one without an argument); False when called off."""
        if not self.may_lose_changes():
            return False
        self._document.new(project or Project())
        self.opened.emit()
        return True

    def restore(self, project: Project, origin: Path | None = None) -> bool:
        """Goes on with a project that has no file, as the same project; False when called off.
        `origin` is the file that it was of, where that is still there.
        """
        if not self.may_lose_changes():
            return False
        self._document.restore(project, origin)
        self.opened.emit()
        return True

    def close(self) -> bool:
        """Closes the project; False when called off."""
        if not self.may_lose_changes():
            return False
        self._document.new()
        return True

    def ask_open(self) -> bool:
        """Lets the user choose a project file and opens it."""
        path = ask_file(self._window, "Open project", _OPENED, kind="project")
        return bool(path) and self.open(path)

    def open(self, path: str) -> bool:
        """Opens a project file; shows what is wrong with one that cannot be opened. A bundle is
        opened soon, once it is known where its folder goes.
        """
        if path.lower().endswith(BUNDLE_SUFFIX):
            self.bundle_wanted.emit(path)
            return False
        if not self.may_lose_changes() or not self._read(path):
            return False
        self._state.add_recent(path)
        self.opened.emit()
        return True

    def save(self) -> bool:
        """Saves to the project's file, asking for one where there is none."""
        path = self._document.path
        return self._save_to(str(path)) if path else self.save_as()

    def saved_path(self) -> Path | None:
        """The project's file, saved as it is shown; None where that was called off."""
        if (self._document.is_dirty or self._document.path is None) and not self.save():
            return None
        return Path(self._document.path) if self._document.path is not None else None

    def save_as(self) -> bool:
        """Asks for a file and saves to it."""
        known = self._document.path or self._document.recovered_from
        folder = known.parent if known else Path(start_folder(self._window, "project"))
        start = str(folder / f"{self.name}{PROJECT_SUFFIX}")
        path, _ = ask_save_path(self._window, "Save project", start, _FILTER, kind="project")
        return bool(path) and self._save_to(path)

    def revert(self) -> bool:
        """Goes back to the file as it is, after asking where that loses something."""
        path = self._document.path
        if not path:
            return False
        what = f"Revert to the last saved version of {Path(path).name}?"
        more, choices = "Unsaved changes will be lost.", ("Revert", "Cancel")
        if (
            self._document.is_dirty
            and ask_choice(self._window, what, more, choices, default=1) != 0
        ):
            return False
        return self._reload(path)

    def overwrite(self) -> bool:
        """Saves over what another program has written, as far as it was reported."""
        path = self._document.path
        return path is not None and self._save_to(str(path), over=self._document.disk.found)

    def compare(self) -> None:
        """Shows what differs between the project and its file."""
        if self._document.path is not None:
            CompareWithFile(self._document, self._window).exec()

    def may_lose_changes(self) -> bool:
        """True when nothing is unsaved, or the user saved or discarded it."""
        if not self._document.is_dirty:
            return True
        answer = ask_unsaved(self._window, self.name)
        if answer is Answer.SAVE:
            return self.save()
        return answer is Answer.DISCARD

    def _read(self, path: str | Path) -> bool:
        return self._is_done(lambda: self._document.open(Path(path)))

    def _on_disk_changed(self) -> None:
        is_elsewhere = self._document.disk.is_open_elsewhere
        if is_elsewhere and not self._was_elsewhere:
            self.said.emit(f"{self.name} is also open in another window.")
        self._was_elsewhere = is_elsewhere
        if is_elsewhere != self.elsewhere_timer.isActive():
            (self.elsewhere_timer.start if is_elsewhere else self.elsewhere_timer.stop)()

    def _on_rearranged(self) -> None:
        self.said.emit(
            f"{self.name} was saved by another program, with the same network, training settings "
            "and data."
        )

    def _reload(self, path: Path) -> bool:
        if not self._read(path):
            return False
        self.opened.emit()
        return True

    def _save_to(self, path: str, *, over: FileStamp | None = None) -> bool:
        try:
            is_saved = self._is_done(lambda: self._document.save(Path(path), over=over))
        except FileChangedError:
            return self._ask_about_change(Path(path))
        if is_saved:
            self._state.add_recent(path)
        return is_saved

    def _ask_about_change(self, path: Path) -> bool:
        """Another program has changed the file that is to be saved; True once it is saved."""
        disk = self._document.disk
        choice = "Compare…"
        while choice == "Compare…":
            over = disk.found  # what the question is about; a later change is a new question
            what = f"“{path.name}” was changed by another program"
            more = (
                f"{changed_words(over, is_open_elsewhere=disk.is_open_elsewhere)} Overwriting "
                "discards what it contains now, reloading discards your unsaved changes."
            )
            index = ask_choice(self._window, what, more, _CHANGED_CHOICES)
            choice = _CHANGED_CHOICES[index]
            if choice == "Compare…":
                self.compare()
        if choice == "Overwrite":
            return self._save_to(str(path), over=over)
        if choice == "Reload":
            self._reload(path)
        return choice == "Save as…" and self.save_as()

    def _is_done(self, act: Callable[[], object]) -> bool:
        """Opens or saves; False after a failure, which has been shown."""
        try:
            act()
        except FileChangedError:
            raise
        except WorkbenchError as error:
            show_error(self._window, error)
            return False
        return True

    def start_folder(self) -> str:
        """Folder in which dialogs begin that were never used: the project's folder, or the last
        one's.
        """
        path = self._document.path or self._document.recovered_from
        if path:
            return str(Path(path).parent)
        recent = self._state.recent()
        return str(Path(recent[0]).parent) if recent else str(Path.home())


# changed bar ---------------------------------------------------------------------------------
# A bar over the view: the project's file was changed, deleted or moved by another program.

_WIDTH_PX = 640
_MARGIN_PX = 12
_ICON_PX = 18


class ChangedFileBar(QFrame):
    """Lies over the top of the view, which stays where it is; closed, it comes back with the
    next change.

    Args:
        context: The parts that all views share.
        files: Does what the buttons say.
        covered: The widget over whose top it lies, inside `window`.
        window: Its parent.
    """

    def __init__(
        self, context: WindowContext, files: FileController, covered: QWidget, window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = context.theme
        self._disk = context.document.disk
        self._covered = covered
        self._closed_for: FileStamp | DiskState | None = None
        self.setObjectName("changed_bar")
        self.setProperty("role", "notice")
        self._icon = QLabel()
        self.words = plain_label(role="strong", wrap=True)
        self.more = plain_label(role="dim", wrap=True)
        self.reload, self.overwrite = button("Reload"), button("Overwrite")
        self.save_as, self.compare = button("Save as…"), button("Compare…")
        self.close_button = IconButton(context.theme, "close", "Close this notice")
        for each, act in (
            (self.reload, files.revert),
            (self.overwrite, files.overwrite),
            (self.save_as, files.save_as),
            (self.compare, files.compare),
            (self.close_button, self._on_closed),
        ):
            each.clicked.connect(lambda _=False, act=act: act())
        self._build()
        self._disk.changed.connect(self.refresh)
        context.document.path_changed.connect(self.refresh)
        context.theme.changed.connect(self._refresh_icon)
        self._covered.installEventFilter(self)
        self._refresh_icon()
        self.refresh()

    def _build(self) -> None:
        choices = (self.reload, self.save_as, self.overwrite, self.compare)
        below = row(*choices, STRETCH, spacing=8)
        texts = column(self.words, self.more, below, spacing=6)
        parts = (column(self._icon, STRETCH), (texts, 1), column(self.close_button, STRETCH))
        row(*parts, parent=self, margins=(14, 10, 8, 12), spacing=10)

    def refresh(self) -> None:
        """Shows what the disk has, unless this was seen and closed."""
        state, path = self._disk.state, self._disk.path
        if path is None or state is DiskState.SAME:
            self._closed_for = None
            self.hide()
            return
        is_gone = state is DiskState.GONE
        for each in (self.reload, self.compare):
            each.setVisible(not is_gone)
        self.overwrite.setText("Save" if is_gone else "Overwrite")
        name = f"“{path.name}”"
        if is_gone:
            self.words.setText(f"{name} was deleted or moved")
            self.more.setText("The project is still open here. Save writes the file again.")
        else:
            self.words.setText(f"{name} was changed by another program")
            elsewhere = self._disk.is_open_elsewhere
            self.more.setText(changed_words(self._disk.found, is_open_elsewhere=elsewhere))
        self.setVisible(self._closed_for != self._seen())
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Move}:
            self._place()
        return super().eventFilter(watched, event)

    def _seen(self) -> FileStamp | DiskState:
        return self._disk.found or DiskState.GONE

    def _on_closed(self) -> None:
        self._closed_for = self._seen()
        self.hide()

    def _place(self) -> None:
        if self.isHidden():
            return
        room = self._covered.geometry().adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, 0)
        width = min(_WIDTH_PX, room.width())
        self.setGeometry(
            room.left() + (room.width() - width) // 2, room.top(), width, self.heightForWidth(width)
        )
        self.raise_()

    def _refresh_icon(self) -> None:
        icon = self._theme.icon("warning", self._theme.colors.warning)
        self._icon.setPixmap(icon.pixmap(_ICON_PX, _ICON_PX))
