"""The coach's values: statistics, changes, and what becomes of findings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.core.coach import (
    Change,
    CoachSpec,
    Diagnosis,
    LayerState,
    Measurement,
    RunRecord,
    advise,
    change_words,
    holds,
    slope,
    smallest_difference,
    verdict_on,
    with_change,
)
from workbench.core.evaluation.significance import share_error
from workbench.core.network.graph import Graph, Node
from workbench.core.projects.project import Project


def test_the_error_of_an_accuracy_is_that_of_many_draws():
    hits = np.random.default_rng(1).binomial(200, 0.8, 20_000) / 200
    assert share_error(0.8, 200) == pytest.approx(hits.std(), rel=0.03)
    assert 0.0 < share_error(1.0, 20) < 0.1  # all right by chance is not certain
    assert share_error(1.3, 20) == share_error(1.0, 20)  # a log may hold anything
    assert smallest_difference(0.8, 200) == pytest.approx(
        1.96 * math.sqrt(2) * hits.std(), rel=0.03
    )


def test_one_outlier_does_not_move_a_slope():
    values = 1.0 - 0.01 * np.arange(12) + np.random.default_rng(2).normal(0, 0.001, 12)
    values[5] = 9.0
    found, error = slope(values)
    assert found == pytest.approx(-0.01, abs=3 * error + 1e-3)
    assert 0.0 < error < 0.002


def project():
    node = Node("n1", "dense", "hidden", {"units": 8})
    return Project(graph=Graph.of([node]))


def test_a_change_makes_another_project_and_is_put_in_words():
    before = project()
    change = Change(
        recipe={"learning_rate": 0.01, "epochs": before.recipe.epochs},
        layers={"n1": {"units": 4}, "gone": {"units": 1}},
    )
    after = with_change(before, change)
    assert (after.recipe.learning_rate, after.graph.nodes["n1"].params["units"]) == (0.01, 4)
    assert before.graph.nodes["n1"].params["units"] == 8
    assert not holds(before, change)
    assert holds(after, change)
    assert change_words(change, before) == ["Learning rate: 0.001 → 0.01", "hidden: units 4"]
    assert change_words(Change(recipe={"keep": "best"}), before)[0].endswith("→ best epoch")


def rule(key, seen, **more):
    return CoachSpec(key=key, title=key, order=1, watches=key, look=lambda record: seen, **more)


def test_a_rule_without_a_cause_is_quiet_beside_others():
    some, verdict = (
        Diagnosis(observation="A.", recommendation="B."),
        Diagnosis(observation="A.", recommendation="B.", verdict="C"),
    )
    last = rule("last", verdict, gives_verdict=True, is_last_resort=True)
    cause, nothing = rule("cause", some), rule("nothing", None, gives_verdict=True)
    assert [each.rule for each in advise(RunRecord(), [nothing, last])] == ["last"]
    assert [each.rule for each in advise(RunRecord(), [last, cause])] == ["cause"]
    assert verdict_on(RunRecord(), [nothing, cause, last]) == "C"
    assert verdict_on(RunRecord(), [nothing]) == ""


def test_a_record_knows_its_noise_and_its_layers():
    steps = np.arange(1, 101)
    losses = np.random.default_rng(3).normal(1.0, 0.2, 100) - 0.002 * steps
    record = RunRecord(
        epochs=np.array([1, 2]), epoch_steps=np.array([50, 100]), steps=steps, step_losses=losses,
        rates=np.array([0.1, 0.01]), graph=project().graph,
        measured=(Measurement(1, 9, 0.5, 0.1, (LayerState("n1", 1.0, 0.02),)),),
    )  # fmt: skip
    assert record.loss_errors == pytest.approx(0.2 / math.sqrt(50), rel=0.3)
    assert record.is_at_full_rate.tolist() == [True, False]
    assert record.last.update == 0.02
    assert (record.name_of("n1"), record.name_of("n9")) == ("hidden", "n9")
    assert not record.has_failed
    assert record.guessing == pytest.approx(math.log(2))
    empty = RunRecord(epochs=np.array([1]), epoch_steps=np.array([1]))
    assert empty.is_at_full_rate.tolist() == [True]
    assert empty.last is None
    assert math.isnan(empty.loss_errors[0])
    assert math.isnan(Measurement(1, 9, 0.5, 0.1).update)
    assert empty.name_of("n1") == "n1"
