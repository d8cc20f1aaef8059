"""What all views share, made and ended as the application does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject

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
