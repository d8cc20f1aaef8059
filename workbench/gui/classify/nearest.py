"""The training images nearest to the picture that is shown.

Nearest by the outputs of the last hidden layer, which are computed once for a run's weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.format import count, plural, share
from workbench.errors import WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture
from workbench.gui.classify.state import ClassifyState, WhenSeen
from workbench.gui.images.grid import (
    Badge,
    GridRows,
    GridSamples,
    ImageGrid,
    ImageThumbnails,
    Index,
)
from workbench.gui.images.sample_dialog import ImageSource, Sample, SampleDialog
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.widgets import CollapsibleSection, WaitLabel
from workbench.protocol.describe_data import ImagePlace, Thumbnail
from workbench.protocol.messages import Progress
from workbench.protocol.trained.image_map import FindNearest, MapImages, NearestImages, NearImage

# rows ----------------------------------------------------------------------------------------
# The nearest training images as rows of a grid.

_STATES = {"missing": "moved or removed since", "changed": "changed since"}


class NearestRows(GridRows):
    """Three lines for each image: its class, the distance, the file or what has become of it."""

    num_lines = 3

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._images: Sequence[NearImage] = ()

    def show_images(self, images: Sequence[NearImage]) -> None:
        """Shows these images, in this order."""
        self.beginResetModel()
        self._images = images
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._images)

    def place(self, row: int) -> ImagePlace:
        image = self._images[row]
        return ImagePlace(image.part, image.index)

    def file(self, row: int) -> str:
        return self._images[row].file

    def name(self, row: int) -> str:
        """The image in words: the name of its file, or its number."""
        image = self._images[row]
        return Path(image.file).name if image.file else f"image {count(image.index + 1)}"

    def distance_words(self, row: int) -> str:
        """The distance."""
        return f"distance {self._images[row].distance:.3f}"

    def lines(self, row: int) -> tuple[str, ...]:
        image = self._images[row]
        return image.label, self.distance_words(row), _STATES.get(image.state) or self.name(row)

    def badges(self, row: int) -> tuple[Badge, ...]:
        return (Badge("warning", "warning"),) if self._images[row].state else ()

    def words(self, row: int) -> str:
        """All that is known of an image."""
        image = self._images[row]
        where = image.file or f"{self.name(row)} of the {image.part} part"
        known = (image.label, self.distance_words(row), where, _STATES.get(image.state, ""))
        return "\n".join(filter(None, known))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._images[index.row()].label
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.words(index.row()).replace("\n", ", ")
        return plain_tip(self.words(index.row())) if role == Qt.ItemDataRole.ToolTipRole else None

    def sample(self, row: int) -> Sample:
        image = self._images[row]
        thumbnail = Thumbnail(
            path="", part=image.part, index=image.index, file=image.file, width=0, height=0
        )
        facts = (self.name(row), self.distance_words(row), _STATES.get(image.state, ""))
        return Sample(image.label, thumbnail, " · ".join(filter(None, facts)))


# images --------------------------------------------------------------------------------------
# The nearest training images in a grid; computing what they are found by, once for a run.

_HINT = "Drop a picture to see the training images that are nearest to it."
_NOT_YET = (
    "They are found by the outputs of the last hidden layer, which are computed once for the "
    "images of a run."
)
_LINE_PX = 178
"""Height of one line of images with their words."""
_MOST_LINES = 2


class NearestImagesView(QWidget):
    """At most one request is open; what is not seen is not requested."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        context = state.context
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self._source = ImageSource()
        self._when_seen = WhenSeen(self)
        self._nearest = Question(context.service)
        self._computing = Question(context.measurer)
        self._computed_of: Path | None = None
        self.rows = NearestRows(self)
        self.thumbnails = ImageThumbnails(context.service, lambda: self._source, self)
        self.grid = ImageGrid(context.theme, self.rows, self.thumbnails, self)
        self.grid.setAccessibleName("Nearest training images")
        self.grid.setFixedHeight(_LINE_PX)
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.compute, self.cancel = button("Compute"), button("Cancel")
        self.wait = WaitLabel()
        buttons = row(self.compute, self.cancel, STRETCH, spacing=8)
        column(self.hint, self.grid, self.wait, buttons, parent=self, spacing=8)
        self._connect()
        self.clear()

    def _connect(self) -> None:
        state = self._state
        state.shown.connect(self.show_entry)
        state.cleared.connect(self.clear)
        state.outdated.connect(self.clear)
        state.run_changed.connect(self._on_run_changed)
        state.closing.connect(self._close)
        self.compute.clicked.connect(lambda _=False: self.compute_features())
        self.cancel.clicked.connect(lambda _=False: self._computing.cancel())
        self.grid.enlarged.connect(self._enlarge)
        self.grid.clicked.connect(lambda index: self._enlarge(index.row()))

    def clear(self) -> None:
        """Shows nothing: no picture is shown, or its answer is of another run."""
        self._nearest.drop()
        self._entry = None
        self.rows.show_images(())
        self.thumbnails.clear()
        self.grid.hide()
        self.compute.hide()
        self._show_hint(_HINT)
        if not self._computing.is_open:
            self.wait.say("")
            self.cancel.hide()

    def _show_hint(self, words: str) -> None:
        self.hint.setText(words)
        self.hint.setVisible(bool(words))

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Finds the images nearest to another picture."""
        if entry.answer.error is not None or self._state.is_outdated(entry):
            self.clear()
            return
        self._entry = entry
        self._when_seen.do(self._request)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Makes the grid as high as the lines that the images need, at most two."""
        lines = -(-self.rows.rowCount() // self.grid.columns)
        self.grid.setFixedHeight(_LINE_PX * min(max(lines, 1), _MOST_LINES))

    def _request(self) -> None:
        entry, run = self._entry, self._state.run
        if entry is None or run is None or self._computing.is_open:
            return
        self._nearest.ask(
            FindNearest(id=0, model=str(run), picture=entry.answer.file),
            Handlers(on_done=self._take, on_failed=self._on_failed),
        )

    def _take(self, answer: NearestImages) -> None:
        is_known = answer.count > 0
        self.compute.setVisible(not is_known)
        self.grid.setVisible(is_known)
        self._show_hint("" if is_known else _NOT_YET)
        source = ImageSource(answer.source, answer.params, answer.edits)
        if source != self._source:
            self._source = source
            self.thumbnails.clear()
        self.rows.show_images(answer.images)
        self._fit()
        self.grid.updateGeometries()
        self.grid.verticalScrollBar().setValue(0)
        self.wait.say(nearest_words(answer) if is_known else "")

    def _on_failed(self, error: WorkbenchError) -> None:
        self.cancel.hide()
        self.compute.setVisible(self._computed_of is not None)
        self._computed_of = None
        self.wait.say(error.brief, is_bad=True)

    # what they are found by ----------------------------------------------------------------

    def compute_features(self) -> None:
        """Computes the features of the run's images, and then finds the nearest."""
        run = self._state.run
        if run is None or self._computing.is_open:
            return
        self._computed_of = run
        self.compute.hide()
        self.cancel.show()
        self.wait.wait_for("Computing the features of the images")
        self._computing.ask(
            MapImages(id=0, model=str(run)),
            Handlers(
                on_done=self._on_computed, on_failed=self._on_failed, on_progress=self._on_progress
            ),
        )

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.wait.wait_for(f"{progress.text}{part}")

    def _on_computed(self, _done: object) -> None:
        self._computed_of = None
        self.cancel.hide()
        self.wait.say("")
        self._when_seen.do(self._request)

    def _on_run_changed(self) -> None:
        """Gives up what is computed for another run."""
        if self._computing.is_open and self._computed_of != self._state.run:
            self._computing.drop()
            self._computed_of = None
            self.cancel.hide()
            self.wait.say("")

    # one large -----------------------------------------------------------------------------

    def _enlarge(self, at: int) -> None:
        context, samples = self._state.context, GridSamples(self.rows)
        SampleDialog(context, lambda: self._source, samples, at, self).open()

    def _close(self) -> None:
        self._nearest.drop()
        self._computing.drop()
        self.thumbnails.close()


def nearest_words(answer: NearestImages) -> str:
    """How many images were searched, and what has become of those that were found."""
    searched = f"Of {plural(answer.count, 'training image')}"
    if answer.count < answer.total:
        searched = f"Of {count(answer.count)} of {count(answer.total)} training images, a fixed "
        searched += "random sample"
    missing = sum(image.state == "missing" for image in answer.images)
    changed = sum(image.state == "changed" for image in answer.images)
    facts = [searched, "the nearest first"]
    facts += [f"{count(missing)} moved or removed since"] if missing else []
    facts += [f"{count(changed)} changed since"] if changed else []
    return f"{', '.join(facts)}."


# panel ---------------------------------------------------------------------------------------
# Nearest training images: one line until it is opened.


class NearestPanel(QFrame):
    """Requests the images of the picture that is shown while it is open."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.section = CollapsibleSection("Nearest training images")
        self.section.set_note("The training images that look most like it to the network")
        self.images = NearestImagesView(state)
        self.section.body.addWidget(self.images)
        column(self.section, parent=self, margins=(14, 6, 14, 6))
