"""What the panels of the classify view share: the network that answers, and its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTemporaryDir, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers
from workbench.errors import PictureError, UsageError, WorkbenchError
from workbench.gui.classify.answers import (
    Answers,
    ClassifiedPicture,
    ClassifyQueue,
    RecentPictures,
    picture_name,
)
from workbench.gui.classify.folder.job import FolderJob, FolderTask, WatchJob, done_words
from workbench.gui.common.context import WindowContext
from workbench.protocol.bases import Answer
from workbench.protocol.classify import ManyClassified, WarmUp
from workbench.protocol.trained.evaluate import TestPicture

# activities ----------------------------------------------------------------------------------
# What brings images in for a while, and how the user ends it.


class Activities(QObject):
    """What is under way, by key; each has a button of its own that ends it.

    Signals:
        begun(str, str): This key, with the words of its button.
        ended(str): It is over.
    """

    begun = Signal(str, str)
    ended = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._stops: dict[str, Callable[[], None]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is under way."""
        return not self._stops

    def begin(self, key: str, words: str, stop: Callable[[], None]) -> None:
        """Adds an activity under way, which `stop` ends soon."""
        self._stops[key] = stop
        self.begun.emit(key, words)

    def end(self, key: str) -> None:
        """Removes an activity that is over, however it has ended."""
        if self._stops.pop(key, None) is not None:
            self.ended.emit(key)

    def stop(self, key: str) -> None:
        """Ends an activity for the user."""
        if key in self._stops:
            self._stops[key]()


# when seen -----------------------------------------------------------------------------------
# Work for what can be seen: what is hidden is not computed.


