"""Recipes: what a file may hold, and the optimizer's arguments."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from workbench.core.params import defaults
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.core.training.recipe import (
    RECIPE_PARAMS,
    TrainingRecipe,
    recipe_from,
    recipe_to_plain,
    value_from_text,
)
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
def test_the_optimizer_gets_what_differs_from_its_defaults(values, arguments):
    assert TrainingRecipe().with_values(**values).optimizer_arguments() == arguments


def test_weight_decay_may_be_left_to_the_optimizer_but_not_be_negative():
    (decay,) = [param for param in RECIPE_PARAMS if param.key == "weight_decay"]
    assert decay.show(decay.check(None)) == "automatic"
    with pytest.raises(ParamError, match="or empty"):
        decay.check(-0.1)


def test_the_defaults_of_fields_and_parameters_are_the_same():
    assert defaults(RECIPE_PARAMS) == {
        key: getattr(TrainingRecipe(), key) for key in asdict(TrainingRecipe())
    }


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        (
            {"optimizer": "muon", "weight_decay": 0.0},
            {"weight_decay": 0.0, "adam_weight_decay": 0.0},
        ),
        ({"optimizer": "adafactor"}, {"relative_step": False}),
        ({"ema_decay": 0.99}, {"use_ema": True, "ema_momentum": 0.99}),
    ],
)
def test_newer_optimizers_get_what_they_need(values, arguments):
    assert TrainingRecipe().with_values(**values).optimizer_arguments() == arguments


def test_a_project_holds_newer_values_only_where_they_are_set():
    """Files of earlier versions stay as they are, and read and write alike."""
    plain = recipe_to_plain(TrainingRecipe())
    assert len(plain) == 15
    assert not {"loss", "xla", "warmup_epochs"} & plain.keys()
    recipe = TrainingRecipe(label_smoothing=0.1, schedule="one_cycle", warmup_epochs=2.0)
    project = Project(recipe=recipe)
    assert parse_project(project_text(project), "p.workbench").recipe == recipe
    assert '"label_smoothing"' in project_text(project)
    assert '"clip_norm"' not in project_text(project)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("epochs", "12", 12),
        ("learning_rate", "1e-3", 0.001),
        ("clip_norm", "none", None),
        ("nesterov", "yes", True),
        ("schedule", "one_cycle", "one_cycle"),
        ("steps_per_epoch", "automatic", None),
    ],
)
def test_values_are_read_as_typed(key, text, value):
    assert value_from_text(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("epochs", "1.5", "a whole number"),
        ("epochs", "many", "a whole number"),
        ("nesterov", "perhaps", "true or false"),
        ("schedule", "sine", "one of constant"),
        ("colour", "red", "one of optimizer"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(key, text, words):
    with pytest.raises(ParamError, match=words):
        value_from_text(key, text)


@pytest.mark.parametrize(
    ("chosen", "batch_size", "replicas", "is_synchronized"),
    [
        ("auto", 64, 8, True),  # 8 images each say little of the batch
        ("auto", 4_096, 8, False),
        ("auto", 8, 1, False),
        ("on", 4_096, 8, True),
        ("on", 4_096, 1, False),
        ("off", 64, 8, False),
    ],
)
def test_few_images_per_replica_are_normalized_together(
    chosen, batch_size, replicas, is_synchronized
):
    recipe = TrainingRecipe(sync_batch_norm=chosen)
    assert recipe.syncs_batch_norm(batch_size, replicas) is is_synchronized
