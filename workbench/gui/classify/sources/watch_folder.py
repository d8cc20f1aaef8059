"""Images as they appear in a folder."""

from __future__ import annotations

from pathlib import Path

from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.kit.dialogs import ask_folder


class WatchFolder(PictureSource):
    """Lets the user choose a folder, then watches it."""

    def reason(self) -> str:
        return self.state.folder_reason()

    def begin(self) -> None:
        folder = ask_folder(self.owner, "Watch a folder", kind="pictures")
        if folder:
            self.state.watch_folder(Path(folder))


SPEC = SourceSpec(
    key="watch_folder",
    text="Watch folder…",
    tip="Classifies images as they appear in a folder, until it is stopped",
    order=45,
    make=WatchFolder,
)