class WhenSeen(QObject):
    """Does the newest work for a widget at once while it is visible, or else when it is shown."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._due: Callable[[], None] | None = None
        widget.installEventFilter(self)

    def do(self, work: Callable[[], None]) -> None:
        """Does this, in place of what is still due."""
        self._due = work
        self._do_due()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            # What has opened the widget may also choose what it shows, right after this.
            QTimer.singleShot(0, self, self._do_due)
        return super().eventFilter(watched, event)

    def _do_due(self) -> None:
        work = self._due
        if work is not None and self._widget.isVisible():
            self._due = None
            work()


# state ---------------------------------------------------------------------------------------

_LISTING = "listing"
"""The activity of a folder that is being classified."""


class SourcesArea(QFrame):
    """Area for the sources of pictures, as the view places it."""

    def set_low(self, *, is_low: bool, view_px: int = 0) -> None:
        """Shows only the row of buttons, or takes the larger part of a view of this height."""
        raise NotImplementedError


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
        predicted(): It is that of a picture the user has just brought in, and waits for; of those
            of a listed folder there is none, as the table stays where it is.
        class_chosen(str): This class of it is to be explained.
        layer_chosen(str): The feature maps of the layer of this name are to be shown.
        what_if_wanted(): The sliders that alter a picture are to be opened.
        source_chosen(str): The source of this key is to begin; see `sources`.
        addresses_came(list[str]): Web addresses of images were pasted or dropped.
        folder_changed(bool): Whether a folder is being classified.
        folder_begun(Path): This folder is being classified.
        folder_rows(list[Classified]): The next images of it, in order.
        listing_changed(bool): Whether the images of a folder are listed.
        folder_done(ManyClassified): All its images are classified.
        closing(): The window is about to close.
        height_changed(int): How high the view is, in pixels.
        picking_changed(bool): Whether pictures of the test set are shown to pick from.

    Attributes:
        context: The parts that all views work with.
        background: Where files are read and written; answers keep their order.
        run: Folder of the run whose network answers; None while there is none.
        title: Words for that run.
        note: Why it may be the wrong one; "" for nothing.
        is_picking: Whether pictures of the test set are shown to pick from.
        is_listing: Whether the images of a folder are listed.
        sources: The area of the sources, which the view places; None where there is no such panel.
        activities: What is under way, and can be ended.
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
    predicted = Signal()
    class_chosen = Signal(str)
    layer_chosen = Signal(str)
    what_if_wanted = Signal()
    source_chosen = Signal(str)
    addresses_came = Signal(list)
    folder_changed = Signal(bool)
    folder_begun = Signal(object)
    folder_rows = Signal(object)
    folder_done = Signal(object)
    listing_changed = Signal(bool)
    closing = Signal()
    picking_changed = Signal(bool)
    height_changed = Signal(int)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.background = Background(self, max_threads=1)
        self.run: Path | None = None
        self.title = self.note = ""
        self.is_picking = self.is_listing = False
        self.sources: SourcesArea | None = None
        self._of_rows: set[str] = set()
        self._queue = ClassifyQueue(context.service, self.background, self)
        self.activities = Activities(self)
        self._recent = RecentPictures(self.background)
        self._restored: set[str] = set()
        self._made = QTemporaryDir()
        self._num_made = 0
        self._shows_next, self._is_used = True, False
        self._project = ""
        self._of_projects: dict[str, Answers] = {}
        self._answers = Answers()
        self._warm: Path | None = None
        self._job: FolderJob | WatchJob | None = None
        self._waiting_folder: FolderTask | None = None
        self._last_folder: FolderTask | None = None
        self._queue.progressed.connect(self.waiting)
        self._queue.classified.connect(self._on_classified)
        self._queue.emptied.connect(self._on_emptied)
        self._queue.failed.connect(self._on_failed)
        self.shown.connect(self._on_shown)
        self.closing.connect(self._on_closing)
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
        self._is_used = self._is_used or is_wanted
        self.run_changed.emit()
        if self._answers.take_model(run):
            self.outdated.emit()
        if is_wanted:
            self._load_model()
        self._queue.set_model(run, title)
        if is_wanted:
            self._classify_again()
        task, self._waiting_folder = self._waiting_folder, None
        if task is not None:
            self.classify_folder(task)

    def _follow_project(self) -> None:
        """Each project has its own pictures: those of another are put away until it is open."""
        project = self.context.library.project
        before, self._project = self._project, project.id if project is not None else ""
        if self._project == before:
            return
        self._of_projects[before] = self._answers
        self._answers.put_away()
        known = self._of_projects
        self._answers = (
            known.pop(self._project) if self._project in known else self._answers_from_disk()
        )
        if before:  # what waits while no project is open is classified by the first one
            self._queue.clear()
            self._waiting_folder = None
            self._shows_next = False
            if self._job is not None and self.is_watching:
                self._job.cancel()
        self.said.emit("")
        self.cleared.emit()

    def _answers_from_disk(self) -> Answers:
        """A new list of answers; refilled from the project's recent pictures once they are read."""
        answers, project = Answers(), self._project

        def put_back(kept: list[tuple[str, str]]) -> None:
            for file, truth in kept:
                self._queue.know(file, picture_name(file), truth)
            self._restored |= {file for file, _ in kept}
            answers.put_back([file for file, _ in kept])
            if answers is self._answers and self._is_used:
                self._classify_again()

        if project:
            self._recent.read(project, put_back)
        return answers

    def warm_up(self) -> None:
        """Gets the network ready, so that the first picture has its answer soon; and the answers
        of an earlier one again.
        """
        self._is_used = True
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

    def _on_warm(self, run: Path, handlers: Handlers, answer: Answer) -> None:
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
            self._of_rows.difference_update(paths)
            self._queue.add(paths)

    def classify_of_folder(self, file: str, label: str) -> None:
        """Shows an image of a classified folder large."""
        self._queue.know(file, picture_name(file), label)
        self.classify([file])
        self._of_rows.add(file)

    def is_outdated(self, entry: ClassifiedPicture) -> bool:
        """Whether an answer is not that of the present run, whose answer is still to come."""
        return self._answers.is_outdated(entry.answer.file)

    def set_picking(self, *, is_picking: bool) -> None:
        """Test pictures are shown to pick from, or no longer."""
        if is_picking != self.is_picking:
            self.is_picking = is_picking
            self.picking_changed.emit(is_picking)

    def classify_test_picture(self, picture: TestPicture) -> None:
        """Classifies a picture of the run's test set, whose class is known."""
        self._recent.leave_out(picture.path)
        self._queue.know(picture.path, f"test image {picture.index}", picture.label)
        self.classify([picture.path])

    def classify_as(self, file: str, name: str) -> None:
        """Classifies a file that is shown by another name than its own."""
        self._recent.leave_out(file)
        self._queue.know(file, name, "")
        self.classify([file])

    def classify_image(self, image: QImage, name: str) -> None:
        """Classifies an image that is in memory, from a lossless copy."""
        path = f"{self.new_file(name)}.png"
        self._recent.leave_out(path)

        def save() -> list[str]:
            if not image.save(path, "PNG"):  # type: ignore[call-overload]  # the stub requires bytes
                raise PictureError(f"The {name} image cannot be read.", fix="Copy it again.")
            return [path]

        self.background.run(save, self.classify, self.failed.emit)

    def new_file(self, name: str) -> str:
        """The path of a file that is not there yet; it is kept until the window closes."""
        self._num_made += 1
        return self._made.filePath(f"{name} {self._num_made}")

    def _on_classified(self, entry: ClassifiedPicture) -> None:
        if self._answers.add(entry.answer.file):
            self.reclassified.emit(entry)
            if self._answers.is_shown(entry.answer.file):
                self.shown.emit(entry)
            return
        file = entry.answer.file
        is_restored = file in self._restored
        self._restored.discard(file)
        if not is_restored:
            self._recent.add(self._project, file, entry.truth)
        is_awaited = self._shows_next and not is_restored
        if is_awaited or self._answers.is_shown(file):
            self._shows_next = False
            self.shown.emit(entry)
        if is_awaited and file not in self._of_rows:
            self.predicted.emit()
        self.classified.emit(entry)

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self._answers.show(entry)

    def _on_emptied(self) -> None:
        self._warm = self.run
        if self._job is None:
            self.said.emit("")

    def _on_failed(self, error: WorkbenchError) -> None:
        self._warm = None
        self._answers.give_up()
        self.failed.emit(error)

    # folders -----------------------------------------------------------------------------

    @property
    def kept_rows(self) -> Path | None:
        """The CSV file of the last folder's rows, until the window closes; None where they are in a
        table of the user's, or nowhere.
        """
        return self._last_folder.rows if self._last_folder is not None else None

    @property
    def is_watching(self) -> bool:
        """Whether a folder is being watched."""
        return isinstance(self._job, WatchJob)

    def folder_reason(self) -> str:
        """Why no folder can be begun now; "" where one can."""
        return f"A folder is being {self._job.doing}." if self._job is not None else ""

    def classify_folder(self, task: FolderTask) -> None:
        """Classifies all images of a folder. Without a network it waits until there is one."""
        if self._may_begin():
            if self.run is None:
                self._waiting_folder = task
                return
            if task.table is None:
                task = replace(task, rows=Path(f"{self.new_file('predictions')}.csv"))
            self._last_folder = task
            self._begin(FolderJob(self.context.measurer, self.run, task, self), "Cancel")

    def watch_folder(self, folder: Path) -> None:
        """Classifies images as they appear in a folder, until the user ends it."""
        if self._may_begin() and self.run is not None:
            self._last_folder = FolderTask(folder, is_watched=True)
            self._begin(WatchJob(self.context.measurer, self.run, folder, self), "Stop watching")

    def _may_begin(self) -> bool:
        """Whether no other folder is under way; says so where one is."""
        if self._job is None:
            return True
        fix = "Wait for it, or end it."
        where = str(self._job.folder)
        self.failed.emit(UsageError(self.folder_reason(), where=where, fix=fix))
        return False

    def _begin(self, job: FolderJob | WatchJob, stop_words: str) -> None:
        self._job = job
        job.progressed.connect(self.waiting)
        job.rows_came.connect(self.folder_rows)
        job.finished.connect(self._on_folder_done)
        job.failed.connect(self._on_folder_failed)
        self.activities.begin(_LISTING, stop_words, job.cancel)
        self.folder_changed.emit(True)
        self.folder_begun.emit(job.folder)
        job.start()

    def compare_folder(self, truth: Path) -> None:
        """Classifies the last folder again, with the true classes of a CSV file."""
        if self._last_folder is not None:
            self.classify_folder(replace(self._last_folder, table=None, truth=truth))

    def classify_folder_again(self, listed: list[str]) -> None:
        """Classifies the last folder again, into no file; of one that was watched the images
        listed: those that were in it before were left out.
        """
        task = self._last_folder
        if task is not None:
            files = tuple(listed) if task.is_watched else ()
            self.classify_folder(replace(task, table=None, files=files))

    def _on_folder_done(self, done: ManyClassified) -> None:
        self._end_job()
        self.folder_done.emit(done)
        self.said.emit(done_words(done))

    def _on_folder_failed(self, error: WorkbenchError) -> None:
        self._end_job()
        self.failed.emit(error)

    def _on_closing(self) -> None:
        if isinstance(self._job, WatchJob):
            self._job.close()

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.dispose()
        self._job = None
        self.activities.end(_LISTING)
        self.folder_changed.emit(False)
