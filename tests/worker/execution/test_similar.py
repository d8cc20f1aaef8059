"""A network begins with what was benchmarked on a similar one: far behind stays far behind."""

from __future__ import annotations

import msgspec
import pytest

from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.targets.this_computer import HIDE_BFLOAT16, computes_bfloat16
from workbench.worker.execution.autotune import (
    Known,
    Likeness,
    keep_known,
    likeness_of,
    read_known,
    read_similar,
)
from workbench.worker.execution.compiled import plan_words
from workbench.worker.step.trainable import PLAIN, Timing, Variant

pytestmark = pytest.mark.worker

BF16, BF16_XLA = Variant("bfloat16"), Variant("bfloat16", xla=True)
MEASURED = Known({BF16: Timing(0.1, 1.0), PLAIN: Timing(0.27, 1.5)}, {BF16_XLA: 3.0})


@pytest.fixture
def network(small_project):
    """Makes projects with a convolution of so many filters."""

    def make(*middle, filters=8, **recipe):
        return small_project(
            ("conv2d", {"filters": filters, "kernel_size": (3, 3)}), *middle, **recipe
        )

    return make


def test_networks_of_other_sizes_are_alike(network, monkeypatch):
    one, more = network(filters=8), network(("dropout", {"rate": 0.3}), filters=12)
    alike, other = likeness_of(one, 64), likeness_of(more, 64)
    assert alike.group == other.group
    assert 1 < other.work / alike.work < 2
    assert likeness_of(one, 128) == Likeness(alike.group, 2 * alike.work)
    assert likeness_of(network(threads=1), 64).group != alike.group
    assert likeness_of(network(("depthwise_conv2d", {}), filters=8), 64).group != alike.group
    if computes_bfloat16():
        monkeypatch.setenv(HIDE_BFLOAT16, "1")
        assert likeness_of(one, 64).group != alike.group


def test_a_project_without_layers_is_like_none_that_computes(network):
    nothing = likeness_of(Project(recipe=TrainingRecipe()), 64)
    assert nothing.work == 0
    assert nothing.group != likeness_of(network(), 64).group


def test_the_nearest_of_the_group_is_taken_and_brought_to_the_own_work(tmp_path):
    slower = Known({BF16: Timing(0.5, 1.0), PLAIN: Timing(0.9, 1.0)})
    keep_known("near", MEASURED, tmp_path, likeness=Likeness("group", 1000.0))
    keep_known("far", slower, tmp_path, likeness=Likeness("group", 3000.0))
    keep_known("other", slower, tmp_path, likeness=Likeness("another", 1200.0))
    keep_known("older", slower, tmp_path)  # written by an earlier version
    (tmp_path / "damaged.json").write_bytes(b"[{}]")
    found = read_similar(Likeness("group", 1500.0), BF16, tmp_path)
    assert found.timings[BF16] == Timing(pytest.approx(0.15), 1.0)
    assert found.timings[PLAIN] == Timing(pytest.approx(0.405), 1.5)
    assert found.skipped == MEASURED.skipped
    assert read_similar(Likeness("group", 2500.0), BF16, tmp_path).timings[BF16].step_s < 0.5
    assert read_similar(Likeness("group", 200.0), BF16, tmp_path) == Known()
    assert read_similar(Likeness("group", 1000.0), BF16_XLA, tmp_path) == Known()
    assert read_known("near", tmp_path) == MEASURED


def test_what_was_close_is_measured_again(tmp_path):
    close = Known({BF16: Timing(0.1, 1.0), PLAIN: Timing(0.12, 1.0), BF16_XLA: Timing(0.3, 9.0)})
    keep_known("close", close, tmp_path, likeness=Likeness("group", 1000.0))
    expected = read_similar(Likeness("group", 1000.0), BF16, tmp_path)
    assert expected.timings.keys() == {BF16, BF16_XLA}
    assert expected.to_measure((BF16, PLAIN, BF16_XLA), 10_000) == (PLAIN,)
    assert expected.to_measure((BF16, PLAIN, BF16_XLA), 100) == ()  # too short a run


def test_words_name_where_the_gain_is_from():
    words = plan_words(BF16, MEASURED.timings, TrainingRecipe(), source="similar")
    assert words.endswith("2.7× faster than float32 (benchmarked on a similar network)")


@pytest.mark.skipif(not computes_bfloat16(), reason="there is one way only")
def test_a_network_like_one_that_was_benchmarked_is_not(network, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))

    from tests.worker.conftest import stripes
    from workbench.pictures.prepare import PreparedData, PreparedPart
    from workbench.worker.execution import autotune
    from workbench.worker.execution import compiled as plan
    from workbench.worker.execution.compiled import compile_training, connect, sizes_of

    monkeypatch.setattr(plan, "_WORTH_S", 0.0)
    monkeypatch.setattr(autotune, "LARGEST_SHARE", 1e9)
    monkeypatch.setattr(autotune, "LONGEST_S", 1e9)
    data = PreparedData(("a", "b", "c"), PreparedPart(*stripes(200, 1)), None, None)
    reported = []

    def compiled(project, **more):
        reported.clear()
        target, sizes = connect(project), sizes_of(project, 200)
        return compile_training(
            project,
            data,
            target=target,
            sizes=sizes,
            check=lambda: None,
            measure=True,
            on_progress=lambda *words: reported.append(words),
            **more,
        )

    recipe = {"xla": "off"}
    first = compiled(network(filters=8, **recipe))
    assert [words for _, words, _ in reported] == [
        "Benchmarking bfloat16",
        "Benchmarking float32",
    ]
    (path,) = (tmp_path / "cache" / "plans").glob("*.json")
    # Who wins on so small a network is chance: that bfloat16 did, by far.
    file = msgspec.json.decode(path.read_bytes())
    for row, step_s in zip(file["measured"], (0.1, 0.27), strict=True):
        row["step_s"] = step_s
    path.write_bytes(msgspec.json.encode(file))

    project = network(filters=12, **recipe)
    similar = compiled(project)
    assert reported == []
    assert similar.plan.precision == "bfloat16"
    assert similar.plan.gain is None
    assert "2.7× faster than float32 (benchmarked on a similar network)" in similar.plan.words
    assert len(list((tmp_path / "cache" / "plans").glob("*.json"))) == 1
    resumed = compiled(project, plan=similar.plan)
    rates = [0.01] * 4
    results = [
        each.loop.train(each.iterator, 4, rates=rates).losses.tolist()
        for each in (similar, resumed)
    ]
    assert results[0] == results[1]
    assert first.plan.gain is not None or first.plan.precision == "float32"
