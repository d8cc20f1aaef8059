"""How the images are divided into training, validation and test, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.format import share
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.core.training.split import split_sizes
from workbench.errors import WorkbenchError
from workbench.gui.data.split_bar import BarPart, SplitBar
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import add_to
from workbench.protocol.messages import DataDescription

_SPLIT_KEYS = ("validation", "validation_share", "test_share", "seed")


@dataclass(frozen=True)
class Given:
    """What a source gives.

    Attributes:
        per_class: Images of each class that are no published test images; empty while not known.
        num_test: Published test images; 0 where they are split off the others.
    """

    per_class: tuple[int, ...] = ()
    num_test: int = 0

    @classmethod
    def of(cls, description: DataDescription) -> Given:
        """Of a source as the worker describes it."""
        is_split_off = description.is_test_split_off
        per_class = (
            each.num_train + (each.num_test if is_split_off else 0) for each in description.classes
        )
        return cls(tuple(per_class), 0 if is_split_off else description.num_test)


def split_counts(given: Given, recipe: TrainingRecipe) -> tuple[int, int, int]:
    """How many images train, validate and test: exactly those of a run."""
    rest = list(given.per_class)
    test = given.num_test or _split_off(rest, recipe.test_share)
    if recipe.validation == "test":
        return sum(rest), test, test
    validation = _split_off(rest, recipe.validation_share) if recipe.validation == "split" else 0
    return sum(rest), validation, test


def _split_off(per_class: list[int], share: float) -> int:
    """Takes a share of each class away; returns how many images that are."""
    sizes = [split_sizes(num_images, (share,))[0] for num_images in per_class]
    per_class[:] = [total - size for total, size in zip(per_class, sizes, strict=True)]
    return sum(sizes)


def split_parts(given: Given, recipe: TrainingRecipe) -> list[BarPart]:
    """The parts for the bar: each image once, also where validation uses the test set."""
    train, validation, test = split_counts(given, recipe)
    training = BarPart("Training", train, "train")
    if recipe.validation == "test":
        return [training, BarPart("Validation and test", test, "validation")]
    return [
        training,
        BarPart("Validation", validation, "validation"),
        BarPart("Test", test, "faint"),
    ]


def split_words(given: Given, recipe: TrainingRecipe) -> str:
    """The division in sentences; "" while the source is not known."""
    if not given.per_class:
        return ""
    test = (
        "The data set comes with a test set."
        if given.num_test
        else f"{share(recipe.test_share, 0)} of the images are held out for testing."
    )
    validation = {
        "split": f"{share(recipe.validation_share, 0)} of the training images are held out for "
        "validation, to detect overfitting.",
        "test": "Validation uses the test set: the best epoch is chosen on it, and its accuracy is "
        "slightly optimistic.",
        "none": "No validation: only training curves are drawn.",
    }[recipe.validation]
    is_split = not given.num_test or recipe.validation == "split"
    seed = f"The split is stratified; seed {recipe.seed} makes it reproducible." if is_split else ""
    return " ".join(filter(None, (test, validation, seed)))


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
        state.described.connect(lambda description: self.set_given(Given.of(description)))
        self.refresh()

    def set_given(self, given: Given) -> None:
        """What the source gives; an empty one while that is not known."""
        self._given = given
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's recipe applied to the counts."""
        recipe = self._document.recipe
        self.bar.setVisible(bool(self._given.per_class))
        self.bar.set_parts(split_parts(self._given, recipe))
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
