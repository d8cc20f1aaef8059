"""Saving a figure: where to is asked, it is drawn in the window, and written in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, QPoint, QRect, QSize, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from workbench.client.background import Background
from workbench.core.storage.save import save_bytes
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.dialogs import ask_save_path
from workbench.gui.kit.theme import Theme

# figure file ---------------------------------------------------------------------------------
# A figure as a file: PNG and SVG as it looks, CSV with its values.

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


# figure saver --------------------------------------------------------------------------------

Writer = Callable[[Path], Callable[[], None]]
"""Draws a figure for a path; what it returns writes the file. See `common.figure_saver`."""

_FORMATS = (("PNG image", ".png"), ("SVG image", ".svg"), ("CSV table", ".csv"))


class FigureSaver(QObject):
    """Writes one figure.

    Signals:
        said(str): It was saved, or why not.
    """

    said = Signal(str)

    def __init__(
        self, parent: QWidget, background: Background, name: str, title: str, writer: Writer
    ) -> None:
        """Saves nothing until a line of its menu is chosen or `save` is called.

        Args:
            parent: Owner, and parent of the file dialog.
            background: Runs the writing.
            name: Offered file name, without an ending.
            title: Title of the figure, as in the middle of a sentence.
            writer: Path -> what writes the figure there, in any thread; raises WorkbenchError.
        """
        super().__init__(parent)
        self._parent = parent
        self._background = background
        self._name = name
        self._title = title
        self._writer = writer

    def add_to(self, menu: QMenu) -> None:
        """Adds a line for each format."""
        for words, ending in _FORMATS:
            menu.addAction(f"Save as {words}…", partial(self._ask, ending))

    def _ask(self, ending: str) -> None:
        filters = f"{ending[1:].upper()} file (*{ending})"
        title, name = f"Save the {self._title}", f"{self._name}{ending}"
        path, _ = ask_save_path(self._parent, title, name, filters, kind="plot")
        if path:
            self.save(Path(path))

    def save(self, path: Path) -> None:
        """Writes the figure as the file's ending says; `said` follows."""

        def fail(error: WorkbenchError) -> None:
            self.said.emit(str(error))

        try:
            write = self._writer(path)
        except WorkbenchError as error:
            fail(error)
            return
        words = f"Saved the {self._title} as {path.name}."
        self._background.run(write, lambda _done: self.said.emit(words), fail)


class SaveFigureButton(IconButton):
    """The ⋯ button of a figure, or of several of which one is shown: its menu saves it."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__(theme, "more", f"Save the {title}")
        self._saver: FigureSaver | None = None
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def set_saver(self, saver: FigureSaver) -> None:
        """Sets what the menu saves from now on."""
        self._saver = saver

    def _fill(self) -> None:
        self.menu().clear()
        if self._saver is not None:
            self._saver.add_to(self.menu())
