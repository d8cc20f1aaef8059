"""Which figure is of which weights, in words."""

from __future__ import annotations

import pytest

from workbench.protocol.events import BestEpoch
from workbench.protocol.weights import KeptWeights
from workbench.runs.log.texts import (
    best_words,
    chosen_words,
    figure_words,
    metric_words,
    plan_words,
    saved_words,
    weights_words,
)
from workbench.runs.model_card import ModelCard, weights_of

BEST = BestEpoch(epoch=32, val_accuracy=0.908, val_loss=0.3)


def test_the_best_epoch_is_named_with_what_it_is_the_best_by():
    assert best_words(BEST, "val_accuracy") == "Best val. accuracy 90.8% (epoch 32)"
    assert best_words(BEST, "val_loss") == "Val. accuracy 90.8% (epoch 32, lowest val. loss)"
    assert best_words(None, "val_accuracy") == ""


def test_what_was_chosen_on_the_test_set_is_marked():
    words = best_words(BEST, "val_accuracy", is_on_test=True)
    assert words == "Best test accuracy 90.8% (epoch 32, chosen on the test set)"
    assert metric_words("val_accuracy", is_on_test=True) == "best test accuracy"
    assert metric_words("val_accuracy", is_validated=False) == "best accuracy"
    kept = KeptWeights(epoch=32, kind="best", is_chosen_on_test=True)
    assert weights_words(kept) == "best epoch (32), chosen on the test set"


def test_evaluate_says_on_which_images_the_epoch_was_chosen():
    kept = KeptWeights(epoch=32, kind="best", val_accuracy=0.9)
    assert chosen_words(kept) == "best epoch (32), chosen on the validation images"
    on_test = KeptWeights(epoch=32, kind="best", val_accuracy=0.9, is_chosen_on_test=True)
    assert chosen_words(on_test) == "best epoch (32), chosen on the test set"
    last = KeptWeights(epoch=40, val_accuracy=0.9)
    without = KeptWeights(epoch=5, kind="best")  # chosen by the training loss
    assert [chosen_words(each) for each in (last, without, None)] == [
        "last epoch (40)",
        "best epoch (5)",
        "",
    ]


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (
            KeptWeights(epoch=40, val_accuracy=0.899),
            "Saved weights: val. accuracy 89.9%, last epoch (40)",
        ),
        (KeptWeights(epoch=1_200, kind="best"), "Saved weights: best epoch (1,200)"),
        (KeptWeights(epoch=3, is_partial=True), "Saved weights: last step, in epoch 4"),
        (
            KeptWeights(epoch=5, is_averaged=True),
            "Saved weights: last epoch (5), averaged (EMA)",
        ),
        (None, ""),
    ],
)
def test_the_saved_weights_are_named(kept, words):
    assert saved_words(kept) == words


def test_a_run_says_what_it_will_save_and_its_figure_what_it_is_of():
    assert plan_words("best") == "Saves the weights of the best epoch"
    assert plan_words("") == ""
    assert figure_words(0.893, 0.908) == "test 89.3%"
    assert figure_words(None, 0.908) == "val. 90.8%"
    assert figure_words(None, None) == ""


def test_cards_of_before_name_their_weights_too():
    card = ModelCard(class_names=["a"], input_shape=[1, 1, 1], fit="crop", graph={})
    assert weights_of(card) is None
    recipe = {"keep": "best", "validation": "test", "ema_decay": 0.99}
    card = ModelCard(
        class_names=["a"], input_shape=[1, 1, 1], fit="crop", graph={}, kept_epoch=7, recipe=recipe
    )
    assert weights_of(card) == KeptWeights(
        epoch=7, kind="best", is_averaged=True, is_chosen_on_test=True
    )
