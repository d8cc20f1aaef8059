"""Opening of projects, runs and bundles: start, recovery after a crash, and data that is
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import cast

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget

from workbench.backbones import all_backbones
from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.checks.problems import ANOTHER_SOURCE, Fix
from workbench.core.format import share
from workbench.core.params import PathParam, PathsParam
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import read_project
from workbench.core.projects.texts import source_choice
from workbench.datasets.folder import SPEC as FOLDER
from workbench.document.autosave import Autosave
from workbench.document.project_document import ProjectDocument
from workbench.document.recovery import RecoveryOffer, discard_offer, find_offers
from workbench.errors import ProjectFileError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.weights import DownloadWeightsDialog
from workbench.gui.files.controller import FileController
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import (
    WorkingDialog,
    ask_choice,
    ask_file,
    ask_folder,
    ask_folders,
    ask_save_path,
    show_error,
)
from workbench.gui.kit.labels import plain_label, restyle
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.moving.bundle import BUNDLE_SUFFIX, BundlePlan, plan_bundle, write_bundle
from workbench.moving.unbundle import Opened, open_bundle
from workbench.protocol.describe_data import DataDescription, DescribeData
from workbench.protocol.messages import Progress
from workbench.runs.folder import RunFolder
from workbench.runs.library.projects import file_of, read_places
from workbench.runs.library.summary import summarise
from workbench.starter import DataFacts, Start, start_for_data, start_for_folder

# bundles -------------------------------------------------------------------------------------
# Bundles in the window: a project with its runs and images saved to one file, and opened again.

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


# run opener ----------------------------------------------------------------------------------
# From a run to its project: its file where that exists, else what the run was made of.


@dataclass(frozen=True)
class _Found:
    """What is known of a run's project.

    Attributes:
        trained: It, as it was trained.
        path: Its file; None where there is none any more.
        saved: What is in that file; None where it is of another project, or cannot be read.
    """

    trained: Project
    path: Path | None
    saved: Project | None


class RunOpener(QObject):
    """Opens the project of a run, and makes the run the current one: `opened` then."""

    opened = Signal()

    def __init__(self, context: WindowContext, files: FileController, window: QWidget) -> None:
        super().__init__(window)
        self._document = context.document
        self._library = context.library
        self._files = files
        self._window = window
        self._background = Background(self, max_threads=1)

    def close(self) -> None:
        """Waits for what still reads."""
        self._background.close()

    def open(self, run: Path | str) -> None:
        """Opens the project of a run. Its files are read in another thread."""
        path = Path(run)
        self._background.run(
            lambda: _find(RunFolder(path)), lambda found: self._show(path, found), self._on_failed
        )

    def _show(self, run: Path, found: _Found) -> None:
        if not self._is_open(found) and not self._open(found):
            return
        self._library.select(run, by_user=True)
        self.opened.emit()

    def _is_open(self, found: _Found) -> bool:
        """Whether the window shows this project already, so that nothing is to be opened."""
        document = self._document
        is_same = bool(document.project_id) and document.project_id == found.trained.id
        return is_same and is_alike(document.project, found.trained)

    def _open(self, found: _Found) -> bool:
        """Opens the chosen one; False where none was chosen."""
        if found.path is None or found.saved is None:
            return self._files.restore(found.trained)
        if is_alike(found.saved, found.trained):
            return self._files.open(str(found.path))
        what = f"“{found.path.name}” has changed since this run."
        more = (
            "Open the file as it is now, or the project as it was trained: as a copy, the file "
            "stays as it is."
        )
        answer = ask_choice(self._window, what, more, ("Open the file", "As trained", "Cancel"))
        if answer == 0:
            return self._files.open(str(found.path))
        return answer == 1 and self._files.restore(found.trained, found.path)

    def _on_failed(self, error: WorkbenchError) -> None:
        show_error(self._window, error)


def is_alike(project: Project, other: Project) -> bool:
    """Whether two projects train the same: their looks and where they train may differ."""
    parts = ("graph", "recipe", "dataset")
    return all(getattr(project, part) == getattr(other, part) for part in parts)


def _find(run: RunFolder) -> _Found:
    trained, summary = run.project(), summarise(run)
    path = None if summary is None else file_of(summary, read_places(run.path.parent))
    if path is None:
        return _Found(trained, None, None)
    try:
        saved = read_project(path)
    except ProjectFileError:
        return _Found(trained, path, None)
    # Another project may have been saved in its place; a run of an earlier version has no id.
    is_same = saved.id == trained.id or not trained.id
    return _Found(trained, path, saved if is_same else None)


# start controller ----------------------------------------------------------------------------
# Starting a project from images: they are counted in another thread, or described by a worker.


class StartController(QObject):
    """The way from images to a project that fits them.

    Images chosen later, or any project opened meanwhile, call the counting off.

    Signals:
        said: What is being done, "" when it is over.
        started: The project is open.
    """

    said = Signal(str)
    started = Signal()

    def __init__(self, context: WindowContext, files: FileController, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._files = files
        self._datasets = context.datasets
        self._background = Background(self, max_threads=1)
        self._question = Question(context.service)
        self._asked = 0
        self._is_counting = False
        files.opened.connect(self.cancel)

    def close(self) -> None:
        """Waits for what still reads."""
        self._question.drop()
        self._background.close()

    def from_folder(self, folder: str) -> None:
        """Starts a project that fits a folder of images."""
        self.from_data(source_choice(FOLDER, folder))

    def from_data(self, choice: Choice) -> None:
        """Starts a project that fits some images, and shows them."""
        self.cancel()
        self._is_counting = True
        name = self._datasets[choice.key].name_of(choice.params)
        if choice.key == FOLDER.key:
            self.said.emit(f"Counting the images in “{name}”…")
            self._choose(lambda: start_for_folder(choice))
            return
        self.said.emit(f"Reading “{name}”…")
        request = DescribeData(id=0, source=choice.key, params=dict(choice.params))
        handlers = Handlers(
            on_done=lambda found: self._on_described(choice, found),
            on_failed=self._on_failed,
            on_progress=self._on_progress,
        )
        self._question.ask(request, handlers)

    def cancel(self) -> None:
        """Calls off what is being counted."""
        self._asked += 1
        self._question.drop()
        if self._is_counting:
            self._is_counting = False
            self.said.emit("")

    def _on_progress(self, progress: Progress) -> None:
        done = "" if progress.fraction is None else f" ({share(progress.fraction, 0)})"
        self.said.emit(f"{progress.text.rstrip('.…')}{done}…")

    def _on_described(self, choice: Choice, found: DataDescription) -> None:
        title = PurePath(self._datasets[choice.key].name_of(choice.params)).stem

        def start() -> Start:
            chosen = start_for_data(DataFacts.of(choice, found))
            return replace(chosen, project=replace(chosen.project, title=title))

        self._choose(start)

    def _choose(self, work: Callable[[], Start]) -> None:
        """Chooses in another thread: the costs of whole networks are worked out for it."""
        number = self._asked

        def take(start: Start) -> None:
            if number == self._asked:
                self.cancel()
                self._open(start)

        def fail(error: WorkbenchError) -> None:
            if number == self._asked:
                self._on_failed(error)

        self._background.run(work, take, fail)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.cancel()
        show_error(self._window, error)

    def _open(self, start: Start) -> None:
        if self._files.new(start.summarized):
            self.started.emit()


# recovery ------------------------------------------------------------------------------------
# Unsaved work: snapshots while it is edited; after a crash it is recovered, discarded, or left for
# later.

_OFFER = Qt.ItemDataRole.UserRole
_WORDS = (
    "These changes were not saved. Recover opens a copy; the file itself does not change until "
    "you save. Discarded changes are kept for 30 days in the recovery folder."
)


class RecoveryDialog(QDialog):
    """A list of offers.

    Signals:
        recover_chosen: The offer to be opened as an unsaved copy; the dialog closes.
        discard_chosen: The offer to be put away; the dialog closes with the last one.
    """

    recover_chosen = Signal(object)
    discard_chosen = Signal(object)

    def __init__(self, offers: Sequence[RecoveryOffer], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Unsaved work — Workbench")
        self.setMinimumSize(560, 280)
        self.list = QListWidget()
        self.list.setAccessibleName("Unsaved work")
        for offer in offers:
            item = QListWidgetItem(offer.sentence())
            item.setData(_OFFER, offer)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.itemDoubleClicked.connect(lambda _item: self._on_recover())
        buttons, roles = QDialogButtonBox(), QDialogButtonBox.ButtonRole
        self.recover = buttons.addButton("Recover", roles.AcceptRole)
        self.discard = buttons.addButton("Discard", roles.DestructiveRole)
        later = buttons.addButton("Later", roles.RejectRole)
        restyle(self.recover, role="primary")
        self.recover.setDefault(True)
        self.recover.clicked.connect(self._on_recover)
        self.discard.clicked.connect(self._on_discard)
        later.clicked.connect(self.reject)
        title = plain_label("Workbench closed unexpectedly", role="title")
        parts = (title, plain_label(_WORDS, role="dim", wrap=True), (self.list, 1), buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)

    def _chosen(self) -> RecoveryOffer | None:
        item = self.list.currentItem()
        return None if item is None else cast("RecoveryOffer", item.data(_OFFER))

    def _on_recover(self) -> None:
        offer = self._chosen()
        if offer is not None:
            self.accept()
            self.recover_chosen.emit(offer)

    def _on_discard(self) -> None:
        offer = self._chosen()
        if offer is None:
            return
        self.list.takeItem(self.list.currentRow())
        self.discard_chosen.emit(offer)
        if self.list.count() == 0:
            self.reject()


class RecoveryController(QObject):
    """Ties autosave to the window.

    Signals:
        recovered: Work was opened as an unsaved copy.
        said: A sentence for the status line.
    """

    recovered = Signal()
    said = Signal(str)

    def __init__(self, document: ProjectDocument, folder: Path, window: QWidget) -> None:
        super().__init__(window)
        self._folder = folder
        self._window = window
        self.autosave = Autosave(document, folder, parent=self)
        self.autosave.failed.connect(self.said)

    def offer(self) -> RecoveryDialog | None:
        """Shows what can be recovered; None when there is nothing."""
        offers = find_offers(self._folder)
        if not offers:
            return None
        dialog = RecoveryDialog(offers, self._window)
        dialog.recover_chosen.connect(self._on_recover)
        dialog.discard_chosen.connect(discard_offer)
        dialog.open()
        return dialog

    def close(self) -> None:
        """Ends in good order: what is unsaved now was given up by the user."""
        self.autosave.close()

    def _on_recover(self, offer: RecoveryOffer) -> None:
        try:
            self.autosave.recover(offer)
        except WorkbenchError as error:
            show_error(self._window, error)
            return
        self.recovered.emit()
        self.said.emit("Recovered as an unsaved copy. Save it to keep it.")


# data chooser --------------------------------------------------------------------------------
# Asks for what a project still needs from elsewhere: a folder, a file, pretrained weights.

KIND = "data"
"""Dialogs for data sets begin in one folder."""


class DataChooser(QObject):
    """Does what a fix of the document cannot do by itself. `chosen` follows a choice."""

    chosen = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._document = context.document
        self._datasets = context.datasets
        self._window = window
        # Queued: a dialog must not open in the middle of the click that asked for it.
        queued = Qt.ConnectionType.QueuedConnection
        self._document.answer_wanted.connect(self._answer, queued)

    def _answer(self, fix: Fix) -> None:
        if fix.backbone:
            dialog = DownloadWeightsDialog(
                all_backbones()[fix.backbone], self._context.measurer, self._window
            )
            dialog.fetched.connect(self._document.look_for_data)
            dialog.open()
        else:
            self.ask(fix.data_param)

    def ask(self, key: str) -> None:
        """Asks for a parameter of the data set by its key; another data set is chosen where the
        sources are listed, which `chosen` leads to.
        """
        if key == ANOTHER_SOURCE:
            self.chosen.emit()
            return
        choice = self._document.project.dataset
        spec = self._datasets.get(choice.key)
        params = spec.params if spec is not None else ()
        param = next((param for param in params if param.key == key), None)
        if param is None:
            return
        path: str | tuple[str, ...]
        title = f"Choose {param.title.lower()}"
        if isinstance(param, PathsParam):
            path = tuple(ask_folders(self._window, title, kind=KIND))
        elif not isinstance(param, PathParam):
            return
        elif param.is_folder:
            path = ask_folder(self._window, title, kind=KIND)
        else:
            filters = f"{param.title} ({' '.join(param.patterns)});;All files (*)"
            path = ask_file(self._window, title, filters, kind=KIND)
        if path:
            self._document.set_dataset(Choice(choice.key, {**choice.params, key: path}))
            self.chosen.emit()
