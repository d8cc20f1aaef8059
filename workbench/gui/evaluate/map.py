"""The map of a run's images: its points, how they are drawn and picked, and the panel.

The window reads the map from the run folder in a thread; the features behind it are for the worker
alone. Which points lie within a lasso is computed in `workbench.core.data_check.image_map`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtWidgets import QCheckBox, QStackedWidget, QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.data_check.image_map import Doubles, inside_polygon
from workbench.core.format import count, plural, share
from workbench.core.projects.data_edits import PART_NAMES
from workbench.errors import WorkbenchError
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.evaluate.map_plot import ClassLegend, Look, MapPlot, PointCard
from workbench.gui.evaluate.map_points import (
    ALL_PARTS,
    PART_WORDS,
    Flags,
    MapChoice,
    class_color,
    class_colors,
    parts_of,
)
from workbench.gui.evaluate.scored import (
    ImagesOfRun,
    PickedImages,
    edit_words,
    edits_of,
    num_missing,
)
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.images.grid import ImageThumbnails
from workbench.gui.images.sample_dialog import ImageSource
from workbench.gui.kit.buttons import button, show_instead
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.widgets import Box
from workbench.protocol.messages import Progress
from workbench.protocol.trained.image_map import MapImages
from workbench.runs.export.tables import image_map_csv
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_features import ImageMap, load_image_map
from workbench.runs.store.image_scores import Numbers

# state ---------------------------------------------------------------------------------------
# The map of the chosen run: read from its folder, and computed where it has none.


@dataclass(frozen=True)
class MapOfRun:
    """A map, and its images as the grid shows them."""

    found: ImageMap
    images: ImagesOfRun

    @property
    def class_names(self) -> list[str]:
        """In the order of the model's outputs."""
        return self.images.class_names


def read_map(run: RunFolder) -> MapOfRun | None:
    """The map of a run's present weights; None where it has none. Raises RunFolderError."""
    card = run.model_card()
    found = load_image_map(run, card.checksum, len(card.class_names))
    if found is None:
        return None
    dataset: Mapping[str, Any] = card.dataset
    source = ImageSource(
        str(dataset.get("key", "")), dataset.get("params", {}), dataset.get("edits", {})
    )
    missing = num_missing(found.images)
    return MapOfRun(found, ImagesOfRun(None, found.images, source, card.class_names, missing))


class MapState(QObject):
    """Reads the map of the run that is chosen, and requests what it lacks.

    Signals:
        changed(): Another map, or none.
        began(): One is being computed.
        progressed(str): What is being done.
        ended(): It ended, with a map or without.
        failed(WorkbenchError): It could not be computed or read.

    Attributes:
        map: The map; None for none.
    """

    changed = Signal()
    began = Signal()
    progressed = Signal(str)
    ended = Signal()
    failed = Signal(object)

    def __init__(self, state: EvaluateState) -> None:
        super().__init__(state)
        self._state = state
        self.map: MapOfRun | None = None
        self._run: Path | None = None
        self._question = Question(state.context.measurer)
        state.looked.connect(self._on_looked)
        state.closing.connect(self._question.drop)

    @property
    def has_run(self) -> bool:
        """Whether there is a run to compute a map of."""
        return self._run is not None

    @property
    def is_busy(self) -> bool:
        """Whether a map is being computed."""
        return self._question.is_open

    def _on_looked(self) -> None:
        """Gives up what was computed for another run, or for other weights of it."""
        run, known = self._state.run, self._state.known
        if run != self._run:
            self._question.drop()
            self._run, self.map = run, None
            self.ended.emit()
            self.changed.emit()
        checksum = known.checksum if known is not None else ""
        if not self.is_busy and (self.map is None or self.map.found.weights != checksum):
            self.read()

    def read(self) -> None:
        """Reads the map that is kept with the run."""
        run = self._run
        if run is None:
            return

        def take(found: MapOfRun | None) -> None:
            if run == self._run and (found is not None or self.map is not None):
                self.map = found
                self.changed.emit()

        def fail(error: WorkbenchError) -> None:
            if run == self._run:
                self.map = None
                self.changed.emit()
                self.failed.emit(error)

        self._state.background.run(lambda: read_map(RunFolder(run)), take, fail)

    def compute(self) -> None:
        """Computes the map, with the features where these are not kept yet."""
        run = self._run
        if run is None or self.is_busy:
            return

        def take(_done: object) -> None:
            self.ended.emit()
            self.read()

        def fail(error: WorkbenchError) -> None:
            self.ended.emit()
            self.failed.emit(error)

        self.began.emit()
        self._question.ask(
            MapImages(id=0, model=str(run)),
            Handlers(on_done=take, on_failed=fail, on_progress=self._on_progress),
        )

    def cancel(self) -> None:
        """Ends the computation."""
        self._question.cancel()

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.progressed.emit(f"{progress.text}{part}")


