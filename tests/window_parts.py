"""What all views share, made and ended as the application does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import shiboken6
from PySide6.QtCore import QEventLoop, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from workbench.app import close_context, make_context
from workbench.gui.common.context import WindowContext


@contextmanager
def window_context(home: Path) -> Iterator[WindowContext]:
    """The parts of a window whose settings are in `home`; all are deleted at the end.

    Deleted by their owner, as with the application: what is connected to a lambda that
    refers to it is a circle that Python's garbage collector cannot see.
    """
    owner = QObject()
    context = make_context(home, owner)
    try:
        yield context
    finally:
        close_context(context)
        shiboken6.delete(owner)


def mime_of(*paths: Path) -> QMimeData:
    """What a file manager gives of files that are dragged."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def drag_over(window: QWidget, mime: QMimeData) -> None:
    """Holds data over a window."""
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(99, 99), *_held(mime)))


def let_go(window: QWidget, mime: QMimeData) -> None:
    """Drops what is held over a window."""
    QApplication.sendEvent(window, QDropEvent(QPointF(99, 99), *_held(mime)))


def _held(mime: QMimeData) -> tuple[object, ...]:
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    return Qt.DropAction.CopyAction, mime, button, none


def drop_on(window: QWidget, *paths: Path) -> str:
    """Drags files over a window and drops them; returns the words of the overlay."""
    return drop_data_on(window, mime_of(*paths))


def drop_data_on(window: QWidget, mime: QMimeData) -> str:
    """Drags data over a window and drops it; returns the words of the overlay."""
    drag_over(window, mime)
    while window.drops.is_looking:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    words = window.drops.overlay.words
    let_go(window, mime)
    return words
