"""How the pictures are divided into training, validation and test, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.format import share
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.gui.data.split_bar import BarPart, SplitBar
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import add_to
from workbench.protocol.messages import DataDescription

_PARTS = ("Training", "Validation", "Test")
_COLORS = ("train", "validation", "faint")
_SPLIT_KEYS = ("validation", "validation_share", "test_share", "seed")


@dataclass(frozen=True)
class Given:
    """What a source gives.

    Attributes:
        num_train: Pictures for training.
        num_test: Pictures for the test; 0 where they are split off the others.
    """

    num_train: int = 0
    num_test: int = 0


def split_counts(given: Given, recipe: TrainingRecipe) -> tuple[int, int, int]:
    """About how many pictures train, validate and test (rounding is by class: ± one a class)."""
    test = given.num_test or round(given.num_train * recipe.test_share)
    rest = given.num_train if given.num_test else given.num_train - test
    if recipe.validation == "test":
        return rest, test, test
    validation = round(rest * recipe.validation_share) if recipe.validation == "split" else 0
    return rest - validation, validation, test


def split_words(given: Given, recipe: TrainingRecipe) -> str:
    """The division in sentences."""
    test = (
        "The data set comes with a test set."
        if given.num_test
        else f"{share(recipe.test_share, 0)} of the images are held out for testing."
    )
    validation = {
        "split": f"{share(recipe.validation_share, 0)} of the training images are held out for "
        "validation, to detect overfitting.",
        "test": "Validation uses the test set, as the published tutorials do.",
        "none": "No validation: only training curves are drawn.",
    }[recipe.validation]
    same = f"The split is stratified; seed {recipe.seed} makes it reproducible."
    return f"{test} {validation} {same}"


def _given(description: DataDescription) -> Given:
    if description.is_test_split_off:
        return Given(description.num_train + description.num_test, 0)
    return Given(description.num_train, description.num_test)


class DataSplitPanel(Box):
    """The bar of parts, its explanation, and the recipe's values that decide it."""

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 10)
        self._document = state.context.document
        self._given = Given()
        heading = plain_label("Split", role="heading")
        self.bar = SplitBar(state.context.theme)
        self.words = plain_label(role="dim", wrap=True)
        self.form = ParamForm([param for param in RECIPE_PARAMS if param.key in _SPLIT_KEYS])
        self._error = plain_label(role="bad", wrap=True)
        self._error.hide()
        add_to(self.column, heading, self.bar, self.words, self.form, self._error)
        self.form.value_changed.connect(self._on_value_changed)
        self._document.recipe_changed.connect(self.refresh)
        self._document.project_replaced.connect(self.refresh)
        state.source_changed.connect(lambda: self.set_given(Given()))
        state.described.connect(lambda description: self.set_given(_given(description)))
        self.refresh()

    def set_given(self, given: Given) -> None:
        """What the source gives; an empty one while that is not known."""
        self._given = given
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's recipe applied to the counts."""
        recipe = self._document.recipe
        parts = zip(_PARTS, split_counts(self._given, recipe), _COLORS, strict=True)
        self.bar.setVisible(self._given.num_train > 0)
        self.bar.set_parts([BarPart(*part) for part in parts])
        self.words.setText(split_words(self._given, recipe))
        self.form.set_values({key: getattr(recipe, key) for key in _SPLIT_KEYS})

    def _on_value_changed(self, key: str, value: object) -> None:
        try:
            self._document.set_recipe(**{key: value})
        except WorkbenchError as error:
            self._error.setText(str(error))
            self._error.show()
        else:
            self._error.hide()
