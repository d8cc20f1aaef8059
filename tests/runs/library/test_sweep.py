"""The plan of a sweep, the rule that stops its hopeless runs, and what it has given."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import msgspec
import pytest

from tests.class_folders import stripes_project, write_stripes
from tests.worker.conftest import chain
from tests.written_runs import WrittenRun
from workbench.checkup.analysed import check_sweep
from workbench.core.projects.project import Choice
from workbench.errors import UsageError
from workbench.protocol.events import RunFinished
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import SweepPoint
from workbench.runs.library.series import (
    MedianRule,
    Spread,
    begin_series,
    default_warm_up,
    median_of_averages,
    newest_series,
    series_runs,
)
from workbench.runs.library.sweep import Axis, SweepPlan
from workbench.runs.library.sweep_result import combination_words, sweep_result
from workbench.runs.log.event_log import EventWriter
from workbench.runs.state import queue


@pytest.fixture
def project(tmp_path):
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("conv2d", {"filters": 4}),
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    return replace(stripes_project(write_stripes(tmp_path / "data", 30)), graph=graph)


def axes(*texts):
    return tuple(Axis.parse(text) for text in texts)


# the plan ----------------------------------------------------------------------------------


def test_a_grid_changes_recipe_and_network(project):
    plan = SweepPlan(project, axes("learning_rate=0.1,0.01", "conv2d_1.filters=2,8"), seeds=2)
    runs = plan.runs()
    assert plan.num_runs == len(runs) == 8
    assert runs[0].label == "lr 0.1, conv2d_1 filters 2, seed 7"
    assert [run.project.recipe.seed for run in runs] == [7] * 4 + [8] * 4
    assert {run.project.recipe.split_seed for run in runs} == {7}, "the same split for all"
    widths = [next(n for n in r.project.graph.nodes.values() if n.kind == "conv2d") for r in runs]
    assert [node.params["filters"] for node in widths] == [2, 8] * 4
    assert [run.point.combination for run in runs] == [1, 2, 3, 4] * 2


def test_a_draw_is_reproducible_and_even_in_the_logarithm(project):
    plan = SweepPlan(project, axes("learning_rate=1e-5..1e-1", "batch_size=8..64"), num_random=100)
    rates = [float(each.values["learning_rate"]) for each in plan.combinations]
    assert len(plan.combinations) == 100
    assert all(1e-5 <= rate <= 1e-1 for rate in rates)
    assert 35 <= sum(rate < 1e-3 for rate in rates) <= 65, "half of them in the lower decades"
    assert all(8 <= int(each.values["batch_size"]) <= 64 for each in plan.combinations)
    again = replace(plan).combinations
    assert [each.values for each in again] == [each.values for each in plan.combinations]
    other = replace(plan, draw_seed=1)
    assert [each.values for each in other.combinations] != [each.values for each in again]
    assert other.key() != plan.key() == replace(plan).key()


def test_a_draw_from_lists_has_no_combination_twice(project):
    plan = SweepPlan(project, axes("learning_rate=0.1,0.2", "batch_size=8,16"), num_random=9)
    assert len({each.label for each in plan.combinations}) == len(plan.combinations) == 4


def test_all_that_is_wrong_is_reported_at_once(project):
    plan = SweepPlan(
        project,
        axes("learnin_rate=1,2", "conv2d_1.filters=0,4", "seed=1,2", "data=folder:a,folder:b"),
    )
    with pytest.raises(UsageError) as caught:
        _ = plan.combinations
    for words in ("learnin_rate", "Filters cannot be", "Use --seeds", '"data" cannot be compared'):
        assert words in str(caught.value)


@pytest.mark.parametrize("text", ["epochs", "epochs=", "=1,2", "epochs=,"])
def test_a_text_without_values_is_refused(text):
    with pytest.raises(UsageError):
        Axis.parse(text)


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (["learning_rate=1e-4..1e-1"], {}),
        (["learning_rate=0.1..0.01"], {"num_random": 3}),
        (["learning_rate=0.1"], {}),
        (["learning_rate=0.1,0.2", "learning_rate=0.3,0.4"], {}),
        (["batch_size=" + ",".join(map(str, range(1, 250)))], {}),
        ([], {"seeds": 3}),
    ],
)
def test_no_sweep(project, values, options):
    with pytest.raises(UsageError):
        _ = SweepPlan(project, axes(*values), **options).combinations


def test_targets_take_turns(project):
    targets = (Choice("this_computer"), Choice("virtual", {"replicas": 2}))
    plan = SweepPlan(project, axes("learning_rate=0.1,0.2,0.3"), targets=targets)
    found = [run.project.target.key for run in plan.runs()]
    assert found == ["this_computer", "virtual", "this_computer"]


def test_impossible_networks_are_named_and_left_out_when_agreed(project):
    plan = SweepPlan(project, axes("conv2d_1.kernel_size=3,9,20", "learning_rate=0.1,0.2"))
    checked = check_sweep(plan)
    assert [each.combination.number for each in checked.impossible] == [3, 4, 5, 6]
    words = checked.impossible_words()
    assert words.startswith("4 of 6 combinations cannot be trained.")
    assert "conv2d_1 kernel size 9×9" in words
    assert "does not fit into 8 × 8" in words
    assert [run.label[:3] for run in checked.possible.runs()] == ["con", "con"]
    assert checked.possible.key() == plan.key()


def test_an_interrupted_sweep_goes_on(project):
    plan = SweepPlan(project, axes("learning_rate=0.1,0.2"), seeds=2)
    series = begin_series(plan)
    runs = series_runs(series)
    assert [run.request().point.place for run in runs] == [1, 2, 3, 4]
    assert queue.waiting() == runs
    assert newest_series(project.id, is_sweep=True) == series
    assert newest_series(project.id) == "", "no cross-validation"
    queue.cancel(runs[2])
    assert begin_series(plan) == series
    assert {run.path for run in queue.waiting()} == {run.path for run in series_runs(series)}
    assert begin_series(plan, is_new=True) != series


# median stopping ---------------------------------------------------------------------------


def trained(project, number, scores, *, outcome="completed", epochs=8, warm_up=2, **values):
    """A run of a sweep as a trainer writes it, with these validation accuracies."""
    written = WrittenRun(project=project, recipe=project.recipe, epochs=epochs)
    request = written.folder.request()
    point = SweepPoint(
        place=number, combination=values.pop("combination", number), warm_up=warm_up,
        values={"learning_rate": str(number)},
    )  # fmt: skip
    label = values.pop("label", f"lr {number}")
    request = msgspec.structs.replace(request, series="s-1", point=point, label=label)
    written.folder.request_path.write_bytes(msgspec.json.encode(request))
    written.begin()
    for epoch, score in enumerate(scores, 1):
        written.epoch(epoch, val_accuracy=score)
    if outcome:
        kept = KeptWeights(epoch=len(scores), val_accuracy=scores[-1])
        written.finish(outcome, kept=kept)
    return written


def test_the_median_is_of_running_averages_up_to_the_epoch():
    others = [(0.2, 0.4, 0.9), (0.6, 0.6, 0.6), (0.8, 0.8, 0.1)]
    assert median_of_averages(others, 2) == pytest.approx(0.6)
    assert median_of_averages(others, 3) == pytest.approx((0.8 + 0.8 + 0.1) / 3)
    assert median_of_averages([*others, (0.7,)], 2) == pytest.approx(0.65), "shorter ones count"
    assert median_of_averages(others[:2], 1) is None, "two runs are no median"


def test_a_hopeless_run_is_stopped_after_the_warm_up(project):
    for number in (1, 2, 3):
        trained(project, number, [0.5, 0.6, 0.7, 0.8])
    low = trained(project, 4, [0.3], outcome="")
    rule = MedianRule(low.folder)
    assert rule.stop_words() == "", "the warm-up is not over"
    low.epoch(2, val_accuracy=0.5)
    words = rule.stop_words()
    assert "Median stopping after 2 epochs" in words
    assert "50.0%, is below 55.0%" in words
    low.epoch(3, val_accuracy=0.9)
    assert rule.stop_words() == "", "its best one counts"
    low.end()


def test_without_enough_completed_runs_none_is_stopped(project):
    for number, outcome in ((1, "completed"), (2, "completed"), (3, "stopped")):
        trained(project, number, [0.9, 0.9], outcome=outcome)
    low = trained(project, 4, [0.1, 0.1], outcome="")
    assert MedianRule(low.folder).stop_words() == ""
    low.end()


def test_a_run_without_a_warm_up_always_goes_on(project):
    for number in (1, 2, 3):
        trained(project, number, [0.9, 0.9])
    low = trained(project, 4, [0.1, 0.1], outcome="", warm_up=0)
    assert MedianRule(low.folder).stop_words() == ""
    low.end()


def test_a_stopped_run_that_a_person_resumes_goes_on(project):
    for number in (1, 2, 3):
        trained(project, number, [0.9, 0.9, 0.9])
    low = trained(project, 4, [0.1, 0.1], outcome="")
    assert MedianRule(low.folder).stop_words()
    low.end()
    hopeless(low)
    with_more = WrittenRun.of(low.folder, step=20, resumed_at_step=20)
    with_more.epoch(3, val_accuracy=0.1)
    assert MedianRule(low.folder).stop_words() == ""
    with_more.end()


def hopeless(written):
    with EventWriter(written.folder.events_path) as writer:
        writer.write(
            RunFinished(
                outcome="stopped", run="", seconds=1.0, epochs_done=2, reason="Median stopping.",
                kept=KeptWeights(epoch=2, val_accuracy=0.1), can_resume=True,
            )
        )  # fmt: skip


def test_warm_up_follows_the_epochs():
    assert [default_warm_up(epochs) for epochs in (1, 8, 40)] == [2, 2, 10]


# the result --------------------------------------------------------------------------------


def test_mean_spread_and_noise(project):
    for place, (number, score) in enumerate(
        [(1, 0.80), (2, 0.90), (3, 0.60), (1, 0.90), (2, 0.94), (3, 0.62)], 1
    ):
        trained(project, place, [score], combination=number, label=f"{place}")
    result = sweep_result("s-1")
    assert [each.number for each in result.combinations] == [2, 1, 3]
    assert result.best.val_accuracy.mean == pytest.approx(0.92)
    pooled = math.sqrt((0.1**2 / 2 + 0.04**2 / 2 + 0.02**2 / 2) / 3)
    assert result.noise == pytest.approx(pooled)
    within = [result.is_within_noise(each) for each in result.combinations]
    assert within == [False, False, False], "0.85 is farther than 0.04"
    assert [combination_words(result, each) for each in result.combinations] == ["best", "", ""]


def test_pooled_spread_weighs_by_degrees_of_freedom():
    one, two = Spread(0.5, 0.1, 3), Spread(0.9, 0.4, 2)
    assert Spread.pooled([one, two, Spread(0.1, 0.0, 1)]) == pytest.approx(
        math.sqrt((2 * 0.01 + 0.16) / 3)
    )
    assert Spread.pooled([Spread(0.5, 0.0, 1)]) is None


def test_a_stopped_run_is_settled_and_behind_all_others(project):
    trained(project, 1, [0.5, 0.5])
    low = trained(project, 2, [0.9, 0.9], outcome="")
    low.end()
    hopeless(low)
    result = sweep_result("s-1")
    assert result.num_settled == 2
    assert result.best.number == 1
    last = result.combinations[-1]
    assert combination_words(result, last) == "1 of 1 stopped early"
    assert any("stopped early" in note for note in result.notes())
    rows = list(csv.DictReader(io.StringIO(result.csv_text())))
    assert [row["outcome"] for row in rows] == ["completed", "stopped_early"]
    assert rows[0]["val_accuracy"] == "0.500000"
    assert rows[1]["epochs"] == "2"
