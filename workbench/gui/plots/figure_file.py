"""A figure as a file: PNG and SVG as it looks, CSV with its values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from workbench.core.storage.save import save_bytes
from workbench.errors import SaveError

PNG_SCALE = 2.0


def png_bytes(widget: QWidget) -> bytes:
    """The widget as a PNG image, two pixels for each of its own."""
    image = QImage(widget.size() * PNG_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    image.fill(widget.palette().window().color())
    widget.render(image)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # the stub lacks QIODevice
        raise SaveError("The figure could not be drawn into the file.", fix="Try a smaller window.")
    return bytes(buffer.data().data())


def svg_bytes(widget: QWidget, title: str) -> bytes:
    """The widget as an SVG drawing (pyqtgraph's own writer fails on Qt 6.11)."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QSvgGenerator()
    writer.setOutputDevice(buffer)
    writer.setSize(QSize(widget.size()))
    writer.setViewBox(QRect(0, 0, widget.width(), widget.height()))
    writer.setResolution(96)  # of CSS, per inch
    writer.setTitle(title)
    painter = QPainter(writer)
    widget.render(painter, QPoint())
    painter.end()
    return bytes(buffer.data().data())


def figure_file(
    path: Path, widget: QWidget, title: str, table: Callable[[], str]
) -> Callable[[], None]:
    """Draws the figure now, in this thread; what is returned writes the file, in any thread.

    The table is made there too: a long run has millions of numbers. The file's ending names
    the format. The returned function raises SaveError when the file cannot be written.

    Args:
        path: Ends with .png, .svg or .csv.
        widget: The figure.
        title: Title in the SVG file, which screen readers read.
        table: Makes the text of the CSV file.

    Raises:
        SaveError: the ending is none of these, or the figure cannot be drawn.
    """
    ending = path.suffix.lower()
    if ending == ".png":
        picture = png_bytes(widget)
        return lambda: save_bytes(path, picture)
    if ending == ".svg":
        drawing = svg_bytes(widget, title)
        return lambda: save_bytes(path, drawing)
    if ending == ".csv":
        return lambda: save_bytes(path, table().encode())
    raise SaveError(
        "Unknown file extension for a figure.",
        where=str(path),
        received=ending or "no extension",
        expected=".png, .svg or .csv",
        fix="Use one of these extensions.",
    )
