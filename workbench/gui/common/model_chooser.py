"""Choice of the run that answers: one chosen or shown here, which stays; else the newest finished
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.client.run_library import LIVE, RunLibrary
from workbench.gui.common.context import KeptModel, WindowState
from workbench.gui.common.run_text import quoted, when
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import EmptyPage
from workbench.runs.library.index import RunSummary
from workbench.runs.library.projects import full_name
from workbench.runs.log.texts import figure_words

UNDER_WAY = "The model can be chosen here once its training has saved the first weights."
UNFINISHED = "Its model is used once it is finished. The weights saved so far can be used already."
UNASKED = "Unfinished runs, and those of a cross-validation or sweep, are used when you choose one."
MIN_PX = 240
MAX_PX = 460
"""Largest width: the chooser is as wide as its words; longer ones are cut with an ellipsis, whole
in the tooltip."""
STEADY_PX, STEADY_MIN_PX = 520, 160
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
    """A box whose width does not depend on its words."""

    def sizeHint(self) -> QSize:
        return QSize(STEADY_PX, super().sizeHint().height())


class ModelChooser(QWidget):
    """A drop-down of the runs whose weights were kept: those of the open project, and below a line
    those of others. What was chosen here, or is shown, stays: another model that is ready is only
    offered. Until then it follows the current run of the library, where that may answer unless
    another is chosen (`default_models`), else the newest of the project that may.

    Args:
        library: The runs.
        is_steady: As wide for one model as for another, so that what is beside it keeps its place.
        kept: Keeps the model of each project over restarts; None for until the end.
        view: Which view it is of, for `kept`.

    Attributes:
        offer: A line that another model is ready, to be used with a click; hidden while none is.

    `model_changed` when it is another, or another project is open, which it may not be of;
    `models_changed` when there are others to choose from.
    """

    model_changed = Signal()
    models_changed = Signal()

    def __init__(
        self,
        library: RunLibrary,
        *,
        is_steady: bool = False,
        kept: WindowState | None = None,
        view: str = "",
    ) -> None:
        super().__init__()
        self._library = library
        self._kept, self._view = kept, view
        self._project: str | None = None
        self._choices: dict[str, KeptModel] = {}
        self._current: Path | None = None
        self._latest: Path | None = None
        self._note = ""
        self.box = _SteadyBox() if is_steady else ElidedComboBox()
        self.box.setAccessibleName("Model")
        self.box.setPlaceholderText("No model of this project yet")
        self.box.setMinimumWidth(STEADY_MIN_PX if is_steady else MIN_PX)
        self.box.setMaximumWidth(STEADY_PX if is_steady else MAX_PX)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.box.currentTextChanged.connect(lambda text: self.box.setToolTip(plain_tip(text)))
        self.offer = button("", role="link")
        self.offer.hide()
        self.offer.clicked.connect(self._on_offer_taken)
        row(plain_label("Model", role="dim"), self.box, parent=self, spacing=8)
        self.box.activated.connect(self._on_activated)
        for news in (library.runs_changed, library.project_changed, library.current_changed):
            news.connect(self._refresh)
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
        self._keep(path)
        self._refresh()

    def keep(self) -> None:
        """Keeps to the model: something that it has answered is shown."""
        choice = self._choice
        has_choice = choice is not None and Path(choice.run).exists()  # it may have been deleted
        if self._current is not None and not has_choice:
            self._keep(self._current)

    def _keep(self, path: Path) -> None:
        latest = self._library.default_model()
        self._latest = latest.path if latest is not None else None
        chosen = KeptModel(str(path), str(self._latest or ""))
        self._choices[self._project or ""] = chosen
        if self._kept is not None and self._project:
            self._kept.keep_model(self._view, self._project, chosen)

    @property
    def _choice(self) -> KeptModel | None:
        return self._choices.get(self._project or "")

    def _on_activated(self, row: int) -> None:
        self.choose(Path(self.box.itemData(row)))

    def _on_offer_taken(self) -> None:
        if (latest := self._library.default_model()) is not None:
            self.choose(latest.path)

    def _follow_project(self) -> None:
        """Each project has its own choice."""
        project = self._library.project
        before, self._project = self._project, project.id if project is not None else ""
        if self._project == before:
            return
        if self._kept is not None and self._project and self._choice is None:
            kept = self._kept.model(self._view, self._project)
            if kept is not None:
                self._choices[self._project] = kept
        self._latest = Path(self._choice.latest) if self._choice is not None else None

    def _refresh(self) -> None:
        self._follow_project()
        models = [run for run in self._library.runs if run.has_model]
        is_other = fill_models(self.box, self._library, models)
        current = self._best_of(models)
        self.box.setCurrentIndex(-1 if current is None else self.box.findData(str(current.path)))
        path = current.path if current is not None else None
        note = self._note_on(current)
        is_changed = (path, note) != (self._current, self._note)
        self._current, self._note = path, note
        self._show_offer(is_changed=is_changed)
        if is_changed:
            self.model_changed.emit()
        elif is_other:
            self.models_changed.emit()

    def _best_of(self, models: list[RunSummary]) -> RunSummary | None:
        """The run to show, out of those with weights, newest first."""
        by_path = {run.path: run for run in models}
        chosen = by_path.get(Path(self._choice.run)) if self._choice is not None else None
        if chosen is not None:
            return chosen
        library = self._library
        shown = by_path.get(self._current) if self._current and library.current else None
        stays = shown if shown is not None and library.is_own(shown) else None
        return library.current_model() or stays or library.default_model()

    def _show_offer(self, *, is_changed: bool) -> None:
        """Says that another model could be used since the one shown was chosen."""
        latest = self._library.default_model()
        if is_changed and self._choice is None:
            self._latest = latest.path if latest is not None else None
        is_offered = (
            latest is not None
            and self._current is not None
            and latest.path not in (self._current, self._latest)
        )
        if latest is not None and is_offered:
            name = f"Run {latest.number}" if latest.number else quoted(latest.label)
            self.offer.setText(f"{name} is ready: use it")
            self.offer.setToolTip(plain_tip(model_words(latest)))
        self.offer.setVisible(is_offered)

    def _note_on(self, run: RunSummary | None) -> str:
        if run is None or self._library.is_own(run):
            return ""
        return f"This model is of another project: {run.project}."


class NoModelPage(EmptyPage):
    """What a view shows while there is no model to choose: that one is to be trained, by the one
    Train button there is, or that its training is under way. A model that is unfinished, or one of
    many of a series, is used where the user says so.

    Args:
        library: All runs.
        theme: Its icon's.
        icon: Name of it.
        text: What the view is for.
        second: A second button; "" for none.

    Signals:
        use_pressed: The run in this folder is to be used.
    """

    use_pressed = Signal(object)

    def __init__(
        self, library: RunLibrary, theme: Theme, icon: str, text: str, *, second: str = ""
    ) -> None:
        super().__init__(theme, icon, "", text, second=second)
        self._library, self._text = library, text
        self._usable: RunSummary | None = None
        library.runs_changed.connect(self._look)
        library.outcome_changed.connect(self._look)
        library.project_changed.connect(self._look)
        self.pressed.connect(self._on_pressed)
        self._look()

    def _look(self, _run: str = "") -> None:
        library = self._library
        own = [run for run in library.runs if library.is_own(run)]
        live = [run for run in own if run.outcome in LIVE]
        usable = next((run for run in [*live, *own] if run.has_model), None)
        self._usable = usable
        title, text = "Train a model first", self._text
        if usable is not None:
            name = f"run {usable.number}" if usable.number else quoted(usable.label)
            title, text = "No model is chosen", UNASKED
            self.action.setText(f"Use {name} as it is")
        if live:
            title = "Training is under way"
            text = UNFINISHED if usable is not None else UNDER_WAY
        self.title.setText(title)
        self.text.setText(text)
        self.action.setVisible(usable is not None)

    def _on_pressed(self) -> None:
        if self._usable is not None:
            self.use_pressed.emit(self._usable.path)
