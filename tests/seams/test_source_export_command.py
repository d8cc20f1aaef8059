"""One file adds a data set source, an export format or a command, used end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.worker.conftest import chain
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.core.training.recipe import TrainingRecipe

EXAMPLES = Path(__file__).with_name("examples")

WINDOW = """
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


@pytest.fixture
def grown(tree):
    """The program with the three files."""
    for folder, name, example in (
        ("datasets", "checkerboard", "checkerboard"),
        ("exports", "numpy_weights", "numpy_weights"),
        ("cli", "layers", "layers_command"),
    ):
        text = (EXAMPLES / f"{example}.py").read_text()
        tree.add(f"workbench/{folder}/{name}.py", text)
    return tree


def test_the_command_is_there(grown):
    lines = grown.workbench("layers", "--json").splitlines()
    assert {"key": "conv2d", "title": "Conv2D", "category": "convolution"} in map(json.loads, lines)
    assert "list the layer types" in grown.workbench("--help")


def test_the_window_offers_source_and_format(grown, tmp_path):
    result = grown.python("-c", WINDOW, str(tmp_path))
    assert result.stdout.split() == ["True", "True"], result.stderr


@pytest.mark.worker
def test_the_source_trains_and_the_format_is_written(grown, tmp_path):
    project = tmp_path / "boards.workbench"
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("conv2d", {"filters": 4}),
        ("flatten", {}),
        ("dense", {"units": 2, "activation": "softmax"}),
    )
    recipe = TrainingRecipe().with_values(epochs=1, batch_size=16, steps_per_epoch=3)
    save_project(Project(graph=graph, recipe=recipe, dataset=Choice("checkerboard")), project)
    found = json.loads(grown.workbench("data", "check", "checkerboard", "--json"))
    assert [entry["class"] for entry in found["classes"]] == ["fine", "coarse"]
    run = tmp_path / "run"
    grown.workbench("train", str(project), "--run", str(run), "--json")
    out = tmp_path / "weights.npz"
    grown.workbench("export", str(run), "numpy_weights", str(out))
    with np.load(out) as arrays:
        shapes = {name: arrays[name].shape for name in arrays.files}
    assert any(name.endswith("kernel") and len(shape) == 4 for name, shape in shapes.items())
