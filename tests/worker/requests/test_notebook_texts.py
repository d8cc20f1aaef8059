"""The texts of an exported notebook, cell by cell: any recipe, any source of pictures."""

from __future__ import annotations

import itertools
import os
import pathlib
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contexts import PlainContext
from tests.worker.requests.test_python_script import CALLS, EVERYTHING, TUNED
from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.recipe import TrainingRecipe, recipe_to_plain
from workbench.core.training.split import split_indices
from workbench.datasets import all_datasets
from workbench.exports.tpu_script import script
from workbench.layers import layers_by_title
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare
from workbench.programs.notebook_cells import cells, load_images
from workbench.programs.notebook_recipe import recipe_values
from workbench.programs.texts import sections
from workbench.worker.requests.keras_calls import KerasCall

pytestmark = pytest.mark.worker


def context(recipe=None, *, is_logits=False, front=(), program="", **values):
    """What the exports are handed, without a network of Keras behind it."""
    recipe = recipe or TrainingRecipe()
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
    made = {
        "title": 'Stripes "and" \\ stars',
        "class_names": ["a", "b", "c"],
        "num_outputs": 3,
        "input_shape": (8, 8, 1),
        "fit": "crop",
        "is_logits": is_logits,
        "recipe": recipe,
        "recipe_values": recipe_to_plain(recipe),
        "front": front,
        "float32_names": ("dense",),
        "has_pretrained": recipe.fine_tuning_after is not None,
        "load_program": program,
        "is_fixed_shape": True,
        "data_path": "stripes.npz",
        "has_split": not program or recipe.validation == "split",
        "keras_calls": lambda: calls,
    }
    return SimpleNamespace(**made | values)


def test_any_recipe_gives_a_formatted_program(tmp_path):
    """Every value at least once, and 100 recipes drawn from all."""
    random = np.random.default_rng(0)
    recipes = [
        TrainingRecipe(
            **{key: values[random.integers(len(values))] for key, values in EVERYTHING.items()}
        )
        for _ in range(100)
    ]
    for key, values in EVERYTHING.items():
        recipes += [TrainingRecipe(**{key: value}) for value in values]
    kinds = itertools.cycle(
        itertools.product([True, False], [(), ("rescaling",)], ["", "return 1"])
    )
    for number, (recipe, (is_logits, front, program)) in enumerate(
        zip(recipes, kinds, strict=False)
    ):
        export = context(recipe, is_logits=is_logits, front=front, program=program)
        text = script(export, "p.py")
        for cell in cells(export, "p.ipynb"):
            if cell.is_code:
                compile(cell.text, "cell", "exec")
        (tmp_path / f"program_{number}.py").write_text(text)
    words = ["--isolated", "--no-cache", "--line-length", "100", str(tmp_path)]
    for check in (["format", "--check", "--diff"], ["check", "--ignore", "E402"]):
        command = [sys.executable, "-m", "ruff", *check, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[:3000]


def test_a_plain_recipe_stays_a_plain_program():
    text = script(context(), "p.py")
    for word in ("swap_averages", "WarmUp", "one_hot", "penalty", "best_weights", "clip_by"):
        assert word not in text
    for word in ("pretrained", "tuned", "tuning", "frozen", "HEAD_EPOCHS", "python_function"):
        assert word not in text


def test_only_layers_that_learn_normalize_by_the_batch():
    text = script(context(TrainingRecipe(epochs=5, fine_tuning_after=4)), "p.py")
    (line,) = (line for line in text.splitlines() if "layers.BatchNormalization" in line)
    assert line == "    norm = layers.BatchNormalization(trainable=False)(conv2d)"
    assert 'trainable=False, name="tuned_conv2d")' in text


# pictures ----------------------------------------------------------------------------------


@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=80),
    share=st.floats(0.001, 0.9),
    seed=st.integers(0, 2**31 - 1),
)
def test_the_parts_are_those_of_workbench(labels, share, seed):
    names = {"np": np}
    exec(sections("parts.txt")["picked"], names)  # noqa: S102
    labels = np.array(labels)
    ours, rest = split_indices(labels, shares=(share,), seed=seed)
    is_picked = names["picked"](labels, share, seed)
    assert np.flatnonzero(is_picked).tolist() == ours.tolist()
    assert np.flatnonzero(~is_picked).tolist() == rest.tolist()


