"""The evaluate view: how well a run distinguishes the classes, on its test images or others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QStackedWidget, QWidget

from workbench.core.format import plural, share
from workbench.core.params import PathParam, PathsParam, defaults
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import source_choice
from workbench.core.specs import DatasetSpec
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext, WindowState
from workbench.gui.common.drops import DATA_KINDS, DataDrop, Drop
from workbench.gui.common.model_chooser import ModelChooser, NoModelPage
from workbench.gui.common.panel_hosts import Sections
from workbench.gui.common.view_spec import PanelSpec
from workbench.gui.evaluate.state import PARTS, EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.images.find_data import FindDataButton
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import ask_file, ask_folder, ask_folders
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, FittedArea, column, row, scroll_area
from workbench.gui.kit.widgets import EmptyPage, WaitLabel
from workbench.protocol.events import TestResult
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.log.texts import SET_IMAGES
from workbench.runs.store.evaluation import KnownScores

# part box ------------------------------------------------------------------------------------
# Choice of the images of a run to evaluate and show: a drop-down that needs little width.


class PartBox(NoWheelComboBox):
    """A drop-down of the parts of a run's images; as wide as the longest of them.

    Signals:
        chosen(str): The user has chosen a part, an `ImageSet`.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Images")
        self.setToolTip("Images that are evaluated, and whose scores are shown")
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.activated.connect(lambda place: self.chosen.emit(self.itemData(place)))
        self.set_offered([*PARTS])

    def set_offered(self, parts: Sequence[ImageSet]) -> None:
        """Lists these parts; the one that is shown stays."""
        if [self.itemData(place) for place in range(self.count())] == [*parts]:
            return
        shown = self.currentData()
        self.clear()
        for part in parts:
            self.addItem(PARTS[part], part)
        self.setCurrentIndex(self.findData(shown))

    def set_current(self, part: ImageSet) -> None:
        """Shows a choice without a signal."""
        self.setCurrentIndex(self.findData(part))


# view ----------------------------------------------------------------------------------------

NOT_YET = "Not evaluated yet"
_WAIT = "The scores appear here."
PART_SHOWS = (
    "Compared with the scores on the test images, those on the images of training and validation "
    "show how much the model has overfitted."
)
SHOWS = (
    "Evaluation shows how accurate the model is for each class on the test images, which are held "
    "out from training, and which classes it confuses."
)


