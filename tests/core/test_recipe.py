"""Recipes: what a file may hold, and what the optimizer is told."""

import pytest

from workbench.core.recipe import RECIPE_PARAMS, TrainingRecipe, recipe_from
from workbench.errors import ParamError


def test_defaults_of_form_and_recipe_agree():
    recipe, errors = recipe_from({})
    assert recipe == TrainingRecipe()
    assert errors == []


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({"optimizer": "adamw"}, {}),
        ({"optimizer": "adamw", "weight_decay": 0.0}, {"weight_decay": 0.0}),
        ({"optimizer": "adamw", "weight_decay": 0.01}, {"weight_decay": 0.01}),
        ({"optimizer": "adam", "nesterov": True}, {}),
        ({"optimizer": "adam", "weight_decay": 0.0}, {}),
        ({"optimizer": "adam", "weight_decay": 0.01}, {"weight_decay": 0.01}),
        ({"optimizer": "sgd", "nesterov": True}, {"momentum": 0.9, "nesterov": True}),
        ({"optimizer": "rmsprop", "momentum": 0.0}, {}),
    ],
)
def test_the_optimizer_is_told_what_is_not_its_own(values, arguments):
    assert TrainingRecipe().with_values(**values).optimizer_arguments() == arguments


def test_weight_decay_may_be_left_to_the_optimizer_but_not_be_negative():
    (decay,) = [param for param in RECIPE_PARAMS if param.key == "weight_decay"]
    assert decay.show(decay.check(None)) == "automatic"
    with pytest.raises(ParamError, match="or nothing"):
        decay.check(-0.1)
