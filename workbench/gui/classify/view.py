"""The classify view: drop a picture, read the answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTemporaryDir, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from workbench.client.background import Background
from workbench.client.question import Handlers
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.classify.classified import (
    ClassifiedPicture,
)
from workbench.gui.classify.drop_area import DropPanel
from workbench.gui.classify.folder_to_csv import FolderToCsv
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.classify.queue import ClassifyQueue
from workbench.gui.classify.result_card import ResultCard
from workbench.gui.classify.test_set_picker import TestPicker
from workbench.gui.common.context import WindowContext
from workbench.gui.common.model_chooser import ModelChooser
from workbench.gui.kit.buttons import button
from workbench.gui.kit.empty import EmptyPage
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.save_path import ask_save_path
from workbench.gui.kit.wait_label import WaitLabel
from workbench.pictures.folders import ENDINGS
from workbench.protocol.messages import (
    AnyAnswer,
    TestPicture,
    WarmUp,
)

MAX_KEPT = 200
BOTH_FROM_PX = 720


class ClassifyView(QWidget):
    """Classifies pictures with a run's network.

    Signals:
        train_requested: There is no network yet and the user wants to train one.
        classified: A ClassifiedPicture has arrived and is shown or in the strip.
    """

    train_requested = Signal()
    classified = Signal(object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        theme = context.theme
        self._background = Background(self, max_threads=1)  # answers keep their order
        self._pasted = QTemporaryDir()
        self._num_pasted = 0
        self._entries: dict[int, ClassifiedPicture] = {}
        self._next_key = 0
        self._show_next = True
        self._has_run_ended = False
        self._warm: Path | None = None
        self._job: FolderToCsv | None = None
        self.queue = ClassifyQueue(context.service, self._background, self)
        self.chooser = ModelChooser(context.library)
        self.load = button("Load weights…")
        self.wait = WaitLabel()
        self.result = ResultCard(theme)
        self.drop = DropPanel()
        self.picker = TestPicker(theme, context.service, self._background)
        self.strip = PictureStrip(theme, "Earlier pictures", is_one_row=True)
        self.empty = EmptyPage(
            theme,
            "picture",
            "Train a network first",
            "Pictures are classified by a trained network. Train the one of this project, "
            "or load weights that fit it.",
            action="Train",
            second="Load weights…",
        )
        self._middle = _Swap()
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._on_model_changed()

    def _build(self) -> None:
        self._middle.addWidget(self.drop)
        self._middle.addWidget(self.picker)
        self._middle.setMinimumHeight(132)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.chooser)
        top.addWidget(self.load)
        top.addWidget(self.wait, 1)
        earlier = self._earlier = QFrame()
        earlier.setProperty("role", "card")
        strip = QVBoxLayout(earlier)
        strip.setContentsMargins(14, 10, 14, 4)
        strip.setSpacing(6)
        strip.addWidget(plain_label("Earlier", role="heading"))
        strip.addWidget(self.strip)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(18, 12, 18, 12)
        column.setSpacing(12)
        column.addLayout(top)
        column.addWidget(self.result)
        column.addWidget(self._middle, 1)
        column.addWidget(earlier)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._pages)

    def _connect(self) -> None:
        self.chooser.model_changed.connect(self._on_model_changed)
        self._context.weights.loaded.connect(self._on_weights)
        self._context.library.run_ended.connect(self._on_run_ended)
        self._context.service.died.connect(self._on_service_died)
        for loader in (self.load.clicked, self.empty.second_pressed):
            loader.connect(self.ask_weights)
        self.empty.pressed.connect(self.train_requested)
        self.drop.open_wanted.connect(self.ask_pictures)
        self.drop.paste_wanted.connect(self.paste)
        self.drop.test_wanted.connect(self.show_test_pictures)
        self.drop.folder_wanted.connect(self.ask_folder)
        self.drop.cancel_wanted.connect(self._on_cancel)
        self.picker.closed.connect(lambda: self._middle.setCurrentWidget(self.drop))
        self.picker.picked.connect(self._on_picked)
        self.strip.chosen.connect(self._on_chosen)
        self.queue.progressed.connect(self.wait.wait_for)
        self.queue.classified.connect(self._on_loaded)
        self.queue.emptied.connect(self._on_emptied)
        self.queue.failed.connect(self._on_failed)
        self._middle.currentChanged.connect(self._share_room)
        paste = QAction("Paste a picture", self)
        paste.setShortcut(QKeySequence(QKeySequence.StandardKey.Paste))
        # Wherever the focus is, also on the switch of views just clicked; a hidden view's
        # shortcut sleeps.
        paste.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        paste.triggered.connect(self.paste)
        self.addAction(paste)
        self.paste_action = paste

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self._background.close()

    # the network -------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        has_model = self.chooser.path is not None
        self._pages.setCurrentIndex(1 if has_model else 0)
        if has_model and self._middle.currentWidget() is self.picker:
            self.show_test_pictures()
        if self.isVisible() or self._has_run_ended:
            self._has_run_ended = False
            self._warm_up()
        self.queue.set_model(self.chooser.path, self.chooser.title)

    def _on_run_ended(self, _path: str, _outcome: object) -> None:
        # The list tells a moment later that the run has weights: then it is the newest model,
        # and it is got ready before the first picture comes.
        self._has_run_ended = True
        QTimer.singleShot(0, self, self._context.library.refresh)

    def _on_service_died(self, _words: str) -> None:
        self._warm = None

    def _warm_up(self) -> None:
        model = self.chooser.path
        if model is None or model == self._warm or self.queue.is_asking:
            return
        self._warm = model
        self.wait.wait_for("Getting the network ready")
        handlers = Handlers(
            on_done=lambda _answer: self.wait.say("Ready"),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.wait.wait_for(progress.text),
        )
        self._context.service.send(
            WarmUp(id=0, model=str(model)), lambda answer: self._on_warm(model, handlers, answer)
        )

    def _on_warm(self, model: Path, handlers: Handlers, answer: AnyAnswer) -> None:
        if not self.queue.is_asking and model == self.chooser.path:
            handlers(answer)

    def ask_weights(self) -> None:
        """Lets the user choose a weights file for the network of the project."""
        self._context.weights.ask(self)

    def _on_weights(self, run: str) -> None:
        """Weights were loaded, from here or elsewhere: their run answers."""
        self.chooser.choose(Path(run))

    # asking ------------------------------------------------------------------------------

    def classify(self, paths: list[str]) -> None:
        """Classifies picture files; the first is shown, all go to the strip.

        Without a network the pictures wait until there is one.
        """
        if not paths:
            return
        self._show_next = True
        self.queue.add(paths)

    def _on_emptied(self) -> None:
        self._warm = self.chooser.path
        self.wait.say("")

    def _on_failed(self, error: WorkbenchError) -> None:
        self._warm = None
        self._fail(error)

    def _on_loaded(self, entry: ClassifiedPicture) -> None:
        key, self._next_key = self._next_key, self._next_key + 1
        self._entries[key] = entry
        self._entries.pop(key - MAX_KEPT, None)
        moods: Mapping[bool | None, str] = {True: "good", False: "bad", None: ""}
        mood = "bad" if entry.answer.error is not None else moods[entry.is_right]
        words = entry.words()
        tip = f"{entry.name}: {words}"
        self.strip.add(key, entry.picture, words, tip=tip, mood=mood, at_front=True)
        if self._show_next:
            self._show_next = False
            self.result.show_entry(entry)
        self.classified.emit(entry)

    def _on_chosen(self, key: object) -> None:
        entry = self._entries.get(key) if isinstance(key, int) else None
        if entry is not None:
            self.result.show_entry(entry)

    def _fail(self, error: WorkbenchError) -> None:
        self.wait.say(str(error), is_bad=True)

    # where pictures come from ------------------------------------------------------------

    def ask_pictures(self) -> None:
        """Lets the user choose picture files."""
        patterns = " ".join(f"*{suffix}" for suffix in sorted(ENDINGS))
        paths, _ = QFileDialog.getOpenFileNames(
            self, "Open pictures", "", f"Pictures ({patterns});;All files (*)"
        )
        self.classify(paths)

    def paste(self) -> None:
        """Classifies what is on the clipboard: files, or a picture."""
        clipboard = QGuiApplication.clipboard()
        data: QMimeData | None = clipboard.mimeData()  # None where nobody owns it
        urls = data.urls() if data is not None else []
        files = [url.toLocalFile() for url in urls if url.isLocalFile()]
        if files:
            self.classify(files)
            return
        image = clipboard.image() if data is not None and data.hasImage() else QImage()
        if image.isNull():
            self.wait.say("There is no picture on the clipboard. Copy one first.", is_bad=True)
            return
        self._num_pasted += 1
        path = self._pasted.filePath(f"pasted {self._num_pasted}.png")
        self._background.run(lambda: _save_image(image, path), self._on_pasted, self._fail)

    def _on_pasted(self, path: str) -> None:
        self.classify([path])

    def show_test_pictures(self) -> None:
        """Shows pictures of the run's test set to pick from."""
        if self.chooser.path is not None:
            self._middle.setCurrentWidget(self.picker)
            self.picker.open_for(self.chooser.path)

    def _on_picked(self, picture: TestPicture) -> None:
        self.queue.know(picture.path, f"test picture {picture.index}", picture.label)
        self.classify([picture.path])

    def ask_folder(self) -> None:
        """Lets the user choose a folder and a table, then classifies the folder into it."""
        folder = QFileDialog.getExistingDirectory(self, "Classify a folder")
        if not folder:
            return
        table, _ = ask_save_path(
            self, "Save the table", f"{Path(folder).name}.csv", "CSV table (*.csv)"
        )
        if table:
            self.classify_folder(Path(folder), Path(table))

    def classify_folder(self, folder: Path, table: Path) -> None:
        """Classifies all pictures of a folder into a CSV table."""
        if self._job is not None or self.chooser.path is None:
            return
        self._job = FolderToCsv(self._context.service, self._background, self)
        self._job.progressed.connect(self.wait.wait_for)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self.drop.set_busy(is_busy=True)
        self._job.start(self.chooser.path, folder, table)

    def _on_cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _on_job_finished(self, words: str) -> None:
        self._end_job()
        self.wait.say(words)

    def _on_job_failed(self, error: WorkbenchError) -> None:
        self._end_job()
        self._fail(error)

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.deleteLater()
        self._job = None
        self.drop.set_busy(is_busy=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self, _index: int = 0) -> None:
        """In a low window the test pictures take the room of the earlier ones."""
        is_picking = self._middle.currentWidget() is self.picker
        self._earlier.setVisible(not is_picking or self.height() >= BOTH_FROM_PX)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._warm_up()


class _Swap(QStackedWidget):
    """Takes what room is left: a wrapped line in a page must not push the others away."""

    def hasHeightForWidth(self) -> bool:
        return False


def _save_image(image: QImage, path: str) -> str:
    if not image.save(path, "PNG"):  # type: ignore[call-overload]  # the stub wants bytes
        raise PictureError("The picture on the clipboard cannot be read.", fix="Copy it again.")
    return path
