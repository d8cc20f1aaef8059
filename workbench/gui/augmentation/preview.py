"""Preview of augmentation: the worker's images, and the grid that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.network.roles import input_node, pipeline_nodes
from workbench.core.projects.project_file import project_text
from workbench.core.specs import Shape
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.theme import Theme
from workbench.protocol.augmentation import AugmentationPreview, PreviewAugmentation
from workbench.protocol.messages import Progress
from workbench.runs.trust import is_known

# previewer -----------------------------------------------------------------------------------
# Requests previews of the project's augmentation from the service worker: the newest counts.

IMAGES, VARIANTS = 4, 5
_DELAY_MS = 120
"""While a value is being changed, not each step of it is requested."""

_IMAGE_RANK = 3

_NO_IMAGES = "Choose images in the Data view. What augmentation makes of them is shown here."
_NO_INPUT = "Add an Input layer to the network. Augmentation comes right behind it."
_ELSEWHERE = "These images are downloaded on first use. Load them to see what is made of them."


@dataclass(frozen=True)
class PreviewRow:
    """An image of the project: the name of its class; as it is, then its variants."""

    label: str
    images: tuple[QImage, ...]


class Previewer(QObject):
    """Keeps a preview up to date with the document while its dialog is open.

    Signals:
        waiting(str): A newer preview is being made, in words.
        shown(list): Its rows, as PreviewRow.
        missing(str, bool): Why there is nothing to show, and whether loading the images helps.
        failed(WorkbenchError): Why the preview cannot be made.

    Attributes:
        num_train: How many images are trained on; None while that is not known.
    """

    waiting = Signal(str)
    shown = Signal(list)
    missing = Signal(str, bool)
    failed = Signal(object)

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._document = context.document
        self._question = Question(context.service)
        self._background = Background(self, max_threads=1)
        self._number = 0
        self._pick = self._step = 0
        self._asked: tuple[object, ...] = ()
        self._source: tuple[object, ...] = ()
        self._may_download = False
        self.num_train: int | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._ask)
        document = self._document
        for changed in (document.edited, document.project_replaced, document.analysis_changed):
            changed.connect(self.refresh)

    @property
    def input_shape(self) -> Shape | None:
        """(height, width, channels) of the network's input; None without one."""
        document = self._document
        start = input_node(document.graph, self._context.layers)
        shape = None if start is None else document.analysis.shapes.get(start.id)
        return shape if shape is not None and len(shape) == _IMAGE_RANK else None

    # what is wanted --------------------------------------------------------------------

    def refresh(self) -> None:
        """Requests a preview soon, where the document has changed what it would show."""
        wanted = self._wanted()
        if wanted == self._asked:
            return
        self._call_off()
        self._asked = wanted
        source = self._images()
        if source != self._source:
            self._source, self.num_train, self._may_download = source, None, False
        if words := self._reason():
            self.missing.emit(words, words == _ELSEWHERE)
            return
        self.waiting.emit("Updating")
        self._timer.start()

    def other_images(self) -> None:
        """Shows other images of the training part."""
        self._pick += 1
        self.refresh()

    def other_variants(self) -> None:
        """Shows what the following steps of training make of the images."""
        self._step += VARIANTS
        self.refresh()

    def load(self) -> None:
        """Requests previews, also of images that have to be downloaded."""
        self._may_download = True
        self._asked = ()
        self.refresh()

    def close(self) -> None:
        """Cancels what is requested; requests nothing more."""
        self._call_off()
        self._background.close()

    def _wanted(self) -> tuple[object, ...]:
        """What decides the pixels: an edit of anything else changes no preview."""
        project, layers = self._document.project, self._context.layers
        graph, start = project.graph, input_node(project.graph, layers)
        chain = () if start is None else (start.id, *pipeline_nodes(graph, layers))
        head = [(graph.nodes[key].kind, dict(graph.nodes[key].params)) for key in chain]
        recipe = project.recipe
        mixed = recipe.random_erasing, recipe.mixing, recipe.mixing_alpha, recipe.seed
        return head, mixed, self._images(), self._pick, self._step

    def _images(self) -> tuple[object, ...]:
        """What decides which images are trained on."""
        project = self._document.project
        return project.dataset, project.edits, project.recipe.split_values(), self._unreadable

    @property
    def _unreadable(self) -> tuple[str, ...]:
        facts = self._document.dataset_facts
        return facts.unreadable if facts is not None else ()

    def _reason(self) -> str:
        """Why there is no preview, in words; "" where there can be one."""
        choice = self._document.project.dataset
        spec = self._context.datasets.get(choice.key)
        if spec is None or spec.unset(choice.params) or not is_known(choice):
            return _NO_IMAGES
        if input_node(self._document.graph, self._context.layers) is None:
            return _NO_INPUT
        is_elsewhere = bool(spec.not_kept()) or bool(spec.addresses(choice.params))
        return _ELSEWHERE if is_elsewhere and not self._may_download else ""

    # the request -----------------------------------------------------------------------

    def _call_off(self) -> None:
        self._timer.stop()
        self._question.drop()
        self._number += 1

    def _ask(self) -> None:
        request = PreviewAugmentation(
            id=0,
            project=project_text(self._document.project),
            count=IMAGES,
            variants=VARIANTS,
            pick=self._pick,
            step=self._step,
            bad_files=list(self._unreadable),
        )
        self._question.ask(
            request,
            Handlers(
                on_done=self._on_done,
                on_failed=self.failed.emit,
                on_progress=self._on_progress,
            ),
        )

    def _on_progress(self, progress: Progress) -> None:
        self.waiting.emit(progress.text)

    def _on_done(self, answer: AugmentationPreview) -> None:
        self.num_train = answer.num_train
        number = self._number

        def show(rows: list[PreviewRow]) -> None:
            if number == self._number:
                self.shown.emit(rows)

        self._background.run(lambda: _rows(answer), show, self._on_lost)

    def _on_lost(self, error: WorkbenchError | OSError) -> None:
        if isinstance(error, WorkbenchError):
            self.failed.emit(error)


