"""One file adds an optimizer, a schedule or a loss: to form, checks, training and export; a target,
a rule of the coach or a section of the report: to what trains, what is found and what is written.

All are in one training, whose figures must be those of the first three.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.worker

EXAMPLES = Path(__file__).parent / "examples"

FORM = """
import json
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
seen = {}
for key, title, row in json.loads(sys.argv[1]):
    QTest.keyClicks(panel.form.editor_widget(key), title)  # a closed list chooses what begins so
    is_visible = panel.form.editor_widget(row).isVisible()
    seen[key] = (getattr(context.document.recipe, key), is_visible, panel.curve_words.text())
print(json.dumps(seen))
state.background.close()
close_context(context)
"""

RATE, STEPS = 0.02, 8
RATES = [RATE * (0.1 + 0.9 * (1 - step / STEPS) ** 2) for step in range(STEPS)]
NUM, SIDE, CLASSES = 61, 4, 3  # no multiple: no slope is 0, which Adamax would make noise of


@pytest.fixture(scope="module")
def grown(module_tree):
    """The program with the six files."""
    for folder, key in (
        ("core/training/optimizers", "adamax"),
        ("core/training/schedules", "polynomial"),
        ("core/training/losses", "poly1"),
        ("targets", "one_core"),
        ("coach", "still_falling"),
        ("report/sections", "slowest_epoch"),
    ):
        module_tree.add(f"workbench/{folder}/{key}.py", (EXAMPLES / f"{key}.py").read_text())
    return module_tree


@pytest.fixture(scope="module")
def pictures():
    """Pictures (61, 4, 4, 1) whose brightest row is their class, and their labels."""
    random = np.random.default_rng(5)
    labels = np.arange(NUM) % CLASSES
    pictures = random.integers(0, 3, (NUM, SIDE, SIDE, 1), dtype=np.uint8)
    pictures[np.arange(NUM), labels] += 2
    return pictures, labels


@pytest.fixture(scope="module")
def project(tmp_path_factory, pictures):
    """A softmax regression from zero on all pictures at once: nothing about it is random."""
    folder = tmp_path_factory.mktemp("project")
    x, y = pictures
    np.savez(folder / "tiny.npz", x_train=x, y_train=y, x_test=x, y_test=y)
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
        "dataset": {"key": "npz", "params": {"path": "tiny.npz", "range": "0-255"}},
    }
    path = folder / "tiny.workbench"
    path.write_text(json.dumps(plain))
    return path


@pytest.fixture(scope="module")
def in_the_form(grown):
    """What the form shows where each is chosen: its key, whether a row of others of its kind is
    in sight, and the schedule in words.
    """
    chosen = [
        ("optimizer", "Adamax", "nesterov"),
        ("schedule", "polynomial", "final_share"),
        ("loss", "Poly-1", "focal_gamma"),
    ]
    done = grown.python("-c", FORM, json.dumps(chosen))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def trained(grown, project):
    """A training with all of them: the run's folder, its events by kind."""
    run = project.parent / "run"
    chosen = ("optimizer=adamax", "schedule=polynomial", "final_share=0.1", "loss=poly1")
    words = [word for each in chosen for word in ("--set", each)]
    words += ["--target", "one_core"]
    output = grown.workbench("train", str(project), "--run", str(run), "--json", *words)
    events = {}
    for line in output.splitlines():
        event = json.loads(line)
        events.setdefault(event["event"], []).append(event)
    assert len(events["epoch_finished"]) == STEPS
    return run, events


@pytest.fixture(scope="module")
def written(grown, trained):
    """The files of the run's exported script and of its report."""
    run, folder = str(trained[0]), trained[0].parent
    script, report = folder / "script.py", folder / "report.html"
    grown.with_one_worker(("export", run, "python", str(script)), ("report", run, str(report)))
    return script, report


@pytest.fixture(scope="module")
def script(written):
    """The file of the run's exported script."""
    return written[0]


def gradient(weights, pictures, labels):
    """Of softmax regression with Poly-1: (gradient, loss), with a column of ones for the biases."""
    scores = pictures @ weights
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    correct = shares[np.arange(NUM), labels]
    slope = (1 + correct[:, None]) * (shares - np.eye(CLASSES)[labels])
    return pictures.T @ slope / NUM, (1 - np.log(correct) - correct).mean()


