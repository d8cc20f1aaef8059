"""Learning-rate schedules: where they start, climb, fall and end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.training.learning_rates import (
    curve,
    end_rate,
    learning_rate_at,
    learning_rates,
    warm_up_steps,
)
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.schedules import all_schedules


def rates(total=1000, steps_per_epoch=100, **recipe):
    recipe = TrainingRecipe(learning_rate=1.0, **recipe)
    return [learning_rate_at(recipe, step, total, steps_per_epoch) for step in range(total + 1)]


def test_the_cosine_keeps_the_values_it_always_had():
    """3 % of climbing, then a cosine to a hundredth: the formula of the first version."""
    curve = rates(schedule="cosine")
    for step, rate in enumerate(curve):
        if step < 30:
            expected = (step + 1) / 31
        else:
            done = min(1.0, (step - 30) / 970)
            expected = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done))
        assert rate == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("schedule", sorted(all_schedules()))
def test_fine_tuning_has_the_schedule_of_a_training_of_its_own(schedule):
    both = {"schedule": schedule, "epochs": 10}
    whole = rates(**both, fine_tuning_after=6, fine_tuning_rate=0.25)
    recipe = TrainingRecipe(learning_rate=0.25, **both)
    alone = [learning_rate_at(recipe, step, 400, 100) for step in range(400)]
    assert whole[:600] == rates(total=600, **both)[:600]
    assert whole[600:1000] == alone


def test_a_fine_tuning_that_would_begin_behind_the_end_is_none():
    assert rates(epochs=10, fine_tuning_after=10) == rates(epochs=10)
    assert not TrainingRecipe(epochs=10, fine_tuning_after=10).has_fine_tuning


def test_without_a_rate_of_its_own_fine_tuning_takes_a_hundredth():
    recipe = TrainingRecipe(learning_rate=0.5, epochs=10, fine_tuning_after=6)
    assert recipe.in_fine_tuning().learning_rate == pytest.approx(0.005)
    assert (recipe.head_epochs, recipe.in_fine_tuning().epochs) == (6, 4)


def test_the_drawn_curve_has_both_sides_of_the_start_of_fine_tuning():
    recipe = TrainingRecipe(learning_rate=1.0, epochs=10, fine_tuning_after=6)
    steps, drawn = curve(recipe, 1000, 100)
    assert drawn[steps == 599] == 1.0
    assert drawn[steps == 600] == pytest.approx(0.01)


@pytest.mark.parametrize("schedule", ["cosine", "one_cycle"])
def test_a_schedule_ends_at_its_final_share_however_few_its_steps(schedule):
    recipe = TrainingRecipe(learning_rate=0.001, schedule=schedule, final_share=0.01, epochs=2)
    assert end_rate(recipe, 60, 30) == pytest.approx(1e-5)


def test_a_fall_behind_the_last_step_is_none():
    recipe = TrainingRecipe(
        learning_rate=1.0, schedule="step", decay_every_epochs=2.0, decay_factor=0.5
    )
    assert end_rate(recipe, 40, 10) == 0.5
    assert end_rate(recipe, 41, 10) == 0.25


def test_a_constant_rate_is_exactly_that_of_the_recipe():
    recipe = TrainingRecipe(learning_rate=0.1)
    assert learning_rates(recipe, 5, 3, 10, 2).tolist() == [np.float32(0.1)] * 3


def test_steps_fall_at_whole_epochs():
    curve = rates(schedule="step", decay_every_epochs=3.0, decay_factor=0.5)
    assert curve[299] == 1.0
    assert curve[300] == curve[599] == 0.5
    assert curve[900] == 0.125


def test_an_exponential_takes_the_factor_smoothly():
    curve = rates(schedule="exponential", decay_every_epochs=2.0, decay_factor=0.25)
    assert curve[100] == pytest.approx(0.5)
    assert curve[200] == pytest.approx(0.25)
    assert curve == sorted(curve, reverse=True)


def test_one_cycle_climbs_three_tenths_and_falls_to_its_share():
    curve = rates(schedule="one_cycle", final_share=0.0)
    assert curve[0] == pytest.approx(1 / 25)
    assert max(curve) == curve[300] == 1.0
    assert curve[650] == pytest.approx(0.5)
    assert curve[1000] == 0.0


@pytest.mark.parametrize("schedule", all_schedules())
def test_a_warm_up_climbs_to_the_full_rate(schedule):
    recipe = TrainingRecipe(schedule=schedule, learning_rate=2.0, warmup_epochs=1.5)
    assert warm_up_steps(recipe, 1000, 100) == 150
    curve = learning_rates(recipe, 0, 151, 1000, 100)
    assert (np.diff(curve) > 0).all()
    assert curve[0] < 0.1
    assert curve[150] == 2.0


recipes = st.builds(
    TrainingRecipe,
    schedule=st.sampled_from(list(all_schedules())),
    learning_rate=st.floats(1e-6, 10),
    warmup_epochs=st.none() | st.floats(0, 30),
    final_share=st.floats(0, 1),
    decay_every_epochs=st.floats(0.01, 50),
    decay_factor=st.floats(0.01, 1),
)


@given(recipe=recipes, epochs=st.integers(1, 20), steps_per_epoch=st.integers(1, 50))
def test_any_schedule_stays_between_nothing_and_the_full_rate(recipe, epochs, steps_per_epoch):
    total = epochs * steps_per_epoch
    whole = learning_rates(recipe, 0, total, total, steps_per_epoch)
    assert (whole >= 0).all()
    assert (whole <= np.float32(recipe.learning_rate) * 1.000001).all()
    # Asked in pieces, as calls of several steps do, the values are the very same.
    middle = total // 3
    pieces = [
        learning_rates(recipe, 0, middle, total, steps_per_epoch),
        learning_rates(recipe, middle, total - middle, total, steps_per_epoch),
    ]
    assert np.array_equal(np.concatenate(pieces), whole)
    steps, drawn = curve(recipe, total, steps_per_epoch, points=50)
    assert steps[0] == 0
    assert steps[-1] == total - 1
    assert np.array_equal(drawn.astype(np.float32), whole[steps.astype(int)])


def test_the_drawing_has_both_sides_of_each_fall():
    recipe = TrainingRecipe(schedule="step", decay_every_epochs=1.0, learning_rate=1.0)
    steps, drawn = curve(recipe, 300, 100, points=40)
    assert {99, 100, 199, 200} <= set(steps.tolist())
    assert drawn[list(steps).index(99)] == 1.0
    assert drawn[list(steps).index(100)] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("scaling", "batch_size", "peak"),
    [
        ("none", 1_024, 0.1),
        ("linear", 1_024, 0.4),
        ("linear", 64, 0.025),
        ("square_root", 1_024, 0.2),
        ("square_root", 256, 0.1),
    ],
)
@pytest.mark.parametrize("schedule", all_schedules())
def test_the_rate_follows_the_batch(schedule, scaling, batch_size, peak):
    values = {"schedule": schedule, "warmup_epochs": 1.0, "epochs": 4}
    plain = TrainingRecipe(learning_rate=0.1, **values)
    scaled = plain.with_values(rate_scaling=scaling, batch_size=batch_size)
    assert scaled.peak_rate == pytest.approx(peak)
    for step in range(0, 40, 3):
        expected = learning_rate_at(plain, step, 40, 10) * peak / 0.1
        assert learning_rate_at(scaled, step, 40, 10) == pytest.approx(expected)


def test_the_batch_that_a_rate_is_meant_for_can_be_set():
    recipe = TrainingRecipe(rate_scaling="linear", batch_size=512, rate_base_batch=128)
    assert recipe.peak_rate == pytest.approx(4 * recipe.learning_rate)
