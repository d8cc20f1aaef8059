"""Which epoch is the best, when training ends early, when the learning rate falls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.training.progress_rules import BestSoFar, ProgressRules, phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import EpochFinished
from workbench.runs.log.history import record_of_epochs


def epoch(number, accuracy=None, loss=None, **values):
    return EpochFinished(
        epoch=number, step=number, loss=values.get("train_loss", 1.0),
        accuracy=values.get("train_accuracy", 0.5), val_loss=loss, val_accuracy=accuracy,
        seconds=1.0, images_per_second=1.0, top_k_accuracy=values.get("top_k"),
    )  # fmt: skip


def judge(recipe, epochs):
    rules = ProgressRules(recipe)
    return rules, [rules.took(one) for one in epochs]


def test_the_best_is_by_accuracy_then_by_loss_then_the_first():
    epochs = [epoch(1, 0.5, 2.0), epoch(2, 0.5, 1.0), epoch(3, 0.5, 1.0), epoch(4, 0.4, 0.1)]
    rules, verdicts = judge(TrainingRecipe(), epochs)
    assert rules.best_epoch == 2
    assert [verdict.is_best for verdict in verdicts] == [True, True, False, False]


@pytest.mark.parametrize(
    ("keep_by", "best"), [("val_accuracy", 1), ("val_loss", 2), ("top_k", 3), ("loss", 4)]
)
def test_the_best_by_any_value(keep_by, best):
    epochs = [
        epoch(1, 0.9, 2.0, top_k=0.90, train_loss=2.0),
        epoch(2, 0.8, 1.0, top_k=0.90, train_loss=2.0),
        epoch(3, 0.7, 3.0, top_k=0.99, train_loss=2.0),
        epoch(4, 0.6, 3.0, top_k=0.90, train_loss=1.0),
    ]
    assert judge(TrainingRecipe(keep_by=keep_by), epochs)[0].best_epoch == best


def test_training_values_are_used_without_validation():
    recipe = TrainingRecipe(validation="none", early_stopping_patience=1)
    epochs = [epoch(1, train_accuracy=0.4), epoch(2, train_accuracy=0.6), epoch(3)]
    rules, verdicts = judge(recipe, epochs)
    assert rules.best_epoch == 2
    assert "accuracy has not improved for 1 epoch. Best epoch: 2" in verdicts[2].stop_words


def test_what_is_not_a_number_is_never_the_best():
    rules, verdicts = judge(TrainingRecipe(keep_by="loss"), [epoch(1, train_loss=None)])
    assert rules.best_epoch == 0
    assert not verdicts[0].is_best


def test_early_stopping_waits_for_its_patience():
    recipe = TrainingRecipe(early_stopping_patience=2)
    _, verdicts = judge(
        recipe, [epoch(n, a, 1.0) for n, a in enumerate([0.5, 0.4, 0.6, 0.6, 0.5], 1)]
    )
    assert [bool(verdict.stop_words) for verdict in verdicts] == [False] * 4 + [True]
    assert verdicts[4].stop_words.startswith(
        "Early stopping: validation accuracy has not improved for 2 epochs"
    )


def test_a_plateau_lowers_the_rate_again_and_again():
    recipe = TrainingRecipe(schedule="plateau", plateau_patience=2, decay_factor=0.5)
    _, verdicts = judge(recipe, [epoch(1, 0.5, 1.0)] + [epoch(n, 0.4, 1.0) for n in range(2, 8)])
    assert [v.rate_scale for v in verdicts] == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125]
    assert "reduced to 0.0005" in verdicts[2].words
    assert verdicts[3].words == ""


@given(
    values=st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 9)), min_size=1),
    cut=st.integers(0, 50),
    keep_by=st.sampled_from(["val_accuracy", "val_loss", "top_k", "loss"]),
)
def test_rules_go_on_from_their_state_as_if_never_stopped(values, cut, keep_by):
    recipe = TrainingRecipe(
        schedule="plateau", plateau_patience=2, early_stopping_patience=3, keep_by=keep_by
    )
    epochs = [epoch(n, a, loss, train_loss=loss) for n, (a, loss) in enumerate(values, 1)]
    rules, whole = judge(recipe, epochs)
    first, before = judge(recipe, epochs[:cut])
    second = ProgressRules(recipe, json.loads(json.dumps(first.state())))
    assert before + [second.took(one) for one in epochs[cut:]] == whole
    assert second.state() == rules.state()


TUNED = TrainingRecipe(
    epochs=12, fine_tuning_after=6, early_stopping_patience=2, schedule="plateau",
    plateau_patience=1, decay_factor=0.5, learning_rate=1.0, fine_tuning_rate=0.1,
)  # fmt: skip


def of_phase(rules, number):
    """The rules at the beginning of a phase, 0 or 1, or within it."""
    rules.begin(phases_of(TUNED)[number])
    return rules


def test_early_stopping_of_the_head_leads_to_fine_tuning():
    rules = of_phase(ProgressRules(TUNED), 0)
    verdicts = [rules.took(epoch(n, a, 1.0)) for n, a in ((1, 0.8), (2, 0.7), (3, 0.7))]
    assert [bool(verdict.stop_words) for verdict in verdicts] == [False, False, True]
    assert verdicts[2].stop_words.endswith(
        "for 2 epochs. Best epoch: 1. Fine-tuning begins, with epoch 7."
    )
    assert not of_phase(rules, 1).stop_words


def test_fine_tuning_is_compared_with_itself_and_the_best_epoch_is_that_of_both():
    """It begins worse than the head has ended, and still improves."""
    rules = of_phase(ProgressRules(TUNED), 0)
    for n, a in ((1, 0.8), (2, 0.7), (3, 0.7)):
        rules.took(epoch(n, a, 1.0))
    assert rules.rate_scale == 0.25
    of_phase(rules, 1)
    assert rules.rate_scale == 1.0  # it has a rate of its own
    verdicts = [rules.took(epoch(n, a, 1.0)) for n, a in ((7, 0.5), (8, 0.6), (9, 0.7), (10, 0.7))]
    assert not any(verdict.stop_words or verdict.is_best for verdict in verdicts)
    assert "Learning rate reduced to 0.05:" in verdicts[3].words
    last = rules.took(epoch(11, 0.6, 1.0))
    assert last.stop_words.endswith("for 2 epochs. Best epoch: 1.")
    assert rules.best_epoch == 1


@pytest.mark.parametrize("cut", range(8))
def test_rules_resumed_in_either_phase_go_on_as_if_never_stopped(cut):
    """Also where the phases meet: `begin` is called again there."""
    epochs = [epoch(n, a, 1.0) for n, a in ((1, 0.8), (2, 0.7), (3, 0.7))]
    epochs += [epoch(n, a, 1.0) for n, a in ((7, 0.5), (8, 0.6), (9, 0.5), (10, 0.7))]

    def judged(rules, rest):
        found = []
        for one in rest:
            of_phase(rules, int(one.epoch > 6))
            found.append(rules.took(one))
        return found

    rules = ProgressRules(TUNED)
    whole = judged(rules, epochs)
    first = ProgressRules(TUNED)
    before = judged(first, epochs[:cut])
    second = ProgressRules(TUNED, json.loads(json.dumps(first.state())))
    assert before + judged(second, epochs[cut:]) == whole
    assert second.state() == rules.state()


def test_a_checkpoint_of_an_earlier_version_has_one_best_epoch_for_both_phases():
    rules = of_phase(ProgressRules(TUNED), 0)
    rules.took(epoch(1, 0.8, 1.0))
    state = {key: value for key, value in rules.state().items() if "phase" not in key}
    again = of_phase(ProgressRules(TUNED, state), 0)
    assert again.state() == rules.state()


def test_epochs_without_validation_decide_on_nothing():
    recipe = TrainingRecipe(validation_freq=2, early_stopping_patience=2, epochs=10)
    epochs = [
        epoch(1, train_accuracy=0.99), epoch(2, 0.5, 1.0), epoch(3, train_accuracy=0.99),
        epoch(4, 0.4, 1.1), epoch(5, train_accuracy=0.99), epoch(6, 0.4, 1.1),
    ]  # fmt: skip
    rules, verdicts = judge(recipe, epochs)
    assert [verdict.is_best for verdict in verdicts] == [False, True] + [False] * 4
    assert rules.best_epoch == 2
    assert [bool(verdict.stop_words) for verdict in verdicts] == [False] * 5 + [True]
    assert "has not improved for 2 validations" in verdicts[-1].stop_words


def test_the_training_loss_is_known_after_each_epoch():
    recipe = TrainingRecipe(validation_freq=3, keep_by="loss")
    rules, verdicts = judge(recipe, [epoch(1, train_loss=2.0), epoch(2, train_loss=1.0)])
    assert [verdict.is_best for verdict in verdicts] == [True, True]
    assert rules.best_epoch == 2


@pytest.mark.parametrize("keep_by", ["val_accuracy", "val_loss", "top_k"])
def test_what_is_shown_as_the_best_epoch_is_a_validated_one(keep_by):
    best = BestSoFar(keep_by)
    seen = []
    for each in (epoch(1), epoch(2, 0.2, 3.0), epoch(3), epoch(4, 0.3, 2.0), epoch(5)):
        best.took(each)
        seen.append(best.epoch.epoch)
    assert seen == [1, 2, 2, 4, 4]


def test_the_coach_compares_validated_epochs_alone():
    record = record_of_epochs([epoch(1), epoch(2, 0.2, 3.0), epoch(3), epoch(4, 0.3, 2.0)], None)
    assert record.epochs.tolist() == [2, 4]
    assert record.val_accuracy.tolist() == [0.2, 0.3]
    assert record_of_epochs([epoch(1), epoch(2)], None).epochs.tolist() == [1, 2]


def test_a_reduced_rate_waits_for_validations():
    recipe = TrainingRecipe(schedule="plateau", plateau_patience=1, validation_freq=2)
    epochs = [epoch(1), epoch(2, 0.5, 1.0), epoch(3), epoch(4, 0.4, 1.0)]
    _, verdicts = judge(recipe, epochs)
    assert [verdict.rate_scale for verdict in verdicts[:3]] == [1.0] * 3
    assert verdicts[3].rate_scale < 1.0
    assert "1 validation" in verdicts[3].words
