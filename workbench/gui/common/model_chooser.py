"""Which run answers: one chosen here, else one that is followed, else the newest that can."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.client.run_library import RunLibrary
from workbench.gui.common.run_text import when
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import row
from workbench.runs.library.index import RunSummary
from workbench.runs.log.scores import figure_words

MIN_PX = 240
MAX_PX = 460
"""As wide as its words up to here; longer ones are cut with an ellipsis, whole in the tooltip."""


def model_words(run: RunSummary) -> str:
    """A run as a model: name, time, accuracy and what it was measured on."""
    figure = figure_words(run.test_accuracy, run.best_val_accuracy)
    parts = [run.title, when(run.created), figure]
    return " · ".join(part for part in parts if part)


class ModelChooser(QWidget):
    """A drop-down of the runs whose weights were kept. `model_changed` when it is another."""

    model_changed = Signal()

    def __init__(self, library: RunLibrary) -> None:
        super().__init__()
        self._library = library
        self._chosen: Path | None = None
        self._followed: Path | None = None
        self._current: Path | None = None
        self.box = ElidedComboBox()
        self.box.setAccessibleName("Model")
        self.box.setMinimumWidth(MIN_PX)
        self.box.setMaximumWidth(MAX_PX)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.box.currentTextChanged.connect(self.box.setToolTip)
        row(plain_label("Model", role="dim"), self.box, parent=self, spacing=8)
        self.box.activated.connect(self._on_activated)
        library.runs_changed.connect(self._refresh)
        self._refresh()

    @property
    def path(self) -> Path | None:
        """Folder of the chosen run; None while there is none."""
        return self._current

    @property
    def title(self) -> str:
        """Words for the chosen run."""
        summary = self._library.summary(self._current)
        return summary.title if summary is not None else ""

    def choose(self, path: Path) -> None:
        """Chooses a run, as the user does; it may still have to appear in the list."""
        self._chosen = path
        self._refresh()

    def follow(self, path: Path | None) -> None:
        """Shows the run that was selected elsewhere, as soon as it has weights.

        Until then it stays with the one it shows. What was chosen here before is over.
        """
        self._chosen, self._followed = None, path
        self._refresh()

    def _on_activated(self, row: int) -> None:
        self.choose(Path(self.box.itemData(row)))

    def _refresh(self) -> None:
        models = [run for run in self._library.runs if run.has_model]
        wanted = [(str(run.path), model_words(run)) for run in models]
        shown = [(self.box.itemData(i), self.box.itemText(i)) for i in range(self.box.count())]
        if wanted != shown:
            self.box.clear()
            for path, words in wanted:
                self.box.addItem(words, path)
        paths = [run.path for run in models]
        current = self._best_of(paths)
        if current is not None:
            self.box.setCurrentIndex(paths.index(current))
        if current != self._current:
            self._current = current
            self.model_changed.emit()

    def _best_of(self, paths: list[Path]) -> Path | None:
        """The run to show, out of those with weights, newest first."""
        shown = self._current if self._followed is not None else None
        wanted = (path for path in (self._chosen, self._followed, shown) if path in paths)
        return next(wanted, paths[0] if paths else None)