def read(export, tmp_path, monkeypatch):
    """Runs the cell of the pictures in the folder where they are."""
    monkeypatch.chdir(tmp_path)
    names = {
        "np": np,
        "pathlib": pathlib,
        "INPUT_SHAPE": tuple(export.input_shape),
        "CLASS_NAMES": list(export.class_names),
    }
    exec(compile(load_images(export), "data", "exec"), names)  # noqa: S102
    return names


def split(export, names):
    """Runs the cell of the split behind that of the pictures."""
    (text,) = (c.text for c in cells(export, "p.ipynb") if c.is_code and "def picked" in c.text)
    exec(compile(text, "split", "exec"), names)  # noqa: S102
    return names


@pytest.fixture
def pictures(tmp_path):
    """A folder with three classes: names that sort naturally, a folder inside, rubbish."""
    random, root = np.random.default_rng(3), tmp_path / "flowers"
    for name in ("tulip 10", "tulip 9", "aster"):
        (root / name / "more").mkdir(parents=True)
        for number in (1, 2, 10, 11):
            for place in (root / name, root / name / "more"):
                pixels = random.integers(0, 256, (12, 10, 3), dtype=np.uint8)
                write_png(place / f"picture {number}.png", pixels)
        (root / name / "broken.png").write_bytes(b"no picture")
        (root / name / ".hidden.png").write_bytes(b"")
    return root


def of_workbench(source, path, export):
    spec, context = all_datasets()[source], PlainContext(path.parent / "cache")
    loaded = spec.load(context, {"path": str(path), "fit": export.fit})
    return prepare(
        loaded, shape=export.input_shape, fit=export.fit, recipe=export.recipe, ctx=context
    )  # fmt: skip


@pytest.mark.parametrize("is_zip", [False, True])
@pytest.mark.parametrize("are_names_known", [False, True])
def test_a_folder_is_read_as_workbench_reads_it(
    pictures, tmp_path, monkeypatch, is_zip, are_names_known
):
    recipe = TrainingRecipe(test_share=0.25, validation_share=0.2)
    known = ["aster", "tulip 9", "tulip 10"] if are_names_known else []
    export = context(recipe, input_shape=(12, 10, 3), class_names=known, data_path="flowers")
    ours = of_workbench("folder", pictures, export)
    if is_zip:
        shutil.make_archive(str(tmp_path / "flowers"), "zip", tmp_path, "flowers")
        shutil.rmtree(pictures)
        export.data_path = "flowers.zip"
    names = read(export, tmp_path, monkeypatch)
    assert names["CLASS_NAMES"] == list(ours.class_names) == ["aster", "tulip 9", "tulip 10"]
    assert names["x_test"] is None
    split(export, names)
    parts = {"train": ours.train, "validation": ours.validation, "test": ours.test}
    for name, part in parts.items():
        assert np.array_equal(names[f"x_{name}"], part.x[np.arange(len(part))])
        assert np.array_equal(names[f"y_{name}"], part.y)


@pytest.mark.parametrize("fit", ["crop", "pad", "stretch"])
def test_pictures_are_fitted_as_workbench_fits_them(pictures, tmp_path, monkeypatch, fit):
    recipe = TrainingRecipe(validation="none")
    export = context(recipe, input_shape=(6, 7, 1), class_names=[], data_path="flowers", fit=fit)
    ours = of_workbench("folder", pictures, export)
    names = split(export, read(export, tmp_path, monkeypatch))
    assert len(names["x_train"]) + len(names["x_test"]) == 24
    test = ours.test.x[np.arange(len(ours.test))].astype(int)
    assert np.abs(names["x_test"].astype(int) - test).max() <= 1


