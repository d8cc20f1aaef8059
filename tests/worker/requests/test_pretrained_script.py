"""A project with pretrained layers as a script: it starts with the same weights, frozen alike."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.worker.requests.test_untrained_script import plain_python
from workbench.backbones import all_backbones, insert_backbone
from workbench.cli import main
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import learning_from
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import read_project, save_project
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

pytestmark = [pytest.mark.worker, pytest.mark.timeout(600)]

SHAPE = (64, 64, 3)
KEY = next(iter(all_backbones()))

LOOK = """
import importlib, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
script = importlib.import_module("net")
model = script.build_model()
model.load_weights(pathlib.Path(sys.argv[1]) / "net.pretrained.weights.h5")
kernel = next(layer for layer in model.layers if layer.get_weights()).get_weights()[0]
print(json.dumps([
    float(kernel.sum()), [layer.name for layer in model.layers if layer.trainable_weights]
]))
assert "workbench" not in sys.modules
"""


@pytest.fixture
def project(tmp_path):
    start = Graph.of([Node("n1", "input", "image", {"shape": SHAPE})])
    found = insert_backbone(start, all_backbones()[KEY], "n1", SHAPE)
    head = Node("head", "dense", "head", {"units": 2, "activation": "softmax"})
    graph = found.graph.with_node(head).with_edge(Edge(found.last, "head"))
    folder = tmp_path / "images"
    random = np.random.default_rng(1)
    for name, level in (("bright", 200), ("dark", 40)):
        (folder / name).mkdir(parents=True)
        for number in range(12):
            pixels = random.integers(level - 30, level + 30, SHAPE, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    recipe = TrainingRecipe(epochs=2, batch_size=8)
    path = tmp_path / "p.workbench"
    save_project(Project(graph, recipe, Choice("folder", {"path": str(folder)})), path)
    return path


@pytest.mark.full
def test_the_script_starts_with_the_pretrained_weights_and_leaves_them(project, tmp_path):
    script, weights = tmp_path / "net.py", tmp_path / "net.pretrained.weights.h5"
    assert main(["export", str(project), "python", str(script)]) == 0
    assert weights.name in script.read_text()
    total, learning = json.loads(plain_python("-c", LOOK, tmp_path, folder=tmp_path))
    from workbench.worker.model.build import pretrained_arrays

    assert total == pytest.approx(float(pretrained_arrays(KEY)["conv1"]["kernel"].sum()), rel=1e-5)
    assert learning == ["dense"]
    trained = tmp_path / "trained.weights.h5"
    images = tmp_path / "net.images.npz"
    plain_python(script, "train", images, trained, folder=tmp_path)
    image = next((tmp_path / "images" / "dark").iterdir())
    assert "dark" in plain_python(script, "classify", trained, image, folder=tmp_path)


def test_the_script_fine_tunes_what_is_marked_for_it(project, tmp_path):
    edited = read_project(project)
    first = next(key for key, node in edited.graph.nodes.items() if node.name == "conv_pw_12")
    graph = learning_from(edited.graph, first, "fine_tuning", all_layers())
    recipe = edited.recipe.with_values(fine_tuning_after=1)
    save_project(replace(edited, graph=graph, recipe=recipe), project)
    script, trained = tmp_path / "net.py", tmp_path / "trained.weights.h5"
    assert main(["export", str(project), "python", str(script)]) == 0
    text = script.read_text()
    tuned = [node for node in graph.nodes.values() if node.training == "fine_tuning"]
    with_weights = [node for node in tuned if node.pretrained]
    assert text.count('name="tuned_') == len(with_weights) > 1
    assert "Training has two phases" in text
    plain_python(script, "train", tmp_path / "net.images.npz", trained, folder=tmp_path)
    assert trained.is_file()
