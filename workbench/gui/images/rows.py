"""What a grid of images is asked for: one row for each image, and what is drawn with it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex

from workbench.gui.images.sample_dialog import Sample
from workbench.protocol.browsing import ImagePlace

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Badge:
    """A mark in a corner of an image.

    Attributes:
        icon: Its name in the theme: the mark is more than a color.
        color: Name of a color of the theme.
    """

    icon: str
    color: str


class GridRows(QAbstractListModel):
    """The images of a grid, in its order. A subclass knows them."""

    num_lines = 1
    """Lines of text below each image."""

    def place(self, row: int) -> ImagePlace:
        """What the image in a row is meant by in requests."""
        raise NotImplementedError

    def file(self, row: int) -> str:
        """The file of the image in a row; "" where it is in none, or the place says enough."""
        raise NotImplementedError

    def lines(self, row: int) -> tuple[str, ...]:
        """The lines below an image; the first one is bright where there are several."""
        raise NotImplementedError

    def sample(self, row: int) -> Sample:
        """The image for the dialog with one large image."""
        raise NotImplementedError

    def badges(self, _row: int) -> tuple[Badge, ...]:
        """The marks of an image, from the left."""
        return ()
