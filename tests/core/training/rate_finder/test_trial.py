"""One short training: which rates its steps have, and what is measured in it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.rate_finder import (
    Trial,
    accuracy_error,
    is_clearly_worse,
    trial_rates,
)
from workbench.core.training.recipe import TrainingRecipe


def test_a_trial_passes_through_the_whole_schedule() -> None:
    recipe = TrainingRecipe(learning_rate=1.0, schedule="cosine", warmup_epochs=1.0)
    rates = trial_rates(recipe, 0.01, 50, 1000, 100)
    whole = [0.01 * learning_rate_at(recipe, step, 1000, 100) for step in range(1000)]
    assert rates.tolist() == pytest.approx(whole[::20])
    assert rates[0] < 0.001, "the warm-up"
    assert rates.max() == pytest.approx(0.01, rel=0.01)
    assert rates[-1] < 0.001, "the end of the cosine"


def test_a_trial_as_long_as_the_training_has_its_rates() -> None:
    recipe = TrainingRecipe(learning_rate=1.0, schedule="step", decay_every_epochs=1.0)
    rates = trial_rates(recipe, 0.1, 30, 30, 10)
    tried = recipe.with_values(learning_rate=0.1)
    assert rates.tolist() == [learning_rate_at(tried, step, 30, 10) for step in range(30)]


def test_a_constant_rate_is_the_one_that_is_tried() -> None:
    assert trial_rates(TrainingRecipe(learning_rate=1.0), 0.003, 3, 90, 30).tolist() == [0.003] * 3


def test_the_loss_is_that_of_the_last_steps_and_none_where_it_diverged() -> None:
    losses = np.array([2.0, 1.0, 1.0, 0.75, 0.5, 0.5, 0.25, 0.125])
    assert Trial(0.1, 8, losses, np.zeros(8)).loss == (0.25 + 0.125) / 2
    assert Trial(0.1, 8, losses[:5], np.zeros(5)).loss is None
    assert Trial(0.1, 8, losses[::-1] * 100, np.zeros(8)).loss is None


def test_one_batch_has_no_error_that_could_be_known() -> None:
    """A training of a few steps is judged by one of them: the margin alone decides then."""
    best, other = (Trial(0.1, 4, np.ones(4), np.full(4, mean)) for mean in (0.5, 0.485))
    assert accuracy_error(best, other) == 0.0
    assert is_clearly_worse(other, best, 0.01)
    assert not is_clearly_worse(other, best, 0.02)


@pytest.mark.parametrize(("hits", "others"), [(145, 145), (145, 140), (100, 60)])
def test_the_error_is_at_least_that_of_so_many_images(hits: int, others: int) -> None:
    """By the formula of the paper on the table of answers, one always right where the other is."""
    images = 145
    best, other = (
        Trial(0.1, 80, np.ones(80), np.full(80, count / images), images) for count in (hits, others)
    )
    first, second = hits - others + 0.5, 0.5  # pairs that only one of both has right
    total = images + 2
    variance = (first + second - (first - second) ** 2 / total) / total**2
    assert accuracy_error(best, other) == pytest.approx(math.sqrt(variance))
