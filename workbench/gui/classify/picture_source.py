"""What a file of `sources/` declares, and the base of what it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from workbench.gui.classify.state import ClassifyState


class PictureSource(QObject):
    """A way to bring images in, made once for the view.

    Args:
        state: Takes the images: `classify`, `classify_as`, `classify_folder`, ...; and what is
            under way: `activities`.
        owner: In front of it dialogs are shown.
    """

    def __init__(self, state: ClassifyState, owner: QWidget) -> None:
        super().__init__(owner)
        self.state = state
        self.owner = owner

    def reason(self) -> str:
        """Why it cannot be used here; "" where it can."""
        return ""

    def begin(self) -> None:
        """The user has chosen it."""
        raise NotImplementedError

    def take_addresses(self, _addresses: list[str]) -> None:
        """Web addresses were pasted or dropped: the source that downloads takes them."""

    def close(self) -> None:
        """The window is about to close: nothing goes on."""


@dataclass(frozen=True, kw_only=True)
class SourceSpec:
    """A source.

    Attributes:
        key: Name of its file.
        text: Its words on a button or in the menu; an ellipsis at the end where a dialog follows.
        tip: A sentence about it.
        order: Lower comes first.
        make: Makes it from the state of the view and the widget that owns its dialogs.
        is_button: It has a button of its own; the others are in the menu.
        shortcut: Keys that begin it while the view is shown.
    """

    key: str
    text: str
    tip: str
    order: int
    make: Callable[[ClassifyState, QWidget], PictureSource]
    is_button: bool = False
    shortcut: QKeySequence.StandardKey | None = None
