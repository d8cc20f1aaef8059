"""Sources of pictures: the drop area, and what is picked from: test images, a folder's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question, ServiceProcess
from workbench.core.format import count
from workbench.core.params import IntParam
from workbench.errors import ParamError, WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture, load_preview
from workbench.gui.classify.folder.results import FolderResults
from workbench.gui.classify.picture_source import SourceSpec
from workbench.gui.classify.picture_strip import PictureStrip
from workbench.gui.classify.sources import all_sources
from workbench.gui.classify.state import ClassifyState, SourcesArea
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.labels import plain_label, plain_tip, restyle
from workbench.gui.kit.layout import STRETCH, Gap, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import WaitLabel
from workbench.parts import part_to_install
from workbench.protocol.trained.evaluate import PickTestPictures, TestPictures

# test set picker -----------------------------------------------------------------------------
# Pictures of a run's test set to choose from, with their true classes.

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


# earlier -------------------------------------------------------------------------------------
# The pictures that were classified before, the latest first.


class EarlierPanel(QFrame):
    """A strip of pictures; a click shows one large again."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._shown: ClassifiedPicture | None = None
        self.strip = PictureStrip(state.context.theme, "Recent predictions", is_one_row=True)
        self.strip.set_hint("Classified images appear here.")
        heading = plain_label("Recent predictions", role="heading")
        column(heading, self.strip, parent=self, margins=(14, 10, 14, 4), spacing=6)
        self._state = state
        self.strip.chosen.connect(state.shown)
        state.classified.connect(self._on_classified)
        state.reclassified.connect(self._on_reclassified)
        state.outdated.connect(self._on_outdated)
        state.cleared.connect(self._on_cleared)
        state.shown.connect(self._on_shown)
        state.listing_changed.connect(self.setHidden)  # the table needs the room

    def _on_classified(self, entry: ClassifiedPicture) -> None:
        words, tip, mood = _line(entry)
        name = entry.answer.file
        self.strip.add(entry, entry.picture, words, tip=tip, mood=mood, at_front=True, name=name)
        if entry is self._shown:
            self.strip.mark(entry)

    def _on_reclassified(self, entry: ClassifiedPicture) -> None:
        words, tip, mood = _line(entry)
        self.strip.replace(entry.answer.file, entry, words, tip=tip, mood=mood)

    def _on_outdated(self) -> None:
        self.strip.outdate(f"Classifying with {self._state.title}")

    def _on_cleared(self) -> None:
        self._shown = None
        self.strip.clear_tiles()

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self._shown = entry
        self.strip.mark(entry)


def _line(entry: ClassifiedPicture) -> tuple[str, str, str]:
    """Words, tooltip and mood of a tile."""
    is_bad = entry.answer.error is not None or entry.is_right is False
    words = entry.words()
    tip = " · ".join(
        filter(None, (f"{entry.name}: {words}", entry.answer.unknown, entry.label_words()))
    )
    return words, tip, "bad" if is_bad else "good" if entry.is_right else ""


# pictures ------------------------------------------------------------------------------------

_LEAST_PICKER_PX, _LEAST_RESULTS_PX = 180, 240
_OTHERS_PX = 390
"""Height of what is above a folder's table, and of the margins around both: the table has the rest
of the view, and the sections behind it are scrolled to."""
_DROP_SHARE = 0.45
"""Share of the view's height that the area has before the first picture."""


