"""Where pictures come from: the drop area, and pictures of the test set to pick from."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from workbench.gui.classify.folder.job import FolderTask
from workbench.gui.classify.folder.results import FolderResults
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.test_set_picker import TestSetPicker
from workbench.gui.kit.buttons import button, show_instead
from workbench.gui.kit.file_dialogs import ask_files, ask_folder
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, Gap, column, row
from workbench.gui.kit.messages import ask_choice
from workbench.gui.kit.save_path import ask_save_path
from workbench.pictures.folders import ENDINGS
from workbench.runs.export.classified_table import is_unfinished

_DROP_PX, _LEAST_DROP_PX, _LEAST_PICKER_PX = 132, 66, 180
_LEAST_RESULTS_PX = 240
_OTHERS_PX, _HIGH_PX = 526, 772
"""Height of the panels above and below, and of a view with room for all."""
_AGAIN, _CANCEL = 1, 2
_ANY_PX = 16_777_215  # QWIDGETSIZE_MAX


class DropArea(QFrame):
    """Dashed; words and buttons. The drop itself is taken by the window, wherever it happens."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "drop")
        self.title = title = plain_label("Drop pictures or a folder here", role="title")
        words = "or paste one (Ctrl+V), open a file, or pick from the test set"
        self.text = text = plain_label(words, role="dim")
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.open = button("Open…")
        self.paste = button("Paste")
        self.test = button("Test set")
        self.folder = button("Folder to table…")
        self.cancel = button("Cancel")
        self.cancel.hide()
        parts = (self.open, self.paste, self.test, self.folder, self.cancel)
        buttons = row(STRETCH, *parts, STRETCH, spacing=8)
        inner = (STRETCH, title, text, Gap(4), buttons, STRETCH)
        column(*inner, parent=self, margins=(16, 12, 16, 12), spacing=8)

    def set_low(self, *, is_low: bool) -> None:
        """Shows only the buttons in a low window."""
        self.text.setHidden(is_low)
        self.title.setHidden(is_low)

    def set_busy(self, is_busy: bool) -> None:  # noqa: FBT001 - Qt's signal
        """A folder is being classified: it can be canceled, not started again."""
        buttons = (self.cancel, self.folder)
        show_instead(*(buttons if is_busy else reversed(buttons)))


class PicturesPanel(QWidget):
    """The drop area, and the test pictures below it once they are requested: then of the drop area
    only the buttons. In a low window the view scrolls.
    """

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self._state = state
        self.drop = DropArea()
        self.picker = TestSetPicker(state.context.theme, state.context.service, state.background)
        self.picker.setMinimumHeight(_LEAST_PICKER_PX)
        self.picker.hide()
        self.results = FolderResults(state.context)
        self.results.setMinimumHeight(_LEAST_RESULTS_PX)
        self.results.hide()
        parts = ((self.drop, 1), (self.picker, 1), (self.results, 1))
        column(*parts, parent=self, spacing=12)
        self.set_view_height(_HIGH_PX)
        state.height_changed.connect(self.set_view_height)
        self.drop.open.clicked.connect(self.ask_pictures)
        self.drop.paste.clicked.connect(state.paste)
        self.drop.test.clicked.connect(self._on_test)
        self.drop.folder.clicked.connect(self.ask_folder)
        self.drop.cancel.clicked.connect(state.cancel_folder)
        self.picker.close_button.clicked.connect(lambda: self._show_picker(is_shown=False))
        self.picker.strip.chosen.connect(state.classify_test_picture)
        state.folder_changed.connect(self.drop.set_busy)
        state.folder_begun.connect(self._on_folder)
        state.folder_rows.connect(self.results.add)
        state.folder_done.connect(self.results.finish)
        self.results.truth_chosen.connect(lambda path: state.compare_folder(Path(path)))
        state.folder_changed.connect(lambda busy: self.results.set_complete(is_complete=not busy))
        state.closing.connect(self.results.close_background)
        sorter = self.results.sorter
        sorter.progressed.connect(state.waiting)
        sorter.said.connect(state.said)
        sorter.failed.connect(state.failed)
        state.cleared.connect(lambda: self._show_results(is_shown=False))
        self.results.closed.connect(lambda: self._show_results(is_shown=False))
        self.results.chosen.connect(state.classify_of_folder)
        state.run_changed.connect(self._on_run_changed)

    def set_view_height(self, height: int) -> None:
        """Takes what the other panels leave of the view: in a low one the buttons in a line."""
        self._view_px = height
        is_picking = not (self.picker.isHidden() and self.results.isHidden())
        room = _LEAST_DROP_PX if is_picking else max(_LEAST_DROP_PX, height - _OTHERS_PX)
        self.drop.set_low(is_low=room < _DROP_PX)
        self.drop.setMinimumHeight(min(room, _DROP_PX))
        self.drop.setMaximumHeight(room if is_picking or height < _HIGH_PX else _ANY_PX)

    def ask_pictures(self) -> None:
        """Lets the user choose picture files."""
        patterns = " ".join(f"*{suffix}" for suffix in sorted(ENDINGS))
        filters = f"Pictures ({patterns});;All files (*)"
        self._state.classify(ask_files(self, "Open pictures", filters, kind="pictures"))

    def show_test_pictures(self) -> None:
        """Shows pictures of the run's test set to pick from."""
        if self._state.run is not None:
            self._show_picker(is_shown=True)
            self.picker.open_for(self._state.run)

    def _on_test(self) -> None:
        if self._state.is_picking:
            self._show_picker(is_shown=False)
        else:
            self.show_test_pictures()

    def ask_folder(self) -> None:
        """Lets the user choose a folder and a table, then classifies the folder into it."""
        folder = ask_folder(self, "Classify a folder", kind="pictures")
        if not folder:
            return
        name, filters = f"{Path(folder).name}.csv", "CSV table (*.csv);;Parquet table (*.parquet)"
        table, _ = ask_save_path(self, "Save as table", name, filters, kind="table")
        if not table:
            return
        starts_over = Path(table).exists()
        if is_unfinished(Path(table)):
            what, more = f"Continue {Path(table).name}?", "This table is unfinished."
            choice = ask_choice(self, what, more, ("Continue", "Start again", "Cancel"))
            if choice == _CANCEL:
                return
            starts_over = choice == _AGAIN
        self._state.classify_folder(FolderTask(Path(folder), Path(table), starts_over=starts_over))

    def _on_run_changed(self) -> None:
        if self._state.is_picking:
            self.show_test_pictures()

    def _on_folder(self, folder: Path) -> None:
        self.results.begin(folder.name, self._state.title)
        self._show_picker(is_shown=False)
        self._show_results(is_shown=True)

    def _show_results(self, *, is_shown: bool) -> None:
        self.results.setVisible(is_shown)
        self.set_view_height(self._view_px)
        self._state.listing_changed.emit(is_shown)

    def _show_picker(self, *, is_shown: bool) -> None:
        if is_shown:
            self._show_results(is_shown=False)
        if is_shown != self._state.is_picking:
            self.picker.setVisible(is_shown)
            self.set_view_height(self._view_px)
            self._state.set_picking(is_picking=is_shown)

    def hasHeightForWidth(self) -> bool:
        """Takes what room is left: a wrapped line in it must not push the others away."""
        return False
