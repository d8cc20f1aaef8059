"""How many images of each class a run puts into each part, where only a worker can count that."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.question import Handlers, Question
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.core.projects.project import Choice
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.protocol.describe_data import CountSplit, DataDescription, SplitCounts

_DELAY_MS = 300

Exact = tuple[tuple[int, int, int], ...]
"""For each class: how many images train, validate and test; empty while that is not known."""


def is_counted(recipe: TrainingRecipe, edits: DataEdits, *, has_bad_files: bool = False) -> bool:
    """Whether the parts depend on more than the number of images of each class: a split is decided
    on all images that there are, also on those that are left out or cannot be read.
    """
    is_by_number = recipe.split == "order" and recipe.folds is None
    return not is_by_number or edits.changes_data or has_bad_files


class ExactSplit(QObject):
    """Counts again when the recipe divides otherwise, while a source is described.

    Signals:
        changed(): Other counts are known.
    """

    changed = Signal()

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._document = context.document
        self._question = Question(context.service)
        self._source: tuple[Choice, DataEdits] | None = None
        self._bad_files: list[str] = []
        self._known: tuple[dict[str, Any], Exact] = ({}, ())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._ask)
        self._document.recipe_changed.connect(self._on_recipe_changed)

    def of(self, recipe: TrainingRecipe) -> Exact:
        """The counts for a recipe; empty where they are not known, or anyone can compute them."""
        values, exact = self._known
        return exact if self._is_needed(recipe) and values == recipe.split_values() else ()

    def is_awaited(self, recipe: TrainingRecipe) -> bool:
        """Whether the counts for a recipe are not known yet: other figures would be wrong."""
        return self._is_needed(recipe) and not self.of(recipe)

    def _is_needed(self, recipe: TrainingRecipe) -> bool:
        return self._source is not None and is_counted(
            recipe, self._source[1], has_bad_files=bool(self._bad_files)
        )

    def take(
        self,
        description: DataDescription,
        source: tuple[Choice, DataEdits],
        values: dict[str, Any],
    ) -> None:
        """Takes a source that was described, with a recipe of these values."""
        self._source = source
        self._bad_files = [path for path, _ in description.bad_files]
        self._known = values, _exact([each.split for each in description.classes])
        self._on_recipe_changed()

    def forget(self) -> None:
        """Drops the source and its request."""
        self._source = None
        self._timer.stop()
        self._question.drop()

    def _on_recipe_changed(self) -> None:
        recipe = self._document.recipe
        self._question.drop()
        if not self._is_needed(recipe):
            self._timer.stop()
        elif self._known[0] != recipe.split_values():
            self._timer.start()

    def _ask(self) -> None:
        if self._source is None:
            return
        choice, edits = self._source
        values = self._document.recipe.split_values()
        request = CountSplit(
            id=0,
            source=choice.key,
            params=dict(choice.params),
            edits=edits_to_plain(edits),
            recipe=values,
            project_id=self._document.project_id,
            bad_files=self._bad_files,
        )

        def done(answer: SplitCounts) -> None:
            self._known = values, _exact(answer.classes)
            self.changed.emit()

        self._question.ask(request, Handlers(on_done=done, on_failed=self._on_failed))

    def _on_failed(self, _error: WorkbenchError) -> None:
        """The source is gone: describing it again gives the reason."""


def _exact(classes: list[list[int]]) -> Exact:
    return tuple((each[0], each[1], each[2]) for each in classes if len(each) == 3)