class DropArea(SourcesArea):
    """The sources: a large dashed area before the first picture, then a row of buttons. The drop
    itself is taken by the window, wherever it happens.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "drop")
        self.title = title = plain_label("Drop a picture here", role="title")
        words = (
            "or a folder of pictures; or paste one (Ctrl+V), open a file, pick from the test set"
        )
        self.hint = plain_label("Drop a picture anywhere, or", role="dim")
        self.text = text = plain_label(words, role="dim")
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.buttons = {spec.key: button(spec.text) for spec in _specs(is_button=True)}
        self.more = button("More sources")
        self.more.setMenu(QMenu(self))
        self.stops: dict[str, TextButton] = {}
        self._row = row(spacing=8)
        for each in (self.hint, *self.buttons.values(), self.more):
            self._row.addWidget(each)
        buttons = row(STRETCH, self._row, STRETCH)
        self._buttons = buttons
        inner = (STRETCH, title, text, Gap(4), buttons, STRETCH)
        self._column = column(*inner, parent=self, margins=(16, 12, 16, 12), spacing=8)

    def set_low(self, *, is_low: bool, view_px: int = 0) -> None:
        """Shows only the row of buttons, or takes the larger part of a view of this height."""
        for label in (self.text, self.title):
            label.setHidden(is_low)
        self.hint.setVisible(is_low)
        self._buttons.setStretch(0, 0 if is_low else 1)
        margin = 0 if is_low else 16
        self._column.setContentsMargins(margin, margin, margin, margin)
        self.setMinimumHeight(0 if is_low else round(_DROP_SHARE * view_px))
        restyle(self, role="" if is_low else "drop")

    def show_activity(self, key: str, words: str, stop: Callable[[], None]) -> None:
        """Shows a button that ends something that is under way."""
        self.hide_activity(key)
        self.stops[key] = button(words)
        self.stops[key].clicked.connect(lambda _=False: stop())
        self._row.addWidget(self.stops[key])
        self.stops[key].show()

    def hide_activity(self, key: str) -> None:
        """Removes the button that stops an activity: it is over."""
        if key in self.stops:
            gone = self.stops.pop(key)
            if gone.hasFocus():
                self.more.setFocus(Qt.FocusReason.OtherFocusReason)
            gone.hide()
            gone.deleteLater()


def _specs(*, is_button: bool) -> list[SourceSpec]:
    return [spec for spec in all_sources().values() if spec.is_button is is_button]


def _with_reason(text: str, reason: str) -> str:
    """An entry of the menu, with why it cannot be used: the first words; its tooltip has all."""
    first = reason.split(". ", maxsplit=1)[0].split(": ", maxsplit=1)[0].rstrip(".")
    return f"{text} — {first}" if first else text


class PicturesPanel(QWidget):
    """Test pictures, or the images of a folder, to pick from, once they are requested.

    Attributes:
        drop: The sources; the view places them, where nothing else moves them.
    """

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self._state = state
        self.drop = state.sources = DropArea()
        self.picker = TestSetPicker(state.context.theme, state.context.service, state.background)
        self.picker.setMinimumHeight(_LEAST_PICKER_PX)
        self.picker.hide()
        self.results = FolderResults(state.context)
        self.results.setMinimumHeight(_LEAST_RESULTS_PX)
        self.results.hide()
        column((self.picker, 1), (self.results, 1), parent=self, spacing=12)
        state.height_changed.connect(self.set_view_height)
        self.sources = {key: spec.make(state, self) for key, spec in all_sources().items()}
        self._connect_sources()
        self.picker.close_button.clicked.connect(lambda: state.set_picking(is_picking=False))
        self.picker.strip.chosen.connect(state.classify_test_picture)
        state.picking_changed.connect(self._show_picker)
        state.folder_begun.connect(self._on_folder)
        state.folder_rows.connect(self.results.add)
        state.folder_done.connect(lambda done: self.results.finish(done, state.kept_rows))
        self.results.truth_chosen.connect(lambda path: state.compare_folder(Path(path)))
        self.results.again.connect(lambda: state.classify_folder_again(self.results.files()))
        state.folder_changed.connect(lambda busy: self.results.set_complete(is_complete=not busy))
        state.closing.connect(self.results.close_background)
        sorter, saver = self.results.sorter, self.results.saver
        saver.said.connect(state.said)
        saver.failed.connect(state.failed)
        sorter.progressed.connect(state.waiting)
        sorter.said.connect(state.said)
        sorter.failed.connect(state.failed)
        state.cleared.connect(lambda: self._show_results(is_shown=False))
        self.results.closed.connect(lambda: self._show_results(is_shown=False))
        self.results.chosen.connect(state.classify_of_folder)
        state.run_changed.connect(self._on_run_changed)

    def set_view_height(self, height: int) -> None:
        """The table of a folder has all that the picture above it leaves of the view."""
        self.results.setMinimumHeight(max(_LEAST_RESULTS_PX, height - _OTHERS_PX))

    def _connect_sources(self) -> None:
        state, drop = self._state, self.drop
        state.source_chosen.connect(lambda key: self.sources[key].begin())
        for key, each in drop.buttons.items():
            each.setToolTip(plain_tip(all_sources()[key].tip))
            each.clicked.connect(lambda _=False, key=key: state.source_chosen.emit(key))
        drop.more.menu().aboutToShow.connect(self._fill_menu)
        for source in self.sources.values():
            state.addresses_came.connect(source.take_addresses)
            state.closing.connect(source.close)
        stop = state.activities.stop
        state.activities.begun.connect(
            lambda key, words: drop.show_activity(key, words, lambda: stop(key))
        )
        state.activities.ended.connect(drop.hide_activity)

    def _fill_menu(self) -> None:
        """Lists the sources without a button; one that cannot be used gives its reason."""
        menu = self.drop.more.menu()
        menu.clear()
        menu.setToolTipsVisible(True)
        for spec in _specs(is_button=False):
            reason = self.sources[spec.key].reason()
            action = menu.addAction(_with_reason(spec.text, reason))
            action.setEnabled(not reason or part_to_install(reason) is not None)
            action.setToolTip(plain_tip(reason or spec.tip))
            action.triggered.connect(
                lambda _=False, key=spec.key: self._state.source_chosen.emit(key)
            )

    def _on_run_changed(self) -> None:
        self.results.set_chosen(self._state.run, self._state.title)
        self._open_picker()

    def _open_picker(self) -> None:
        if self._state.is_picking and self._state.run is not None:
            self.picker.open_for(self._state.run)

    def _on_folder(self, folder: Path) -> None:
        state = self._state
        self.results.begin(folder.name, state.run, state.title, is_watched=state.is_watching)
        self._state.set_picking(is_picking=False)
        self._show_results(is_shown=True)

    def _show_results(self, *, is_shown: bool) -> None:
        self.results.setVisible(is_shown)
        self._state.is_listing = is_shown
        self._state.listing_changed.emit(is_shown)

    def _show_picker(self, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        if is_shown:
            self._show_results(is_shown=False)
        self.picker.setVisible(is_shown)
        self._open_picker()

    def hasHeightForWidth(self) -> bool:
        """Takes what room is left: a wrapped line in it must not push the others away."""
        return False