def _rows(answer: AugmentationPreview) -> list[PreviewRow]:
    return [
        PreviewRow(each.label, tuple(QImage(path) for path in (each.original, *each.variants)))
        for each in answer.images
    ]


# grid ----------------------------------------------------------------------------------------
# The images of a preview: one in each row, first as it is, then its variants.

_GAP_PX = 6
_HEAD_PX = 24
_LABEL_PX = 18
_LEAST_PX = 48
_SHARP_FROM = 2.0
"""An image enlarged this many times shows its pixels as they are."""


class PreviewGrid(QWidget):
    """Draws the rows as large as there is room; those of the last preview stay until the next."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.rows: list[PreviewRow] = []
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        self.set_rows([])

    def set_rows(self, rows: Sequence[PreviewRow]) -> None:
        """Shows these images."""
        self.rows = list(rows)
        labels = ", ".join(row.label for row in self.rows)
        self.setAccessibleName(f"Augmented images: {labels}" if labels else "No images")
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Small images can still be seen."""
        step = _LEAST_PX + _GAP_PX
        height = _HEAD_PX + IMAGES * (step + _LABEL_PX)
        return QSize((VARIANTS + 1) * step + _GAP_PX, height)

    def place(self, row: int, column: int) -> QRectF:
        """Rectangle of an image, in pixels; column 0 is the one that is not augmented."""
        width, height = self._cell()
        left = column * (width + _GAP_PX) + (_GAP_PX if column else 0)
        top = _HEAD_PX + row * (height + _LABEL_PX + _GAP_PX)
        image = self.rows[row].images[column]
        size = image.size().toSizeF()
        if size.isEmpty():
            return QRectF(left, top, width, height)
        size.scale(width, height, Qt.AspectRatioMode.KeepAspectRatio)
        return QRectF(left, top, size.width(), size.height())

    def _cell(self) -> tuple[float, float]:
        """The room of one image, the same for all."""
        width = (self.width() - (VARIANTS + 1) * _GAP_PX) / (VARIANTS + 1)
        height = (self.height() - _HEAD_PX) / IMAGES - _LABEL_PX - _GAP_PX
        return max(width, 1.0), max(height, 1.0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = self._theme.colors
        for number, row in enumerate(self.rows):
            for column, image in enumerate(row.images):
                place = self.place(number, column)
                is_sharp = place.width() >= _SHARP_FROM * image.width()
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not is_sharp)
                painter.drawImage(place, image)
            self._draw_label(painter, number, row.label)
        if self.rows:
            painter.setPen(QColor(colors.dim))
            head = painter.fontMetrics().height()
            painter.drawText(QRectF(0, 0, self.place(0, 1).left(), head), "Original")
            left = self.place(0, 1).left()
            painter.drawText(
                QRectF(left, 0, self.width() - left, head), "In training, step by step"
            )
        painter.end()

    def _draw_label(self, painter: QPainter, number: int, label: str) -> None:
        painter.setPen(QColor(self._theme.colors.dim))
        width, height = self._cell()
        top = self.place(number, 0).top() + min(height, self.place(number, 0).height())
        text = painter.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, int(width))
        painter.drawText(QRectF(0, top, width, _LABEL_PX), Qt.AlignmentFlag.AlignVCenter, text)
