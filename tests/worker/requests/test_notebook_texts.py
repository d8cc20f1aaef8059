"""The texts of an exported notebook, cell by cell: any recipe, any source of pictures."""

from __future__ import annotations

import ast
import itertools
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contexts import PlainContext
from tests.worker.requests.test_python_script import CALLS, EVERYTHING, TUNED
from workbench.core.projects.project import Choice, Project
from workbench.core.specs.dataset import SplitMarks, marks_to_plain
from workbench.core.training.learning_rates import learning_rate_at
from workbench.core.training.recipe import TrainingRecipe, recipe_to_plain
from workbench.core.training.split import split_indices
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, SaveError
from workbench.exports.tpu_script import script
from workbench.layers import layers_by_title
from workbench.pictures.rows import JoinedRows
from workbench.programs.notebook import cells, load_images, recipe_values
from workbench.programs.texts import sections
from workbench.worker.input.packed_images import PackedImages, is_packed, packed_images
from workbench.worker.requests.exporting.converter import KerasCall

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
        "images": None if program else SimpleNamespace(digest="0" * 64),
        "has_test": True,
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
        has_test = number % 3 > 0 or recipe.validation == "test"
        export = context(
            recipe, is_logits=is_logits, front=front, program=program, has_test=has_test
        )
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


def names_in(recipe):
    """All names of a program: of its variables, functions, classes, attributes and arguments."""
    tree = ast.walk(ast.parse(script(context(recipe), "p.py")))
    fields = ("id", "attr", "arg", "name")
    return {getattr(node, field) for node in tree for field in fields if hasattr(node, field)}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ema_decay", 0.99),
        ("warmup_epochs", 1.5),
        ("label_smoothing", 0.1),
        ("clip_norm", 1.0),
        ("keep", "best"),
        ("mixing", "mixup"),
        ("fine_tuning_after", 4),
    ],
)
def test_a_program_has_only_what_its_recipe_needs(key, value):
    """What one setting adds is in no program without it."""
    plain, other = names_in(TrainingRecipe()), names_in(TrainingRecipe(**{key: value}))
    assert other - plain
    assert plain - other <= {"SparseCategoricalCrossentropy"}


def test_all_that_a_plain_program_defines_it_uses():
    tree = list(ast.walk(ast.parse(script(context(), "p.py"))))
    defined = {n.name for n in tree if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    defined |= {n.id for n in tree if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in tree if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert defined - used == set()


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
    exec(sections("parts.py")["picked"], names)  # noqa: S102
    labels = np.array(labels)
    ours, rest = split_indices(labels, shares=(share,), seed=seed)
    is_picked = names["picked"](labels, share, seed)
    assert np.flatnonzero(is_picked).tolist() == ours.tolist()
    assert np.flatnonzero(~is_picked).tolist() == rest.tolist()


@pytest.mark.parametrize("kind", ["array", "rows"])
def test_packed_images_are_read_to_the_bit(packed, kind, capsys):
    images = packed.images
    if kind == "rows":  # not held in memory
        x, y = images.parts["train"]
        images = replace(images, parts={**images.parts, "train": (JoinedRows([x], ALL), y)})
    assert images.digest == packed.images.digest
    images.save(packed.path)
    first = packed.path.read_bytes()
    images.save(packed.path)  # an earlier one is replaced; equal images are equal files
    assert packed.path.read_bytes() == first
    names = packed.read()
    for part, (x, y) in packed.images.parts.items():
        assert np.array_equal(names[f"x_{part}"], x)
        assert np.array_equal(names[f"y_{part}"], y)
        assert names[f"x_{part}"].dtype == np.uint8
    assert names["split"] == marks_to_plain(packed.images.split)
    said = capsys.readouterr().out
    assert "12 training, 0 validation, 3 test images" in said
    assert "b 4 0 1" in said


def test_other_and_damaged_images_are_refused(packed):
    x, y = packed.images.parts["train"]
    for part in ((x, np.roll(y, 1)), (x[::-1], y), (x[:6], y[:6])):
        replace(packed.images, parts={**packed.images.parts, "train": part}).save(packed.path)
        with pytest.raises(SystemExit, match="holds other images"):
            packed.read()
    replace(packed.images, class_names=("a", "b", "ç")).save(packed.path)
    packed.read()  # of names only those in the program count: they are in the checksum
    packed.path.write_bytes(packed.path.read_bytes()[:-400])
    with pytest.raises(SystemExit, match="is damaged"):
        packed.read()
    np.savez(packed.path, x_train=x, y_train=y)
    with pytest.raises(SystemExit, match="is damaged"):
        packed.read()


def test_no_other_file_is_overwritten_by_images(packed, tmp_path):
    np.savez(packed.path, x_train=np.zeros(3))
    with pytest.raises(SaveError, match="another file has that name"):
        packed.images.save(packed.path)
    packed.path.write_text("mine")
    with pytest.raises(SaveError, match="another file has that name"):
        packed.images.save(packed.path)
    assert packed.path.read_text() == "mine"
    packed.path.unlink()
    packed.images.save(packed.path)
    assert is_packed(packed.path)
    of_itself = replace(packed.images, source=packed.path)
    with pytest.raises(SaveError, match="another file has that name"):
        of_itself.save(packed.path)


def test_too_many_images_are_refused_before_any_is_decoded(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((9, 8, 8), np.uint8), y=np.arange(9) % 3)
    project = Project(dataset=Choice("npz", {"path": str(tmp_path / "a.npz")}))
    with pytest.raises(DatasetError, match="too many") as caught:
        packed_images(PlainContext(tmp_path), project, (20_000, 20_000, 3), 3)
    assert "10.8 GB at 20000 × 20000 × 3" in caught.value.received


ALL = np.arange(12)


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """Images to pack, where to, and a function that runs the program's cell which reads them."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    x, y = random.integers(0, 256, (15, 8, 8, 1), dtype=np.uint8), np.arange(15) % 3
    none = np.zeros((0, 8, 8, 1), np.uint8), np.zeros(0, np.int64)
    parts = {"train": (x[:12], y[:12]), "validation": none, "test": (x[12:], y[12:])}
    marks = SplitMarks("test 0.2", {"a": ("0" * 16, "f" * 16)})
    names = ("a", "b", "c ü")
    images = PackedImages(names, parts, marks, (), None, PlainContext(tmp_path))
    path = tmp_path / "p.images.npz"

    def read():
        export = context(images=images, class_names=list(names))
        values = {"np": np, "json": json, "CLASS_NAMES": list(names), "images_path": path}
        exec(compile(load_images(export), "images", "exec"), values)  # noqa: S102
        return values

    return SimpleNamespace(images=images, path=path, read=read)


@pytest.mark.parametrize("key", [key for key, spec in all_datasets().items() if spec.program])
def test_downloads_are_programs_of_keras(key):
    spec = all_datasets()[key]
    export = context(program=spec.program, input_shape=spec.shape, class_names=spec.class_names)
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
    export = context(recipe, program="return 1")
    texts = [cell.text for cell in cells(export, "my [net].ipynb") if cell.is_code]
    (text,) = (text for text in texts if text.startswith("def find_file"))
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
