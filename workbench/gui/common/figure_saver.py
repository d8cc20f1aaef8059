"""Saving a figure: where to is asked, it is drawn in the window, and written in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from workbench.client.background import Background
from workbench.errors import WorkbenchError
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.save_path import ask_save_path
from workbench.gui.kit.theme import Theme

Writer = Callable[[Path], Callable[[], None]]
"""Draws a figure for a path; what it returns writes the file. See `plots.figure_file`."""

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
