"""Pictures of a run's test set to choose from, with their true classes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import load_preview
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.forms.param_editors import NoWheelSpinBox
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.wait_label import WaitLabel
from workbench.protocol.messages import (
    PickTestPictures,
    TestPicture,
)

NUM_PICTURES = 24
MAX_INDEX = 9_999_999


class TestSetPicker(QFrame):
    """Shows some test pictures; other ones, or one by its number, on request.

    Signals:
        picked: The TestPicture that was clicked.
        closed: The user is done.
    """

    __test__ = False  # no test class, in spite of its name

    picked = Signal(object)
    closed = Signal()

    def __init__(self, theme: Theme, service: ServiceProcess, background: Background) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._service = service
        self._background = background
        self._model: Path | None = None
        self._seed = 0
        self._question = Question(service)
        self._asked = 0
        self._pictures: list[TestPicture] = []
        self.strip = PictureStrip(theme, "Test images", is_one_row=False)
        self.wait = WaitLabel()
        self.others = button("Shuffle")
        self.number = NoWheelSpinBox()
        self.number.setRange(0, MAX_INDEX)
        self.number.setAccessibleName("Number of a test image")
        self.show_number = button("Go to no.")
        self.close_button = button("Close")
        self._build()
        self.others.clicked.connect(self._on_others)
        self.show_number.clicked.connect(self._on_number)
        self.close_button.clicked.connect(self.closed)
        self.strip.chosen.connect(self._on_chosen)

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(plain_label("Test images", role="strong"))
        top.addWidget(self.wait, 1)
        top.addWidget(self.number)
        top.addWidget(self.show_number)
        top.addWidget(self.others)
        top.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.strip, 1)

    def open_for(self, model: Path) -> None:
        """Shows test pictures of a run; asks for them when it is another run."""
        if model != self._model:
            self._model, self._seed = model, 0
            self._ask(PickTestPictures(id=0, model=str(model), count=NUM_PICTURES))

    def _on_others(self) -> None:
        if self._model is not None:
            self._seed += 1
            self._ask(
                PickTestPictures(id=0, model=str(self._model), count=NUM_PICTURES, seed=self._seed)
            )

    def _on_number(self) -> None:
        if self._model is not None:
            indices = [self.number.value()]
            self._ask(PickTestPictures(id=0, model=str(self._model), count=1, indices=indices))

    def _ask(self, request: PickTestPictures) -> None:
        self.strip.clear_tiles()
        self._pictures = []
        self.wait.wait_for("Loading test images")
        self._asked += 1
        number = self._asked
        self._question.ask(
            request,
            Handlers(
                on_done=lambda answer: self._show(number, answer.pictures),
                on_failed=self._on_failed,
                on_progress=lambda progress: self.wait.wait_for(progress.text),
            ),
        )

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(str(error), is_bad=True)
        self._model = None

    def _show(self, number: int, pictures: list[TestPicture]) -> None:
        self._pictures = pictures
        paths = [picture.path for picture in pictures]

        def place(images: object) -> None:
            if number == self._asked and isinstance(images, list):
                for index, picture in enumerate(pictures):
                    words = f"{picture.label} · {picture.index}"
                    self.strip.add(index, images[index], words)
                self.wait.say("Click an image to classify it.")

        self._background.run(lambda: [load_preview(path) for path in paths], place)

    def _on_chosen(self, index: object) -> None:
        if isinstance(index, int) and index < len(self._pictures):
            self.picked.emit(self._pictures[index])
