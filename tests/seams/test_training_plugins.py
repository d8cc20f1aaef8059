"""One file adds an optimizer, a schedule or a loss: to form, checks, training and export."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytestmark = pytest.mark.worker

ADAGRAD = '''"""Adagrad (Duchi et al., 2011)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(key="adagrad", title="Adagrad", slots=1)
'''

POLYNOMIAL = '''"""Quadratic decay over the whole training."""

from __future__ import annotations

import numpy as np

from workbench.core.training.specs import Code, ScheduleSpec


def _factors(values, steps, total, steps_per_epoch):
    last = values["final_share"]
    return last + (1 - last) * (1 - np.clip(steps / max(1, total), 0.0, 1.0)) ** 2


def _code(sources, rate, total):
    last = f"end_learning_rate={rate} * {sources['final_share']}"
    return Code("PolynomialDecay", (rate, total, last, "power=2.0"))


SPEC = ScheduleSpec(
    key="polynomial",
    title="quadratic",
    name="quadratic decay",
    uses=("final_share",),
    factors=_factors,
    describe=lambda values, peak: f"then quadratic decay to {peak * values['final_share']:g}",
    spans_training=True,
    code=_code,
)
'''

GENERALIZED = '''"""Generalized cross-entropy (Zhang and Sabuncu, 2018)."""

from __future__ import annotations

from workbench.core.training.specs import Code, LossSpec

_DEFINITION = \'\'\'\\
def generalized_cross_entropy(targets, outputs):
    """Less of what wrong labels teach (Zhang and Sabuncu, 2018)."""
    chosen = keras.ops.sum(targets * {probabilities}, axis=-1)
    return (1.0 - chosen**0.7) / 0.7
\'\'\'


def _compute(inputs, values):
    chosen = inputs.tf.reduce_sum(inputs.targets * inputs.probabilities, axis=-1)
    return (1.0 - chosen**0.7) / 0.7


def _code(sources, *, is_logits, is_sparse):
    probabilities = "keras.ops.softmax(outputs)" if is_logits else "outputs"
    text = _DEFINITION.format(probabilities=probabilities)
    return Code("generalized_cross_entropy", definition=text)


