"""How the project is trained, as a form; and what the selected run did differently."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QWidget

from workbench.core.checks.images import unused_settings
from workbench.core.checks.recipe import check_rate
from workbench.core.format import count, epochs_text, plural, rate_text
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Project
from workbench.core.training.learning_rates import curve, end_rate, warm_up_steps
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.document.project_document import ProjectDocument
from workbench.gui.common.next_run import RunEstimator
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, add_to, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box, CollapsibleSection, PaintedWidget
from workbench.gui.train.state import TrainState
from workbench.runs.folder import RunFolder
from workbench.runs.naming import network_words

# memory warning ------------------------------------------------------------------------------
# Below the main settings when the next run would not fit into memory: why, and one click.


class MemoryWarning(Box):
    """Hidden while the run fits."""

    def __init__(self, document: ProjectDocument, estimator: RunEstimator) -> None:
        super().__init__("notice", spacing_px=8)
        self._document = document
        self._predictor = estimator
        self.words = plain_label(wrap=True)
        self.basis = plain_label(role="dim", wrap=True)
        self.use = button("")
        self.use.setToolTip("Changes the batch size in the training settings. Undo reverts this.")
        self.use.clicked.connect(self._on_use)
        add_to(self.column, self.words, self.basis, row(self.use, STRETCH))
        estimator.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the present prediction."""
        prediction = self._predictor.prediction
        trouble = prediction.trouble if prediction is not None else ""
        self.setVisible(bool(trouble))
        if prediction is None or not trouble:
            return
        basis = prediction.memory_basis()
        self.words.setText(trouble)
        self.basis.setText(f"{basis[:1].upper()}{basis[1:]}.")
        batch = prediction.fitting_batch
        self.use.setText(f"Use batch {count(batch)}" if batch else "")
        self.use.setVisible(bool(batch))

    def _on_use(self) -> None:
        prediction = self._predictor.prediction
        if prediction is not None and prediction.fitting_batch:
            self._document.set_recipe(batch_size=prediction.fitting_batch)


# schedule curve ------------------------------------------------------------------------------
# The learning rate over the epochs to come, drawn before anything is trained.

_WORDS_AWAY_PX = 5
_MARGIN_PX = 18
"""Room for words above the curve, and as much below it."""


def schedule_words(recipe: TrainingRecipe, steps_per_epoch: int) -> str:
    """The schedule in a sentence, for those who do not see the curve."""
    total = recipe.epochs * steps_per_epoch
    warm_up = warm_up_steps(recipe, total, steps_per_epoch) / steps_per_epoch
    climb = f"Linear warm-up ({epochs_text(warm_up)}) to {rate_text(recipe.peak_rate)}"
    start = climb if warm_up else f"Starts at {rate_text(recipe.peak_rate)}"
    spec = recipe.schedule_spec
    words = f"{start}, {spec.describe(recipe.values_of(spec), recipe.peak_rate)}."
    if not recipe.has_fine_tuning:
        return words
    return f"{words} {_fine_tuning_words(recipe)}, at {rate_text(_tuning_rate(recipe))}."


def _fine_tuning_words(recipe: TrainingRecipe) -> str:
    return f"Fine-tuning from epoch {recipe.head_epochs + 1:,}"


def _tuning_rate(recipe: TrainingRecipe) -> float:
    """The learning rate at its full size in the fine-tuning phase."""
    return recipe.in_fine_tuning().peak_rate


