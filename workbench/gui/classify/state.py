"""What the panels of the classify view share: the network that answers, and its answers."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QTemporaryDir, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QImage

from workbench.client.background import Background
from workbench.client.question import Handlers
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.classify.answers import Answers
from workbench.gui.classify.classified import ClassifiedPicture, picture_name
from workbench.gui.classify.folder_job import FolderJob
from workbench.gui.classify.labeled_folder import Tally, labeled_images
from workbench.gui.classify.queue import ClassifyQueue
from workbench.gui.common.context import WindowContext
from workbench.protocol.classify import WarmUp
from workbench.protocol.messages import AnyAnswer
from workbench.protocol.trained.evaluate import TestPicture

_MOST_LINES = 1_000


def _files_in_text(text: str) -> list[str]:
    """The files that a copied text names, a path or file URL on each line; [] for other text."""
    lines = [line.strip().strip("\"'") for line in text.split("\n", _MOST_LINES)]
    paths = [_path_of(line) for line in lines if line]
    return paths if all(map(os.path.isfile, paths)) else []


def _path_of(line: str) -> str:
    url = QUrl(line)
    return url.toLocalFile() if url.isLocalFile() else line


class ClassifyState(QObject):
    """Classifies pictures with the network of one run.

    Signals:
        run_changed(): Another run answers from now on.
        cleared(): Another project is open: the pictures of the last one are not its own.
        outdated(): The answers so far are of another run than the one that answers now: each comes
            again, as `reclassified`.
        reclassified(ClassifiedPicture): A picture that had an answer has that of the present run.
        waiting(str): What is being done.
        said(str): How it ended; "" when there is nothing more to say.
        failed(WorkbenchError): It failed.
        classified(ClassifiedPicture): A picture has its answer.
        shown(ClassifiedPicture): This answer is to be shown large.
        table_changed(bool): Whether a folder is being classified into a table.
        height_changed(int): How high the view is, in pixels.
        picking_changed(bool): Whether pictures of the test set are shown to pick from.

    Attributes:
        context: The parts that all views work with.
        background: Where files are read and written; answers keep their order.
        run: Folder of the run whose network answers; None while there is none.
        title: Words for that run.
        note: Why it may be the wrong one; "" for nothing.
        is_picking: Whether pictures of the test set are shown to pick from.
    """

    run_changed = Signal()
    cleared = Signal()
    outdated = Signal()
    reclassified = Signal(object)
    waiting = Signal(str)
    said = Signal(str)
    failed = Signal(object)
    classified = Signal(object)
    shown = Signal(object)
    table_changed = Signal(bool)
    picking_changed = Signal(bool)
    height_changed = Signal(int)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.background = Background(self, max_threads=1)
        self.run: Path | None = None
        self.title = self.note = ""
        self.is_picking = False
        self._queue = ClassifyQueue(context.service, self.background, self)
        self._pasted = QTemporaryDir()
        self._num_pasted = 0
        self._shows_next = True
        self._project = ""
        self._of_projects: dict[str, Answers] = {}
        self._answers = Answers()
        self._tally: Tally | None = None
        self._warm: Path | None = None
        self._job: FolderJob | None = None
        self._queue.progressed.connect(self.waiting)
        self._queue.classified.connect(self._on_classified)
        self._queue.emptied.connect(self._on_emptied)
        self._queue.failed.connect(self._on_failed)
        self.shown.connect(self._on_shown)
        context.service.died.connect(self._on_service_died)
        context.library.project_changed.connect(self._follow_project)
        self._follow_project()

    # the network -------------------------------------------------------------------------

    def set_run(
        self, run: Path | None, title: str, *, note: str = "", is_wanted: bool = False
    ) -> None:
        """Chooses the run (folder and name) whose network answers, soon where it is wanted."""
        self._follow_project()
        self.run, self.title, self.note = run, title, note
        self.run_changed.emit()
        if self._answers.take_model(run):
            self._tally = None  # of answers of two models it would be of neither
            self.outdated.emit()
        if is_wanted:
            self._load_model()
        self._queue.set_model(run, title)
        if is_wanted:
            self._classify_again()

    def _follow_project(self) -> None:
        """Each project has its own pictures: those of another are put away until it is open."""
        project = self.context.library.project
        before, self._project = self._project, project.id if project is not None else ""
        if self._project == before:
            return
        self._of_projects[before] = self._answers
        self._answers.put_away()
        self._answers = self._of_projects.pop(self._project, Answers())
        self._tally = None
        if before:  # what waits while no project is open is classified by the first one
            self._queue.clear()
            self._shows_next = False
        self.said.emit("")
        self.cleared.emit()

    def warm_up(self) -> None:
        """Gets the network ready, so that the first picture has its answer soon; and the answers
        of an earlier one again.
        """
        self._classify_again()
        self._load_model()

    def _classify_again(self) -> None:
        if self.run is not None and (again := self._answers.take_outdated()):
            self._queue.add(again)

    def _load_model(self) -> None:
        run = self.run
        if run is None or run == self._warm or self._queue.is_asking:
            return
        self._warm = run
        self.waiting.emit("Loading the model")
        handlers = Handlers(
            on_done=lambda _answer: self.said.emit("Ready"),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.waiting.emit(progress.text),
        )
        self.context.service.send(
            WarmUp(id=0, model=str(run)), lambda answer: self._on_warm(run, handlers, answer)
        )

    def _on_warm(self, run: Path, handlers: Handlers, answer: AnyAnswer) -> None:
        if not self._queue.is_asking and run == self.run:
            handlers(answer)

    def _on_service_died(self, _words: str) -> None:
        self._warm = None

    # pictures ----------------------------------------------------------------------------

    def classify(self, paths: list[str]) -> None:
        """Classifies picture files; the first is shown large.

        Without a network the pictures wait until there is one.
        """
        if paths:
            self._shows_next = True
            self._queue.add(paths)

    def is_outdated(self, entry: ClassifiedPicture) -> bool:
        """Whether an answer is not that of the present run, whose answer is still to come."""
        return self._answers.is_outdated(entry.answer.file)

    def classify_labeled(self, folder: str) -> None:
        """Classifies a folder with one folder of images per class, and counts the correct ones."""
        project = self._project
        self.waiting.emit(f"Scanning {Path(folder).name}")
        self.background.run(
            lambda: labeled_images(Path(folder)),
            lambda images: self._take_labeled(project, folder, images),
            self.failed.emit,
        )

    def _take_labeled(self, project: str, folder: str, images: list[tuple[str, str]]) -> None:
        if project != self._project:  # another one was opened meanwhile
            return
        if not images:
            what = "The class folders hold no images."
            self.failed.emit(PictureError(what, where=folder, fix="Choose another folder."))
            return
        self._tally = Tally({path for path, _ in images})
        for path, label in images:
            self._queue.know(path, picture_name(path), label)
        self.classify([path for path, _ in images])

    def set_picking(self, *, is_picking: bool) -> None:
        """Test pictures are shown to pick from, or no longer."""
        self.is_picking = is_picking
        self.picking_changed.emit(is_picking)

    def classify_test_picture(self, picture: TestPicture) -> None:
        """Classifies a picture of the run's test set, whose class is known."""
        self._queue.know(picture.path, f"test image {picture.index}", picture.label)
        self.classify([picture.path])

    def paste(self) -> None:
        """Classifies what is on the clipboard: files, their paths as text, or a picture."""
        clipboard = QGuiApplication.clipboard()
        data: QMimeData | None = clipboard.mimeData()  # None where it has no owner
        urls = data.urls() if data is not None else []
        files = [url.toLocalFile() for url in urls if url.isLocalFile()]
        files = files or (_files_in_text(data.text()) if data is not None else [])
        if files:
            self.classify(files)
            return
        image = clipboard.image() if data is not None and data.hasImage() else QImage()
        if image.isNull():
            what = "The clipboard contains no image."
            self.failed.emit(PictureError(what, fix="Copy an image or the path of an image file."))
            return
        self._num_pasted += 1
        path = self._pasted.filePath(f"pasted {self._num_pasted}.png")

        def save() -> list[str]:
            if not image.save(path, "PNG"):  # type: ignore[call-overload]  # the stub requires bytes
                what = "Cannot read the image on the clipboard."
                raise PictureError(what, fix="Copy it again.")
            return [path]

        self.background.run(save, self.classify, self.failed.emit)

    def _on_classified(self, entry: ClassifiedPicture) -> None:
        if self._answers.add(entry.answer.file):
            self.reclassified.emit(entry)
            if self._answers.is_shown(entry.answer.file):
                self.shown.emit(entry)
            return
        if self._shows_next or self._answers.is_shown(entry.answer.file):
            self._shows_next = False
            self.shown.emit(entry)
        self.classified.emit(entry)
        if self._tally is not None:
            self._tally.add(entry)

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self._answers.show(entry)

    def _on_emptied(self) -> None:
        self._warm = self.run
        tally, self._tally = self._tally, None
        self.said.emit(tally.sentence() if tally is not None else "")

    def _on_failed(self, error: WorkbenchError) -> None:
        self._warm = self._tally = None
        self._answers.give_up()
        self.failed.emit(error)

    # a table of a folder -----------------------------------------------------------------

    def classify_folder(self, folder: Path, table: Path, *, starts_over: bool = False) -> None:
        """Classifies all pictures of a folder into a CSV or Parquet table."""
        if self._job is not None or self.run is None:
            return
        self._job = FolderJob(self.context.measurer, self)
        self._job.progressed.connect(self.waiting)
        for ended, shown in ((self._job.finished, self.said), (self._job.failed, self.failed)):
            ended.connect(self._end_job)
            ended.connect(shown)
        self.table_changed.emit(True)
        self._job.start(self.run, folder, table=table, starts_over=starts_over)

    def cancel_folder(self) -> None:
        """Ends the classification of a folder; its table stays unfinished."""
        if self._job is not None:
            self._job.cancel()

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.deleteLater()
        self._job = None
        self.table_changed.emit(False)
