"""What a file of `panels/` declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar, cast

from PySide6.QtWidgets import QWidget

S = TypeVar("S")

Area = Literal["top", "left", "right", "bottom"]
Waits = Literal["", "picture", "list"]


@dataclass(frozen=True, kw_only=True)
class PanelSpec(Generic[S]):
    """One panel of a view; `S` is the type of what the panels of that view share.

    Attributes:
        key: Name of the file, under which its place is stored; never changes.
        view: Key of the view.
        title: Title of its dock, and its words in View > Panels.
        area: Where it is at first: a side of a view with docks, else a column; "top" is above a
            column. A view of
            one column has all its panels below each other.
        order: Lower comes first: further up, and in the menu.
        make: Imports the code of the panel, which is not needed before its view, and
            makes the panel from what the panels share, e.g. an EvaluateState; see `imported`.
        width_px, height_px: Size of its dock at first; 0 leaves it to Qt.
        stretch: In a column: its part of the room that is left; 0 takes none.
        opened_by: Signals of what the panels share that show it, should it be closed: a command
            that leads to a panel opens it.
        waits: In a column: what it shows; it is hidden while the view has none of it.
    """

    key: str
    view: str
    title: str
    area: Area
    order: int
    make: Callable[[S], QWidget]
    width_px: int = 0
    height_px: int = 0
    stretch: int = 0
    opened_by: tuple[str, ...] = ()
    waits: Waits = ""


def imported(module: str, name: str) -> Callable[[Any], QWidget]:
    """Makes the panel of a class that is imported with the first such panel."""
    return lambda shared: cast("QWidget", getattr(import_module(module), name)(shared))
