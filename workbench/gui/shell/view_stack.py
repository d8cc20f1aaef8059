"""The views, each built when it is first shown."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from PySide6.QtCore import QByteArray, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMenu, QStackedWidget, QWidget

from workbench import exports
from workbench.gui.common.context import WindowState
from workbench.gui.common.panel_hosts import Docks, Sections
from workbench.gui.common.view_spec import WindowServices
from workbench.gui.views import all_views, project_views

# layouts -------------------------------------------------------------------------------------
# Layouts of the panels of each view: stored, restored, reset, listed in a menu.

_NO_SIDES = "This view has no side panels"


class Layouts(QObject):
    """Works on any view that has panels; others have nothing to store.

    Signals:
        said(str): A sentence for the status line.
    """

    said = Signal(str)

    def __init__(self, state: WindowState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._panels: dict[str, Docks | Sections] = {}
        self._first: dict[str, QByteArray] = {}

    def add(self, key: str, view: QWidget) -> None:
        """Takes a view that was just built; its panels go where they were left."""
        panels = _panels_of(view)
        if panels is None:
            return
        self._panels[key] = panels
        self._first[key] = panels.save()
        panels.restore(self._state.bytes(f"layout/{key}"))

    def save(self) -> None:
        """Stores where all panels are."""
        for key, panels in self._panels.items():
            self._state.set_bytes(f"layout/{key}", panels.save())

    def reset(self) -> None:
        """Puts all panels back to where they were at first."""
        self._state.forget_layouts()
        for key, panels in self._panels.items():
            panels.restore(self._first[key])
            panels.show_all()

    def toggle_sides(self, current: QWidget | None) -> None:
        """Hides the side panels of a view, or shows those that were hidden so."""
        panels = _panels_of(current)
        if isinstance(panels, Docks):
            panels.toggle_sides()
        else:
            self.said.emit(_NO_SIDES)

    def fill_menu(self, menu: QMenu, current: QWidget | None) -> None:
        """Lists the panels of a view, each to be shown or hidden."""
        menu.clear()
        panels = _panels_of(current)
        if panels is not None:
            menu.addActions(panels.actions())
        else:
            menu.addAction(_NO_SIDES).setEnabled(False)


def _panels_of(view: QWidget | None) -> Docks | Sections | None:
    panels = getattr(view, "panels", None)
    return panels if isinstance(panels, Docks | Sections) else None


def focus_next_panel(view: QWidget | None) -> None:
    """Moves the focus to the next panel of a view, or to its middle."""
    panels = _panels_of(view)
    places = panels.visible() if panels is not None else []
    if not places:
        return
    focused = QApplication.focusWidget()
    if focused is None:
        target = places[0]
    else:
        holds = [place is focused or place.isAncestorOf(focused) for place in places]
        target = places[(holds.index(True) + 1) % len(places) if True in holds else 0]
    if target.focusPolicy() == Qt.FocusPolicy.NoFocus:
        target = next(filter(_takes_focus, target.findChildren(QWidget)), target)
    target.setFocus(Qt.FocusReason.TabFocusReason)


def _takes_focus(widget: QWidget) -> bool:
    return widget.isVisible() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


# preload -------------------------------------------------------------------------------------
# The code of the views and exports, loaded ahead in turns of the window's own thread.
#
# Not in another thread: while PySide 6.11 paints it reads its table of types without holding the
# GIL, and a Qt class that another thread defined meanwhile has ended the window with SIGSEGV (once
# in 80 starts under load).

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


# view stack ----------------------------------------------------------------------------------


class ViewStack(QStackedWidget):
    """Shows one view at a time.

    Signals:
        was_built: Key and widget of a view that was just built, before it is shown.

    Attributes:
        built: The views that were built so far, by key.
    """

    was_built = Signal(str, QWidget)

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.built: dict[str, QWidget] = {}
        self._between = QWidget()
        self.addWidget(self._between)
        self.current_key = ""

    def view(self, key: str) -> QWidget:
        """The view, built now if it was not yet."""
        if key not in self.built:
            widget = self.built[key] = all_views()[key].load()(self._services)
            self.addWidget(widget)
            widget.resize(self.size())  # its panels are sized in the room they will have
            self.was_built.emit(key, widget)
        return self.built[key]

    def show_view(self, key: str) -> QWidget:
        """Brings a view to the front; while it is built for the first time nothing is shown, rather
        than the view before under the name of this one.
        """
        if key not in self.built and self.built:
            self.setCurrentWidget(self._between)
            self.window().repaint()  # now: building takes this thread
        widget = self.view(key)
        self.current_key = key
        self.setCurrentWidget(widget)
        return widget
