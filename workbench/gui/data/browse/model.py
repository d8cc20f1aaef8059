"""The images that are shown, as a model for a view that asks only for what can be seen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Qt

from workbench.core.format import bytes_text, count
from workbench.gui.data.browse.images import Images, Numbers
from workbench.gui.images.rows import GridRows, Index
from workbench.gui.images.sample_dialog import Sample
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.browsing import ImagePlace
from workbench.protocol.describe_data import Thumbnail


class ImageRows(GridRows):
    """One row for each image that is shown.

    Attributes:
        images: All that there are.
        class_names: Name of each label.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.images = Images()
        self.class_names: list[str] = []
        self._numbers: Numbers = np.zeros(0, np.int64)

    def show_numbers(self, images: Images, class_names: list[str], numbers: Numbers) -> None:
        """Shows these images, in this order."""
        self.beginResetModel()
        self.images, self.class_names, self._numbers = images, class_names, numbers
        self.endResetModel()

    @property
    def numbers(self) -> Numbers:
        """The numbers of the images that are shown, in their order."""
        return self._numbers

    def number(self, row: int) -> int:
        """The number of the image in a row."""
        return int(self._numbers[row])

    def place(self, row: int) -> ImagePlace:
        return self.images.place(self.number(row))

    def file(self, _row: int) -> str:
        return ""  # the list is of now

    def lines(self, row: int) -> tuple[str, ...]:
        return (self._name(self.number(row)),)

    def sample(self, row: int) -> Sample:
        number = self.number(row)
        place, file = self.images.place(number), self.images.file(number)
        thumbnail = Thumbnail(
            path="", part=place.part, index=place.index, file=file, width=0, height=0
        )
        return Sample(self.class_name(row), thumbnail)

    def _name(self, number: int) -> str:
        return self.images.names[number] or f"image {count(self.images.place(number).index + 1)}"

    def class_name(self, row: int) -> str:
        """The class of the image in a row."""
        label = self.images.label(self.number(row))
        return self.class_names[label] if label < len(self.class_names) else ""

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._numbers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        number = self.number(index.row())
        name = self._name(number)
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{name}, {self.class_name(index.row())}"
        if role == Qt.ItemDataRole.ToolTipRole:
            size = self.images.size(number)
            parts = (name, self.class_name(index.row()), bytes_text(size) if size else "")
            return plain_tip("\n".join(filter(None, parts)))
        return None
