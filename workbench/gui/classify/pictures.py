"""Sources of pictures: the drop area, and what is picked from: test images, a folder's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from workbench.gui.classify.folder.results import FolderResults
from workbench.gui.classify.picture_source import SourceSpec
from workbench.gui.classify.sources import all_sources
from workbench.gui.classify.state import ClassifyState, SourcesArea
from workbench.gui.classify.test_set_picker import TestSetPicker
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.labels import plain_label, plain_tip, restyle
from workbench.gui.kit.layout import STRETCH, Gap, column, row
from workbench.parts import part_to_install

_LEAST_PICKER_PX, _LEAST_RESULTS_PX = 180, 240
_OTHERS_PX = 390
"""Height of what is above a folder's table, and of the margins around both: the table has the rest
of the view, and the sections behind it are scrolled to."""
_DROP_SHARE = 0.45
"""Share of the view's height that the area has before the first picture."""


class DropArea(SourcesArea):
    """The sources: a large dashed area before the first picture, then a row of buttons. The drop
    itself is taken by the window, wherever it happens.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "drop")
        self.title = title = plain_label("Drop a picture here", role="title")
        words = (
            "or a folder of pictures; or paste one (Ctrl+V), open a file, pick from the test set"
        )
        self.hint = plain_label("Drop a picture anywhere, or", role="dim")
        self.text = text = plain_label(words, role="dim")
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.buttons = {spec.key: button(spec.text) for spec in _specs(is_button=True)}
        self.more = button("More sources")
        self.more.setMenu(QMenu(self))
        self.stops: dict[str, TextButton] = {}
        self._row = row(spacing=8)
        for each in (self.hint, *self.buttons.values(), self.more):
            self._row.addWidget(each)
        buttons = row(STRETCH, self._row, STRETCH)
        self._buttons = buttons
        inner = (STRETCH, title, text, Gap(4), buttons, STRETCH)
        self._column = column(*inner, parent=self, margins=(16, 12, 16, 12), spacing=8)

    def set_low(self, *, is_low: bool, view_px: int = 0) -> None:
        """Shows only the row of buttons, or takes the larger part of a view of this height."""
        for label in (self.text, self.title):
            label.setHidden(is_low)
        self.hint.setVisible(is_low)
        self._buttons.setStretch(0, 0 if is_low else 1)
        margin = 0 if is_low else 16
        self._column.setContentsMargins(margin, margin, margin, margin)
        self.setMinimumHeight(0 if is_low else round(_DROP_SHARE * view_px))
        restyle(self, role="" if is_low else "drop")

    def show_activity(self, key: str, words: str, stop: Callable[[], None]) -> None:
        """Shows a button that ends something that is under way."""
        self.hide_activity(key)
        self.stops[key] = button(words)
        self.stops[key].clicked.connect(lambda _=False: stop())
        self._row.addWidget(self.stops[key])
        self.stops[key].show()

    def hide_activity(self, key: str) -> None:
        """Removes the button that stops an activity: it is over."""
        if key in self.stops:
            gone = self.stops.pop(key)
            if gone.hasFocus():
                self.more.setFocus(Qt.FocusReason.OtherFocusReason)
            gone.hide()
            gone.deleteLater()


def _specs(*, is_button: bool) -> list[SourceSpec]:
    return [spec for spec in all_sources().values() if spec.is_button is is_button]


def _with_reason(text: str, reason: str) -> str:
    """An entry of the menu, with why it cannot be used: the first words; its tooltip has all."""
    first = reason.split(". ", maxsplit=1)[0].split(": ", maxsplit=1)[0].rstrip(".")
    return f"{text} — {first}" if first else text


class PicturesPanel(QWidget):
    """Test pictures, or the images of a folder, to pick from, once they are requested.

    Attributes:
        drop: The sources; the view places them, where nothing else moves them.
    """

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self._state = state
        self.drop = state.sources = DropArea()
        self.picker = TestSetPicker(state.context.theme, state.context.service, state.background)
        self.picker.setMinimumHeight(_LEAST_PICKER_PX)
        self.picker.hide()
        self.results = FolderResults(state.context)
        self.results.setMinimumHeight(_LEAST_RESULTS_PX)
        self.results.hide()
        column((self.picker, 1), (self.results, 1), parent=self, spacing=12)
        state.height_changed.connect(self.set_view_height)
        self.sources = {key: spec.make(state, self) for key, spec in all_sources().items()}
        self._connect_sources()
        self.picker.close_button.clicked.connect(lambda: state.set_picking(is_picking=False))
        self.picker.strip.chosen.connect(state.classify_test_picture)
        state.picking_changed.connect(self._show_picker)
        state.folder_begun.connect(self._on_folder)
        state.folder_rows.connect(self.results.add)
        state.folder_done.connect(lambda done: self.results.finish(done, state.kept_rows))
        self.results.truth_chosen.connect(lambda path: state.compare_folder(Path(path)))
        self.results.again.connect(lambda: state.classify_folder_again(self.results.files()))
        state.folder_changed.connect(lambda busy: self.results.set_complete(is_complete=not busy))
        state.closing.connect(self.results.close_background)
        sorter, saver = self.results.sorter, self.results.saver
        saver.said.connect(state.said)
        saver.failed.connect(state.failed)
        sorter.progressed.connect(state.waiting)
        sorter.said.connect(state.said)
        sorter.failed.connect(state.failed)
        state.cleared.connect(lambda: self._show_results(is_shown=False))
        self.results.closed.connect(lambda: self._show_results(is_shown=False))
        self.results.chosen.connect(state.classify_of_folder)
        state.run_changed.connect(self._on_run_changed)

    def set_view_height(self, height: int) -> None:
        """The table of a folder has all that the picture above it leaves of the view."""
        self.results.setMinimumHeight(max(_LEAST_RESULTS_PX, height - _OTHERS_PX))

    def _connect_sources(self) -> None:
        state, drop = self._state, self.drop
        state.source_chosen.connect(lambda key: self.sources[key].begin())
        for key, each in drop.buttons.items():
            each.setToolTip(plain_tip(all_sources()[key].tip))
            each.clicked.connect(lambda _=False, key=key: state.source_chosen.emit(key))
        drop.more.menu().aboutToShow.connect(self._fill_menu)
        for source in self.sources.values():
            state.addresses_came.connect(source.take_addresses)
            state.closing.connect(source.close)
        stop = state.activities.stop
        state.activities.begun.connect(
            lambda key, words: drop.show_activity(key, words, lambda: stop(key))
        )
        state.activities.ended.connect(drop.hide_activity)

    def _fill_menu(self) -> None:
        """Lists the sources without a button; one that cannot be used gives its reason."""
        menu = self.drop.more.menu()
        menu.clear()
        menu.setToolTipsVisible(True)
        for spec in _specs(is_button=False):
            reason = self.sources[spec.key].reason()
            action = menu.addAction(_with_reason(spec.text, reason))
            action.setEnabled(not reason or part_to_install(reason) is not None)
            action.setToolTip(plain_tip(reason or spec.tip))
            action.triggered.connect(
                lambda _=False, key=spec.key: self._state.source_chosen.emit(key)
            )

    def _on_run_changed(self) -> None:
        self.results.set_chosen(self._state.run, self._state.title)
        self._open_picker()

    def _open_picker(self) -> None:
        if self._state.is_picking and self._state.run is not None:
            self.picker.open_for(self._state.run)

    def _on_folder(self, folder: Path) -> None:
        state = self._state
        self.results.begin(folder.name, state.run, state.title, is_watched=state.is_watching)
        self._state.set_picking(is_picking=False)
        self._show_results(is_shown=True)

    def _show_results(self, *, is_shown: bool) -> None:
        self.results.setVisible(is_shown)
        self._state.is_listing = is_shown
        self._state.listing_changed.emit(is_shown)

    def _show_picker(self, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        if is_shown:
            self._show_results(is_shown=False)
        self.picker.setVisible(is_shown)
        self._open_picker()

    def hasHeightForWidth(self) -> bool:
        """Takes what room is left: a wrapped line in it must not push the others away."""
        return False
