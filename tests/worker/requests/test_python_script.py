"""The exported script trains by the same recipe as Workbench, said in Keras's words."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tests.worker.recipe_loops import stripes
from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.recipe import TrainingRecipe
from workbench.exports.python import script
from workbench.layers import layers_by_title
from workbench.worker.requests.keras_calls import KerasCall

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


def text_of(recipe, *, is_logits=False):
    last = {} if is_logits else {"activation": "softmax"}
    calls = [
        KerasCall(name, layers_by_title()[title], required, optional, inputs)
        for name, title, required, optional, inputs in (
            *CALLS,
            ("dense", "Dense", {"units": 3}, last, ("flatten",)),
        )
    ]
    card = SimpleNamespace(
        title="Stripes", class_names=["a", "b", "c"], input_shape=[8, 8, 1], fit="crop",
        is_logits=is_logits,
    )  # fmt: skip
    context = SimpleNamespace(
        card=card, recipe=recipe, keras_calls=lambda: calls, has_pretrained=False
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
    for word in ("callback", "WarmUp", "to_categorical", "tensorflow", "validation"):
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


@pytest.mark.parametrize("is_split", [True, False])
def test_the_script_trains_on_a_folder_of_images(npz, tmp_path, is_split):
    """As the data of a project that was made for a folder lies there."""
    with np.load(npz) as data:
        parts = {"train": (data["x_train"], data["y_train"])}
        parts["test"] = (data["x_test"], data["y_test"])
    for part, (x, y) in parts.items():
        for number, (pixels, label) in enumerate(zip(x, y, strict=True)):
            folder = tmp_path / (part if is_split else "") / "abc"[label]
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels[..., 0]).save(folder / f"{part}{number}.png")
    recipe = TrainingRecipe(epochs=4, batch_size=20, learning_rate=0.01, test_share=0.2)
    names = loaded(recipe, npz.parent)
    (x_train, y_train), (x_test, _) = names["load_data"](tmp_path)
    assert (x_train.shape[1:], x_train.dtype) == ((8, 8, 1), np.uint8)
    assert (len(x_train), len(x_test)) == ((200, 60) if is_split else (208, 52))
    assert sorted(set(y_train.tolist())) == [0, 1, 2]
    model = names["build_model"]()
    names["train"](model, tmp_path, tmp_path / "w.weights.h5")
    answers = np.asarray(model(parts["test"][0].astype(np.float32))).argmax(axis=1)
    assert (answers == parts["test"][1]).mean() > 0.5
