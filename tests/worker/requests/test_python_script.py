"""The exported script trains by the same recipe as Workbench, said in Keras's words."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from tests.worker.recipe_loops import stripes
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.learning_rates import learning_rate_at, learning_rates
from workbench.core.training.progress_rules import phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import VALIDATION, divide_by_order
from workbench.exports.python import script
from workbench.layers import all_layers, layers_by_title
from workbench.worker.features import freeze
from workbench.worker.input.pipeline import training_pipeline, whole_epochs
from workbench.worker.model.build import build_model
from workbench.worker.requests.exporting.converter import KerasCall
from workbench.worker.step.train_step import StepMath, make_optimizer
from workbench.worker.step.training_loop import TrainingLoop

pytestmark = [
    pytest.mark.worker,
    # Keras writes weights by a way of NumPy's that is to go.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

CALLS = (
    ("input", "Input", {}, {}, ()),
    ("rescaling", "Rescaling", {}, {"scale": 1 / 255}, ("input",)),
    ("flatten", "Flatten", {}, {}, ("rescaling",)),
)
FROZEN = {"trainable": False}
TUNED = (
    *CALLS[:2],
    ("conv2d", "Conv2D", {"filters": 4, "kernel_size": (3, 3)}, FROZEN, ("rescaling",)),
    ("norm", "BatchNormalization", {}, FROZEN, ("conv2d",)),
    ("flatten", "Flatten", {}, {}, ("norm",)),
)
"""The convolution is fine-tuned, and the normalization never learns."""


def text_of(recipe, *, is_logits=False):
    last = {} if is_logits else {"activation": "softmax"}
    calls = [
        KerasCall(
            name, layers_by_title()[title], required, optional, inputs, is_tuned=name == "conv2d"
        )
        for name, title, required, optional, inputs in (
            *(CALLS if recipe.fine_tuning_after is None else TUNED),
            ("dense", "Dense", {"units": 3}, last, ("flatten",)),
        )
    ]
    card = SimpleNamespace(
        title="Stripes", class_names=["a", "b", "c"], input_shape=[8, 8, 1], fit="crop",
        is_logits=is_logits,
    )  # fmt: skip
    context = SimpleNamespace(
        card=card, recipe=recipe, keras_calls=lambda: calls, has_pretrained=False, images=None
    )
    return script(context, "stripes.py")


def loaded(recipe, folder, **options):
    """What the script defines, as a module of a file: TensorFlow reads the source."""
    name = f"stripes_{len(list(folder.glob('stripes_*.py')))}"
    path = folder / f"{name}.py"
    path.write_text(text_of(recipe, **options))
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return vars(sys.modules[name])


@pytest.fixture(scope="module")
def npz(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "stripes.npz"
    train, test = stripes(200), stripes(60, seed=2)
    np.savez(path, x_train=train.x, y_train=train.y, x_test=test.x, y_test=test.y)
    return path


def trained(recipe, npz, **options):
    """Runs the script's training; the model, and what fit was called with and returned."""
    import keras

    names = loaded(recipe, npz.parent, **options)
    keras.utils.set_random_seed(recipe.seed)
    model = names["build_model"]()
    fitted = {}
    fit = model.fit

    def watched(*args, **words):
        fitted.update(words)
        fitted["history"] = fit(*args, **words, verbose=0)
        return fitted["history"]

    model.fit = watched
    names["train"](model, npz, npz.with_suffix(".weights.h5"))
    return model, fitted


EVERYTHING = {
    "optimizer": ["adam", "muon", "adafactor", "lars"],
    "rate_scaling": ["none", "linear", "square_root"],
    "schedule": ["constant", "step", "exponential", "cosine", "one_cycle", "plateau"],
    "warmup_epochs": [None, 0.0, 1.5],
    "steps_per_epoch": [None, 7],
    "loss": ["cross_entropy", "focal", "mean_squared"],
    "label_smoothing": [0.0, 0.1],
    "class_weights": ["none", "balanced"],
    "weight_decay": [None, 0.01],
    "decay_biases": [True, False],
    "clip_norm": [None, 1.0],
    "ema_decay": [None, 0.99],
    "mixing": ["none", "mixup", "cutmix"],
    "random_erasing": [0.0, 0.25],
    "top_k": [1, 2],
    "keep": ["last", "best"],
    "keep_by": ["val_accuracy", "val_loss", "top_k", "loss"],
    "early_stopping_patience": [None, 3],
    "validation": ["split", "test", "none"],
    "fine_tuning_after": [None, 4],
}


def test_any_recipe_gives_a_formatted_script(tmp_path):
    """Every pair of neighbouring values at least, and 150 recipes drawn from all."""
    random = np.random.default_rng(0)
    recipes = [
        TrainingRecipe(
            **{key: values[random.integers(len(values))] for key, values in EVERYTHING.items()}
        )
        for _ in range(150)
    ]
    for key, values in EVERYTHING.items():
        recipes += [TrainingRecipe(**{key: value}) for value in values]
    for number, (recipe, is_logits) in enumerate(zip(recipes, itertools.cycle([True, False]))):
        text = text_of(recipe, is_logits=is_logits)
        compile(text, "stripes.py", "exec")
        (tmp_path / f"script_{number}.py").write_text(text)
    for words in (["format", "--check", "--diff"], ["check"]):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[:3000]


