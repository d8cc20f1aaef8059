"""Each rule of the coach on real trainings: one with a planted fault, and one where it is quiet."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import fisher_exact

from tests.worker.conftest import stripes
from workbench.coach import all_coach_rules
from workbench.coach.diverging import SPEC as DIVERGING
from workbench.coach.rate_too_high import SPEC as RATE_TOO_HIGH
from workbench.core.coach import RunRecord, with_change
from workbench.core.network.graph import Graph, Node
from workbench.errors import WorkbenchError
from workbench.runs.folder import create_run
from workbench.runs.log.coaching import advice_of, read_project, record_of, with_files
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory

pytestmark = pytest.mark.worker

FAST = {"precision": "float32", "xla": "off", "epochs": 6}
HIDDEN = (("rescaling", {}), ("flatten", {}), ("dense", {"units": 32, "activation": "relu"}))


class Coached:
    """Trains projects: called, it returns the record and what the rules see, by key."""

    def __init__(self, train_here, small_project):
        self._train_here = train_here
        self._small_project = small_project
        self._project = None
        self._found = {}

    def __call__(self, *layers, **recipe):
        self._project = self._small_project(*layers, **{**FAST, **recipe})
        record, self._found = self._look(self._project)
        for advice in self._found.values():
            check_words(advice, self._project)
        return record, self._found

    def applied(self, rule):
        """As called, for the last project with the change of what a rule has found."""
        return self._look(with_change(self._project, self._found[rule].change))

    def _look(self, project):
        run = create_run(project)
        try:
            self._train_here(project, run)
        except WorkbenchError as error:
            assert "diverged" in str(error)  # noqa: PT017 - the one error that a fault here causes
        history = MetricHistory()
        history.add_all(read_all(run.events_path))
        record = with_files(record_of(history), run, read_project(run))
        return record, {each.rule: each for each in advice_of(record)}


@pytest.fixture
def coached(train_here, small_project, monkeypatch):
    from workbench.worker.step import layer_figures

    monkeypatch.setattr(layer_figures, "_ALLOWANCE_S", 1e9)  # measured in each epoch
    return Coached(train_here, small_project)


def check_words(advice, project):
    """Two sentences, evidence, and a change that makes a valid project."""
    assert advice.observation.endswith(".")
    assert advice.recommendation.endswith(".")
    assert advice.evidence.figures
    if advice.change is not None:
        assert with_change(project, advice.change) != project


@pytest.fixture
def data(tmp_path):
    """Writes an npz file of stripes; keywords change training labels and images."""

    def write(train=600, test=150, *, labels=None, pictures=None, copies=0, twins=0):
        (x, y), (x_test, y_test) = stripes(train, 1), stripes(test, 2)
        y = y if labels is None else labels(y, np.random.default_rng(3))
        x = x if pictures is None else pictures(x, np.random.default_rng(4))
        if twins:
            x[-twins:], y[-twins:] = x[:twins], y[:twins]
        if copies:
            x_test[:copies], y_test[:copies] = x[:copies], y[:copies]
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npz"
        np.savez(path, x_train=x, y_train=y, x_test=x_test, y_test=y_test)
        return path

    return write


def wrong(share):
    """Gives that share of the images a random label."""

    def change(labels, random):
        some = random.random(len(labels)) < share
        return np.where(some, random.integers(0, 3, len(labels)), labels)

    return change


def test_healthy_trainings_need_no_advice(coached):
    for recipe in ({}, {"optimizer": "adam", "learning_rate": 0.005, "validation": "test"}):
        record, found = coached(*HIDDEN, **{"epochs": 12, **recipe})
        assert found == {}
        assert record.val_accuracy[-1] > 0.9
        assert record.last.epoch == 12


def test_diverging(coached):
    record, found = coached(*HIDDEN, optimizer="sgd", learning_rate=100.0)
    assert "diverging" in found
    assert found["diverging"].change.recipe == {"learning_rate": 10.0}
    assert record.has_failed or record.loss[-1] > 10 * record.guessing
    _, left = coached.applied("diverging")
    assert "diverging" not in left, left
    _, found = coached(*HIDDEN, optimizer="sgd", learning_rate=0.2)
    assert "diverging" not in found


def test_pixels_that_are_not_scaled_are_named_as_the_cause(coached):
    """Rightly: with Rescaling the same learning rate trains."""
    linear = (("flatten", {}), ("dense", {"units": 32}))
    settings = {"optimizer": "sgd", "learning_rate": 0.01, "epochs": 6}
    record, found = coached(*linear, **settings)
    assert "pixels, 0 to 255, are not scaled" in found["diverging"].observation
    assert found["diverging"].recommendation.startswith("Insert Rescaling (1/255)")
    rising = np.arange(1.0, 7.0) * 2.0
    seen = RATE_TOO_HIGH.advice(replace(record, epochs=np.arange(6), loss=rising))
    assert "pixels, 0 to 255, are not scaled" in seen.observation
    record, found = coached(("rescaling", {}), *linear, **settings)
    assert "diverging" not in found
    seen = RATE_TOO_HIGH.advice(replace(record, epochs=np.arange(6), loss=rising))
    assert "scaled" not in seen.observation


@pytest.mark.parametrize(
    ("losses", "words"),
    [((65.0, 48.0, 38.0, 31.0, 24.0), "is still 24"), ((3.0, 9.0, 31.0), "grows to 31")],
)
def test_a_loss_grows_only_where_it_does(losses, words):
    found = DIVERGING.advice(RunRecord(epochs=np.arange(len(losses)), loss=np.array(losses)))
    assert f"the loss {words}, while guessing" in found.observation


def test_rate_too_high(coached, data):
    noisy = data(labels=wrong(0.3))
    recipe = {"optimizer": "sgd", "momentum": 0.9, "data": noisy, "epochs": 8}
    tanh = (*HIDDEN[:2], ("dense", {"units": 32, "activation": "tanh"}))  # no units that die
    _, found = coached(*tanh, learning_rate=1.2, **recipe)
    assert found["rate_too_high"].change.recipe == {"learning_rate": 0.12}
    _, left = coached.applied("rate_too_high")
    assert "rate_too_high" not in left, left
    _, found = coached(*tanh, learning_rate=0.02, **recipe)
    assert "rate_too_high" not in found


def test_rate_too_low(coached):
    record, found = coached(*HIDDEN, optimizer="sgd", learning_rate=1e-4)
    assert "rate_too_low" in found
    assert found["rate_too_low"].change.recipe["learning_rate"] in {1e-3, 1e-2}
    assert record.last.update < 3e-4
    _, left = coached.applied("rate_too_low")
    assert "rate_too_low" not in left, left
    _, found = coached(*HIDDEN, optimizer="sgd", learning_rate=0.02)
    assert "rate_too_low" not in found


@pytest.mark.parametrize(
    ("losses", "is_line"), [((1.610, 1.594, 1.504, 1.394), False), ((1.61, 1.56, 1.5, 1.45), True)]
)
def test_a_slow_start_is_no_rate_too_low(losses, is_line):
    """The first losses of a template that learns well, and a line; without measured updates."""
    epochs = np.arange(1, len(losses) + 1)
    record = RunRecord(
        epochs=epochs,
        loss=np.array(losses),
        rates=np.full(len(losses), 1e-3),
        class_names=tuple("abcde"),
    )
    found = all_coach_rules()["rate_too_low"].look(record)
    assert (found is not None) == is_line


def test_dead_units(coached):
    """Negative inputs with positive weights: ReLU is zero on every image, for ever."""

    def layers(scale):
        dense = {"units": 16, "activation": "relu", "kernel_initializer": "ones"}
        return ("rescaling", {"scale": scale}), ("flatten", {}), ("dense", dense)

    _, found = coached(*layers(-1 / 255))
    advice = found["dead_units"]
    assert advice.evidence.node == "n3"
    assert "16 of 16 units" in advice.observation
    assert advice.change.layers == {"n3": {"activation": "leaky_relu"}}
    _, left = coached.applied("dead_units")
    assert "dead_units" not in left, left
    _, found = coached(*layers(1 / 255))
    assert "dead_units" not in found


def test_half_of_the_units_are_dead(coached):
    """A network that still learns may do without them; one that is stuck may not."""
    record, _ = coached(*HIDDEN, learning_rate=0.02)
    rule, layer = all_coach_rules()["dead_units"], record.last.units[0]

    def found(dead, accuracy):
        last = replace(record.last, units=(replace(layer, units=64, dead=dead),))
        return rule.advice(replace(record, measured=(last,), accuracy=accuracy))

    rises, stuck = np.linspace(0.3, 0.8, 12), np.full(12, 0.6)
    assert found(33, rises) is None
    assert found(52, rises) is not None
    assert "33 of 64 units" in found(33, stuck).observation
    assert found(31, stuck) is None
    assert found(33, np.full(12, 1.0)) is None  # nothing is left to learn
    assert found(33, np.where(np.arange(12) < 11, 0.6, 0.61)) is None
    assert found(33, np.where(np.arange(12) < 11, 0.6, math.nan)) is None


def test_vanishing_gradients(coached):
    def layers(activation):
        deep = [("dense", {"units": 8, "activation": activation}) for _ in range(10)]
        return ("rescaling", {}), ("flatten", {}), *deep

    _, found = coached(*layers("sigmoid"), optimizer="sgd", learning_rate=0.01)
    changed = found["vanishing_gradients"].change.layers
    assert set(changed) == {f"n{i}" for i in range(3, 13)}
    assert all(values == {"activation": "relu"} for values in changed.values())
    _, left = coached.applied("vanishing_gradients")
    assert "vanishing_gradients" not in left, left
    _, found = coached(*layers("relu"), optimizer="adam", learning_rate=0.01)
    assert "vanishing_gradients" not in found


def test_overfitting(coached, data):
    heart = data(150, labels=wrong(0.7))
    recipe = {"optimizer": "adam", "learning_rate": 0.01, "data": heart, "validation": "test"}
    _, found = coached(*HIDDEN, epochs=30, **recipe)
    assert found["overfits"].verdict.startswith("Overfitting since epoch ")
    assert found["overfits"].change.recipe["early_stopping_patience"] == 4
    _, left = coached.applied("overfits")
    assert "overfits" not in left, left
    _, found = coached(*HIDDEN, epochs=30, **{**recipe, "data": data(150)})
    assert "overfits" not in found


def flat(validation, *, training=1.0, images=145, held_out=35, **more):
    """Nine epochs of the same accuracies, without a rise of the validation loss."""
    epochs = np.arange(1, 10)
    return RunRecord(
        epochs=epochs,
        loss=np.linspace(1.0, 0.01, 9),
        accuracy=np.full(9, training),
        val_loss=np.linspace(1.2, 0.8, 9),
        val_accuracy=np.full(9, validation),
        num_train=images,
        num_validation=held_out,
        class_names=("a", "b", "c", "d", "e"),
        **more,
    )


def test_training_images_that_are_memorized():
    """145 images, of which all are right, and 27 of 35 others: Fisher's exact test says so, too."""
    rule = all_coach_rules()["overfits"]
    found = rule.advice(flat(27 / 35, regularizes=False))
    assert fisher_exact([[145, 0], [27, 8]]).pvalue < 0.001
    assert "145 training images are memorized: 100% of them are right" in found.observation
    assert "77% of 35 validation images" in found.observation
    assert "augmentation, dropout or weight decay" in found.recommendation
    assert "pretrained network" in found.recommendation
    assert found.verdict.startswith("Overfitting: 100% of 145 training images right")
    check_words(found, None)
    frozen = Graph.of([Node("n1", "dense", "features", {}, training="never")])
    ways = rule.advice(flat(27 / 35, regularizes=True, graph=frozen)).recommendation
    assert ways == "More images help most."


