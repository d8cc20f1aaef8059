"""The classify view: drop a picture, read the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from workbench.errors import WorkbenchError
from workbench.gui.classify.folder.job import FolderTask
from workbench.gui.classify.sources import all_sources
from workbench.gui.classify.state import ClassifyState
from workbench.gui.common.context import WindowContext, WindowState
from workbench.gui.common.drops import DataDrop, DropKind
from workbench.gui.common.model_chooser import ModelChooser, NoModelPage
from workbench.gui.common.panel_hosts import Sections
from workbench.gui.common.view_spec import PanelSpec
from workbench.gui.images.find_data import FindDataButton
from workbench.gui.kit.buttons import button
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.widgets import WaitLabel

_SHARES = (4, 1)
"""Stretch factors of the two columns: picture and answer, and the explanation."""
_BESIDE_FROM_PX = 1000
"""Width of the view from which on both fit beside each other: both pictures and the bars need 660,
the explanation 270."""


class ClassifyView(QWidget):
    """Classifies pictures with a run's network."""

    def __init__(
        self,
        context: WindowContext,
        panels: Sequence[PanelSpec[ClassifyState]],
        kept: WindowState | None = None,
    ) -> None:
        super().__init__()
        self._context = context
        self._has_run_ended = False
        self._has_failed = False
        self._has_picture = False
        self.state = ClassifyState(context, self)
        # Before the sources, which may fail at once.
        for begun in (self.state.source_chosen, self.state.addresses_came):
            begun.connect(lambda _what: self._end_error())
        self.panels = Sections(panels, self.state, self)
        self.chooser = ModelChooser(context.library, kept=kept, view="classify")
        self.load = button("Load weights…")
        self.wait = WaitLabel()
        self.find_data = FindDataButton(context, self.state.background)
        self.empty = NoModelPage(
            context.library,
            context.theme,
            "picture",
            "Classifying pictures needs a trained model. Train, in the top right corner, makes "
            "one; or load weights that fit this project.",
            second="Load weights…",
        )
        self.top = QWidget()
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._on_model_changed()

    def _build(self) -> None:
        line = row(self.chooser, self.load, (self.wait, 1), spacing=12)
        column(line, self.chooser.offer, row(self.find_data, STRETCH), parent=self.top, spacing=4)
        left = QWidget()
        self.panels.fill(column(parent=left, spacing=12), "left", "bottom")
        self.panels.group(left, self.panels.of("left", "bottom"))
        right = self.panels.pages("right")
        self._parts = self.panels.splitter(Qt.Orientation.Horizontal, [left, right])
        for index, share in enumerate(_SHARES):
            self._parts.setStretchFactor(index, share)
        self._pages.addWidget(self.empty)
        area = scroll_area(self._parts)  # in a low window nothing covers another: it scrolls
        area.setFrameShape(QFrame.Shape.NoFrame)
        self._pages.addWidget(area)
        whole = column(
            self.top, (self._pages, 1), parent=self, margins=(18, 12, 18, 12), spacing=12
        )
        if self.state.sources is not None:
            whole.insertWidget(1, self.state.sources)

    def _connect(self) -> None:
        self.chooser.model_changed.connect(self._on_model_changed)
        self.chooser.models_changed.connect(self._show_head)
        self._context.weights.loaded.connect(self._on_weights)
        self._context.library.run_ended.connect(self._on_run_ended)
        for loader in (self.load.clicked, self.empty.second_pressed):
            loader.connect(self.ask_weights)
        self.find_data.said.connect(self.wait.say)
        self.empty.use_pressed.connect(self.chooser.choose)
        self.state.waiting.connect(self.wait.wait_for)
        self.state.said.connect(self.wait.say)
        self.state.failed.connect(self._on_failed)
        self.state.shown.connect(lambda _entry: self._on_shown())
        self.state.folder_begun.connect(lambda _folder: self.chooser.keep())
        self.state.shown.connect(lambda _entry: self._show_sources(has_picture=True))
        self.state.cleared.connect(lambda: self._show_sources(has_picture=False))
        for changed in (self.state.picking_changed, self.state.listing_changed):
            changed.connect(lambda _is_shown: self._show_sources(has_picture=self._has_picture))
        self.state.picking_changed.connect(lambda _is_picking: self._end_error())
        for spec in all_sources().values():
            if spec.shortcut is not None:
                self._add_action(spec.key, spec.text, spec.shortcut)

    def _add_action(self, key: str, text: str, shortcut: QKeySequence.StandardKey) -> None:
        """The keys that begin a source."""
        action = QAction(text, self)
        action.setShortcut(QKeySequence(shortcut))
        # Wherever the focus is, also on the switch of views just clicked; a hidden view's
        # shortcut sleeps.
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda: self.state.source_chosen.emit(key))
        self.addAction(action)

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self.state.closing.emit()
        self.state.background.close()

    def classify(self, paths: list[str]) -> None:
        """Classifies picture files."""
        self.state.classify(paths)

    def classify_addresses(self, addresses: list[str]) -> None:
        """Downloads images, once the user agrees, and classifies them."""
        self.state.addresses_came.emit(addresses)

    def data_drop(self) -> DataDrop | None:
        """A dropped folder of class folders is classified, and the correct images are counted."""
        if self.chooser.path is None:
            return None
        words: dict[DropKind, str] = {
            "class_folders": "classify the images of {} and count the correct ones"
        }
        return DataDrop(words, 1, lambda drop: self._classify_labeled(drop.paths[0]))

    def classify_folder(self, folder: str) -> None:
        """Classifies all images of a folder, and lists the answers."""
        self.state.classify_folder(FolderTask(Path(folder)))

    def _classify_labeled(self, folder: str) -> None:
        self.state.classify_folder(FolderTask(Path(folder), has_class_folders=True))

    def ask_weights(self) -> None:
        """Lets the user choose a weights file for the network of the project."""
        self._context.weights.ask(self)

    def _on_weights(self, run: str) -> None:
        """Weights were loaded, from here or elsewhere: their run answers."""
        self.chooser.choose(Path(run))

    def _on_model_changed(self) -> None:
        self._pages.setCurrentIndex(1 if self.chooser.path is not None else 0)
        self._show_head()
        self._show_sources(has_picture=self._has_picture)
        is_wanted = self.isVisible() or self._has_run_ended
        if is_wanted:
            self._has_run_ended = False
        chooser = self.chooser
        self.state.set_run(chooser.path, chooser.title, note=chooser.note, is_wanted=is_wanted)

    def _show_sources(self, *, has_picture: bool) -> None:
        """Before the first picture there is a place to drop it and nothing else; then the sources
        are a row that nothing moves.
        """
        self._has_picture = has_picture
        has_list = self.state.is_picking or self.state.is_listing
        if not has_picture:
            self.panels.hold_back("picture")  # an empty list takes the room below the drop area
        else:
            self.panels.hold_back(*(() if has_list else ("list",)))
        if (sources := self.state.sources) is not None:
            sources.setVisible(self.chooser.path is not None)
            sources.set_low(is_low=has_picture or has_list, view_px=self.height())

    def _show_head(self) -> None:
        """The choice of a model, where there is any: be it of another project."""
        self.top.setVisible(self.chooser.has_models)

    def _on_run_ended(self, _path: str, _outcome: object) -> None:
        # The list shows a moment later that the run has weights: then it is the newest model,
        # and it is got ready before the first picture comes.
        self._has_run_ended = True
        QTimer.singleShot(0, self, self._context.library.refresh)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(str(error), is_bad=True)
        self.find_data.show_for(error)
        self._has_failed = True

    def _on_shown(self) -> None:
        self.chooser.keep()
        self._end_error()

    def _end_error(self) -> None:
        """Something else is done: an error of before is not about that."""
        if self._has_failed:
            self._has_failed = False
            self.wait.say("")
            self.find_data.show_for(None)

    def _arrange(self) -> None:
        """Puts what is beside the answer below it in a narrow window."""
        beside = Qt.Orientation.Horizontal
        below = Qt.Orientation.Vertical
        self._parts.setOrientation(beside if self.width() >= _BESIDE_FROM_PX else below)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._show_sources(has_picture=self._has_picture)
        self.state.height_changed.emit(self.height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.warm_up()