def test_train_and_test_folders_are_two_parts(pictures, tmp_path, monkeypatch):
    root = tmp_path / "parts"
    shutil.copytree(pictures, root / "Train")
    shutil.copytree(pictures, root / "validation")
    export = context(input_shape=(12, 10, 3), class_names=["aster", "tulip 9"], data_path="parts")
    names = read(export, tmp_path, monkeypatch)
    assert names["is_readable"].sum() == len(names["x_test"]) == 16
    assert sorted({*names["y_test"].tolist()}) == [0, 1]


def test_a_table_is_read(pictures, tmp_path, monkeypatch, capsys):
    rows = ["path,label", "flowers/aster/picture 1.png,aster", "flowers/aster/broken.png,aster"]
    rows.append("flowers/tulip 9/picture 2.png,tulip")
    (tmp_path / "table.csv").write_text("\n".join(rows))
    export = context(input_shape=(12, 10, 3), class_names=[], data_path="table.csv")
    names = read(export, tmp_path, monkeypatch)
    assert names["CLASS_NAMES"] == ["aster", "tulip"]
    assert names["y_train"].tolist() == [0, 0, 1]
    assert names["is_readable"].tolist() == [True, False, True]
    assert "skipped" in capsys.readouterr().out


@pytest.mark.parametrize("labels", [np.array(["b", "a", "c"] * 4), np.array([[7], [3], [9]] * 4)])
@pytest.mark.parametrize("scale", [1, 255.0])
def test_arrays_are_read_as_workbench_reads_them(tmp_path, monkeypatch, labels, scale):
    pixels = np.random.default_rng(1).integers(0, 256, (12, 8, 8), dtype=np.uint8)
    np.savez(tmp_path / "stripes.npz", x=pixels if scale == 1 else pixels / scale, y=labels)
    export = context(TrainingRecipe(validation="none", test_share=0.3), class_names=[])
    ours = of_workbench("npz", tmp_path / "stripes.npz", export)
    names = read(export, tmp_path, monkeypatch)
    assert names["CLASS_NAMES"] == list(ours.class_names)
    order = np.concatenate([ours.train.y, ours.test.y])
    assert sorted(names["y_train"].tolist()) == sorted(order.tolist())
    assert np.array_equal(names["x_train"][..., 0], pixels)


def test_a_wrong_line_is_reported(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="no folder"):
        read(context(data_path="nowhere.npz"), tmp_path, monkeypatch)


@pytest.mark.parametrize("key", [key for key, spec in all_datasets().items() if spec.program])
def test_downloads_are_programs_of_keras(key):
    spec = all_datasets()[key]
    export = context(program=spec.program, input_shape=spec.shape, class_names=spec.class_names)
    compile(load_images(export), "data", "exec")
    export.is_fixed_shape, export.input_shape = False, (40, 40, 3)
    compile(load_images(export), "data", "exec")
    import keras

    if key != "kmnist":  # Keras does not have it: the program fetches its files
        assert hasattr(getattr(keras.datasets, key), "load_data")


# the learning rate -------------------------------------------------------------------------


@pytest.mark.parametrize("warmup_epochs", [None, 0.0, 1.5])
@pytest.mark.parametrize("schedule", ["constant", "step", "exponential", "cosine", "one_cycle"])
def test_the_rate_of_each_step_is_that_of_workbench(schedule, warmup_epochs):
    import keras

    recipe = TrainingRecipe(
        schedule=schedule, warmup_epochs=warmup_epochs, learning_rate=0.02, epochs=5,
        decay_every_epochs=2.0, decay_factor=0.5, final_share=0.1,
    )  # fmt: skip
    names = {"keras": keras}
    exec(recipe_values(recipe, is_logits=False)["make_optimizer"], names)  # noqa: S102
    rate = names["make_optimizer"](4)._learning_rate
    for step in range(20):
        exported = float(rate(step)) if callable(rate) else float(rate)
        assert exported == pytest.approx(learning_rate_at(recipe, step, 20, 4), rel=1e-4), step


