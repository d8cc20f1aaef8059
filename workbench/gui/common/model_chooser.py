"""Which run answers: one chosen here, else the current run, else the project's newest that can."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.client.run_library import LIVE, RunLibrary
from workbench.gui.common.run_text import when
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.empty import EmptyPage
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme
from workbench.runs.library.index import RunSummary
from workbench.runs.library.projects import full_name
from workbench.runs.log.scores import figure_words

UNDER_WAY = "The model can be chosen here once its training has saved the first weights."
MIN_PX = 240
MAX_PX = 460
"""As wide as its words up to here; longer ones are cut with an ellipsis, whole in the tooltip."""
STEADY_PX, STEADY_MIN_PX = 360, 160
"""The width of a steady one whatever its words, and the least in a narrow window."""


def model_words(run: RunSummary, *, is_own: bool = True) -> str:
    """A run as a model: name, time, accuracy and what it was measured on; of another project with
    that before it.
    """
    figure = figure_words(run.test_accuracy, run.val_accuracy)
    name = run.label if is_own else full_name(run)
    parts = [name, when(run.created), figure]
    return " · ".join(part for part in parts if part)


def fill_models(box: QComboBox, library: RunLibrary, models: Sequence[RunSummary]) -> bool:
    """Lists models in a drop-down, those of the open project first; their paths are its data.
    Whether there are others than before.
    """
    is_own = library.is_own
    own = [(model_words(run), str(run.path)) for run in models if is_own(run)]
    others = [(model_words(run, is_own=False), str(run.path)) for run in models if not is_own(run)]
    wanted = [*own, *([("", "")] if own and others else []), *others]
    shown = [(box.itemText(place), box.itemData(place) or "") for place in range(box.count())]
    if wanted == shown:
        return False
    box.clear()
    for words, path in wanted:
        if path:
            box.addItem(words, path)
        else:
            box.insertSeparator(box.count())
    return True


class _SteadyBox(ElidedComboBox):
    """One whose width does not depend on its words."""

    def sizeHint(self) -> QSize:
        return QSize(STEADY_PX, super().sizeHint().height())


class ModelChooser(QWidget):
    """A drop-down of the runs whose weights were kept: those of the open project, and below a line
    those of others. Follows the current run of the library as soon as it has weights; until then
    it stays with the one it shows. What was chosen here is over with the next current run.

    Args:
        library: The runs.
        is_steady: As wide for one model as for another, so that what is beside it keeps its place.

    `model_changed` when it is another, or another project is open, which it may not be of;
    `models_changed` when there are others to choose from.
    """

    model_changed = Signal()
    models_changed = Signal()

    def __init__(self, library: RunLibrary, *, is_steady: bool = False) -> None:
        super().__init__()
        self._library = library
        self._chosen: Path | None = None
        self._current: Path | None = None
        self._note = ""
        self.box = _SteadyBox() if is_steady else ElidedComboBox()
        self.box.setAccessibleName("Model")
        self.box.setPlaceholderText("No model of this project yet")
        self.box.setMinimumWidth(STEADY_MIN_PX if is_steady else MIN_PX)
        self.box.setMaximumWidth(STEADY_PX if is_steady else MAX_PX)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.box.currentTextChanged.connect(lambda text: self.box.setToolTip(plain_tip(text)))
        row(plain_label("Model", role="dim"), self.box, parent=self, spacing=8)
        self.box.activated.connect(self._on_activated)
        library.runs_changed.connect(self._refresh)
        library.project_changed.connect(self._refresh)
        library.current_changed.connect(self._on_current_changed)
        self._refresh()

    @property
    def path(self) -> Path | None:
        """Folder of the chosen run; None while there is none."""
        return self._current

    @property
    def title(self) -> str:
        """Words for the chosen run."""
        summary = self._library.summary(self._current)
        return summary.label if summary is not None else ""

    @property
    def has_models(self) -> bool:
        """There is something to choose, be it of other projects."""
        return self.box.count() > 0

    @property
    def note(self) -> str:
        """Why the chosen model may be the wrong one; "" for nothing."""
        return self._note

    def choose(self, path: Path) -> None:
        """Chooses a run, as the user does; it may still have to appear in the list."""
        self._chosen = path
        self._refresh()

    def _on_activated(self, row: int) -> None:
        self.choose(Path(self.box.itemData(row)))

    def _on_current_changed(self) -> None:
        self._chosen = None
        self._refresh()

    def _refresh(self) -> None:
        models = [run for run in self._library.runs if run.has_model]
        is_other = fill_models(self.box, self._library, models)
        current = self._best_of(models)
        self.box.setCurrentIndex(-1 if current is None else self.box.findData(str(current.path)))
        path = current.path if current is not None else None
        note = self._note_on(current)
        if (path, note) != (self._current, self._note):
            self._current, self._note = path, note
            self.model_changed.emit()
        elif is_other:
            self.models_changed.emit()

    def _best_of(self, models: list[RunSummary]) -> RunSummary | None:
        """The run to show, out of those with weights, newest first."""
        by_path = {run.path: run for run in models}
        own = [run for run in models if self._library.is_own(run)]
        follower = self._library.current
        followed = follower.run.path if follower is not None else None
        shown = by_path.get(self._current) if self._current and followed else None
        stays = shown if shown is not None and self._library.is_own(shown) else None
        wanted = [by_path.get(path) for path in (self._chosen, followed) if path is not None]
        return next((run for run in [*wanted, stays, *own] if run is not None), None)

    def _note_on(self, run: RunSummary | None) -> str:
        if run is None or self._library.is_own(run):
            return ""
        return f"This model is of another project: {run.project}."


class NoModelPage(EmptyPage):
    """What a view shows while there is no model to choose: that one is to be trained, or that its
    training is under way.

    Args:
        library: All runs.
        theme: Its icon's.
        icon: Name of it.
        text: What the view is for.
        second: A second button; "" for none.
    """

    def __init__(
        self, library: RunLibrary, theme: Theme, icon: str, text: str, *, second: str = ""
    ) -> None:
        super().__init__(theme, icon, "", text, action="Train", second=second)
        self._library, self._text = library, text
        library.runs_changed.connect(self._look)
        library.outcome_changed.connect(self._look)
        self._look()

    def _look(self, _run: str = "") -> None:
        library = self._library
        is_live = any(run.outcome in LIVE and library.is_own(run) for run in library.runs)
        self.title.setText("Training is under way" if is_live else "Train a model first")
        self.text.setText(UNDER_WAY if is_live else self._text)
        self.action.setVisible(not is_live)