@pytest.mark.parametrize(
    ("validation", "more"),
    [
        (0.89, {"held_out": 361, "images": 2_600}),  # eleven points are usual
        (0.8, {"held_out": 10}),  # two of ten images are chance
        (0.7, {"training": 0.95}),
        (math.nan, {}),
        (0.7, {"held_out": 0}),
    ],
)
def test_a_gap_that_is_small_or_may_be_chance_is_none(validation, more):
    assert all_coach_rules()["overfits"].advice(flat(validation, **more)) is None


def test_a_loss_that_climbs_far_above_guessing_is_reported_though_it_falls_again(coached):
    rough = (("flatten", {}), ("dense", {"units": 32, "activation": "relu"}))
    recipe = {"optimizer": "adam", "learning_rate": 0.3, "epochs": 8}
    record, found = coached(*rough, **recipe)
    assert np.nanmax(record.step_losses) > 150 * record.guessing > 10 * record.loss[-1]
    assert "pixels, 0 to 255, are not scaled" in found["loss_peak"].observation
    assert found["loss_peak"].recommendation.startswith("Insert Rescaling")
    _, found = coached(*HIDDEN, **{**recipe, "learning_rate": 0.01})
    assert "loss_peak" not in found


def test_a_peak_of_a_scaled_network_is_of_its_first_steps():
    rule, steps = all_coach_rules()["loss_peak"], np.arange(1, 91)
    losses = np.where(steps == 12, 519.0, 1.0)
    record = flat(0.7, steps=steps, step_losses=losses, epoch_steps=np.arange(10, 100, 10))
    found = rule.advice(record)
    assert "was up to 519 in epoch 2, where guessing has 1.6: the first steps" in found.observation
    assert found.recommendation.startswith("Train at a tenth")
    assert rule.advice(replace(record, step_losses=np.minimum(losses, 60.0))) is None
    assert rule.advice(replace(record, loss=record.loss + 30)) is None  # it has not come down