def test_a_plain_recipe_stays_a_plain_script():
    text = text_of(TrainingRecipe())
    assert "optimizer = keras.optimizers.Adam(0.001)\n" in text
    assert "model.fit(x_train, y_train, batch_size=64, epochs=10)" in text
    for word in ("callback", "WarmUp", "to_categorical", "tensorflow", "validation_data"):
        assert word not in text


@pytest.mark.parametrize("warmup_epochs", [None, 0.0, 1.5])
@pytest.mark.parametrize("schedule", ["constant", "step", "exponential", "cosine", "one_cycle"])
def test_the_scripts_rates_are_those_of_workbench(npz, schedule, warmup_epochs):
    recipe = TrainingRecipe(
        schedule=schedule, warmup_epochs=warmup_epochs, learning_rate=0.02, epochs=5,
        batch_size=50, decay_every_epochs=2.0, decay_factor=0.5, final_share=0.1,
    )  # fmt: skip
    names = loaded(recipe, npz.parent)
    model = names["build_model"]()
    model.fit = lambda *_args, **_words: None
    model.evaluate = lambda *_args, **_words: (0.0, 0.0)
    names["train"](model, npz, npz.with_suffix(".weights.h5"))
    rate = model.optimizer._learning_rate
    for step in range(20):
        exported = float(rate(step)) if callable(rate) else float(rate)
        assert exported == pytest.approx(learning_rate_at(recipe, step, 20, 4), rel=1e-4), step


@pytest.mark.full_but("values1", "values3")
@pytest.mark.parametrize(
    ("values", "is_logits"),
    [
        (
            {"label_smoothing": 0.1, "clip_norm": 1.0, "weight_decay": 0.01, "decay_biases": False},
            False,
        ),
        ({"mixing": "mixup", "random_erasing": 0.2, "top_k": 2}, True),
        ({"mixing": "cutmix", "steps_per_epoch": 6, "validation": "test", "keep": "best"}, False),
        ({"loss": "focal", "class_weights": "balanced", "keep": "best"}, True),
        ({"loss": "mean_squared", "schedule": "plateau", "plateau_patience": 1}, True),
        ({"early_stopping_patience": 1, "keep_by": "val_loss", "ema_decay": 0.9}, False),
    ],
)
def test_the_script_trains(npz, values, is_logits):
    recipe = TrainingRecipe(**{"epochs": 4, "batch_size": 20, "learning_rate": 0.01, **values})
    model, fitted = trained(recipe, npz, is_logits=is_logits)
    losses = fitted["history"].history["loss"]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]
    with np.load(npz) as data:
        answers = np.asarray(model(data["x_test"].astype(np.float32))).argmax(axis=1)
        assert (answers == data["y_test"]).mean() > 0.5


def test_a_script_that_averages_ends_with_the_averages_of_the_best_epoch(npz):
    recipe = TrainingRecipe(
        epochs=4, batch_size=20, learning_rate=0.01, ema_decay=0.9, keep="best", keep_by="val_loss"
    )
    model, fitted = trained(recipe, npz)
    history = fitted["history"].history
    x, y = fitted["validation_data"]
    loss = model.evaluate(x, y, verbose=0)[0]
    assert loss == pytest.approx(min(history["val_loss"]), rel=1e-4)


def tuned_here(recipe, train, weights):
    """The weights after both phases by the steps of a run, and the losses of all steps."""
    import tensorflow as tf

    params = ({"shape": (8, 8, 1)}, {}, {"filters": 4}, {}, {}, {"units": 3})
    kinds = ("input", "rescaling", "conv2d", "batch_normalization", "flatten", "dense")
    learning = ("always", "always", "fine_tuning", "never", "always", "always")
    nodes = [
        Node(f"n{i}", kind, kind, own, training=when)
        for i, (kind, own, when) in enumerate(zip(kinds, params, learning, strict=True))
    ]
    nodes[-1] = replace(nodes[-1], params={"units": 3, "activation": "softmax"})
    graph = Graph.of(nodes, [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)])
    strategy, count, losses = tf.distribute.OneDeviceStrategy("/cpu:0"), len(train), []
    with strategy.scope():
        built = build_model(graph, all_layers(), seed=3)
    built.model.set_weights(weights)
    for phase in phases_of(recipe):
        freeze(built, graph, phase.learns)
        with strategy.scope():
            optimizer = make_optimizer(phase.recipe)
            optimizer.build(built.model.trainable_variables)
        loop = TrainingLoop(StepMath(strategy, built, optimizer, count, recipe), xla=False)
        layers = [layer for _, layer in built.pipeline]
        dataset = training_pipeline(
            train, partial(whole_epochs, count, count, seed=1), layers,
            batch_size=count, seed=1, recipe=recipe, num_classes=3,
        )  # fmt: skip
        steps = phase.end_epoch - phase.first_epoch
        rates = learning_rates(recipe, phase.first_epoch, steps, recipe.epochs, 1)
        losses += loop.train(loop.distribute(dataset), steps, rates=rates).losses.tolist()
    return built.model.get_weights(), losses


