"""One image of the data set large, in a window of its own, and those before and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from workbench.client.background import Background
from workbench.client.service_process import AnswerLoader
from workbench.core.format import count, image_size_text
from workbench.core.projects.data_edits import edits_to_plain
from workbench.core.projects.project import Project
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import WaitLabel
from workbench.protocol.describe_data import ShowPicture, Thumbnail
from workbench.protocol.messages import Done

# source --------------------------------------------------------------------------------------
# The data set that images are of.


@dataclass(frozen=True)
class ImageSource:
    """A data set with edits: an `ImagePlace` is one in it.

    Attributes:
        key, params: The source.
        edits: As JSON values (`edits_to_plain`).
    """

    key: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    edits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> ImageSource:
        """The data set of a project as it is now."""
        return cls(project.dataset.key, project.dataset.params, edits_to_plain(project.edits))

    def fields(self) -> dict[str, Any]:
        """The source as fields of a `DataRequest`."""
        return {"source": self.key, "params": dict(self.params), "edits": dict(self.edits)}


# sample dialog -------------------------------------------------------------------------------

_SIZE_PX, _LEAST_PX = QSize(720, 680), QSize(360, 320)
_AROUND_PX = 64
"""What of the window stays to be seen around the dialog."""

_SHARP_FROM = 2.0
"""An image enlarged this many times shows its pixels as they are."""


@dataclass(frozen=True)
class Sample:
    """An image, known by its thumbnail, the name of its class, and more words about it."""

    class_name: str
    thumbnail: Thumbnail
    facts: str = ""


class EnlargedPicture(QWidget):
    """An image as large as there is room, whole."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.image = QImage()
        self._is_final = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._theme = theme
        theme.changed.connect(self.update)

    def show_image(self, image: QImage, *, is_final: bool) -> None:
        """Shows an image; one that is not final stands for a larger one that is still to come."""
        self.image, self._is_final = image, is_final
        self.update()

    def place(self) -> QRectF:
        """Rectangle of the image, in pixels."""
        size = self.image.size().toSizeF()
        scale = min(self.width() / size.width(), self.height() / size.height())
        result = QRectF(0, 0, size.width() * scale, size.height() * scale)
        result.moveCenter(QPointF(self.rect().toRectF().center()))
        return result

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colors.field))
        if not self.image.isNull():
            place = self.place()
            is_sharp = self._is_final and place.width() >= _SHARP_FROM * self.image.width()
            smooth = QPainter.RenderHint.SmoothPixmapTransform
            painter.setRenderHint(smooth, not is_sharp)
            painter.drawImage(place, self.image)
        painter.end()


class SampleDialog(QDialog):
    """Shows one sample after the other: left and right keys or buttons; Escape closes.

    Args:
        context: Has the worker that writes the large images.
        source: Which data set they are of, whenever one is requested.
        samples: Those that can be looked at; at least one.
        at: The first to be shown.
        parent: Where it was chosen.
    """

    def __init__(
        self,
        context: WindowContext,
        source: Callable[[], ImageSource],
        samples: Sequence[Sample],
        at: int,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Image — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        theme = context.theme
        self._source, self._samples, self._at = source, samples, at
        self._background = Background(self, max_threads=1)
        self._loader = AnswerLoader(context.service, self._background, _read, self)
        self.picture = EnlargedPicture(theme)
        self.name = ElidedLabel()
        self.name.setFont(theme.font(15, weight=600))
        self.facts = ElidedLabel()
        self.facts.setProperty("role", "dim")
        self.words = WaitLabel()
        self.number = plain_label(role="dim")
        self.previous = IconButton(theme, "left", "Previous image (Left)", role="framed")
        self.next = IconButton(theme, "right", "Next image (Right)", role="framed")
        self._build(parent)
        self._connect()
        self.show_sample(at)

    def _build(self, around: QWidget) -> None:
        text = column(self.name, self.facts, self.words, spacing=4)
        buttons = row(self.number, self.previous, self.next, spacing=8)
        below = row((text, 1), buttons, spacing=16)
        column((self.picture, 1), below, parent=self, margins=16, spacing=12)
        self.setMinimumSize(_LEAST_PX)
        room = around.window().size() - QSize(_AROUND_PX, _AROUND_PX)
        self.resize(_SIZE_PX.boundedTo(room).expandedTo(_LEAST_PX))

    def _connect(self) -> None:
        self.previous.clicked.connect(lambda: self.show_sample(self._at - 1))
        self.next.clicked.connect(lambda: self.show_sample(self._at + 1))
        self._loader.loaded.connect(self._on_loaded)
        self._loader.failed.connect(self._on_failed)
        last = len(self._samples) - 1
        for key, step in (("Left", -1), ("Right", 1), ("Home", -last), ("End", last)):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(lambda step=step: self.show_sample(self._at + step))

    def show_sample(self, at: int) -> None:
        """Shows a sample: its thumbnail at once, the image itself as soon as it is there."""
        self._at = at = min(max(at, 0), len(self._samples) - 1)
        sample = self._samples[at]
        self._say(sample)
        self.previous.setEnabled(at > 0)
        self.next.setEnabled(at < len(self._samples) - 1)
        small, full_size = _small(sample.thumbnail), _size_of(sample.thumbnail)
        is_whole = not small.isNull() and small.size() == full_size
        self.picture.show_image(small, is_final=is_whole)
        if is_whole:
            self._loader.drop()
            self.words.say("")
            return
        self.words.wait_for("Loading")
        self._loader.ask(self._request(sample.thumbnail))

    def _request(self, thumbnail: Thumbnail) -> ShowPicture:
        return ShowPicture(
            id=0,
            **self._source().fields(),
            part=thumbnail.part,
            index=thumbnail.index,
            file=thumbnail.file,
        )

    def _say(self, sample: Sample) -> None:
        thumbnail = sample.thumbnail
        is_known = thumbnail.width and thumbnail.height
        size = image_size_text((thumbnail.height, thumbnail.width)) if is_known else ""
        self.name.set_full_text(sample.class_name)
        self.facts.set_full_text(
            " · ".join(filter(None, (Path(thumbnail.file).name, size, sample.facts)))
        )
        self.facts.setToolTip(plain_tip(thumbnail.file))
        self.number.setText(f"{count(self._at + 1)} of {count(len(self._samples))}")
        self.picture.setAccessibleName(f"{sample.class_name}, {self.facts.full_text}")

    def _on_loaded(self, image: QImage) -> None:
        if not image.isNull():
            self.words.say("")
            self.picture.show_image(image, is_final=True)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.words.say(error.what, is_bad=True)

    def done(self, result: int) -> None:
        """Ends all loading, however the dialog is closed."""
        self._loader.drop()
        self._background.close()
        super().done(result)


def _read(answer: Done) -> QImage:
    return QImage(answer.path)


def _small(thumbnail: Thumbnail) -> QImage:
    return QImage(thumbnail.path) if thumbnail.path else QImage()


def _size_of(thumbnail: Thumbnail) -> QSize:
    return QSize(thumbnail.width, thumbnail.height)
