"""Recipes whose values do not go together are reported, with a fix for each."""

from __future__ import annotations

import pytest

from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.recipe import check_recipe
from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.templates import list_templates

ODD = [
    ({"learning_rate": 15.0}, "Learning rate far too high for Adam"),
    ({"learning_rate": 15.0, "optimizer": "sgd"}, "Learning rate far too high for SGD"),
    ({"learning_rate": 0.2, "optimizer": "adamw"}, "Learning rate far too high for AdamW"),
    ({"validation": "none", "keep": "best"}, "No validation"),
    ({"validation": "none", "early_stopping_patience": 3}, "No validation"),
    ({"validation": "none", "schedule": "plateau"}, "No validation"),
    ({"keep_by": "top_k"}, "Top-k accuracy is not measured"),
    ({"top_k": 5}, "Top-k accuracy is always 100%"),
    ({"early_stopping_patience": 10}, "Early stopping has no effect"),
    ({"early_stopping_patience": 6, "fine_tuning_after": 4}, "Early stopping has no effect"),
    ({"warmup_epochs": 10.0}, "Warm-up longer than the training"),
    ({"schedule": "plateau", "plateau_patience": 12}, "The learning rate never decays"),
    ({"schedule": "step", "epochs": 1}, "The learning rate never decays"),
    ({"validation_freq": 20, "epochs": 12}, "No epoch is validated"),
    ({"mixing": "mixup", "class_weights": "balanced"}, "Mixup weakens class weights"),
    ({"label_smoothing": 0.6}, "Very high label smoothing"),
]


@pytest.mark.parametrize(("values", "title"), ODD)
def test_it_is_reported_and_each_fix_mends_it(values, title):
    recipe = TrainingRecipe(**values)
    problem = next(p for p in check_recipe(recipe, 4) if p.title == title)
    assert problem.severity in {"hint", "warning"}
    assert problem.fixes
    for fix in problem.fixes:
        mended = recipe.with_values(**fix.recipe)
        titles = [p.title for p in check_recipe(mended, 100)]
        assert title not in titles, fix.title
        assert fix.apply(Graph()) == Graph()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"validation": "none"},
        {"learning_rate": 0.1},
        {"learning_rate": 10.0, "optimizer": "sgd"},
        {"learning_rate": 32.0, "optimizer": "lars"},
        {"validation": "none", "keep": "best", "keep_by": "loss"},
        {"top_k": 3, "keep_by": "top_k", "keep": "best"},
        {"early_stopping_patience": 9, "warmup_epochs": 2.5, "schedule": "one_cycle"},
    ],
)
def test_what_goes_together_is_not_reported(values):
    assert list(check_recipe(TrainingRecipe(**values), 4)) == []


def test_the_one_check_of_a_project_reports_it_too():
    facts = DatasetFacts(None, 3, "Three")
    found = analyse(Graph(), all_layers(), recipe=TrainingRecipe(top_k=5), dataset=facts)
    assert "Top-k accuracy is always 100%" in [problem.title for problem in found.problems]


def test_no_template_has_such_a_recipe():
    for template in list_templates():
        assert list(check_recipe(template.project.recipe, 10)) == [], template.key
