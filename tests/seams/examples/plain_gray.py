"""A source of images to classify: gray without any content."""

from __future__ import annotations

from PySide6.QtGui import QColor, QImage

from workbench.gui.classify.picture_source import PictureSource, SourceSpec

SIDE_PX = 64


class PlainGray(PictureSource):
    """Shows what the model answers where there is nothing to see."""

    def begin(self) -> None:
        image = QImage(SIDE_PX, SIDE_PX, QImage.Format.Format_RGB32)
        image.fill(QColor("gray"))
        self.state.classify_image(image, "gray")


SPEC = SourceSpec(
    key="plain_gray",
    text="Plain gray",
    tip="Classifies an image without any content",
    order=90,
    make=PlainGray,
)
