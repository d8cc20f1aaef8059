"""A layer, a layer of augmentation, a data set source, an export format, a command and a rule of
the data check are one new file each: window, command line, trainer, exports and the comparison of targets find them.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.worker.conftest import chain
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.core.training.recipe import TrainingRecipe

EXAMPLES = Path(__file__).with_name("examples")

WINDOW = """
import json
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from workbench.app import close_context, make_context, make_window
from workbench.gui.help import HelpViewer

app = QApplication(sys.argv[:1])
home = Path(sys.argv[1])
context = make_context(home)
window = make_window(context, home)
window.show()
document, design = context.document, window.design()
document.add_node("input")
seen = {}


def shown(panel):
    items = (panel.list.item(row) for row in range(panel.list.count()))
    is_layer = Qt.ItemFlag.ItemIsSelectable
    return [item.text() for item in items if item.flags() & is_layer and not item.isHidden()]


for key, word in (("random_sharpness", "blur"), ("gaussian_dropout", "gaussiandr")):
    panel = design.panels["palette"]
    listed = context.layers[key].title in shown(panel)
    panel.search.setText(word)
    found = shown(panel)
    panel.search.clear()
    node = document.add_node(key)
    design.panels["inspector"].show_nodes([node])
    form = design.panels["inspector"].form
    editors = [form.editor_widget(param.key) is not None for param in context.layers[key].params]
    design.panels["inspector"].more.click()
    page = window.findChild(HelpViewer).page.toPlainText()
    seen[key] = {"listed": listed, "found": found, "editors": editors, "help": page}
document.new()
window.close()
close_context(context)
print(json.dumps(seen))
"""


SOURCE_AND_FORMAT = """
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QComboBox

from workbench.app import close_context, make_context, make_window
from workbench.exports import run_exports

app = QApplication(sys.argv[:1])
context = make_context(Path(sys.argv[1]))
window = make_window(context, Path(sys.argv[1]))
window.show()
source = window.show_view("data").findChildren(QComboBox)
titles = [box.itemText(row) for box in source for row in range(box.count())]
print("Checkerboards" in titles, "numpy_weights" in run_exports())
context.document.new()
window.close()
close_context(context)
"""

CLASSIFY = """
import json
import sys

import numpy as np

if "keras" in sys.argv:
    from workbench.worker.saved_models.keras_runner import load_keras_runner as load
else:
    from workbench.inference.onnx_runner import load_onnx_runner as load
images = np.random.default_rng(3).integers(0, 256, (9, 8, 8, 1), np.uint8)
answers = load(sys.argv[1]).predict(images)
assert ("tensorflow" in sys.modules) == ("keras" in sys.argv)
print(json.dumps(answers.tolist()))
"""

TARGETS = ("this_computer", "virtual:2")


@pytest.fixture(scope="module")
def grown(module_tree):
    """The program with the six files."""
    for folder, name, example in (
        ("layers", "gaussian_dropout", "gaussian_dropout"),
        ("layers", "random_sharpness", "random_sharpness"),
        ("datasets", "checkerboard", "checkerboard"),
        ("exports", "numpy_weights", "numpy_weights"),
        ("cli", "layers", "layers_command"),
        ("data_checks", "dark", "dark"),
    ):
        text = (EXAMPLES / f"{example}.py").read_text()
        module_tree.add(f"workbench/{folder}/{name}.py", text)
    return module_tree


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project file with both layers and the source."""
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("random_sharpness", {}),
        ("rescaling", {}),
        ("conv2d", {"filters": 4, "activation": "relu"}),
        ("flatten", {}),
        ("gaussian_dropout", {"rate": 0.5}),
        ("dense", {"units": 2, "activation": "softmax"}),
    )
    recipe = TrainingRecipe().with_values(epochs=1, batch_size=16, steps_per_epoch=3)
    path = tmp_path_factory.mktemp("project") / "project.workbench"
    save_project(Project(graph=graph, recipe=recipe, dataset=Choice("checkerboard")), path)
    return path


@pytest.fixture(scope="module")
def compared(grown, project):
    """Verdict of two real trainings, on one replica and on two."""
    words = ("agree", str(project), *TARGETS, "--steps", "3", "--json")
    found = grown.python("-m", "workbench", *words)
    assert found.stdout, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


