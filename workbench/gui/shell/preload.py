"""The code of the views and exports, loaded ahead in turns of the window's own thread.

Not in another thread: while PySide 6.11 paints it reads its table of types without holding the
GIL, and a Qt class that another thread defined meanwhile has ended the window with SIGSEGV (once
in 80 starts under load).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from workbench import exports
from workbench.gui.views import project_views

_log = logging.getLogger("workbench.window")

_TURN_S = 0.005
_PAUSE_MS = 20  # between turns, for what is clicked and typed


class Preload(QObject):
    """Loads the code of all views, once.

    The plots alone take some tenths of a second to load: more than a click may wait for. The
    welcome page needs none of it, so it is loaded once there is a project to train. A module is
    loaded whole, so that two turns take about 60 ms; none begins while a mouse button is
    down.

    Signals:
        finished: All of it is loaded.
    """

    finished = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._steps = _load()
        self._is_started = False
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self._on_turn)

    def start(self) -> None:
        """Begins with the next turns of the event loop; once."""
        if not self._is_started:
            self._is_started = True
            self._timer.start()

    def _on_turn(self) -> None:
        end = time.monotonic() + _TURN_S
        if QtWidgets.QApplication.mouseButtons() == Qt.MouseButton.NoButton:
            for _ in self._steps:
                if time.monotonic() > end:
                    break
            else:
                self.finished.emit()
                return
        self._timer.start()


def _load() -> Iterator[None]:
    """Only imports: widgets are made when they are shown."""
    for module in (QtCore, QtGui, QtWidgets, QtSvg):
        yield from _classes(module)
    _try("pyqtgraph", partial(import_module, "pyqtgraph"))
    yield
    for spec in project_views():
        _try(spec.key, spec.load)
        yield
    for info in walk_packages(exports.__path__, f"{exports.__name__}."):  # for the Export dialog
        _try(info.name, partial(import_module, info.name))
        yield


def _classes(module: ModuleType) -> Iterator[None]:
    """Has PySide make the classes of a module, one by one; pyqtgraph uses all of them at once."""
    for name in dir(module):
        getattr(module, name)
        yield


def _try(name: str, load: Callable[[], object]) -> None:
    try:
        load()
    except ImportError:
        _log.exception("%s could not be loaded ahead", name)
