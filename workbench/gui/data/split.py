"""How the images are divided into training, validation and test: a bar, words, and a form."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.checks.images import unused_settings
from workbench.core.training.recipe import RECIPE_PARAMS, SPLIT_KEYS, TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.gui.data.split_bar import BarPart, SplitBar
from workbench.gui.data.split_counts import Given, split_counts, split_words
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import add_to

_SPLIT_KEYS = tuple(key for key in SPLIT_KEYS if key not in {"fold", "folds"})


def split_parts(given: Given, recipe: TrainingRecipe) -> list[BarPart]:
    """The parts for the bar: each image once, also where validation uses the test set. Their sizes
    are None while they are not counted.
    """
    counts = (None,) * 3 if given.is_awaited else split_counts(given, recipe)
    train, validation, test = counts
    training = BarPart("Training", train, "train")
    if recipe.validation == "test":
        return [training, BarPart("Validation and test", test, "validation")]
    return [
        training,
        BarPart("Validation", validation, "validation"),
        BarPart("Test", test, "faint"),
    ]


class DataSplitPanel(Box):
    """The bar of parts, its explanation, and the recipe's values that decide it."""

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 10)
        self._document = state.context.document
        self._exact = state.exact
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
        self._document.analysis_changed.connect(self._show_used)  # the images are known, or others
        self._document.project_replaced.connect(self.refresh)
        state.exact.changed.connect(self.refresh)
        state.source_changed.connect(lambda: self.set_given(Given()))
        state.described.connect(lambda description: self.set_given(Given.of(description)))
        self.refresh()

    def set_given(self, given: Given) -> None:
        """Takes what the source gives; an empty one while that is not known."""
        self._given = given
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's recipe applied to the counts."""
        recipe = self._document.recipe
        given = self._given
        if given.per_class:
            exact, is_awaited = self._exact.of(recipe), self._exact.is_awaited(recipe)
            given = replace(given, exact=exact, is_awaited=is_awaited)
        self.bar.setVisible(bool(given.per_class))
        self.bar.set_parts(split_parts(given, recipe))
        self.words.setText(split_words(given, recipe))
        self._show_used()
        self.form.set_values({key: getattr(recipe, key) for key in _SPLIT_KEYS})

    def _show_used(self) -> None:
        unused = unused_settings(self._document.recipe, self._document.dataset_facts)
        self.form.set_unused(unused.intersection(_SPLIT_KEYS))

    def _on_value_changed(self, key: str, value: object) -> None:
        try:
            self._document.set_recipe(**{key: value})
        except WorkbenchError as error:
            self._error.setText(str(error))
            self._error.show()
        else:
            self._error.hide()
