"""How the project is trained, as a form; and what the selected run did differently."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.client.background import Background
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.document.project_document import ProjectDocument
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.gui.train.schedule_curve import ScheduleCurve, schedule_words
from workbench.runs.folder import RunFolder

_USUAL_STEPS = 100
"""Steps of an epoch while the number of pictures is not known: enough for a smooth curve."""


def recipe_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """The values of a recipe by parameter key."""
    return asdict(recipe)


def differences(run: TrainingRecipe, project: TrainingRecipe) -> list[tuple[str, str]]:
    """(title, the run's value in words) of each parameter that differs."""
    theirs, ours = recipe_values(run), recipe_values(project)
    return [
        (param.title, param.show(theirs[param.key]))
        for param in RECIPE_PARAMS
        if theirs[param.key] != ours[param.key]
        and (run.is_used(param.key) or project.is_used(param.key))
    ]


class RecipePanel(QScrollArea):
    """The recipe of the document; edits are undoable steps of the document.

    Signals:
        find_wanted: "learning_rate" or "batch_size" shall be found by trying.

    Attributes:
        form: Its parameters in sections.
        curve, curve_words: The learning-rate schedule, drawn and told.
        find_rate, find_batch: The buttons.
    """

    find_wanted = Signal(str)

    def __init__(self, document: ProjectDocument, background: Background, theme: Theme) -> None:
        super().__init__()
        self._steps_per_epoch = _USUAL_STEPS
        self._document = document
        self._background = background
        self._run_path: Path | None = None
        self._run_recipe: TrainingRecipe | None = None
        self.form = ParamForm(RECIPE_PARAMS, recipe_values(document.recipe), shared=["batch_size"])
        self.curve = ScheduleCurve(theme)
        self.curve_words = plain_label(role="dim", wrap=True)
        self.find_rate = button("Find learning rate")
        self.find_batch = button("Find batch size")
        self.other = Box("hint", spacing_px=8)
        self.facts = plain_label(wrap=True)
        self.take = button("Use this run's settings", role="link")
        self._build()
        self.form.value_changed.connect(self._on_value_changed)
        self.take.clicked.connect(self._on_take)
        self.find_rate.clicked.connect(lambda: self.find_wanted.emit("learning_rate"))
        self.find_batch.clicked.connect(lambda: self.find_wanted.emit("batch_size"))
        document.recipe_changed.connect(self._on_recipe_changed)
        document.project_replaced.connect(self._on_recipe_changed)
        document.target_changed.connect(self._show_recipe)
        self._show_recipe()

    def _build(self) -> None:
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(248)
        inner = QFrame()
        inner.setProperty("role", "panel")
        column = QVBoxLayout(inner)
        column.setContentsMargins(14, 10, 14, 14)
        column.setSpacing(14)
        column.addWidget(self.form)
        self._fill_form()
        self.other.column.addWidget(plain_label("This run's training settings", role="strong"))
        self.other.column.addWidget(
            plain_label("The selected run used other values:", role="dim", wrap=True)
        )
        self.other.column.addWidget(self.facts)
        self.other.column.addWidget(self.take)
        self.other.hide()
        column.addWidget(self.other)
        self._column = column
        column.addStretch(1)
        self.setWidget(inner)

    def _fill_form(self) -> None:
        """Puts beside the rows what is no parameter: the finders, and the schedule's curve."""
        finders = QWidget()
        row = QHBoxLayout(finders)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(8)
        row.addWidget(self.find_rate, 1)
        row.addWidget(self.find_batch, 1)
        self.form.add_below_first(finders)
        schedule = self.form.sections["Schedule"]
        schedule.head.setChecked(True)
        schedule.body.insertWidget(0, self.curve)
        schedule.body.addWidget(self.curve_words)

    def add_above(self, widget: QWidget) -> None:
        """Puts a widget above the form."""
        self._column.insertWidget(0, widget)

    def set_steps_per_epoch(self, steps: int) -> None:
        """About how many steps an epoch has, for the drawing of the schedule."""
        self._steps_per_epoch = max(1, steps)
        self._show_recipe()

    def show_run(self, path: Path | None) -> None:
        """Compares with the recipe of a run; it is read in another thread."""
        if path == self._run_path:
            return
        self._run_path, self._run_recipe = path, None
        self._compare()
        if path is None:
            return

        def work() -> TrainingRecipe:
            return RunFolder(path).request().to_project().recipe

        self._background.run(work, lambda recipe: self._on_run_read(path, recipe))

    def _on_run_read(self, path: Path, recipe: TrainingRecipe) -> None:
        if path == self._run_path:
            self._run_recipe = recipe
            self._compare()

    def _compare(self) -> None:
        run = self._run_recipe
        found = differences(run, self._document.recipe) if run is not None else []
        self.facts.setText("\n".join(f"{title}: {value}" for title, value in found))
        self.other.setVisible(bool(found))

    def _on_value_changed(self, key: str, value: object) -> None:
        self._document.set_recipe(**{key: value})

    def _on_recipe_changed(self) -> None:
        self._show_recipe()
        self._compare()

    def _show_recipe(self) -> None:
        recipe = self._document.recipe
        self.form.set_replicas(self._document.target_limits.replicas)
        self.form.set_values(recipe_values(recipe))
        keys = [param.key for param in RECIPE_PARAMS]
        self.form.set_unused({key for key in keys if not recipe.is_used(key)})
        steps = recipe.steps_per_epoch or self._steps_per_epoch
        self.curve.set_recipe(recipe, steps)
        self.curve_words.setText(schedule_words(recipe, steps))
        self.form.sections["Schedule"].set_note(recipe.schedule_spec.title)

    def _on_take(self) -> None:
        if self._run_recipe is not None:
            self._document.set_recipe(**recipe_values(self._run_recipe))