def test_the_window_finds_it(grown, tmp_path):
    result = grown.python("-c", WINDOW, str(tmp_path))
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    for key, facts in seen.items():
        assert facts["listed"]
        assert facts["found"] == [
            {"gaussian_dropout": "GaussianDropout"}.get(key, "RandomSharpness")
        ]
        assert facts["editors"]
        assert all(facts["editors"])
    assert "Multiplies values by random numbers" in seen["gaussian_dropout"]["help"]
    assert "keras.layers.RandomSharpness" in seen["random_sharpness"]["help"]


def test_the_window_offers_source_and_format(grown, tmp_path):
    result = grown.python("-c", SOURCE_AND_FORMAT, str(tmp_path))
    assert result.stdout.split() == ["True", "True"], result.stderr


def test_the_command_is_there(grown):
    lines = grown.workbench("layers", "--json").splitlines()
    assert {"key": "conv2d", "title": "Conv2D", "category": "convolution"} in map(json.loads, lines)
    assert "list the layer types" in grown.workbench("--help")


@pytest.mark.worker
def test_it_is_checked(grown, project):
    found = json.loads(grown.workbench("check", str(project), "--json"))
    assert found["ok"]
    assert found["problems"] == []
    found = json.loads(grown.workbench("data", "check", "checkerboard", "--json"))
    assert [entry["class"] for entry in found["classes"]] == ["fine", "coarse"]


@pytest.mark.worker
def test_the_rule_finds_dark_images(grown, tmp_path):
    for seed in range(4):
        (tmp_path / "set" / f"class{seed % 2}").mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(seed).integers(0, 50 if seed else 255, (32, 32, 3), np.uint8)
        Image.fromarray(noise).save(tmp_path / "set" / f"class{seed % 2}" / f"{seed}.png")
    found = json.loads(grown.workbench("data", "check", f"folder:{tmp_path / 'set'}", "--json"))
    names = [Path(each["files"][0]).name for each in found["findings"]]
    assert names == ["2.png", "1.png", "3.png"]
    assert {each["kind"] for each in found["findings"]} == {"dark"}


@pytest.mark.worker
def test_it_is_trained_and_exported(grown, compared, tmp_path):
    run, *_ = compared["runs"]
    names = {"keras": "model.keras", "python": "model.py", "numpy_weights": "weights.npz"}
    words = (("export", run, key, str(tmp_path / name)) for key, name in names.items())
    grown.with_one_worker(*words)
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        config = json.loads(archive.read("config.json"))
    classes = [layer["class_name"] for layer in config["config"]["layers"]]
    assert {"GaussianDropout", "RandomSharpness"} <= set(classes)
    script = (tmp_path / "model.py").read_text()
    assert "layers.GaussianDropout(0.5" in script
    assert "layers.RandomSharpness(0.9" in script
    with np.load(tmp_path / "weights.npz") as arrays:
        shapes = {name: arrays[name].shape for name in arrays.files}
    assert any(name.endswith("kernel") and len(shape) == 4 for name, shape in shapes.items())


@pytest.mark.full
@pytest.mark.worker
def test_its_weights_classify_without_tensorflow_as_in_keras(grown, compared):
    """The layers name their rule for ONNX; without one they would need TensorFlow, silently."""
    run, *_ = compared["runs"]
    done = grown.python("-c", CLASSIFY, run)
    assert done.returncode == 0, done.stderr
    in_onnx = json.loads(done.stdout)
    done = grown.python("-c", CLASSIFY, run, "keras")
    assert done.returncode == 0, done.stderr
    assert np.allclose(in_onnx, json.loads(done.stdout), atol=1e-5)


@pytest.mark.worker
def test_two_targets_differ_by_its_randomness_alone(grown, project, compared):
    assert compared["verdict"] == "explained"
    assert compared["explained_by"] == ["gaussian_dropout_5"]
    words = ("agree", str(project), *TARGETS, "--steps", "3", "--without-chance", "--json")
    found = grown.workbench(*words)
    assert json.loads(found.splitlines()[-1])["verdict"] == "agree"
