"""Predictions: what a run will take, from what this computer has trained before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_run

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.costs import Costs
from workbench.core.checks.estimates import (
    FIRST_CALL_S,
    MeasuredRun,
    RunEstimate,
    memory_needed,
    numbers_per_picture,
    predict,
)
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.layers import all_layers
from workbench.runs.state.preparing import WholeRun, measured_run, predict_run
from workbench.templates import find_template

RECIPE = find_template("cifar10_convnet").project.recipe


def _analysis(key: str = "cifar10_convnet") -> Analysis:
    project = find_template(key).project
    return analyse(project.graph, all_layers(), recipe=project.recipe)


def _costs(key: str = "cifar10_convnet") -> Costs:
    return _analysis(key).costs


def _run(key: str, speed: float, **values: object) -> MeasuredRun:
    costs = _costs(key)
    given = {
        "multiply_adds": costs.multiply_adds,
        "numbers": numbers_per_picture(costs),
        "batch_size": 1024,
        "precision": "bfloat16",
        "images_per_second": speed,
        **values,
    }
    return MeasuredRun(**given)  # type: ignore[arg-type]


def test_the_very_same_run_is_predicted_by_its_own_speed() -> None:
    measured = [_run("cifar10_convnet", 1234.0), _run("flowers_gap", 70.0)]
    found = predict(_costs(), measured, batch_size=1024, precision="bfloat16", steps_per_epoch=48)
    assert found.images_per_second == pytest.approx(1234, rel=0.1)
    assert found.epoch_s == pytest.approx(48 * 1024 / found.images_per_second)


def test_a_slower_computer_makes_every_prediction_slower() -> None:
    def speed_of(measured: list[MeasuredRun]) -> float:
        found = predict(
            _costs("small_resnet"),
            measured,
            batch_size=128,
            precision="bfloat16",
            steps_per_epoch=None,
        )
        return found.images_per_second

    assert speed_of([_run("cifar10_convnet", 500.0)]) < speed_of([_run("cifar10_convnet", 5000.0)])


def test_runs_of_another_precision_do_not_count() -> None:
    measured = [_run("cifar10_convnet", 9.0, precision="float32")]
    found = predict(_costs(), measured, batch_size=1024, precision="bfloat16", steps_per_epoch=None)
    assert found.num_runs == 0
    assert "rough estimate" in found.basis()
    assert found.epoch_s is None


def test_too_large_a_batch_is_answered_with_one_that_fits() -> None:
    costs = _costs()
    limit = 1_200_000_000
    found = predict(
        costs, [], batch_size=65_536, precision="float32", steps_per_epoch=1, limit_bytes=limit
    )
    assert not found.fits
    assert found.fitting_batch
    needed = memory_needed(
        costs, costs_batch=65_536, batch_size=found.fitting_batch, precision="float32"
    )
    assert needed <= 0.85 * limit
    again = memory_needed(
        costs, costs_batch=65_536, batch_size=2 * found.fitting_batch, precision="float32"
    )
    assert again > 0.85 * limit


def test_no_batch_fits_where_the_process_itself_does_not() -> None:
    found = predict(
        _costs(),
        [],
        batch_size=64,
        precision="float32",
        steps_per_epoch=1,
        limit_bytes=100_000_000,
    )
    assert found.fitting_batch == 0


def test_measured_memory_corrects_the_estimate() -> None:
    plain = predict(_costs(), [], batch_size=1024, precision="bfloat16", steps_per_epoch=1)
    known = measured_run(
        _analysis(),
        RECIPE,
        batch_size=1024,
        precision="bfloat16",
        images_per_second=3000,
        memory_bytes=2 * plain.memory_bytes,
    )
    found = predict(_costs(), [known], batch_size=1024, precision="bfloat16", steps_per_epoch=1)
    assert found.memory_bytes == pytest.approx(2 * plain.memory_bytes, rel=0.01)


def test_an_epoch_counts_the_pictures_of_the_data_set() -> None:
    facts = DatasetFacts((32, 32, 3), 10, "CIFAR-10", num_train=50_000, num_test=10_000)
    measured = [_run("cifar10_convnet", 1000.0)]

    def epoch_s(validation: str) -> float:
        recipe = RECIPE.with_values(validation=validation, precision="bfloat16")
        found = predict_run(_analysis(), recipe, facts, speeds=measured)
        assert found.epoch_s is not None
        return found.epoch_s

    assert epoch_s("none") == pytest.approx(48 * 1024 / 1000, rel=0.1)
    assert epoch_s("test") > epoch_s("none")


def test_without_known_pictures_only_the_speed_is_reported() -> None:
    found = predict_run(_analysis(), RECIPE, None, speeds=[])
    assert found.epoch_s is None
    assert found.images_per_second > 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "About 12 s per epoch, training memory 1.3 GB of 24.0 GB."),
        ({"epoch_s": None, "limit_bytes": 0}, "About 3,100 images/s, training memory 1.3 GB."),
        (
            {"total_s": 600.0},
            "About 12 s per epoch, 10 min in all, training memory 1.3 GB of 24.0 GB.",
        ),
        (
            {"once_s": 40.0, "fine_tuning_epoch_s": 50.0, "total_s": 300.0},
            (
                "About 12 s per epoch after 40 s for the frozen layers, then 50 s per epoch of "
                "fine-tuning, 5 min in all, training memory 1.3 GB of 24.0 GB."
            ),
        ),
        (
            {"fitting_batch": 64},
            (
                "Does not fit: needs about 1.3 GB, and training can use 20.4 GB of 24.0 GB; "
                "other programs need the rest. Try a batch of 64."
            ),
        ),
        (
            {"fitting_batch": 0},
            (
                "Does not fit: needs about 1.3 GB, and training can use 20.4 GB of 24.0 GB; "
                "other programs need the rest. No batch size fits: make the model smaller."
            ),
        ),
    ],
)
def test_an_estimate_is_one_sentence(values: dict[str, int | None], words: str) -> None:
    estimate = RunEstimate(3_111.0, 12.0, 1_300_000_000, 24_000_000_000, None, 2)
    assert replace(estimate, **values).sentence() == words  # type: ignore[arg-type]


def test_the_basis_of_an_estimate_is_named() -> None:
    estimate = RunEstimate(3_111.0, 12.0, 1_300_000_000, 24_000_000_000, None, 2)
    assert estimate.basis() == "estimated from 2 runs on this computer"
    assert replace(estimate, num_runs=0).basis() == "rough estimate: no run on this computer yet"


def test_frozen_layers_are_computed_once_and_not_in_each_epoch():
    project = find_template("flowers_transfer").project
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    facts = DatasetFacts((224, 224, 3), 5, "flowers", num_train=3_000, num_test=600)
    frozen = predict_run(analysis, project.recipe, facts, speeds=[], limit_bytes=24 * 10**9)
    each = project.recipe.with_values(feature_cache="off")
    analysis = analyse(project.graph, all_layers(), recipe=each)
    whole = predict_run(analysis, each, facts, speeds=[], limit_bytes=24 * 10**9)
    assert whole.once_s is None
    assert (frozen.is_even, whole.is_even) == (False, True)
    # Frozen layers are computed forward only, ahead or in each step.
    assert frozen.once_s - FIRST_CALL_S == pytest.approx(whole.epoch_s, rel=0.02)
    assert frozen.epoch_s < 0.02 * whole.epoch_s
    assert "for the frozen layers" in frozen.sentence()
    assert "for the frozen layers" not in whole.sentence()
    epochs = project.recipe.epochs
    # The start and the test, which is by the whole network, take as long in both.
    other_s = whole.total_s - epochs * whole.epoch_s
    assert other_s > 10
    assert frozen.total_s == pytest.approx(frozen.once_s + epochs * frozen.epoch_s + other_s)


def _transfer(**values):
    """The estimate of a pretrained network whose last quarter is fine-tuned in 20 of 30 epochs."""
    project = find_template("flowers_transfer").project
    recipe = project.recipe.with_values(epochs=30, fine_tuning_after=10, **values)
    frozen = [key for key in project.graph.order if project.graph.nodes[key].training == "never"]
    graph = project.graph
    for key in frozen[-len(frozen) // 4 :]:
        graph = graph.with_node(replace(graph.nodes[key], training="fine_tuning"))
    analysis = analyse(graph, all_layers(), recipe=recipe)
    facts = DatasetFacts((224, 224, 3), 5, "flowers", num_train=3_000, num_test=600)
    found = predict_run(analysis, recipe, facts, speeds=[], limit_bytes=24 * 10**9)
    return analysis, found


def test_a_run_of_two_phases_takes_the_time_of_both():
    analysis, found = _transfer()
    head, tuning = analysis.phases
    assert (head.epochs, tuning.epochs) == (10, 20)
    assert head.frozen > tuning.frozen  # layers that learn are computed in each step
    assert found.fine_tuning_epoch_s > 20 * found.epoch_s
    epochs_s = 10 * found.epoch_s + 20 * found.fine_tuning_epoch_s
    # What is frozen in fine-tuning, too, is computed ahead of it once more, up to another layer.
    images_s = epochs_s + found.once_s
    assert images_s < found.total_s < images_s + found.once_s + 60
    assert "per epoch of fine-tuning" in found.sentence()
    assert "in all, training memory" in found.sentence()


def test_fine_tuning_all_layers_takes_the_time_of_training_them():
    project = find_template("flowers_transfer").project
    graph = project.graph
    for node in list(graph.nodes.values()):
        if node.training == "never":
            graph = graph.with_node(replace(node, training="fine_tuning"))
    free = project.graph
    for node in list(free.nodes.values()):
        free = free.with_node(replace(node, training="always"))
    facts = DatasetFacts((224, 224, 3), 5, "flowers", num_train=3_000, num_test=600)
    tuned_recipe = project.recipe.with_values(epochs=2, fine_tuning_after=1)
    tuned = analyse(graph, all_layers(), recipe=tuned_recipe)
    plain = analyse(free, all_layers(), recipe=project.recipe)
    found = [
        predict_run(analysis, recipe, facts, speeds=[], limit_bytes=10**11)
        for analysis, recipe in ((tuned, tuned_recipe), (plain, project.recipe))
    ]
    assert found[0].fine_tuning_epoch_s == pytest.approx(found[1].epoch_s)


def test_without_the_cache_frozen_layers_are_computed_in_each_step():
    _, cached = _transfer()
    _, each = _transfer(feature_cache="off")
    assert each.once_s is None
    assert each.epoch_s > 100 * cached.epoch_s
    assert each.total_s > cached.total_s


def test_each_augmented_copy_takes_as_long_as_the_first():
    project = find_template("flowers_transfer").project
    graph = project.graph
    start = next(key for key in graph.order if graph.nodes[key].kind == "input")
    behind = next(edge for edge in graph.edges if edge.source == start)
    edges = [edge for edge in graph.edges if edge != behind]
    flip = Node("flip", "random_flip", "flip", {})
    edges += [Edge(start, "flip"), Edge("flip", behind.target, behind.port)]
    augmented = Graph.of([*graph.nodes.values(), flip], edges)
    facts = DatasetFacts((224, 224, 3), 5, "flowers", num_train=3_000, num_test=600)

    def once_s(graph, copies):
        recipe = project.recipe.with_values(validation="none", augmented_copies=copies)
        analysis = analyse(graph, all_layers(), recipe=recipe)
        return predict_run(analysis, recipe, facts, speeds=[], limit_bytes=10**11).once_s

    once, thrice = (once_s(augmented, copies) - FIRST_CALL_S for copies in (1, 3))
    assert thrice == pytest.approx(3 * once)
    assert once_s(graph, 3) == pytest.approx(once_s(graph, 1))


def test_fine_tuning_is_predicted_by_its_own_speed_and_nothing_else_is():
    """The layers that are fine-tuned may be slow for their size."""
    analysis, before = _transfer(precision="float32")
    recipe = find_template("flowers_transfer").project.recipe
    tuned = measured_run(
        analysis, recipe, batch_size=recipe.batch_size, precision="float32",
        images_per_second=1.0, memory_bytes=0, work=analysis.phases[1],
    )  # fmt: skip
    plain = _run("cifar10_convnet", 1000.0, precision="float32")
    costs = {"batch_size": recipe.batch_size, "precision": "float32", "steps_per_epoch": 10}

    def predicted(measured, **values):
        return predict(analysis.costs, measured, **costs, num_train=320, **values)

    assert before.num_runs == 0
    found = predicted([tuned], phases=analysis.phases)
    assert found.num_runs == 1
    assert found.fine_tuning_epoch_s == pytest.approx(320.0)
    first = predicted([], phases=analysis.phases)
    assert (found.epoch_s, found.once_s) == (first.epoch_s, first.once_s)
    assert predicted([tuned, plain]) == predicted([plain])


TRANSFER = find_template("flowers_transfer").project
FACTS = DatasetFacts((224, 224, 3), 5, "flowers", num_train=3_000, num_test=600)
OF_HEAD = {"num_train": 2400, "num_validation": 600, "num_test": 600, "is_on_features": True}


def _head(**known):
    """Analysis and recipe of a head on frozen layers, and what a run of it has measured."""
    recipe = TRANSFER.recipe.with_values(precision="float32", validation_share=0.2)
    analysis = analyse(TRANSFER.graph, all_layers(), recipe=recipe)
    measured = measured_run(
        analysis, recipe, batch_size=recipe.batch_size, precision="float32", run="r",
        images_per_second=900.0, memory_bytes=0, work=analysis.phases[0],
        whole=WholeRun(**{**OF_HEAD, **known}),
    )  # fmt: skip

    def predicted(speeds, facts=FACTS, data="d"):
        return predict_run(analysis, recipe, facts, speeds=speeds, limit_bytes=10**11, data=data)

    return recipe, measured, predicted


def test_a_head_on_features_is_predicted_by_such_runs_with_start_and_test():
    recipe, measured, predicted = _head(
        data="other", num_computed=3000, features_s=FIRST_CALL_S + 150.0, other_s=77.0
    )
    found = predicted([measured])
    assert found.is_on_features
    assert found.num_runs == 1
    assert found.images_per_second == pytest.approx(900.0)
    assert found.once_s == pytest.approx(FIRST_CALL_S + 150.0)
    assert found.total_s == pytest.approx(77.0 + found.once_s + recipe.epochs * found.epoch_s)
    whole = predict_run(
        _analysis("fashion_convnet"), recipe, FACTS, speeds=[measured], limit_bytes=10**11
    )
    assert whole.num_runs == 0  # it says nothing of other networks


def test_features_of_the_same_images_are_not_computed_again():
    recipe, measured, predicted = _head(data="d", num_computed=3000, features_s=90.0, other_s=20.0)
    found = predicted([measured])
    assert found.once_s is None
    assert not found.is_even
    assert found.total_s == pytest.approx(20.0 + recipe.epochs * found.epoch_s)
    assert predicted([measured], data="another").once_s > 80
    again = _head(data="d", other_s=20.0)[1]  # nothing was computed in this run
    assert again.ahead_s == 0.0
    assert predicted([again], data="another").once_s == predicted([], data="another").once_s


def test_before_the_images_are_counted_they_are_as_many_as_in_the_run_before():
    _, measured, predicted = _head(data="d", num_computed=3000, features_s=90.0, other_s=20.0)
    assert predicted([measured], facts=None).total_s == predicted([measured]).total_s
    unknown = predicted([measured], facts=None, data="another")
    assert unknown.total_s is None
    assert "images/s, head on cached features, training memory" in unknown.sentence()


def test_activations_are_a_part_of_the_memory_also_where_frozen_layers_keep_none() -> None:
    graph = find_template("cifar10_convnet").project.graph
    *others, _last = graph.nodes.values()
    frozen = graph.with_nodes(replace(node, training="never") for node in others)
    for each in (graph, frozen):
        costs = analyse(each, all_layers(), recipe=RECIPE).costs
        low = [_run("cifar10_convnet", 900.0, memory_bytes=10, expected_bytes=100)]
        for measured in ([], low):
            found = predict(
                costs, measured, batch_size=1024, precision="bfloat16", steps_per_epoch=None
            )
            assert 0 <= found.activation_bytes < found.memory_bytes


def test_the_memory_of_fine_tuning_is_not_that_of_frozen_runs() -> None:
    """Five runs of a head held far more than computed: that says nothing of other layers."""
    analysis, _ = _transfer(precision="float32")
    _, head, _ = _head()
    needed = {"batch_size": 32, "precision": "float32", "steps_per_epoch": 10}
    heads = [replace_run(head, memory_bytes=10**10, expected_bytes=10**9, run=str(n)) for n in "ab"]
    plain = predict(analysis.costs, [], **needed, phases=analysis.phases)
    found = predict(analysis.costs, heads, **needed, phases=analysis.phases)
    assert found.memory_bytes == plain.memory_bytes
    assert found.num_memory_runs == 0
    assert "no run of this kind" in found.memory_basis()
    frozen = predict(analysis.costs, heads, **needed, phases=analysis.phases[:1])
    assert frozen.memory_bytes == pytest.approx(10 * plain.memory_bytes, rel=0.01)
    assert frozen.num_memory_runs == 2


def test_the_figures_of_the_run_that_trains_replace_the_guess() -> None:
    guess = RunEstimate(100.0, 12.0, 10**9, 10**10, None, 0, total_s=140.0)
    live = guess.measured(50.0, None, 10)
    assert (live.images_per_second, live.epoch_s, live.total_s) == (50.0, 24.0, 260.0)
    assert live.basis() == "measured in the run that trains now"
    assert guess.measured(50.0, 30.0, 10).epoch_s == 30.0
    of_head = replace(guess, is_on_features=True)
    assert of_head.measured(50.0, None, 10) == of_head, "the speed is that of one phase"


def test_it_is_said_that_the_computer_was_busy() -> None:
    run = _run("cifar10_convnet", 900.0, epoch_factor=4.0)
    how = {"batch_size": 1024, "precision": run.precision, "steps_per_epoch": 9}
    assert predict(_costs(), [run], **how).basis().endswith("which was busy then")
    quick = _run("cifar10_convnet", 900.0)
    assert predict(_costs(), [quick], **how).basis().endswith("on this computer")
