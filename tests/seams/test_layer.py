"""A layer, and a layer of augmentation, are one new file each: window, command line, trainer,
exports and the comparison of targets find them.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from workbench.core.network.graph import Edge, Graph, Node
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
from workbench.gui.help.viewer import HelpViewer

app = QApplication(sys.argv[:1])
home = Path(sys.argv[1])
context = make_context(home)
window = make_window(context, home)
window.show()
document, design = context.document, window.design()
document.add_node("input")
told = {}


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
    told[key] = {"listed": listed, "found": found, "editors": editors, "help": page}
document.new()
window.close()
close_context(context)
print(json.dumps(told))
"""


@pytest.fixture
def grown(tree):
    """The program with the two files."""
    for name in ("gaussian_dropout.py", "random_sharpness.py"):
        tree.add(f"workbench/layers/{name}", (EXAMPLES / name).read_text())
    return tree


@pytest.fixture
def project(tmp_path):
    """A project file with both layers, and few small pictures in colour."""
    random = np.random.default_rng(1)
    labels = np.arange(64) % 2
    pictures = random.integers(0, 100, (64, 8, 8, 3), dtype=np.uint8)
    pictures[labels == 1] += 120
    data = tmp_path / "data.npz"
    np.savez(data, x_train=pictures, y_train=labels, x_test=pictures[:16], y_test=labels[:16])
    kinds = (
        ("input", {"shape": (8, 8, 3)}),
        ("random_sharpness", {}),
        ("rescaling", {}),
        ("flatten", {}),
        ("gaussian_dropout", {"rate": 0.5}),
        ("dense", {"units": 2, "activation": "softmax"}),
    )
    nodes = [Node(f"n{i}", kind, kind, params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(f"n{i}", f"n{i + 1}") for i in range(len(nodes) - 1)]
    path = tmp_path / "project.workbench"
    save_project(
        Project(
            graph=Graph.of(nodes, edges),
            recipe=TrainingRecipe().with_values(epochs=1, batch_size=16, steps_per_epoch=3),
            dataset=Choice("npz", {"path": str(data)}),
        ),
        path,
    )
    return path


def test_the_window_finds_it(grown, tmp_path):
    result = grown.python("-c", WINDOW, str(tmp_path))
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    for key, facts in told.items():
        assert facts["listed"]
        assert facts["found"] == [
            {"gaussian_dropout": "GaussianDropout"}.get(key, "RandomSharpness")
        ]
        assert facts["editors"]
        assert all(facts["editors"])
    assert "Multiplies values by random numbers" in told["gaussian_dropout"]["help"]
    assert "keras.layers.RandomSharpness" in told["random_sharpness"]["help"]


@pytest.mark.worker
def test_it_is_checked_trained_and_exported(grown, project, tmp_path):
    found = json.loads(grown.workbench("check", str(project), "--json"))
    assert found["ok"]
    assert found["problems"] == []
    run = tmp_path / "run"
    grown.workbench("train", str(project), "--run", str(run), "--json")
    grown.workbench("export", str(run), "keras", str(tmp_path / "model.keras"))
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        config = json.loads(archive.read("config.json"))
    classes = [layer["class_name"] for layer in config["config"]["layers"]]
    assert {"GaussianDropout", "RandomSharpness"} <= set(classes)
    grown.workbench("export", str(run), "python", str(tmp_path / "model.py"))
    script = (tmp_path / "model.py").read_text()
    assert "layers.GaussianDropout(0.5" in script
    assert "layers.RandomSharpness(0.9" in script


@pytest.mark.worker
def test_two_targets_differ_by_its_randomness_alone(grown, project):
    targets = "this_computer", "virtual:2"
    found = grown.python(
        "-m", "workbench", "agree", str(project), *targets, "--steps", "3", "--json"
    )
    verdict = json.loads(found.stdout.splitlines()[-1])
    assert verdict["verdict"] == "explained", found.stderr
    assert verdict["explained_by"] == ["gaussian_dropout"]
    found = grown.workbench(
        "agree", str(project), *targets, "--steps", "3", "--without-chance", "--json"
    )
    assert json.loads(found.splitlines()[-1])["verdict"] == "agree"
