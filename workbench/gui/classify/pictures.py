"""Where pictures come from: the drop area, or pictures of the test set to pick from."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QStackedWidget

from workbench.gui.classify.drop_area import DropArea
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.test_set_picker import TestSetPicker
from workbench.gui.kit.save_path import ask_save_path
from workbench.pictures.folders import ENDINGS

_SMALLEST_PX = 132


class PicturesPanel(QStackedWidget):
    """The drop area, and the test pictures once they are wanted."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self._state = state
        self.drop = DropArea()
        self.picker = TestSetPicker(state.context.theme, state.context.service, state.background)
        self.addWidget(self.drop)
        self.addWidget(self.picker)
        self.setMinimumHeight(_SMALLEST_PX)
        self.drop.open_wanted.connect(self.ask_pictures)
        self.drop.paste_wanted.connect(state.paste)
        self.drop.test_wanted.connect(self.show_test_pictures)
        self.drop.folder_wanted.connect(self.ask_folder)
        self.drop.cancel_wanted.connect(state.cancel_folder)
        self.picker.closed.connect(lambda: self.setCurrentWidget(self.drop))
        self.picker.picked.connect(state.classify_test_picture)
        state.table_changed.connect(lambda is_busy: self.drop.set_busy(is_busy=is_busy))
        state.run_changed.connect(self._on_run_changed)
        self.currentChanged.connect(self._on_current_changed)

    def ask_pictures(self) -> None:
        """Lets the user choose picture files."""
        patterns = " ".join(f"*{suffix}" for suffix in sorted(ENDINGS))
        paths, _ = QFileDialog.getOpenFileNames(
            self, "Open pictures", "", f"Pictures ({patterns});;All files (*)"
        )
        self._state.classify(paths)

    def show_test_pictures(self) -> None:
        """Shows pictures of the run's test set to pick from."""
        if self._state.run is not None:
            self.setCurrentWidget(self.picker)
            self.picker.open_for(self._state.run)

    def ask_folder(self) -> None:
        """Lets the user choose a folder and a table, then classifies the folder into it."""
        folder = QFileDialog.getExistingDirectory(self, "Classify a folder")
        if not folder:
            return
        table, _ = ask_save_path(
            self, "Save as CSV", f"{Path(folder).name}.csv", "CSV table (*.csv)"
        )
        if table:
            self._state.classify_folder(Path(folder), Path(table))

    def _on_run_changed(self) -> None:
        if self._state.is_picking:
            self.show_test_pictures()

    def _on_current_changed(self) -> None:
        self._state.set_picking(is_picking=self.currentWidget() is self.picker)

    def hasHeightForWidth(self) -> bool:
        """Takes what room is left: a wrapped line in a page must not push the others away."""
        return False
