"""Explanation: which places of the picture count for a class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QSlider, QWidget

from workbench.client.answer_loader import AnswerLoader
from workbench.core.map_comparison import comparison_words
from workbench.core.outside_text import csv_cells
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.explain.figure import Layer, MapFigure
from workbench.gui.classify.explain.maps import ShownMap, load_maps
from workbench.gui.classify.explain.words import AT_LAST, METHODS, facts_of, layer_words
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.when_seen import WhenSeen
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, Stretch, column, row
from workbench.gui.kit.wait_label import WaitLabel
from workbench.gui.plots.figure_file import figure_file
from workbench.pictures.heat import OPACITY
from workbench.protocol.trained.explain import Explain

_HINT = "Drop a picture: a heat map shows where in it the evidence for a class is."
_LEAST_PX = 270
_PERCENT = 100


class ExplanationPanel(Box):
    """Method, class, the picture with the map over it, and the check with random weights."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__("card", 16, 8)
        self.setAccessibleName("Explanation")
        theme = state.context.theme
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self._map: ShownMap | None = None
        self._when_seen = WhenSeen(self)
        self.maps = AnswerLoader(state.context.service, state.background, load_maps, self)
        self.method, self.class_box = NoWheelComboBox(), NoWheelComboBox()
        self.figure = MapFigure(theme)
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.check = button("Compare with random weights")
        self.menu_button = SaveFigureButton(theme, "heat map")
        self.wait = WaitLabel()
        self.note = plain_label(wrap=True)
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.body = QWidget()
        self._build()
        self._connect()
        self.clear()

    def _build(self) -> None:
        self.setMinimumWidth(_LEAST_PX)
        for key, title, tip in METHODS:
            self.method.addItem(title, key)
            self.method.setItemData(self.method.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        for box, name in ((self.method, "Method"), (self.class_box, "Class to explain")):
            box.setAccessibleName(name)
            box.setToolTip(name)
        self.method.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.check.setToolTip(
            "Repeats the map with the network's weights in random places.\n"
            "A map that stays the same shows the picture, and nothing of what was learned."
        )
        self.opacity.setRange(0, _PERCENT)
        self.opacity.setValue(round(OPACITY * _PERCENT))
        self.opacity.setAccessibleName("Opacity of the heat map")
        self.opacity.setToolTip("Opacity of the heat map")
        self.saver = FigureSaver(self, self._state.background, "heat-map", "heat map", self._writer)
        self.menu_button.set_saver(self.saver)
        column(
            row(self.method, (self.class_box, 1), spacing=8),
            (self.figure, 1),
            row(plain_label("Opacity", role="dim"), (self.opacity, 1), self.menu_button, spacing=8),
            self.wait,
            self.note,
            row(self.check, STRETCH),
            Stretch(0),
            parent=self.body,
            spacing=8,
        )
        self.column.addWidget(self.hint)
        self.column.addWidget(self.body, 1)
        self.column.addStretch(0)

    def _connect(self) -> None:
        state = self._state
        state.shown.connect(self.show_entry)
        state.class_chosen.connect(self.explain_class)
        state.cleared.connect(self.clear)
        state.outdated.connect(self._on_outdated)
        self.saver.said.connect(state.said)
        self.method.activated.connect(lambda _index: self._request())
        self.class_box.activated.connect(lambda _index: self._request())
        self.class_box.currentTextChanged.connect(self._show_class)
        self.opacity.valueChanged.connect(lambda value: self.figure.set_opacity(value / _PERCENT))
        self.check.clicked.connect(lambda: self._request(with_check=True))
        self.maps.waiting.connect(self.wait.wait_for)
        self.maps.loaded.connect(self._on_explained)
        self.maps.failed.connect(self._on_failed)

    def clear(self) -> None:
        """Shows no explanation: no picture is shown, or it could not be read."""
        self._entry = None
        self._forget_map()
        self.figure.set_picture(QImage())
        self.body.hide()
        self.hint.show()

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Explains the most probable class of another picture."""
        if entry.answer.error is not None or self._state.is_outdated(entry):
            self.clear()
            return
        self._entry = entry
        self.figure.set_picture(entry.picture)
        self.class_box.clear()
        for score in entry.answer.scores:
            self.class_box.addItem(score.name, score.name)
        self.hint.hide()
        self.body.show()
        self._request()

    def explain_class(self, name: str) -> None:
        """Explains another class of the picture."""
        if (index := self.class_box.findData(name)) >= 0:
            self.class_box.setCurrentIndex(index)
            self._request()

    def _request(self, *, with_check: bool = False) -> None:
        self._forget_map()
        self._when_seen.do(lambda: self._explain(with_check=with_check))

    def _explain(self, *, with_check: bool) -> None:
        entry, run = self._entry, self._state.run
        if entry is None or run is None:
            return
        self.wait.wait_for("Computing the heat map")
        self.maps.ask(
            Explain(
                id=0,
                model=str(run),
                picture=entry.answer.file,
                class_name=str(self.class_box.currentData()),
                method="gradcam" if self._is_at_last else self.method.currentData(),
                at_last=self._is_at_last,
                with_check=with_check,
            )
        )

    @property
    def _is_at_last(self) -> bool:
        return bool(self.method.currentData() == AT_LAST)

    def _show_class(self, name: str) -> None:
        self.class_box.setToolTip(plain_tip(f"Class to explain: {name}"))

    def _on_outdated(self) -> None:
        """Drops the map, as another run answers: its map follows its answer."""
        self._forget_map()
        self.wait.say("")

    def _forget_map(self) -> None:
        self.maps.drop()
        self._map = None
        self.wait.setToolTip("")
        self.figure.set_layers((), "")
        self.note.hide()
        self.check.setEnabled(False)
        self.menu_button.setEnabled(False)

    def _on_explained(self, shown: ShownMap) -> None:
        self._map = shown
        answer, is_checked = shown.answer, not shown.check.isNull()
        words = facts_of(answer)
        layers = [Layer(shown.heat, "This network" if is_checked else "")]
        if is_checked:
            layers.append(Layer(shown.check, "Random weights"))
        self.figure.set_layers(tuple(layers), f"Heat map: {words}")
        self.wait.say(words)
        self.wait.setToolTip(plain_tip(layer_words(answer, is_fixed=self._is_at_last)))
        notes = [answer.note] if answer.note else []
        if is_checked:
            notes.append(comparison_words(answer.correlation))
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.check.setEnabled(not is_checked)
        self.menu_button.setEnabled(True)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(error.brief, is_bad=True)

    def _writer(self, path: Path) -> Callable[[], None]:
        return figure_file(path, self.figure, self.figure.accessibleName(), self._table)

    def _table(self) -> str:
        """The map as a table: a row of levels, 1 to 255, for each row of the picture."""
        rows = self._map.levels if self._map is not None else ()
        return "".join(f"{csv_cells(values)}\n" for values in rows)