class EvaluateView(QWidget):
    """Scores of one run."""

    def __init__(
        self,
        context: WindowContext,
        panels: Sequence[PanelSpec[EvaluateState]],
        kept: WindowState | None = None,
    ) -> None:
        super().__init__()
        self._context = context
        theme = context.theme
        self.state = EvaluateState(context, self)
        self.panels = Sections(panels, self.state, self)
        self.chooser = ModelChooser(context.library, is_steady=True, kept=kept, view="evaluate")
        self.part = PartBox()
        self.start = button("Evaluate", role="primary")
        self.other = button("Evaluate on other images…")
        self.cancel = button("Cancel")
        self.note = plain_label(role="warning", wrap=True)
        self.wait = WaitLabel()
        self.find_data = FindDataButton(context, self.state.background)
        self.hint = EmptyPage(theme, "chart", NOT_YET, SHOWS, action="Evaluate")
        text = (
            "Train, in the top right corner, makes one. Its scores on held-out images appear here."
        )
        self.empty = NoModelPage(context.library, theme, "chart", text)
        self.top = QWidget()
        self._body = QStackedWidget()
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._show_idle()
        self._on_model_changed()

    def _build(self) -> None:
        buttons = (self.start, self.other, self.cancel)
        # Nothing in the line moves while an evaluation runs: a click meant for one button must not
        # reach another.
        policy = self.cancel.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.cancel.setSizePolicy(policy)
        line = row(self.chooser, self.part, *buttons, STRETCH, spacing=12)
        column(
            line,
            self.chooser.offer,
            self.note,
            self.wait,
            row(self.find_data, STRETCH),
            parent=self.top,
            spacing=6,
        )
        self._body.addWidget(self.hint)
        self._body.addWidget(scroll_area(self._make_results()))
        self._body.addWidget(QWidget())  # until it is known whether there are results
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self._body)
        whole = QWidget()
        column(self.top, (self._pages, 1), parent=whole, margins=(18, 14, 18, 14), spacing=4)
        column(FittedArea(whole), parent=self)

    def _make_results(self) -> QWidget:
        vertical, panels = Qt.Orientation.Vertical, self.panels
        left = panels.pages("left")
        right = panels.splitter(vertical, [panels.pages("right"), *panels.of("bottom")])
        whole = panels.splitter(Qt.Orientation.Horizontal, [left, right])
        whole.setStretchFactor(0, 4)
        whole.setStretchFactor(1, 5)
        return whole

    def _connect(self) -> None:
        self.chooser.model_changed.connect(self._on_model_changed)
        self.chooser.models_changed.connect(self._on_models_changed)
        self.part.chosen.connect(self.state.choose_part)
        self.start.clicked.connect(self.evaluate)
        self.hint.pressed.connect(self.evaluate)
        self.other.clicked.connect(self._on_other)
        self.cancel.clicked.connect(self.state.cancel)
        self.state.started.connect(self._on_started)
        self.state.progressed.connect(self._on_progressed)
        self.state.ended.connect(self._show_idle)
        self.state.evaluated.connect(self._on_evaluated)
        self.state.looked.connect(self._on_looked)
        self.state.remarked.connect(self._show_head)
        self.state.failed.connect(self._on_failed)
        self.find_data.said.connect(self.wait.say)
        self.find_data.found.connect(self.evaluate)
        self.empty.use_pressed.connect(self.chooser.choose)

    # asking ------------------------------------------------------------------------------

    def evaluate(self) -> None:
        """Evaluates the chosen run on the chosen part of its own images."""
        self.state.evaluate()

    def evaluate_on(self, choice: Choice) -> None:
        """Evaluates the chosen run on another source."""
        self.state.evaluate(choice)

    def close_background(self) -> None:
        """Waits for what still reads; called before the application ends."""
        self.state.closing.emit()
        self.state.close()

    def data_drop(self) -> DataDrop | None:
        """The model is evaluated on dropped images; the project keeps its data set."""
        if self.chooser.path is None:
            return None
        words = "evaluate the model on the images of {}"
        kinds = dict.fromkeys(DATA_KINDS, words)
        busy = "An evaluation is under way. Cancel it, or wait for its end"
        return DataDrop(kinds, 2, self._take_dropped, busy if self.state.is_busy else "")

    def _take_dropped(self, drop: Drop) -> None:
        if drop.source is not None:
            self.evaluate_on(drop.source)

    def _on_started(self) -> None:
        has_focus = self.start.hasFocus() or self.hint.action.hasFocus()
        self.cancel.show()
        if has_focus:
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        self._set_enabled(is_enabled=False)
        self.find_data.show_for(None)
        self._on_progressed("Evaluating")
        self.hint.text.setText(_WAIT)

    def _on_progressed(self, words: str) -> None:
        """Says it above, and in the middle where there are no scores yet."""
        self.wait.wait_for(words)
        self.hint.title.setText(words)

    def _set_enabled(self, *, is_enabled: bool) -> None:
        """What begins an evaluation, or chooses what it is of."""
        for part in (self.start, self.hint.action, self.other, self.chooser, self.part):
            part.setEnabled(is_enabled)

    def _on_evaluated(self) -> None:
        self._body.setCurrentIndex(1)
        self.chooser.keep()
        self._show_head()

    def _on_looked(self) -> None:
        """What the training's own test has found is shown until there is more."""
        if self.state.latest is None and self.state.known is not None:
            self._show_hint(self.state.known)
            self._body.setCurrentIndex(0)
        elif self.state.latest is not None:
            self._body.setCurrentIndex(1)
        self._show_head()

    def _show_hint(self, known: KnownScores) -> None:
        if self.state.is_busy:  # it says how far that is
            return
        title, text = hint_words(known.test, self.state.part)
        self.hint.title.setText(title)
        self.hint.text.setText(text)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(str(error), is_bad=True)
        self.find_data.show_for(error)

    def _show_idle(self) -> None:
        self._set_enabled(is_enabled=True)
        if self.cancel.hasFocus():
            self.start.setFocus(Qt.FocusReason.OtherFocusReason)
        self.cancel.hide()
        self.wait.say("")
        if self.state.known is not None:
            self._show_hint(self.state.known)

    # choosing ----------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        run = self.chooser.path
        self._pages.setCurrentIndex(0 if run is None else 1)
        self._body.setCurrentIndex(2)
        if not self.state.is_busy:
            self.wait.say("")
            self.find_data.show_for(None)
        self.state.choose(run, self.chooser.title)
        self._show_head()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.look()  # it may have trained, or been evaluated elsewhere

    def _on_models_changed(self) -> None:
        self._show_head()
        if self.isVisible():
            self.state.look()  # the chosen one may have other weights

    def _show_head(self) -> None:
        """The choice of a model, where there is any: be it of another project."""
        self.top.setVisible(self.chooser.has_models)
        for part in (self.start, self.other, self.part):
            part.setVisible(self.chooser.path is not None)
        if self.chooser.path is not None:
            self.part.set_offered(self.state.parts())
        self.part.set_current(self.state.part)
        self.start.setToolTip(f"Evaluates the run on its {SET_IMAGES[self.state.part]}")
        notes = self.chooser.note, self.state.remark()
        self.note.setText("\n".join(filter(None, notes)))
        self.note.setVisible(any(notes))

    def _on_other(self) -> None:
        menu = QMenu(self)
        for spec in self._context.datasets.values():
            dots = "…" if spec.source_param else ""
            menu.addAction(f"{spec.title}{dots}", partial(self._on_source_chosen, spec))
        menu.exec(self.other.mapToGlobal(self.other.rect().bottomLeft()))
        menu.deleteLater()

    def _on_source_chosen(self, spec: DatasetSpec) -> None:
        if not spec.source_param:
            self.evaluate_on(Choice(spec.key, defaults(spec.params)))
        elif value := self._ask_path(spec):
            self.evaluate_on(source_choice(spec, value))

    def _ask_path(self, spec: DatasetSpec) -> str | tuple[str, ...]:
        param = next(p for p in spec.params if p.key == spec.source_param)
        if isinstance(param, PathsParam):
            return tuple(ask_folders(self, spec.title, kind="data"))
        if isinstance(param, PathParam) and param.is_folder:
            return ask_folder(self, spec.title, kind="data")
        patterns = " ".join(param.patterns) if isinstance(param, PathParam) else ""
        filters = f"{spec.title} ({patterns});;All files (*)" if patterns else ""
        return ask_file(self, spec.title, filters, kind="data")


def hint_words(test: TestResult | None, part: ImageSet = "test") -> tuple[str, str]:
    """Title and text of a page without an evaluation: what the training's own test has found."""
    if part != "test":
        return f"Not evaluated on the {SET_IMAGES[part]} yet", PART_SHOWS
    if test is None or test.accuracy is None:
        return NOT_YET, SHOWS
    images = f" on {plural(test.count, 'test image')}" if test.count else ""
    measured = f"Measured at the end of the training{images}."
    return f"Test accuracy {share(test.accuracy)}", f"{measured} {SHOWS}"
