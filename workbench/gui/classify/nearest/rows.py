"""The nearest training images as rows of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt

from workbench.core.format import count
from workbench.gui.images.rows import Badge, GridRows, Index
from workbench.gui.images.sample_dialog import Sample
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.browsing import ImagePlace
from workbench.protocol.describe_data import Thumbnail
from workbench.protocol.trained.image_map import NearImage

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