SPEC = LossSpec(key="generalized", title="generalized", compute=_compute, code=_code)
'''

FORM = """
import sys
from pathlib import Path
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from workbench.app import close_context, make_context
from workbench.client.background import Background
from workbench.gui.train.recipe import RecipePanel

app = QApplication([])
context = make_context(Path.cwd())
background = Background(context.document, max_threads=1)
panel = RecipePanel(context.document, background, context.theme)
panel.resize(300, 900)
panel.show()
for section in panel.form.sections.values():
    section.head.setChecked(True)
key, title, row = sys.argv[1:]
box = panel.form.editor_widget(key)
QTest.keyClicks(box, title)  # a closed list chooses what begins so
print(getattr(context.document.recipe, key), panel.form.editor_widget(row).isVisible())
print(panel.curve_words.text())
background.close()
close_context(context)
"""

RATE, STEPS = 0.02, 8
NUM, SIDE, CLASSES = 60, 4, 3


@pytest.fixture
def pictures():
    """Pictures (60, 4, 4, 1) whose brightest row is their class, and their labels."""
    random = np.random.default_rng(5)
    labels = np.arange(NUM) % CLASSES
    pictures = random.integers(0, 3, (NUM, SIDE, SIDE, 1), dtype=np.uint8)
    pictures[np.arange(NUM), labels] += 2
    return pictures, labels


@pytest.fixture
def project(tmp_path, pictures):
    """A softmax regression from zero on all pictures at once: nothing about it is random."""
    x, y = pictures
    np.savez(tmp_path / "tiny.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    dense = {"units": CLASSES, "activation": "softmax", "kernel_initializer": "zeros"}
    nodes = [
        ("a", "input", {"shape": [SIDE, SIDE, 1]}),
        ("b", "flatten", {}),
        ("c", "dense", dense),
    ]
    plain = {
        "format": "workbench-project",
        "version": 1,
        "graph": {
            "nodes": [
                {"id": key, "kind": kind, "name": kind, "params": params}
                for key, kind, params in nodes
            ],
            "edges": [
                {"source": "a", "target": "b", "port": 0},
                {"source": "b", "target": "c", "port": 0},
            ],
        },
        "recipe": {
            "batch_size": NUM,
            "epochs": STEPS,
            "learning_rate": RATE,
            "validation": "none",
            "precision": "float32",
        },
        "dataset": {"key": "npz", "params": {"path": "tiny.npz"}},
    }
    path = tmp_path / "tiny.workbench"
    path.write_text(json.dumps(plain))
    return path


def in_the_form(tree, key, title, row):
    """Chooses a plug-in in the form: (its key, whether `row` is in sight; the schedule)."""
    done = tree.python("-c", FORM, key, title, row)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def train(tree, project, **values):
    """Trains; the run's folder, the events of its epochs, and its last event."""
    run = project.parent / "run"
    words = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    told = tree.workbench("train", str(project), "--run", str(run), "--json", *words)
    events = [json.loads(line) for line in told.splitlines()]
    epochs = [event for event in events if event["event"] == "epoch_finished"]
    assert len(epochs) == STEPS
    return run, epochs, events[-1]


def exported(tree, run):
    """The script of a run, and the test loss that its own training, by Keras alone, ends with."""
    path = run.parent / "script.py"
    tree.workbench("export", str(run), "python", str(path))
    text = path.read_text()
    compile(text, str(path), "exec")
    done = tree.python(str(path), "train", str(run.parent / "tiny.npz"), str(run / "w.weights.h5"))
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("test loss")]
    return text, float(line.removeprefix("test loss ").split(",")[0])


def gradient(weights, pictures, labels):
    """Of softmax regression: (gradient, loss), with a column of ones for the biases."""
    scores = pictures @ weights
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    loss = -np.log(shares[np.arange(NUM), labels]).mean()
    return pictures.T @ (shares - np.eye(CLASSES)[labels]) / NUM, loss


def test_an_optimizer(tree, project, pictures):
    tree.add("workbench/core/training/optimizers/adagrad.py", ADAGRAD)
    assert in_the_form(tree, "optimizer", "Adagrad", "nesterov")[0] == "adagrad False"

    def memory(optimizer):
        plain = json.loads(project.read_text())
        plain["recipe"]["optimizer"] = optimizer
        path = project.with_name(f"{optimizer}.workbench")
        path.write_text(json.dumps(plain))
        return json.loads(tree.workbench("check", str(path), "--json"))["memory_bytes"]

    num_weights = (SIDE * SIDE + 1) * CLASSES
    assert memory("adam") - memory("adagrad") == 4 * num_weights

    run, epochs, finished = train(tree, project, optimizer="adagrad")
    x, labels = pictures
    x = np.c_[x.reshape(NUM, -1), np.ones(NUM)].astype(float)
    weights, squares = np.zeros((x.shape[1], CLASSES)), 0.1
    for epoch in epochs:
        slope, loss = gradient(weights, x, labels)
        assert epoch["loss"] == pytest.approx(loss, rel=1e-4)
        squares = squares + slope**2
        weights -= RATE * slope / np.sqrt(squares + 1e-7)

    text, loss = exported(tree, run)
    assert f"optimizer = keras.optimizers.Adagrad({RATE})" in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_schedule(tree, project):
    tree.add("workbench/core/training/schedules/polynomial.py", POLYNOMIAL)
    first, words = in_the_form(tree, "schedule", "quadratic", "final_share")
    assert first == "polynomial True"
    assert words.endswith("then quadratic decay to 1e-05.")
    assert json.loads(tree.workbench("check", str(project), "--json"))["ok"]

    run, epochs, finished = train(tree, project, schedule="polynomial", final_share=0.1)
    rates = [RATE * (0.1 + 0.9 * (1 - step / STEPS) ** 2) for step in range(STEPS)]
    assert [epoch["learning_rate"] for epoch in epochs] == pytest.approx(rates, rel=1e-6)

    text, loss = exported(tree, run)
    assert "keras.optimizers.schedules.PolynomialDecay" in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_loss(tree, project):
    tree.add("workbench/core/training/losses/generalized.py", GENERALIZED)
    assert in_the_form(tree, "loss", "generalized", "focal_gamma")[0] == "generalized False"
    assert json.loads(tree.workbench("check", str(project), "--json"))["ok"]

    run, epochs, finished = train(tree, project, loss="generalized")
    losses = [epoch["loss"] for epoch in epochs]
    assert losses[0] == pytest.approx((1 - (1 / CLASSES) ** 0.7) / 0.7, rel=1e-5)
    assert losses == sorted(losses, reverse=True)

    text, loss = exported(tree, run)
    assert "loss=generalized_cross_entropy," in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_plug_in_that_uses_an_unknown_parameter_is_refused(tree):
    text = POLYNOMIAL.replace('uses=("final_share",)', 'uses=("power",)')
    tree.add("workbench/core/training/schedules/polynomial.py", text)
    done = tree.python("-m", "workbench", "check", "project")
    assert done.returncode != 0
    assert "quadratic uses a parameter that a recipe does not have" in done.stderr
