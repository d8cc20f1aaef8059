"""What more epochs mean: the schedule, early stopping, the saved weights."""

from __future__ import annotations

import pytest

from workbench.core.training.learning_rates import LongerTraining, learning_rates
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.schedules import all_schedules


def longer(done=10, steps=30, *, is_stopped_early=False, **recipe):
    recipe = TrainingRecipe(learning_rate=0.01, epochs=10, **recipe)
    return LongerTraining(recipe, done, done * steps, is_stopped_early=is_stopped_early)


@pytest.mark.parametrize("schedule", list(all_schedules()))
@pytest.mark.parametrize("warmup_epochs", [None, 2.0])
def test_it_is_as_planned_where_all_rates_so_far_are(schedule, warmup_epochs):
    """Compared with every step's own rate in both plans."""
    run = longer(schedule=schedule, warmup_epochs=warmup_epochs)
    then, now = (learning_rates(run.recipe, 0, 300, total, 30) for total in (300, 600))
    assert run.is_as_planned(20) == (then.tolist() == now.tolist())
    assert run.is_as_planned(20) != all_schedules()[schedule].spans_training


def test_a_warm_up_that_was_cut_short_is_not_as_planned():
    assert not longer(warmup_epochs=15.0).is_as_planned(20)


def test_the_words_name_what_changes():
    (rate, kept) = longer().words(20)
    assert rate.endswith("the result is that of a run planned for 20 epochs.")
    assert "saved after epoch 10 are replaced" in kept
    (rate, kept) = longer(schedule="cosine", keep="best").words(20)
    assert "follows cosine decay over 20 epochs: it continues at 0.00529, after 0.0001" in rate
    assert rate.endswith("differs from that of a run planned for 20 epochs.")
    assert "better than the best so far" in kept


def test_the_patience_of_early_stopping_is_counted_again():
    run = longer(done=7, early_stopping_patience=3, is_stopped_early=True)
    rate, patience, _ = run.words(20)
    assert rate == "The learning rate does not depend on the number of epochs."
    assert patience == (
        "Early stopping ended it after 7 epochs; its patience of 3 epochs is counted from there."
    )
