"""What another batch size changes beside the speed."""

from __future__ import annotations

from typing import Any

from workbench.core.training.batch_change import BatchChange
from workbench.core.training.recipe import TrainingRecipe


def _change(batch_size: int, **recipe: Any) -> BatchChange:
    values = {"batch_size": 1000, "learning_rate": 0.001, **recipe}
    return BatchChange(TrainingRecipe().with_values(**values), batch_size, 60_000)


def test_steps_of_an_epoch_that_stay_see_other_images() -> None:
    change = _change(256, steps_per_epoch=60)
    assert change.steps_per_epoch(change.after) == 60
    assert change.images_per_epoch(change.after) == 15_360
    assert change.words[0] == (
        "Steps per epoch stays 60, so an epoch trains on 15,360 images instead of 60,000 "
        "(26% of the training set)."
    )
    assert (
        _change(2500, steps_per_epoch=60)
        .words[0]
        .endswith("150,000 images instead of 60,000 (2.5 passes over the training set).")
    )


def test_an_epoch_of_all_images_has_other_steps() -> None:
    change = _change(256)
    assert change.words[0] == "An epoch has 234 steps instead of 60."
    assert change.images_per_epoch(change.after) == 59_904


def test_the_rate_that_scaling_would_make_is_named_with_the_rule_of_the_optimizer() -> None:
    assert _change(4000).words[1] == (
        "The learning rate stays 0.001; square root scaling, usual for Adam, would make it 0.002."
    )
    assert _change(4000, optimizer="sgd").words[1] == (
        "The learning rate stays 0.001; linear scaling, usual for SGD, would make it 0.004."
    )


def test_a_rate_that_is_scaled_changes() -> None:
    change = _change(4000, rate_scaling="linear", rate_base_batch=1000)
    assert change.after.peak_rate == 0.004
    assert change.words[1] == ("LR scaling (linear) changes the learning rate from 0.001 to 0.004.")


def test_the_same_size_changes_nothing() -> None:
    assert _change(1000).words == []
    more_than_there_are = BatchChange(TrainingRecipe().with_values(batch_size=5000), 400, 400)
    assert more_than_there_are.words == []
