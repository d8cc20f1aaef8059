"""The nearest training images in a grid; computing what they are found by, once for a run."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.client.question import Handlers, Question
from workbench.core.format import count, plural, share
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.nearest.rows import NearestRows
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.when_seen import WhenSeen
from workbench.gui.images.grid import ImageGrid
from workbench.gui.images.sample_dialog import SampleDialog
from workbench.gui.images.samples import GridSamples
from workbench.gui.images.source import ImageSource
from workbench.gui.images.thumbnails import ImageThumbnails
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.wait_label import WaitLabel
from workbench.protocol.messages import Progress
from workbench.protocol.trained.image_map import FindNearest, MapImages, NearestImages

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
