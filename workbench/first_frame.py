"""What is on the screen while the code of the window is loaded: a small themed frame.

Imports little: it is there before the rest of the window begins to load.
"""

# ruff: noqa: E402 - the guard must come before the first import of Qt

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from workbench.qt_guard import guard_none

guard_none()

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from workbench.assets import icon_path
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.runs.home import APP_NAME, data_home
from workbench.settings.options.display_scale import SCALE_VARIABLE
from workbench.settings.options.display_scale import SPEC as DISPLAY_SCALE
from workbench.settings.options.theme import SPEC as THEME
from workbench.settings.store import read_settings

DESKTOP_ID = "org.modelworkbench.Workbench"
_SIZE_PX = (360, 200)
_TITLE_PX = 26


@contextlib.contextmanager
def _display_scale() -> Iterator[None]:
    """Qt reads the factor when the application is made; one that is set outside counts more. It is
    not handed on: another window takes the text size that is set by then.
    """
    scale = int(read_settings(data_home()).get(DISPLAY_SCALE)) / 100
    if scale == 1 or SCALE_VARIABLE in os.environ:
        yield
        return
    os.environ[SCALE_VARIABLE] = f"{scale:g}"
    yield
    del os.environ[SCALE_VARIABLE]


def make_application() -> QApplication:
    """The application, in the size of text of the settings; the present one where there is one."""
    present = QApplication.instance()
    if isinstance(present, QApplication):
        return present
    with _display_scale():
        app = QApplication(sys.argv[:1])
    app.setApplicationName(APP_NAME)
    app.setApplicationDisplayName("")  # titles name the application themselves
    app.setDesktopFileName(DESKTOP_ID)
    app.setWindowIcon(QIcon(str(icon_path("app"))))
    return app


class FirstFrame(QWidget):
    """Name and state, in the colors of the theme; closed when the window is there."""

    def __init__(self) -> None:
        flags = Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint
        super().__init__(None, flags)
        app = make_application()
        theme = Theme(read_settings(data_home()).get(THEME), self)
        colors = theme.colors
        self.setAccessibleName("Workbench starts")
        self.setStyleSheet(
            f"FirstFrame {{ background: {colors.panel}; border: 1px solid {colors.line}; }}"
            f"QLabel {{ color: {colors.text}; }}"
        )
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title, words = plain_label("Workbench"), plain_label("Loading…")
        title.setFont(theme.font(_TITLE_PX, weight=600))
        column = QVBoxLayout(self)
        column.addStretch()
        for label in (title, words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addStretch()
        self.setFixedSize(*_SIZE_PX)
        self.move(app.primaryScreen().availableGeometry().center() - self.rect().center())

    def show_now(self) -> None:
        """Shows it before it returns: nothing is drawn while the rest is loaded."""
        self.show()
        QApplication.processEvents()
        self.repaint()
        QApplication.processEvents()
