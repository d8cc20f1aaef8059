"""How many images train, validate and test, of a source and of each of its classes; in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.service_process import Handlers, Question
from workbench.core.format import count, share
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.core.projects.project import Choice
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import split_sizes
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.protocol.describe_data import (
    ClassDescription,
    CountSplit,
    DataDescription,
    SplitCounts,
)

# exact split ---------------------------------------------------------------------------------
# How many images of each class a run puts into each part, where only a worker can count that.

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


# split counts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """What a source gives.

    Attributes:
        per_class: Images of each class that are no published test images; empty while not known.
        num_test: Published test images; 0 where they are split off the others.
        num_validation: Published validation images; 0 where they are split off the others.
        exact: For each class how many images train, validate and test, published ones among them,
            where a worker has counted that; empty where it follows from the numbers above.
        is_awaited: A worker has not counted that yet: it does not follow from these numbers.
    """

    per_class: tuple[int, ...] = ()
    num_test: int = 0
    num_validation: int = 0
    exact: Exact = ()
    is_awaited: bool = False

    @classmethod
    def of(cls, description: DataDescription) -> Given:
        """The counts of a source from the worker's description of it."""
        is_split_off = description.is_test_split_off
        per_class = (
            each.num_train + (each.num_test if is_split_off else 0) for each in description.classes
        )
        num_test = 0 if is_split_off else description.num_test
        return cls(tuple(per_class), num_test, description.num_validation)


def split_counts(given: Given, recipe: TrainingRecipe) -> tuple[int, int, int]:
    """How many images train, validate and test: exactly those of a run."""
    if given.exact:
        train, validation, test = (sum(each[part] for each in given.exact) for part in range(3))
        return train, _validating(validation, test, recipe), test
    per_class = [
        class_counts(size, recipe, given.num_test, has_validation=given.num_validation > 0)
        for size in given.per_class
    ]
    train, validation = (sum(counts[part] for counts in per_class) for part in (0, 1))
    if recipe.validation == "split":
        validation += given.num_validation
    test = given.num_test or sum(counts[2] for counts in per_class)
    return train, _validating(validation, test, recipe), test


def _validating(validation: int, test: int, recipe: TrainingRecipe) -> int:
    """The images that validate, which may be the test images; none where nothing validates."""
    return {"test": test, "none": 0}.get(recipe.validation, validation)


def class_counts(
    num_images: int, recipe: TrainingRecipe, num_test: int, *, has_validation: bool = False
) -> tuple[int, int, int]:
    """How many images of a class train, validate and test in a run.

    Args:
        num_images: Images of the class, without published test and validation images.
        recipe: Gives the shares of the test and the validation part.
        num_test: Published test images of any class; 0 where they are split off.
        has_validation: There are published validation images: none are split off.
    """
    test = 0 if num_test else split_sizes(num_images, (recipe.test_share,))[0]
    rest = num_images - test
    is_split = recipe.validation == "split" and not has_validation
    validation = split_sizes(rest, (recipe.validation_share,))[0] if is_split else 0
    return rest - validation, validation, test


def class_words(
    each: ClassDescription,
    recipe: TrainingRecipe,
    *,
    is_split_off: bool,
    has_validation: bool = False,
    exact: tuple[int, int, int] | None = None,
    is_awaited: bool = False,
) -> str:
    """The images of a class by what a run does with them; only their number where all train.

    Where they were counted, `exact` has the numbers that train, validate and test; while that
    `is_awaited`, only their number is known.
    """
    given = each.num_train + (each.num_test if is_split_off else 0)
    if is_awaited:
        return count(given + (0 if is_split_off else each.num_test) + each.num_validation)
    train, validation, test = class_counts(
        given, recipe, 0 if is_split_off else 1, has_validation=has_validation
    )
    if recipe.validation == "split":
        validation += each.num_validation
    test = test if is_split_off else each.num_test
    if exact is not None:
        train, validation, test = exact
    named = ((train, "train"), (validation, "validation"), (test, "test"))
    parts = [f"{count(number)} {name}" for number, name in named if number]
    return ", ".join(parts) if len(parts) > 1 else count(train)


_AWAITED = "Reading the images: how they are divided is shown once that is counted."


def split_words(given: Given, recipe: TrainingRecipe) -> str:
    """The division in sentences; "" while the source is not known."""
    if not given.per_class:
        return ""
    if given.is_awaited:
        return _AWAITED
    _, num_validation, num_test = split_counts(given, recipe)
    total = sum(given.per_class)
    test = (
        "The data set comes with a test set."
        if given.num_test
        else f"{_part_words(num_test, total)} images are held out for testing."
    )
    rest = total if given.num_test else total - num_test
    kind = "training" if given.num_test else "remaining"
    held_out = f"{_part_words(num_validation, rest)} {kind} images are held out for"
    if given.num_validation:
        held_out = f"The {count(given.num_validation)} validation images of the data set are for"
    validation = {
        "split": f"{held_out} validation, to detect overfitting.",
        "test": "Validation uses the test set: the best epoch is chosen on it, and its accuracy is "
        "slightly optimistic.",
        "none": "No validation: only training curves are drawn.",
    }[recipe.validation]
    is_validation_split = recipe.validation == "split" and not given.num_validation
    is_split = not given.num_test or is_validation_split
    how = _how_words(recipe) if is_split else ""
    return " ".join(filter(None, (test, validation, how)))


def _how_words(recipe: TrainingRecipe) -> str:
    """What decides which images are held out."""
    seed = recipe.seed if recipe.split_seed is None else recipe.split_seed
    if recipe.split == "order":
        return f"The split is stratified; seed {seed} makes it reproducible."
    what = "Exact duplicates" if recipe.group_by == "none" else "Groups and exact duplicates"
    return (
        f"The split is stratified, by content and seed {seed}. {what} stay in one part. Edits, and "
        "images that are added later, move none of the others."
    )


def _part_words(part: int, whole: int) -> str:
    """The real part: whole images of each class are not just the share of the recipe."""
    return f"{count(part)} ({share(part / max(1, whole), 0)}) of {count(whole)}"
