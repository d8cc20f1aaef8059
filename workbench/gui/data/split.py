"""How the pictures are divided into training, validation and test, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.data.split_bar import BarPart, SplitBar
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.numbers import share

_SPLIT_KEYS = ("validation", "validation_share", "test_share", "seed")


@dataclass(frozen=True)
class SplitCounts:
    """Pictures in each part."""

    train: int
    validation: int
    test: int


@dataclass(frozen=True)
class Given:
    """What a source gives.

    Attributes:
        num_train: Pictures for training.
        num_test: Pictures for the test; 0 where they are split off the others.
    """

    num_train: int = 0
    num_test: int = 0


def split_counts(given: Given, recipe: TrainingRecipe) -> SplitCounts:
    """About how many pictures each part gets (rounding is by class, so ± one a class)."""
    test = given.num_test or round(given.num_train * recipe.test_share)
    rest = given.num_train if given.num_test else given.num_train - test
    if recipe.validation == "test":
        return SplitCounts(rest, test, test)
    validation = round(rest * recipe.validation_share) if recipe.validation == "split" else 0
    return SplitCounts(rest - validation, validation, test)


def split_words(given: Given, recipe: TrainingRecipe) -> str:
    """The division in sentences."""
    test = (
        "The test pictures are those the source gives for it."
        if given.num_test
        else f"{share(recipe.test_share, 0)} of the pictures are kept for the test."
    )
    validation = {
        "split": f"{share(recipe.validation_share, 0)} of the training pictures validate: "
        "they are never trained on and show when the network starts to learn by heart.",
        "test": "Validation is measured on the test pictures, as the published tutorials do.",
        "none": "Nothing validates: only training curves will be drawn.",
    }[recipe.validation]
    same = f"Each class is divided alike; seed {recipe.seed} gives the same parts everywhere."
    return f"{test} {validation} {same}"


class DataSplitPanel(QWidget):
    """The bar of parts, its explanation, and the recipe's values that decide it."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._document = context.document
        self._given = Given()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(plain_label("How they are divided", role="heading"))
        self.bar = SplitBar(context.theme)
        self.words = plain_label(role="dim", wrap=True)
        params = [param for param in RECIPE_PARAMS if param.key in _SPLIT_KEYS]
        self.form = ParamForm(params)
        self._error = plain_label(role="bad", wrap=True)
        self._error.hide()
        for widget in (self.bar, self.words, self.form, self._error):
            column.addWidget(widget)
        self.form.value_changed.connect(self._on_value_changed)
        self._document.recipe_changed.connect(self.refresh)
        self._document.project_replaced.connect(self.refresh)
        self.refresh()

    def set_given(self, given: Given) -> None:
        """What the source gives; an empty one while that is not known."""
        self._given = given
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's recipe applied to the counts."""
        recipe = self._document.recipe
        counts = split_counts(self._given, recipe)
        self.bar.setVisible(self._given.num_train > 0)
        self.bar.set_parts(
            (
                BarPart("Training", counts.train, "train"),
                BarPart("Validation", counts.validation, "validation"),
                BarPart("Test", counts.test, "faint"),
            )
        )
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
