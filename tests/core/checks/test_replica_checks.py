"""Batches that do not suit the replicas that share them, and large ones, and their fixes."""

from __future__ import annotations

import pytest

from workbench.core.checks.analysis import analyse
from workbench.core.checks.recipe import check_split
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import limits_of
from workbench.core.specs import TargetLimits
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.targets import all_targets
from workbench.templates import list_templates

EIGHT = TargetLimits(replicas=8)
ODD = [
    ({"batch_size": 100}, "Batch not divisible by the replicas", 2),
    ({"batch_size": 56}, "Few images per replica", 1),
    ({"batch_size": 5}, "Few images per replica", 1),
    ({"batch_size": 16_384}, "Very large batch", 2),
    ({"batch_size": 16_384, "optimizer": "lamb"}, "Very large batch", 2),
    ({"batch_size": 16_384, "warmup_epochs": 5.0}, "Very large batch", 2),
    ({"batch_size": 2_048}, "Large batch without warm-up", 2),
    ({"batch_size": 2_048, "optimizer": "sgd"}, "Large batch without warm-up", 2),
    ({"batch_size": 2_048, "epochs": 1}, "Large batch without warm-up", 2),
    ({"optimizer": "lars", "batch_size": 1_024}, "Low learning rate for LARS", 1),
]


def titles(recipe, limits=EIGHT):
    return [problem.title for problem in check_split(recipe, limits)]


@pytest.mark.parametrize(("values", "title", "num_fixes"), ODD)
def test_it_is_reported_and_its_first_fix_mends_it(values, title, num_fixes):
    recipe = TrainingRecipe(**values)
    (problem,) = check_split(recipe, EIGHT)
    assert (problem.title, problem.node) == (title, None)
    assert problem.severity in {"hint", "warning"}
    assert len(problem.fixes) == num_fixes
    mended = recipe.with_values(**problem.fixes[0].recipe)
    assert title not in titles(mended)
    assert problem.fixes[0].apply(Graph()) == Graph()
    for fix in problem.fixes:
        recipe.with_values(**fix.recipe)  # every fix is a recipe that is allowed


def test_the_fixes_say_what_they_do():
    (shared,) = check_split(TrainingRecipe(batch_size=1_020), EIGHT)
    assert [fix.title for fix in shared.fixes] == [
        "Set the batch size to 1,016",
        "Set the batch size to 1,024",
    ]
    (large,) = check_split(TrainingRecipe(batch_size=2_048, optimizer="sgd"), EIGHT)
    assert [fix.title for fix in large.fixes] == [
        "Warm up for 5 epochs",
        "Scale the learning rate with the batch, linearly",
    ]
    (huge,) = check_split(TrainingRecipe(batch_size=16_384), EIGHT)
    assert huge.fixes[0].title == "Use LAMB and warm up for 5 epochs"
    assert huge.fixes[0].recipe == {"optimizer": "lamb", "warmup_epochs": 5.0}


@pytest.mark.parametrize(
    "values",
    [
        {"batch_size": 64},
        {"batch_size": 1_024},
        {"batch_size": 2_048, "schedule": "cosine"},
        {"batch_size": 2_048, "rate_base_batch": 1_024},
        {"batch_size": 16_384, "optimizer": "lars", "warmup_epochs": 5.0, "learning_rate": 10.0},
    ],
)
def test_what_suits_is_not_reported(values):
    assert titles(TrainingRecipe(**values)) == []


def test_one_device_shares_nothing():
    assert titles(TrainingRecipe(batch_size=5), TargetLimits()) == []


def test_the_check_of_a_project_uses_its_target():
    recipe = TrainingRecipe(batch_size=100)

    def is_reported(choice):
        limits = limits_of(choice, all_targets())
        found = analyse(Graph(), all_layers(), recipe=recipe, limits=limits).problems
        return "Batch not divisible by the replicas" in [problem.title for problem in found]

    assert is_reported(Choice("virtual", {"replicas": 8}))
    assert not is_reported(Choice("virtual", {"replicas": 4}))
    assert not is_reported(Choice("this_computer"))
    assert not is_reported(Choice("gone", {"replicas": 8}))


def test_templates_suit_this_computer():
    for template in list_templates():
        assert titles(template.project.recipe, TargetLimits()) == [], template.key


def test_a_rate_that_is_scaled_already_is_not_scaled_twice():
    recipe = TrainingRecipe(batch_size=2_048, optimizer="sgd", rate_scaling="linear")
    (large,) = check_split(recipe, EIGHT)
    assert [fix.title for fix in large.fixes] == ["Warm up for 5 epochs"]
