"""Tags of images: what the menu offers, and the edits that it makes. Training ignores them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.projects.data_edits import DataEdits
from workbench.gui.kit.messages import ask_text

MAX_TAG = 60
"""Characters; more cannot be read in a table."""

_TITLE = "New tag"


def tagged(edits: DataEdits, contents: Iterable[str], tag: str) -> DataEdits:
    """The edits with this tag for some images, by their contents; "" takes theirs away."""
    tags = {**edits.tags}
    for content in contents:
        if tag:
            tags[content] = tag
        else:
            tags.pop(content, None)
    return replace(edits, tags=tags)


class TagMenu(QMenu):
    """Offers the tags that are in use, a new one, and none.

    Signals:
        chosen(str): The tag for the selected images; "" for none.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget, title: str = "") -> None:
        super().__init__(title, parent)

    def fill(self, edits: DataEdits) -> None:
        """Offers the tags of these edits."""
        self.clear()
        for tag in sorted({*edits.tags.values()}, key=str.casefold):
            self.addAction(tag.replace("&", "&&"), partial(self.chosen.emit, tag))
        self.addAction("New tag…", self.ask)
        if edits.tags:
            self.addSeparator()
            self.addAction("No tag", partial(self.chosen.emit, ""))

    def ask(self) -> None:
        """Lets the user type a tag."""
        words = ask_text(self.parentWidget(), _TITLE, "Tag:") or ""
        if tag := "".join(filter(str.isprintable, words)).strip()[:MAX_TAG]:
            self.chosen.emit(tag)