def checked(tree, project, **recipe):
    """What `workbench check` says of the project with other values in its recipe."""
    plain = json.loads(project.read_text())
    plain["recipe"].update(recipe)
    path = project.with_name("changed.workbench")
    path.write_text(json.dumps(plain))
    return json.loads(tree.workbench("check", str(path), "--json"))


def test_an_optimizer(grown, project, in_the_form, script):
    assert in_the_form["optimizer"][:2] == ["adamax", False]
    num_weights = (SIDE * SIDE + 1) * CLASSES
    memory = {
        key: checked(grown, project, optimizer=key)["memory_bytes"] for key in ("sgd", "adamax")
    }
    assert memory["adamax"] - memory["sgd"] == 4 * num_weights
    assert "optimizer = keras.optimizers.Adamax(rate)" in script.read_text()


def test_a_schedule(grown, project, in_the_form, trained, script):
    *first, words = in_the_form["schedule"]
    assert first == ["polynomial", True]
    assert words.endswith("then polynomial decay to 1e-05.")
    assert checked(grown, project, schedule="polynomial")["ok"]
    rates = [event["learning_rate"] for event in trained[1]["epoch_finished"]]
    assert rates == pytest.approx(RATES, rel=1e-6)
    assert "rate = keras.optimizers.schedules.PolynomialDecay(" in script.read_text()


def test_a_loss(grown, project, in_the_form, trained, script):
    assert in_the_form["loss"][:2] == ["poly1", False]
    assert checked(grown, project, loss="poly1")["ok"]
    losses = [epoch["loss"] for epoch in trained[1]["epoch_finished"]]
    assert losses[0] == pytest.approx(np.log(CLASSES) + 1 - 1 / CLASSES, rel=1e-5)
    assert losses == sorted(losses, reverse=True)
    assert "        loss=poly1_cross_entropy,\n" in script.read_text()


def test_a_target(grown, trained):
    (started,) = trained[1]["run_started"]
    assert started["target"] == "one_core"
    listed = [json.loads(line) for line in grown.workbench("targets", "--json").splitlines()]
    assert [each["text"] for each in listed if each["key"] == "one_core"] == ["one_core"]


def test_a_rule_of_the_coach(grown, trained):
    run, events = trained
    found = json.loads(grown.workbench("coach", str(run), "--json"))["findings"]
    (finding,) = [each for each in found if each["rule"] == "still_falling"]
    last = events["epoch_finished"][-1]
    assert (
        finding["sees"] == f"The training loss still fell in epoch {last['epoch']}, the last one."
    )
    assert finding["recipe"] == {"epochs": 2 * STEPS}


def test_a_section_of_the_report(trained, written):
    text = written[1].read_text()
    slowest = max(trained[1]["epoch_finished"], key=lambda epoch: epoch["seconds"])
    assert f"Epoch {slowest['epoch']} took " in text
    headings = re.findall(r"<h2[^>]*>([^<]+)", text)
    assert headings.index("Slowest epoch") == headings.index("Training") + 1


def test_a_training_with_all_three_computes_what_they_say(trained, pictures):
    x, labels = pictures
    x = np.c_[x.reshape(NUM, -1), np.ones(NUM)].astype(float)
    weights = mean = largest = np.zeros((x.shape[1], CLASSES))
    for step, (rate, epoch) in enumerate(zip(RATES, trained[1]["epoch_finished"], strict=True), 1):
        slope, loss = gradient(weights, x, labels)
        assert epoch["loss"] == pytest.approx(loss, rel=1e-4)
        mean = 0.9 * mean + 0.1 * slope
        largest = np.maximum(0.999 * largest, np.abs(slope))
        weights = weights - rate / (1 - 0.9**step) * mean / (largest + 1e-7)


def test_the_exported_script_trains_to_the_same_loss_by_keras_alone(grown, trained, script):
    run, events = trained
    (finished,) = events["run_finished"]
    data = str(run.parent / "tiny.npz")
    done = grown.python(str(script), "train", data, str(run / "w.weights.h5"))
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("test loss")]
    loss = float(line.removeprefix("test loss ").split(",")[0])
    assert loss == pytest.approx(finished["test"]["loss"], abs=2e-4)


def test_a_plug_in_that_uses_an_unknown_parameter_is_refused(tree):
    text = (EXAMPLES / "polynomial.py").read_text()
    text = text.replace('uses=("final_share",)', 'uses=("power",)')
    tree.add("workbench/core/training/schedules/polynomial.py", text)
    done = tree.python("-m", "workbench", "check", "project")
    assert done.returncode != 0
    assert "polynomial uses a parameter that a recipe does not have" in done.stderr
