"""All images of a folder, into a table from the first row on: it can be continued after a kill."""

from __future__ import annotations

from pathlib import Path

from workbench.gui.classify.folder.job import FolderTask
from workbench.gui.classify.folder.sorter import TABLES
from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.kit.dialogs import ask_choice, ask_folder, ask_save_path
from workbench.runs.export.classified_table import is_unfinished

_AGAIN, _CANCEL = 1, 2


class Folder(PictureSource):
    """Lets the user choose a folder and a table, then classifies the folder into it."""

    def reason(self) -> str:
        return self.state.folder_reason()

    def begin(self) -> None:
        folder = ask_folder(self.owner, "Classify a folder", kind="pictures")
        if not folder:
            return
        name = f"{Path(folder).name}.csv"
        table, _ = ask_save_path(self.owner, "Save as table", name, TABLES, kind="table")
        if not table:
            return
        starts_over = Path(table).exists()
        if is_unfinished(Path(table)):
            what, more = f"Continue {Path(table).name}?", "This table is unfinished."
            choice = ask_choice(self.owner, what, more, ("Continue", "Start again", "Cancel"))
            if choice == _CANCEL:
                return
            starts_over = choice == _AGAIN
        self.state.classify_folder(FolderTask(Path(folder), Path(table), starts_over=starts_over))


SPEC = SourceSpec(
    key="folder_table",
    text="Folder to CSV file…",
    tip="Classifies all images of a folder, and writes the answers to a CSV or Parquet file",
    order=40,
    make=Folder,
)