@pytest.mark.full_but("values0")
@pytest.mark.parametrize("values", [{"schedule": "cosine"}, {"fine_tuning_rate": 0.004}])
def test_the_script_trains_both_phases_as_a_run_does(npz, values):
    """All images are one batch: their order, which is another one in Keras, does not count."""
    recipe = TrainingRecipe(
        epochs=9, fine_tuning_after=4, batch_size=200, learning_rate=0.02, validation="none",
        precision="float32", **values,
    )  # fmt: skip
    names = loaded(recipe, npz.parent)
    model = names["build_model"]()
    before, losses = model.get_weights(), []
    frozen = [layer.name for layer in model.layers if layer.weights and not layer.trainable]
    assert frozen[0] == "tuned_conv2d"
    assert len(frozen) == 2
    fit = model.fit

    def watched(*args, **words):
        losses.extend(fit(*args, **words, verbose=0).history["loss"])

    model.fit = watched
    names["train"](model, npz, npz.with_suffix(".weights.h5"))
    expected, expected_losses = tuned_here(recipe, stripes(200), before)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-4)
    for ours, theirs in zip(expected, model.get_weights(), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-4)
    changed = [(a != b).any() for a, b in zip(before, model.get_weights(), strict=True)]
    assert changed == [True, True, False, False, False, False, True, True]


def test_the_best_epoch_is_kept_in_fine_tuning_alone(npz):
    recipe = TrainingRecipe(
        epochs=6, fine_tuning_after=3, batch_size=20, learning_rate=0.01, keep="best"
    )
    text = text_of(recipe)
    assert text.count("EarlyStopping") == 1
    assert text.index("Only fine-tuning keeps its best epoch") < text.index("EarlyStopping")
    _, fitted = trained(recipe, npz)
    assert fitted["epochs"] == 3
    assert "val_accuracy" in fitted["history"].history


def test_each_phase_of_a_script_ends_early_by_itself(npz):
    recipe = TrainingRecipe(
        epochs=40, fine_tuning_after=20, batch_size=20, learning_rate=1e-30, optimizer="sgd",
        early_stopping_patience=2, keep_by="val_loss",
    )  # fmt: skip
    names = loaded(recipe, npz.parent)
    model, ended = names["build_model"](), []
    fit = model.fit

    def watched(*args, **words):
        ended.append(len(fit(*args, **words, verbose=0).history["loss"]))

    model.fit = watched
    names["train"](model, npz, npz.with_suffix(".weights.h5"))
    assert ended == [3, 3]


def test_a_script_takes_arrays_as_they_are_or_refuses_them(npz, tmp_path):
    names = loaded(TrainingRecipe(validation="split", validation_share=0.25), npz.parent)
    with np.load(npz) as file:
        arrays = dict(file)
    (x, y), (x_validation, y_validation), (x_test, _) = names["load_data"](npz)
    _, held_out = divide(arrays["y_train"], 0.25)
    assert y_validation.tolist() == arrays["y_train"][held_out].tolist()
    assert np.array_equal(x_validation, arrays["x_train"][held_out])
    assert np.array_equal(x, arrays["x_train"][~held_out])
    assert np.array_equal(x_test, arrays["x_test"])

    def load(**values):
        np.savez(tmp_path / "other.npz", **{**arrays, **values})
        return names["load_data"](tmp_path / "other.npz")

    given = load(x_validation=x[:5, ..., 0], y_validation=y[:5, None], class_names=["a", "b", "c"])
    assert np.array_equal(given[1][0], x[:5])
    assert [len(part) for part, _ in given] == [200, 5, 60]
    wrong = [
        ({"x_test": arrays["x_test"] / 255}, "x_test is float64"),
        ({"x_train": arrays["x_train"].astype(np.uint16)}, "uint16"),
        ({"x_train": arrays["x_train"][:, :7]}, "not uint8"),
        ({"y_train": arrays["y_train"] + 1}, "y_train is not a class number"),
        ({"y_train": arrays["y_train"][:-1]}, "y_train is not a class number"),
        ({"y_train": arrays["y_train"].astype(float)}, "y_train is not a class number"),
        ({"class_names": ["a", "c", "b"]}, "other classes: a, c, b"),
    ]
    for values, words in wrong:
        with pytest.raises(SystemExit, match=words):
            load(**values)
    np.savez(tmp_path / "x.npz", x=x, y=y)
    for path, words in ((tmp_path / "x.npz", "does not have x_test"), (tmp_path, "no .npz file")):
        with pytest.raises(SystemExit, match=words):
            names["load_data"](path)


def divide(labels, share):
    """Which images are held out of training by their order: `divide_by_order`."""
    parts = divide_by_order(labels, shares=(0, share), seed=TrainingRecipe().seed)
    return parts, parts == VALIDATION