@pytest.mark.parametrize("schedule", ["constant", "step", "cosine", "one_cycle"])
@pytest.mark.parametrize("rate", [None, 0.003])
def test_each_phase_has_the_rates_of_workbench(schedule, rate):
    import keras

    recipe = TrainingRecipe(
        schedule=schedule, learning_rate=0.02, epochs=5, fine_tuning_after=2, warmup_epochs=0.5,
        decay_every_epochs=1.0, decay_factor=0.5, fine_tuning_rate=rate,
    )  # fmt: skip
    values, names = recipe_values(recipe, is_logits=False), {"keras": keras}
    for key in ("make_optimizer", "make_tuning_optimizer"):
        exec(values[key], names)  # noqa: S102
    head, tuning = (
        names[key](4)._learning_rate for key in ("make_optimizer", "make_tuning_optimizer")
    )
    for step in range(20):
        made, at = (head, step) if step < 8 else (tuning, step - 8)
        exported = float(made(at)) if callable(made) else float(made)
        assert exported == pytest.approx(learning_rate_at(recipe, step, 20, 4), rel=1e-4), step


# the pretrained weights --------------------------------------------------------------------


@pytest.fixture
def find(tmp_path, monkeypatch):
    """Runs the cell that finds the weights in an empty folder; the path that it found there. The
    data sets of Kaggle are in a folder beside it.
    """
    folder, inputs = tmp_path / "here", tmp_path / "input"
    (inputs / "mine" / "deep").mkdir(parents=True)
    folder.mkdir()
    monkeypatch.chdir(folder)
    recipe = TrainingRecipe(epochs=5, fine_tuning_after=4)
    texts = [cell.text for cell in cells(context(recipe), "my [net].ipynb") if cell.is_code]
    (text,) = (text for text in texts if text.startswith("PRETRAINED"))
    assert "/kaggle/input" in text
    text = text.replace("/kaggle/input", str(inputs))

    def run():
        names = {"os": os, "pathlib": pathlib, "sys": sys}
        exec(compile(text, "pretrained", "exec"), names)  # noqa: S102
        return pathlib.Path(names["pretrained_path"])

    return run


WEIGHTS = "my [net].pretrained.weights.h5"


def test_missing_weights_are_reported_with_what_to_do(find, tmp_path):
    (tmp_path / "input" / "mine" / "other.weights.h5").touch()
    with pytest.raises(SystemExit) as caught:
        find()
    for words in (WEIGHTS, str(tmp_path / "here"), "Files panel", "Add Input"):
        assert words in str(caught.value)


def test_weights_are_found_here_beside_a_script_and_in_data_sets(find, tmp_path, monkeypatch):
    added = tmp_path / "input" / "mine" / "deep" / WEIGHTS
    added.touch()
    assert find() == added
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "net.py")])
    (tmp_path / WEIGHTS).touch()
    assert find() == tmp_path / WEIGHTS
    (tmp_path / "here" / WEIGHTS).touch()
    assert find().resolve() == tmp_path / "here" / WEIGHTS


def test_on_colab_missing_weights_are_uploaded_in_a_dialog(find, tmp_path, monkeypatch):
    """By a stand-in for Colab's own module, which is there alone."""

    def upload():
        for name in ("my [net].pretrained.weights (1).h5", "photos.zip"):
            pathlib.Path(name).write_text(name)
        return dict.fromkeys(["my [net].pretrained.weights (1).h5", "photos.zip"], b"")

    colab = SimpleNamespace(files=SimpleNamespace(upload=upload))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    assert find().read_text() == "my [net].pretrained.weights (1).h5"
    monkeypatch.setattr(colab.files, "upload", lambda: pytest.fail("it is there already"))
    assert find().name == WEIGHTS
    (tmp_path / "here" / WEIGHTS).unlink()
    monkeypatch.setattr(colab.files, "upload", dict)
    with pytest.raises(SystemExit, match="missing"):
        find()
