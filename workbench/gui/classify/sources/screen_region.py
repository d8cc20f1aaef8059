"""A region of the screen, with the window out of the way."""

from __future__ import annotations

import os

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QWidget

from workbench.errors import PictureError
from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.classify.screen import RegionOverlay, grab_reason, grab_screens, refused_words
from workbench.gui.classify.state import ClassifyState

HIDE_MS = 400
"""How long a desktop may take to fade a window out."""


class ScreenRegion(PictureSource):
    """Hides the window, shows still images over all screens, and brings the window back."""

    def __init__(self, state: ClassifyState, owner: QWidget) -> None:
        super().__init__(state, owner)
        self.overlays: list[RegionOverlay] = []
        self._hidden: QWidget | None = None

    def reason(self) -> str:
        return grab_reason(QGuiApplication.platformName(), os.environ)

    def begin(self) -> None:
        if self._hidden is not None:
            return
        self._hidden = self.owner.window()
        self._hidden.hide()
        QTimer.singleShot(HIDE_MS, self, self._grab)

    def close(self) -> None:
        for overlay in self.overlays:
            overlay.close()
        self.overlays = []

    def _grab(self) -> None:
        stills = grab_screens()
        if not stills:
            self._end()
            what = "The system has not allowed to grab the screen."
            self.state.failed.emit(PictureError(what, fix=refused_words()))
            return
        self.overlays = [RegionOverlay(self.state.context.theme, still) for still in stills]
        for overlay in self.overlays:
            overlay.chosen.connect(self._take)
            overlay.cancelled.connect(self._end)
            overlay.showFullScreen()
        self.overlays[0].activateWindow()
        self.overlays[0].raise_()
        self.overlays[0].grabKeyboard()  # Esc works, whichever screen the mouse is on

    def _take(self, region: QImage) -> None:
        self._end()
        self.state.classify_image(region, "screen region")

    def _end(self) -> None:
        """The window first: with no window left the application would end."""
        window, self._hidden = self._hidden, None
        if window is not None:
            window.show()
            window.activateWindow()
            window.raise_()
        if self.overlays:
            self.overlays[0].releaseKeyboard()
        self.close()


SPEC = SourceSpec(
    key="screen_region",
    text="Screen region",
    tip="Hides this window, and classifies a rectangle that is dragged on the screen; Esc cancels",
    order=60,
    make=ScreenRegion,
)