class ScheduleCurve(PaintedWidget):
    """A small plot of a recipe's schedule; the mouse reads it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(220, 116), least_px=120)
        self._recipe = TrainingRecipe()
        self._steps_per_epoch = 1
        self._epochs = self._rates = np.zeros(0)
        self.setMouseTracking(True)
        self.setAccessibleName("Learning rate over the epochs")
        self.set_recipe(self._recipe, 1)

    def set_recipe(self, recipe: TrainingRecipe, steps_per_epoch: int) -> None:
        """Draws the schedule for about so many steps per epoch; cheap enough for each key."""
        self._recipe = recipe
        self._steps_per_epoch = per_epoch = max(1, steps_per_epoch)
        steps, self._rates = curve(recipe, recipe.epochs * per_epoch, per_epoch, 240)
        self._epochs = steps / per_epoch
        self.setAccessibleDescription(schedule_words(recipe, per_epoch))
        self.update()

    def value_at(self, x: float) -> tuple[float, float]:
        """(epoch, learning rate) below a horizontal place in pixels."""
        area = self._area()
        share = min(max((x - area.left()) / max(area.width(), 1.0), 0.0), 1.0)
        epoch = share * self._recipe.epochs
        index = int(np.searchsorted(self._epochs, epoch, side="right")) - 1
        return epoch, float(self._rates[max(index, 0)])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        epoch, rate = self.value_at(event.position().x())
        words = f"epoch {epoch:.1f}: learning rate {rate:.4g}"
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(11, tabular=True))
        area = self._area()
        self._draw_axes(painter, area)
        points = self._points(area)
        color = QColor(self._theme.colors.accent)
        soft = QColor(color)
        soft.setAlpha(36)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        ends = [QPointF(points[index].x(), area.bottom()) for index in (-1, 0)]
        painter.drawPolygon(QPolygonF([*points, *ends]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1.8))
        painter.drawPolyline(QPolygonF(points))
        if self._recipe.has_fine_tuning:
            self._draw_mark(painter, area)

    def _draw_mark(self, painter: QPainter, area: QRectF) -> None:
        """Draws a line where fine-tuning starts, and its words on the side that has room."""
        at = area.left() + area.width() * self._recipe.head_epochs / self._recipe.epochs
        x = math.floor(at) + 0.5  # sharp
        color = QColor(self._theme.colors.fine_tuning)
        painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        words = _fine_tuning_words(self._recipe)
        width = painter.fontMetrics().horizontalAdvance(words) + 2 * _WORDS_AWAY_PX
        left, right = area.right() - x, x - area.left()
        is_right = left >= width or left >= right
        start = x if is_right else x - width
        place = QRectF(start, area.top() + 2, width, _MARGIN_PX).adjusted(
            _WORDS_AWAY_PX, 0, -_WORDS_AWAY_PX, 0
        )
        place.moveLeft(min(max(place.left(), area.left()), max(area.left(), area.right() - width)))
        painter.setPen(color)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _area(self) -> QRectF:
        return QRectF(1, _MARGIN_PX, self.width() - 2, self.height() - 2 * _MARGIN_PX)

    def _points(self, area: QRectF) -> list[QPointF]:
        x = area.left() + area.width() * self._epochs / self._recipe.epochs
        y = area.bottom() - area.height() * self._rates / self._highest()
        # The last step lasts to the end of its epoch.
        ends = np.append(x, area.right()), np.append(y, y[-1])
        return [QPointF(*point) for point in zip(*ends, strict=True)]

    def _highest(self) -> float:
        """The rate at the top of the plot."""
        recipe = self._recipe
        tuning = _tuning_rate(recipe) if recipe.has_fine_tuning else 0.0
        return max(recipe.peak_rate, tuning)

    def _draw_axes(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        painter.setPen(QPen(QColor(colors.line), 1))
        for y in (area.top(), area.bottom()):
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(colors.dim))
        above = QRectF(area.left(), 0, area.width(), _MARGIN_PX - 3)
        below = above.translated(0, area.bottom() + 3)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        painter.drawText(above, left | bottom, rate_text(self._highest()))
        steps = self._steps_per_epoch
        end = end_rate(self._recipe, self._recipe.epochs * steps, steps)
        if not self._recipe.schedule_spec.follows_metric:
            painter.drawText(above, right | bottom, f"final {rate_text(end)}")
        painter.drawText(below, left | top, "0")
        painter.drawText(below, right | top, plural(self._recipe.epochs, "epoch"))


# recipe --------------------------------------------------------------------------------------


def differences(run: TrainingRecipe, project: TrainingRecipe) -> list[tuple[str, str]]:
    """(title, the run's value in words) of each parameter that differs."""
    theirs, ours = asdict(run), asdict(project)
    return [
        (param.title, param.show(theirs[param.key]))
        for param in RECIPE_PARAMS
        if theirs[param.key] != ours[param.key]
        and (run.is_used(param.key) or project.is_used(param.key))
    ]


def _difference_words(num_settings: int, *, is_other_network: bool) -> str:
    """What of a run differs from the project: "network, 2 settings differ"."""
    settings = plural(num_settings, "setting") if num_settings else ""
    parts = ", ".join(filter(None, ("network" if is_other_network else "", settings)))
    verb = "differs" if num_settings + is_other_network == 1 else "differ"
    return f"{parts} {verb}" if parts else "same settings"


class RecipePanel(QScrollArea):
    """The recipe of the document; edits are undoable steps of the document.

    Attributes:
        form: Its parameters in sections.
        curve, curve_words: The learning-rate schedule, as a plot and as text.
    """

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        self._steps_per_epoch = 100  # while it is not known: enough for a smooth curve
        self._document = document = state.context.document
        self._background = state.background
        self._run_path: Path | None = None
        self._run_project: Project | None = None
        self.form = ParamForm(RECIPE_PARAMS, asdict(document.recipe), shared=["batch_size"])
        self.curve = ScheduleCurve(state.context.theme)
        self.curve_words = plain_label(role="dim", wrap=True)
        self.find_rate = button("Find learning rate")
        self.find_batch = button("Find batch size")
        self.cross_validate = button("Cross-validate…")
        self.cross_validate.setToolTip("Train on folds or with several seeds: mean and spread")
        # Always there and folded, so that the fields below stay where they are while one of them is
        # edited, or a run begins.
        self.other = CollapsibleSection("Selected run")
        self.network = plain_label(wrap=True)
        self.facts = plain_label(wrap=True)
        self.take = button("Use this run's settings", role="link")
        self._build(MemoryWarning(document, state.context.estimator))
        self.form.value_changed.connect(self._on_value_changed)
        self.take.clicked.connect(self._on_take)
        self.find_rate.clicked.connect(lambda: state.find_asked.emit("learning_rate"))
        self.find_batch.clicked.connect(lambda: state.find_asked.emit("batch_size"))
        self.cross_validate.clicked.connect(lambda: state.series_asked.emit("cross_validation"))
        self._library = state.context.library
        self._library.runs_changed.connect(self._on_runs_changed)
        state.run_changed.connect(self.show_run)
        state.steps_changed.connect(self.set_steps_per_epoch)
        document.graph_changed.connect(self._on_graph_changed)
        self._library.project_changed.connect(self._compare)
        document.recipe_changed.connect(self._on_recipe_changed)
        document.project_replaced.connect(self._on_recipe_changed)
        document.target_changed.connect(self._show_recipe)
        document.analysis_changed.connect(self._show_used)  # the images are known, or others
        self._show_recipe()

    def _build(self, warning: MemoryWarning) -> None:
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QFrame()
        inner.setProperty("role", "panel")
        self._fill_form()
        words = plain_label("The selected run used other values:", role="dim", wrap=True)
        self._settings = (words, self.facts, self.take)
        self.same = plain_label("It was trained with these settings.", role="dim", wrap=True)
        add_to(self.other.body, self.network, self.same, *self._settings)
        self.form.add_below_first(warning)
        parts = (self.other, self.form, STRETCH)
        column(*parts, parent=inner, margins=(14, 10, 14, 14), spacing=14)
        self.setWidget(inner)
        self._keep_wide(inner)

    def _keep_wide(self, inner: QFrame) -> None:
        """Keeps the form from being cut at the side, whatever the width of the window."""
        bar = self.verticalScrollBar().sizeHint().width()
        self.setMinimumWidth(inner.minimumSizeHint().width() + bar)

    def _fill_form(self) -> None:
        """Puts beside the rows what is no parameter: the finders, and the schedule's curve."""
        finders = QWidget()
        buttons = ((self.find_rate, 1), (self.find_batch, 1))
        row(*buttons, parent=finders, margins=(0, 4, 0, 4), spacing=8)
        self.form.add_below_first(finders)
        self.form.sections["Split"].body.addWidget(self.cross_validate)
        schedule = self.form.sections["Schedule"]
        schedule.head.setChecked(True)
        schedule.body.insertWidget(0, self.curve)
        schedule.body.addWidget(self.curve_words)

    def set_steps_per_epoch(self, steps: int) -> None:
        """Sets about how many steps an epoch has, for the drawing of the schedule."""
        self._steps_per_epoch = max(1, steps)
        self._show_recipe()

    def show_run(self, path: Path | None) -> None:
        """Compares with the recipe of a run; it is read in another thread."""
        if path == self._run_path:
            return
        self._run_path, self._run_project = path, None
        self._compare()
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        def show(project: Project) -> None:
            if path == self._run_path:
                self._run_project = project
                self._compare()

        self._background.run(lambda: RunFolder(path).request().to_project(), show)

    def _on_runs_changed(self) -> None:
        """A run that is trained longer has another number of epochs."""
        path, project = self._run_path, self._run_project
        summary = self._library.summary(path)
        if path is None or project is None or summary is None:
            return
        if summary.epochs != project.recipe.epochs:
            self._read(path)

    def _compare(self) -> None:
        run = self._run_project
        found = differences(run.recipe, self._document.recipe) if run is not None else []
        self.facts.setText("\n".join(f"{title}: {value}" for title, value in found))
        for part in self._settings:
            part.setVisible(bool(found))
        changes = self._network_changes(run.graph) if run is not None else ""
        is_other_network = bool(changes)
        self.network.setText(f"The network has changed since this run: {changes}.")
        self.same.setVisible(not found)
        self.network.setVisible(is_other_network)
        words = _difference_words(len(found), is_other_network=is_other_network)
        self.other.set_note(words if run is not None else "none")
        self.other.head.setEnabled(run is not None)

    def _network_changes(self, graph: Graph) -> str:
        """What is new in the network since this one, that a run of the project has; "" for nothing,
        and in another project, where it is another anyway.
        """
        summary = self._library.summary(self._run_path)
        if summary is None or not self._library.is_own(summary):
            return ""
        return network_words(graph, self._document.graph)

    def _on_graph_changed(self) -> None:
        if self.isVisible():  # while the network is edited nobody looks here
            self._compare()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._compare()

    def _on_value_changed(self, key: str, value: object) -> None:
        self._document.set_recipe(**{key: value})

    def _on_recipe_changed(self) -> None:
        self._show_recipe()
        self._compare()

    def _show_recipe(self) -> None:
        recipe = self._document.recipe
        self.form.set_replicas(self._document.target_limits.replicas)
        self.form.set_values(asdict(recipe))
        rate_warning = next((each.title for each in check_rate(recipe)), "")
        self.form.set_warnings({"learning_rate": rate_warning})
        self._show_used()
        steps = recipe.steps_per_epoch or self._steps_per_epoch
        self.curve.set_recipe(recipe, steps)
        self.curve_words.setText(schedule_words(recipe, steps))
        self.form.sections["Schedule"].set_note(recipe.schedule_spec.title)
        self.form.sections["Checkpoints"].set_note(f"saves the {recipe.keep} epoch")

    def _show_used(self) -> None:
        document = self._document
        self.form.set_unused(unused_settings(document.recipe, document.dataset_facts))

    def _on_take(self) -> None:
        if self._run_project is not None:
            self._document.set_recipe(**asdict(self._run_project.recipe))
