"""What a file of `views/` declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from workbench.gui.common.services import WindowServices

MakeView = Callable[[WindowServices], QWidget]


@dataclass(frozen=True, kw_only=True)
class ViewSpec:
    """One view of the window: an action of the View menu, a segment of the switch, a page.

    Attributes:
        key: Name of the file, and of what is stored about the view; never changes.
        title: Its segment of the switch in the top bar.
        text: Its action in the View menu, with "&" before the mnemonic.
        tip: A sentence for the status tip and the shortcuts sheet.
        icon: Name of an icon of `resources/icons`.
        shortcut: Key sequence in Qt's notation; "" for none.
        order: Lower comes first.
        load: Imports the code of the view, which is wanted no earlier than the view, and
            returns the function that makes the view. May be called in any thread.
        is_start: Whether it is shown while there is no project: it has no segment, and the
            bars of a project are hidden.
    """

    key: str
    title: str
    text: str
    tip: str
    icon: str
    shortcut: str = ""
    order: int
    load: Callable[[], MakeView]
    is_start: bool = False