def test_a_plateau(coached, data):
    """Four numbers of an image cannot explain labels of which four in ten are wrong."""
    few = (("rescaling", {}), ("average_pooling2d", {"pool_size": (2, 8)}))
    recipe = {"optimizer": "adam", "learning_rate": 0.05, "epochs": 24}
    _, found = coached(*few, data=data(labels=wrong(0.6)), **recipe)
    assert found["no_progress"].change.recipe == {"schedule": "plateau"}
    _, left = coached.applied("no_progress")
    assert "no_progress" not in left, left
    _, found = coached(*HIDDEN, optimizer="sgd", learning_rate=0.01, epochs=24)
    assert "no_progress" not in found


def test_one_class_for_all(coached, data):
    """Images of noise, six in ten of one class: that one is the best guess."""

    def noise(pictures, random):
        return random.integers(0, 256, pictures.shape, np.uint8)

    def mostly(labels, random):
        return np.where(random.random(len(labels)) < 0.55, 1, labels)

    blind = data(pictures=noise, labels=mostly)
    few = (("rescaling", {}), ("average_pooling2d", {"pool_size": (8, 8)}))
    record, found = coached(*few, data=blind, learning_rate=0.01)
    assert "“1”" in found["one_class"].observation
    assert record.confusion.sum(axis=0).argmax() == 1
    _, left = coached.applied("one_class")
    assert "one_class" not in left, left
    _, found = coached(*HIDDEN)
    assert "one_class" not in found


