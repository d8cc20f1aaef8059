"""Bundles in the window: a project with its runs and images saved to one file, and opened again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtWidgets import QWidget

from workbench.core.format import share
from workbench.gui.files.controller import FileController
from workbench.gui.kit.buttons import button
from workbench.gui.kit.file_dialogs import ask_folder
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.save_path import ask_save_path
from workbench.gui.kit.working_dialog import WorkingDialog
from workbench.moving.bundle import BUNDLE_SUFFIX, BundlePlan, plan_bundle, write_bundle
from workbench.moving.unbundle import Opened, open_bundle

_FILTER = f"Workbench bundles (*{BUNDLE_SUFFIX})"
_SAVES = (
    "One file with the project, its runs and the images it uses. It opens on another computer, by "
    "File > Open or a drop on the window."
)
_OPENS = (
    "Project, runs and images are unpacked into a new folder, which can be moved or deleted as a "
    "whole."
)


class BundleDialog(WorkingDialog):
    """Says what a bundle holds, or where it goes; then works, with a button that cancels.

    Signals:
        ended: The work is done: a sentence, and the path of a project to open or "".

    Attributes:
        words: What is in it.
        next: Begins.
    """

    ended = Signal(str, str)

    def __init__(self, title: str, more: str, parent: QWidget) -> None:
        super().__init__(title, QSize(560, 260), parent)
        self.words = plain_label(wrap=True)
        self.next = button("", role="primary")
        self.next.hide()
        self.lay_out(
            plain_label(title, role="title"),
            plain_label(more, role="dim", wrap=True),
            self.words,
            STRETCH,
            self.status,
            row(STRETCH, self.next, self.stop),
        )

    def step(self, words: str, at: float) -> None:
        """Reports how far the work is; is called from its thread."""
        self.check()
        self.progressed.emit(f"{words}, {share(at, 0)}")

    def refresh(self) -> None:
        super().refresh()
        self.next.setEnabled(not self._background.is_busy)

    def end(self, words: str, project: str = "") -> None:
        """Closes, and says how it ended."""
        self.ended.emit(words, project)
        self.accept()


class BundleController(QObject):
    """Asks where, and lets a dialog work. `said` carries a sentence for the status line."""

    said = Signal(str)

    def __init__(self, files: FileController, window: QWidget) -> None:
        super().__init__(window)
        self._files, self._window = files, window
        files.bundle_wanted.connect(self.ask_open)

    def ask_save(self) -> BundleDialog | None:
        """Saves a bundle of the project, whose file has to be saved first; None when called off."""
        project = self._files.saved_path()
        if project is None:
            return None
        dialog = BundleDialog("Save a bundle", _SAVES, self._window)
        dialog.ended.connect(lambda words, _project: self.said.emit(words))
        dialog.open()  # the window that it writes for is not closed meanwhile
        dialog.run(
            lambda: plan_bundle(project),
            lambda plan: self._offer(dialog, project, plan),
            "Counting the files",
        )
        return dialog

    def _offer(self, dialog: BundleDialog, project: Path, plan: BundlePlan) -> None:
        dialog.words.setText(f"It holds {plan.words()}")
        dialog.next.setText("Save…")
        dialog.next.show()
        dialog.next.clicked.connect(lambda: self._on_save(dialog, project, plan))

    def _on_save(self, dialog: BundleDialog, project: Path, plan: BundlePlan) -> None:
        start = f"{project.stem}{BUNDLE_SUFFIX}"
        path, _ = ask_save_path(dialog, "Save a bundle", start, _FILTER, kind="bundle")
        if path:
            dialog.run(
                lambda: write_bundle(plan, Path(path), dialog.step),
                lambda _none: dialog.end(f"Saved {Path(path).name}."),
                "Writing the bundle",
            )

    def ask_open(self, path: str) -> BundleDialog | None:
        """Unpacks a bundle into a folder that is named, and opens its project; None when called
        off.
        """
        title = f"Choose where the folder of “{Path(path).stem}” is made"
        parent = ask_folder(self._window, title, kind="bundle")
        if not parent:
            return None
        folder = _free_folder(Path(parent), Path(path).stem)
        dialog = BundleDialog("Open a bundle", _OPENS, self._window)
        dialog.ended.connect(self._on_opened)
        dialog.words.setText(f"It goes into {folder}.")
        dialog.open()  # the window that it writes for is not closed meanwhile

        def done(opened: Opened) -> None:
            dialog.end(f"Unpacked into {folder}.", str(opened.project))

        work = "Unpacking the bundle"
        dialog.run(lambda: open_bundle(Path(path), folder, dialog.step), done, work)
        return dialog

    def _on_opened(self, words: str, project: str) -> None:
        self._files.open(project)
        self.said.emit(words)


def _free_folder(parent: Path, name: str) -> Path:
    """A folder that is not there yet."""
    folder, number = parent / name, 2
    while folder.exists():
        folder, number = parent / f"{name} {number}", number + 1
    return folder
