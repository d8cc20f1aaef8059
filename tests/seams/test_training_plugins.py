"""One file adds an optimizer, a schedule or a loss: to form, checks, training and export."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.worker

EXAMPLES = Path(__file__).parent / "examples"

FORM = """
import sys
from pathlib import Path
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from workbench.app import close_context, make_context
from workbench.gui.train.recipe import RecipePanel
from workbench.gui.train.state import TrainState

app = QApplication([])
context = make_context(Path.cwd())
state = TrainState(context)
panel = RecipePanel(state)
panel.resize(300, 900)
panel.show()
for section in panel.form.sections.values():
    section.head.setChecked(True)
key, title, row = sys.argv[1:]
box = panel.form.editor_widget(key)
QTest.keyClicks(box, title)  # a closed list chooses what begins so
print(getattr(context.document.recipe, key), panel.form.editor_widget(row).isVisible())
print(panel.curve_words.text())
state.background.close()
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


def add(tree, kind, key):
    """Adds one of the worked examples to the copy."""
    tree.add(f"workbench/core/training/{kind}/{key}.py", (EXAMPLES / f"{key}.py").read_text())


def checked(tree, project, **recipe):
    """What `workbench check` says of the project with other values in its recipe."""
    plain = json.loads(project.read_text())
    plain["recipe"].update(recipe)
    path = project.with_name("changed.workbench")
    path.write_text(json.dumps(plain))
    return json.loads(tree.workbench("check", str(path), "--json"))


def test_an_optimizer(tree, project, pictures):
    add(tree, "optimizers", "adamax")
    assert in_the_form(tree, "optimizer", "Adamax", "nesterov")[0] == "adamax False"

    num_weights = (SIDE * SIDE + 1) * CLASSES
    memory = {
        key: checked(tree, project, optimizer=key)["memory_bytes"] for key in ("sgd", "adamax")
    }
    assert memory["adamax"] - memory["sgd"] == 4 * num_weights

    run, epochs, finished = train(tree, project, optimizer="adamax")
    x, labels = pictures
    x = np.c_[x.reshape(NUM, -1), np.ones(NUM)].astype(float)
    weights = mean = largest = np.zeros((x.shape[1], CLASSES))
    for step, epoch in enumerate(epochs, 1):
        slope, loss = gradient(weights, x, labels)
        assert epoch["loss"] == pytest.approx(loss, rel=1e-4)
        mean = 0.9 * mean + 0.1 * slope
        largest = np.maximum(0.999 * largest, np.abs(slope))
        weights = weights - RATE / (1 - 0.9**step) * mean / (largest + 1e-7)

    text, loss = exported(tree, run)
    assert f"optimizer = keras.optimizers.Adamax({RATE})" in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_schedule(tree, project):
    add(tree, "schedules", "polynomial")
    first, words = in_the_form(tree, "schedule", "polynomial", "final_share")
    assert first == "polynomial True"
    assert words.endswith("then polynomial decay to 1e-05.")
    assert checked(tree, project, schedule="polynomial")["ok"]

    run, epochs, finished = train(tree, project, schedule="polynomial", final_share=0.1)
    rates = [RATE * (0.1 + 0.9 * (1 - step / STEPS) ** 2) for step in range(STEPS)]
    assert [epoch["learning_rate"] for epoch in epochs] == pytest.approx(rates, rel=1e-6)

    text, loss = exported(tree, run)
    assert "rate = keras.optimizers.schedules.PolynomialDecay(" in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_loss(tree, project):
    add(tree, "losses", "poly1")
    assert in_the_form(tree, "loss", "Poly-1", "focal_gamma")[0] == "poly1 False"
    assert checked(tree, project, loss="poly1")["ok"]

    run, epochs, finished = train(tree, project, loss="poly1")
    losses = [epoch["loss"] for epoch in epochs]
    assert losses[0] == pytest.approx(np.log(CLASSES) + 1 - 1 / CLASSES, rel=1e-5)
    assert losses == sorted(losses, reverse=True)

    text, loss = exported(tree, run)
    assert "        loss=poly1_cross_entropy,\n" in text
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_plug_in_that_uses_an_unknown_parameter_is_refused(tree):
    text = (EXAMPLES / "polynomial.py").read_text()
    text = text.replace('uses=("final_share",)', 'uses=("power",)')
    tree.add("workbench/core/training/schedules/polynomial.py", text)
    done = tree.python("-m", "workbench", "check", "project")
    assert done.returncode != 0
    assert "polynomial uses a parameter that a recipe does not have" in done.stderr