def test_a_class_with_too_few_images(coached, data):
    def rare(labels, random):
        kept = np.flatnonzero(labels == 2)[:6]
        changed = np.where(labels == 2, 0, labels)
        changed[kept] = 2
        return changed

    record, found = coached(*HIDDEN, data=data(labels=rare), validation="test")
    assert record.per_class[:, 0].min() == 6
    assert found["rare_class"].change.recipe == {"class_weights": "balanced"}
    assert "“2” has 6 training images" in found["rare_class"].observation
    # More images would help; what the recipe can do raises its accuracy, and is offered once.
    weighted, left = coached.applied("rare_class")
    before, after = (each.confusion[2, 2] / each.confusion[2].sum() for each in (record, weighted))
    assert after > before
    assert "rare_class" not in left or left["rare_class"].change is None
    _, found = coached(*HIDDEN, validation="test")
    assert "rare_class" not in found


def test_copies_in_both_parts(coached, data):
    record, found = coached(*HIDDEN, data=data(copies=30), validation="test")
    assert record.num_shared == 30
    assert found["shared_images"].change is None  # no split moves test images
    record, found = coached(*HIDDEN, data=data(), validation="test")
    assert record.num_shared == 0
    assert "shared_images" not in found


def test_copies_in_the_images_that_are_split(coached, data):
    record, found = coached(*HIDDEN, data=data(twins=200))
    assert record.num_shared > 5
    assert found["shared_images"].change.recipe["split"] == "content"
    record, left = coached.applied("shared_images")
    assert record.num_shared == 0
    assert "shared_images" not in left


def test_validation_better_than_training(coached, data):
    """Half of the training labels are wrong, those of the validation images are right."""
    easy = data(1200, 300, labels=wrong(0.6))
    recipe = {"validation": "test", "learning_rate": 0.01, "epochs": 8}
    _, found = coached(*HIDDEN, data=easy, **recipe)
    assert "implausible" in found["shared_images"].observation
    _, left = coached.applied("shared_images")
    assert "shared_images" not in left, left
    _, found = coached(*HIDDEN, data=data(1200, 300), **recipe)
    assert "shared_images" not in found


def test_validation_noise(coached, data):
    noisy = data(labels=wrong(0.7))
    record, found = coached(*HIDDEN, data=noisy, validation_share=0.03)
    assert record.num_validation < 25
    assert found["validation_noise"].change.recipe == {"validation_share": 0.06}
    _, left = coached.applied("validation_noise")
    assert "validation_noise" not in left, left
    record, found = coached(*HIDDEN, data=noisy, validation_share=0.3)
    assert "validation_noise" not in found
    # With another run beside it, a difference that means nothing is worth a word.
    rule, best = all_coach_rules()["validation_noise"], float(record.val_accuracy.max())
    assert rule.advice(replace(record, rival=("Run 2", best - 0.01))) is not None
    assert rule.advice(replace(record, rival=("Run 2", best - 0.5))) is None
    assert rule.advice(replace(record, rival=("", math.nan))) is None


def test_nothing_is_learned(coached, data):
    """Labels at random: no rule finds a cause, and that is said."""
    random = data(900, 900, labels=lambda y, random: random.integers(0, 3, len(y)))
    few = (("rescaling", {}), ("average_pooling2d", {"pool_size": (8, 8)}))
    recipe = {"data": random, "validation": "test", "learning_rate": 0.0001, "optimizer": "adam"}
    record, found = coached(*few, **recipe)
    assert all_coach_rules()["not_learning"].advice(record) is not None
    _, found = coached(*HIDDEN, epochs=12)
    assert "not_learning" not in found
