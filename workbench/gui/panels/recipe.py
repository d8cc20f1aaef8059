"""How the project is trained, as a form; and what the selected run did differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.client.background import Background
from workbench.core.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.document.project_document import ProjectDocument
from workbench.gui.widgets.buttons import button
from workbench.gui.widgets.cards import Box
from workbench.gui.widgets.labels import plain_label
from workbench.gui.widgets.param_form import ParamForm
from workbench.runs.folder import RunFolder


def recipe_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """The values of a recipe by parameter key."""
    return msgspec.structs.asdict(recipe)


def differences(run: TrainingRecipe, project: TrainingRecipe) -> list[tuple[str, str]]:
    """(title, the run's value in words) of each parameter that differs."""
    theirs, ours = recipe_values(run), recipe_values(project)
    return [
        (param.title, param.show(theirs[param.key]))
        for param in RECIPE_PARAMS
        if theirs[param.key] != ours[param.key]
    ]


class RecipePanel(QScrollArea):
    """The recipe of the document; edits are undoable steps of the document."""

    def __init__(self, document: ProjectDocument, background: Background) -> None:
        super().__init__()
        self._document = document
        self._background = background
        self._run_path: Path | None = None
        self._run_recipe: TrainingRecipe | None = None
        self.form = ParamForm(RECIPE_PARAMS, recipe_values(document.recipe))
        self.other = Box("hint", spacing_px=8)
        self.facts = plain_label(wrap=True)
        self.take = button("Use this run's recipe", role="link")
        self._build()
        self.form.value_changed.connect(self._on_value_changed)
        self.take.clicked.connect(self._on_take)
        document.recipe_changed.connect(self._on_recipe_changed)
        document.project_replaced.connect(self._on_recipe_changed)

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
        self.other.column.addWidget(plain_label("This run's recipe", role="strong"))
        self.other.column.addWidget(
            plain_label("The selected run was trained with other values:", role="dim", wrap=True)
        )
        self.other.column.addWidget(self.facts)
        self.other.column.addWidget(self.take)
        self.other.hide()
        column.addWidget(self.other)
        self._column = column
        column.addStretch(1)
        self.setWidget(inner)

    def add_above(self, widget: QWidget) -> None:
        """Puts a widget above the form."""
        self._column.insertWidget(0, widget)

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
        self.form.set_values(recipe_values(self._document.recipe))
        self._compare()

    def _on_take(self) -> None:
        if self._run_recipe is not None:
            self._document.set_recipe(**recipe_values(self._run_recipe))