# panel ---------------------------------------------------------------------------------------
# Map: all images of the run as points; a line drawn around some shows them in the grid.

_BY = (("actual", "Color: actual class"), ("predicted", "Color: predicted class"))
NOT_YET = (
    "The map shows all images of this run as points: those that look alike to the network are near "
    "each other. Wrong labels and mistakes stand out."
)
HOW = "Draw a line around points to see their images. Shift+drag moves, the wheel zooms."


class MapPanel(Box):
    """Choices above the points, classes beside them."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("card", 16, 8)
        theme = state.context.theme
        self._state, self._theme = state, theme
        self.maps = MapState(state)
        self.choice = MapChoice()
        self.shown: Numbers = np.zeros(0, np.int64)
        self._picked: Flags = np.zeros(0, bool)
        self.thumbnails = ImageThumbnails(state.context.service, self._source, self)
        self.part, self.by = NoWheelComboBox(), NoWheelComboBox()
        self.wrong = QCheckBox("Wrong only")
        self.plot = MapPlot(theme)
        self.card = PointCard(self.plot)
        self.legend = ClassLegend()
        self.all_button, self.none_button = button("All"), button("None")
        self.see_button = button("See all shown")
        self.start, self.cancel = button("Compute the map"), button("Cancel")
        self.menu_button = SaveFigureButton(theme, "map")
        self.status = plain_label(role="dim", wrap=True)
        self._pages, self._body, self._figure = QStackedWidget(), QWidget(), QWidget()
        self._hint = plain_label(NOT_YET, role="dim", wrap=True)
        self._at = -1
        self.setMinimumWidth(400)
        self._build()
        self._connect()
        self._show_map()

    def _build(self) -> None:
        for box, name in (
            (self.part, "Images on the map"),
            (self.by, "What the color is by"),
        ):
            box.setAccessibleName(name)
            box.setToolTip(name)
        for by, words in _BY:
            self.by.addItem(words, by)
        self.see_button.setToolTip("Shows the images of all points on the map in the grid (Ctrl+A)")
        self.wrong.setToolTip("Shows only images that were predicted as another class")
        self.saver = FigureSaver(self, self._state.background, "map", "map", self._writer)
        self.menu_button.set_saver(self.saver)
        self._arrange()

    def _arrange(self) -> None:
        column((self.plot, 1), parent=self._figure)
        beside = QWidget()
        column(
            (self.legend, 1),
            row(self.all_button, self.none_button, STRETCH, spacing=6),
            self.see_button,
            parent=beside,
            spacing=6,
        )
        column(
            row((self.part, 1), (self.by, 1), spacing=8),
            row(self.wrong, STRETCH, self.menu_button, spacing=8),
            (row((self._figure, 1), beside, spacing=10), 1),
            parent=self._body,
            spacing=8,
        )
        self._pages.addWidget(QWidget())
        self._pages.addWidget(self._body)
        # Below the words about it: in a low window the end of the panel is scrolled to.
        self.column.addWidget(self._hint)
        self.column.addWidget(self.status)
        self.column.addLayout(row(self.start, self.cancel, STRETCH, spacing=8))
        self.column.addWidget(self._pages, 1)
        self.cancel.hide()

    def _connect(self) -> None:
        maps = self.maps
        maps.changed.connect(self._show_map)
        maps.began.connect(lambda: self._set_busy(is_busy=True))
        maps.ended.connect(lambda: self._set_busy(is_busy=False))
        maps.progressed.connect(self._say)
        maps.failed.connect(self._on_failed)
        self.start.clicked.connect(lambda _=False: maps.compute())
        self.cancel.clicked.connect(lambda _=False: maps.cancel())
        for box in (self.part, self.by):
            box.activated.connect(lambda _index: self._choose())
        self.wrong.toggled.connect(lambda _is_on: self._choose())
        self.legend.hidden_changed.connect(lambda _hidden: self._choose())
        self.legend.class_chosen.connect(self.see_class)
        self.all_button.clicked.connect(lambda _=False: self.legend.set_all(is_shown=True))
        self.none_button.clicked.connect(lambda _=False: self.legend.set_all(is_shown=False))
        self.see_button.clicked.connect(lambda _=False: self.see_all())
        self.plot.all_chosen.connect(self.see_all)
        self.plot.lassoed.connect(self._on_lassoed)
        self.plot.clicked.connect(lambda at: self._pick(self.shown[[at]], "Image on the map"))
        self.plot.pointed.connect(self._on_pointed)
        self.thumbnails.arrived.connect(self._on_thumbnails)
        self.saver.said.connect(self._state.said)
        self._theme.changed.connect(self._on_theme)
        self._state.context.document.edits_changed.connect(self._on_edited)
        self._state.closing.connect(self.thumbnails.close)

    # what is shown -------------------------------------------------------------------------

    def _source(self) -> ImageSource:
        found = self.maps.map
        return found.images.source if found is not None else ImageSource()

    def _show_map(self) -> None:
        """Shows another map, or none."""
        found = self.maps.map
        self.thumbnails.clear()
        self.card.hide()
        self._pages.setCurrentIndex(0 if found is None else 1)
        self._hint.setVisible(found is None)
        self.start.setText("Compute the map")
        self._set_busy(is_busy=self.maps.is_busy)
        if found is None:
            self._say("")
            return
        self.part.clear()
        self.part.addItem("All images", ALL_PARTS)
        for number, words in parts_of(found.found):
            self.part.addItem(words, number)
        self.part.setCurrentIndex(max(0, self.part.findData(self.choice.part)))
        self.legend.set_classes(found.class_names, self._colors())
        self._picked = np.zeros(len(found.found), bool)
        self._choose()
        self.plot.show_all()

    def _colors(self) -> list[tuple[int, int, int]]:
        found = self.maps.map
        names = found.class_names if found is not None else []
        dark = self._theme.is_dark
        return [class_color(at, len(names), is_dark=dark) for at in range(len(names))]

    def _choose(self) -> None:
        """Shows what is chosen."""
        found = self.maps.map
        if found is None:
            return
        self.choice = MapChoice(
            part=self.part.currentData(),
            by=self.by.currentData(),
            is_wrong=self.wrong.isChecked(),
            hidden=self.legend.hidden(),
        )
        self.shown = self.choice.shown(found.found)
        labels = self.choice.labels(found.found)[self.shown]
        self.legend.set_counts(np.bincount(labels, minlength=len(found.class_names)).tolist())
        self._draw()

    def _draw(self) -> None:
        """Hands the points over as they look now."""
        found = self.maps.map
        if found is None:
            return
        images, colors = found.found.images, self._theme.colors
        names = len(found.class_names)
        self.plot.set_look(
            Look(
                places=found.found.points[self.shown],
                colors=class_colors(names, is_dark=self._theme.is_dark)[
                    self.choice.labels(found.found)[self.shown]
                ],
                is_wrong=~images.is_right[self.shown],
                is_picked=self._picked[self.shown],
                rings=(QColor(colors.text).rgb(), QColor(colors.accent).rgb()),
                ground=QColor(colors.field).rgb(),
            )
        )
        self._say(self._words())

    def _on_theme(self) -> None:
        self.legend.set_colors(self._colors())
        self._draw()

    def _words(self) -> str:
        """What the points are, in a sentence each."""
        found = self.maps.map
        if found is None:
            return ""
        chosen = found.found
        shown = f"{plural(len(self.shown), 'image')} shown"
        wrong = int((~chosen.images.is_right[self.shown]).sum())
        first, second = chosen.shares.tolist()
        parts = [
            shown,
            f"{count(wrong)} predicted wrong (ringed)",
            f"the axes have {share(first)} and {share(second)} of the variance",
        ]
        sample = ""
        if chosen.is_sample:
            used = [
                f"{count(have)} of {count(total)} {PART_WORDS[name].lower()}"
                for name, have, total in zip(
                    PART_NAMES, chosen.counts, chosen.totals.tolist(), strict=True
                )
                if total
            ]
            sample = f"A fixed random sample: {', '.join(used)}."
        words = " ".join(filter(None, (", ".join(parts) + ".", sample, HOW)))
        self.plot.setAccessibleDescription(words)
        return words

    def _say(self, words: str, *, role: str = "dim") -> None:
        self.status.setText(words)
        set_role(self.status, role)
        self.status.setVisible(bool(words))

    def _on_failed(self, error: WorkbenchError) -> None:
        self._say(error.brief, role="bad")

    def _set_busy(self, *, is_busy: bool) -> None:
        if is_busy:
            show_instead(self.cancel, self.start)
            return
        show_instead(self.start, self.cancel)
        has_map = self.maps.map is not None
        if has_map and self.start.hasFocus():
            self.plot.setFocus(Qt.FocusReason.OtherFocusReason)  # else it leaves the view
        self.start.setEnabled(self.maps.has_run)
        self.start.setVisible(not has_map)
        self._say(self._words())

    # picking -------------------------------------------------------------------------------

    def _on_lassoed(self, corners: Doubles) -> None:
        found = self.maps.map
        if found is None:
            return
        places = found.found.points[self.shown]
        inside = inside_polygon(places, corners)
        self._pick(self.shown[inside], "Picked on the map")

    def see_all(self) -> None:
        """Shows the images of all points in the grid."""
        self._pick(self.shown, "All images on the map")

    def see_class(self, label: int) -> None:
        """Shows the images of a class, as far as they are on the map, in the grid."""
        found = self.maps.map
        if found is not None:
            chosen = self.shown[self.choice.labels(found.found)[self.shown] == label]
            self._pick(chosen, f"On the map: {self.choice.by} {found.class_names[label]}")

    def _pick(self, numbers: Numbers, words: str) -> None:
        """The images in the grid have the largest loss first, as those of a cell have."""
        found = self.maps.map
        if found is None:
            return
        self._picked = np.zeros(len(found.found), bool)
        self._picked[numbers] = True
        self._draw()
        if not len(numbers):
            self._say("There are no points within the line.")
            return
        worst = found.found.images.worst_first
        chosen = worst[self._picked[worst]]
        self._state.images_picked.emit(PickedImages(found.images, chosen, words))

    def _on_pointed(self, at: int) -> None:
        self._at = at
        found = self.maps.map
        if at < 0 or found is None or at >= len(self.shown):
            self.card.hide()
            return
        images, number = found.found.images, int(self.shown[at])
        names = found.class_names
        actual, predicted = names[images.actual[number]], names[images.predicted[number]]
        part = PART_WORDS[PART_NAMES[found.found.role[number]]].removesuffix("s").lower()
        answer = f"{predicted} {share(float(images.probability[number]))}"
        edits = edits_of(found.images, self._state.context.document.project)
        edited = edit_words(edits, images.content_of(number))
        words = f"{answer}\n{edited or f'actual {actual}'}\n{part}"
        pixel = self.plot.mapFromScene(self.plot.pixels()[at][0], self.plot.pixels()[at][1])
        self.card.show_point(pixel, words, self._pixmap_of(number))

    def _on_edited(self) -> None:
        """The point under the mouse may be of an image that is edited now."""
        if not self.card.isHidden():
            self._on_pointed(self._at)

    def _pixmap_of(self, number: int) -> QPixmap | None:
        found = self.maps.map
        if found is None:
            return None
        images = found.found.images
        file = images.file(number)
        return self.thumbnails.pixmap(images.place(number), file if file.isprintable() else "")

    def _on_thumbnails(self) -> None:
        if self.card.isVisible() and 0 <= self._at < len(self.shown):
            self.card.set_pixmap(self._pixmap_of(int(self.shown[self._at])))

    # files ---------------------------------------------------------------------------------

    def _writer(self, path: Path) -> Callable[[], None]:
        found = self.maps.map

        def table() -> str:
            return image_map_csv(found.found, found.class_names) if found else ""

        self.card.hide()
        return figure_file(path, self._figure, "Map of the images", table)
