"""What the source holds: its classes, or all images of one of them."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget

from workbench.gui.data.browse.browser import ImageBrowser
from workbench.gui.data.contents import DataContentsPanel
from workbench.gui.data.state import DataState


class DataPages(QStackedWidget):
    """The page of the classes, and that of the images, which is made when it is first opened.

    Attributes:
        contents: The classes.
        browser: The images; None before they are first looked through.
    """

    def __init__(self, state: DataState) -> None:
        super().__init__()
        self._state = state
        self.contents = DataContentsPanel(state)
        self.browser: ImageBrowser | None = None
        self._shown = state.context.document.project.dataset
        self.addWidget(self.contents)
        self.currentChanged.connect(lambda at: state.browsing.emit(at > 0))
        state.browse_wanted.connect(self.browse)
        for lost in (state.missing, state.failed, state.source_changed):
            lost.connect(self._on_lost)

    def browse(self, name: str) -> None:
        """Shows the images of a class; of all for ""."""
        if self.browser is None:
            self.browser = ImageBrowser(self._state)
            self.browser.closed.connect(lambda: self.setCurrentWidget(self.contents))
            self._state.closing.connect(self.browser.close_background)
            self.addWidget(self.browser)
        self._shown = self._state.context.document.project.dataset
        self.setCurrentWidget(self.browser)
        self.browser.open_class(name)
        self.browser.grid.setFocus()

    def _on_lost(self, *_: object) -> None:
        """The images of another data set are others; after an edit they are listed again."""
        if self._shown != self._state.context.document.project.dataset:
            self.setCurrentWidget(self.contents)
