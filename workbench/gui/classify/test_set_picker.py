"""Pictures of a run's test set to choose from, with their true classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.core.format import count
from workbench.core.params import IntParam
from workbench.errors import ParamError, WorkbenchError
from workbench.gui.classify.classified import load_preview
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.wait_label import WaitLabel
from workbench.protocol.trained.evaluate import PickTestPictures, TestPictures

NUM_PICTURES = 24
_NUMBER = IntParam("number", 0, "Its place in the test set.", minimum=0, maximum=9_999_999)


class TestSetPicker(QFrame):
    """Shows some test pictures; other ones, or one by its number, on request.

    Attributes:
        strip: Its `chosen` carries the TestPicture that was clicked.
    """

    __test__ = False  # no test class, in spite of its name

    def __init__(self, theme: Theme, service: ServiceProcess, background: Background) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._background = background
        self._model: Path | None = None
        self._seed = 0
        self._question = Question(service)
        self._asked = 0
        self._last = _NUMBER.maximum
        self.strip = PictureStrip(theme, "Test images", is_one_row=False)
        self.wait = WaitLabel()
        self.others = button("Shuffle")
        self.number = NumberField(_NUMBER)
        self.number.setAccessibleName("Number of a test image")
        self.show_number = button("Image no.")
        self.close_button = button("Close")
        heading = plain_label("Test images", role="strong")
        buttons = (self.number, self.show_number, self.others, self.close_button)
        top = row(heading, (self.wait, 1), *buttons, spacing=8)
        column(top, (self.strip, 1), parent=self, margins=(14, 10, 14, 10), spacing=8)
        self.others.clicked.connect(self._on_others)
        self.show_number.clicked.connect(self._on_number)

    def open_for(self, model: Path) -> None:
        """Shows test pictures of a run; requests them when it is another run."""
        if model != self._model:
            self._model, self._seed = model, 0
            self.strip.clear_tiles()
            self._ask(model)

    def _on_others(self) -> None:
        if self._model is not None:
            self._seed += 1
            self._ask(self._model, seed=self._seed)

    def _on_number(self) -> None:
        if self._model is None:
            return
        try:
            number = self.number.checked()
        except ParamError:
            self._refuse_number()
            return
        self._ask(self._model, num_pictures=1, indices=[number])

    def _refuse_number(self) -> None:
        numbers = f"0 to {count(self._last)}"
        self.wait.say(f"Test images are numbered {numbers}.", is_bad=True)

    def _ask(self, model: Path, *, num_pictures: int = NUM_PICTURES, **which: Any) -> None:
        self.wait.wait_for("Loading test images")
        self._asked += 1
        number = self._asked
        handlers = Handlers(
            on_done=lambda answer: self._show(number, answer),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.wait.wait_for(progress.text),
        )
        request = PickTestPictures(id=0, model=str(model), count=num_pictures, **which)
        self._question.ask(request, handlers)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(str(error), is_bad=True)
        self._model = None

    def _show(self, number: int, answer: TestPictures) -> None:
        """Replaces the images; keeps them where the requested number is beyond the test set."""
        pictures = answer.pictures
        self._last = max(0, answer.total - 1)
        self.number.set_param(replace(_NUMBER, maximum=self._last))
        self.number.setToolTip(f"0 to {count(self._last)}")
        if not pictures:
            self._refuse_number()
            return

        def place(images: list[QImage]) -> None:
            if number == self._asked:
                self.strip.clear_tiles()
                for picture, image in zip(pictures, images, strict=True):
                    self.strip.add(picture, image, f"{picture.label} · {picture.index}")
                self.wait.say("Click an image to classify it.")

        self._background.run(lambda: [load_preview(each.path) for each in pictures], place)
