"""All images of a folder, to look at; they can be saved as a table."""

from __future__ import annotations

from pathlib import Path

from workbench.gui.classify.folder.job import FolderTask
from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.kit.dialogs import ask_folder


class Folder(PictureSource):
    """Lets the user choose a folder, then classifies it."""

    def reason(self) -> str:
        return self.state.folder_reason()

    def begin(self) -> None:
        folder = ask_folder(self.owner, "Classify a folder", kind="pictures")
        if folder:
            self.state.classify_folder(FolderTask(Path(folder)))


SPEC = SourceSpec(
    key="listed_folder",
    text="Folder…",
    tip="Classifies all images of a folder and lists the answers",
    order=38,
    make=Folder,
)
