"""Image files, chosen in a dialog."""

from __future__ import annotations

from workbench.gui.classify.picture_source import PictureSource, SourceSpec
from workbench.gui.kit.dialogs import ask_files
from workbench.pictures.folders import ENDINGS


class Files(PictureSource):
    """Opens files."""

    def begin(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in sorted(ENDINGS))
        filters = f"Pictures ({patterns});;All files (*)"
        self.state.classify(ask_files(self.owner, "Open pictures", filters, kind="pictures"))


SPEC = SourceSpec(
    key="from_files",
    text="Open…",
    tip="Classifies image files",
    order=10,
    make=Files,
    is_button=True,
)
