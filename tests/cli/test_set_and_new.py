"""`workbench set` and `workbench new --from`: project files without the window."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from workbench.cli import main
from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import read_project
from workbench.layers import all_layers
from workbench.starter import DataFacts, start_for_data


@pytest.fixture
def project(tmp_path, capsys):
    path = tmp_path / "fashion.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    capsys.readouterr()
    return path


def test_set_changes_recipe_data_target_and_layers(project):
    values = ["epochs=7", "schedule=cosine", "data=folder:pictures", "data.fit=crop"]
    values += ["target=virtual:4", "title=Mine", "conv2d.kernel_size=5x3", "nesterov=yes"]
    assert main(["set", str(project), *values]) == 0
    changed = read_project(project)
    assert (changed.recipe.epochs, changed.recipe.schedule, changed.title) == (7, "cosine", "Mine")
    assert changed.recipe.nesterov is True
    assert changed.dataset.key == "folder"
    assert changed.dataset.params["fit"] == "crop"
    assert changed.dataset.params["path"].endswith("/pictures")
    assert changed.target.params["replicas"] == 4
    node = next(node for node in changed.graph.nodes.values() if node.name == "conv2d")
    assert tuple(node.params["kernel_size"]) == (5, 3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["epochs=0"], ["from 1 to 100,000"]),
        (["epochs=1.5", "colour=red"], ["a whole number", "colour"]),
        (["conv2d.units=3"], ["no setting", "filters"]),
        (["conv9.filters=3"], ["no layer", "conv2d"]),
        (["data=tulips"], ["There is no such data set"]),
        (["target=cray"], ["There is no such target"]),
        (["epochs"], ["KEY=VALUE"]),
    ],
)
def test_a_wrong_value_leaves_the_file_as_it_was(project, capsys, values, words):
    before = project.read_bytes()
    assert main(["set", str(project), *values]) == 2
    text = capsys.readouterr().err
    assert all(word in text for word in words)
    assert project.read_bytes() == before


def test_train_takes_the_same_settings(project, capsys):
    assert main(["train", str(project), "--set", "conv2d.filters=0"]) == 2
    assert "from 1" in capsys.readouterr().err


def _trainable(path):
    project = read_project(path)
    return analyse(project.graph, all_layers(), recipe=project.recipe).is_trainable


def test_new_from_a_folder_fits_its_classes(tmp_path, capsys):
    for name in ("cat", "dog"):
        (tmp_path / "own" / name).mkdir(parents=True)
        for number in range(12):
            picture = Image.fromarray(np.full((90, 90, 3), number, np.uint8))
            picture.save(tmp_path / "own" / name / f"{number}.png")
    file = tmp_path / "own.workbench"
    assert main(["new", "--from", f"folder:{tmp_path / 'own'}", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["project"], answer["backbone"]) == (str(file), "efficientnet_lite0")
    assert "2 classes, 24 image files (not opened yet)" in answer["reason"]
    units = [node.params.get("units") for node in read_project(file).graph.nodes.values()]
    assert [each for each in units if each][-1] == 2
    assert _trainable(file)
    source = f"folder:{tmp_path / 'own'}"
    assert (
        main(["new", "--from", source, str(file), "--backbone", "none", "--force", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["template"] == "flowers_gap"
    assert all(node.training == "always" for node in read_project(file).graph.nodes.values())
    assert main(["new", "--from", source, str(file), "--backbone", "mobilenet", "--force"]) == 0
    assert "MobileNet (alpha 0.25)" in {n.group for n in read_project(file).graph.nodes.values()}
    assert main(["new", "--from", source, str(file), "--backbone", "alexnet", "--force"]) == 2


def test_new_from_a_published_data_set_takes_its_template(tmp_path, capsys):
    file = tmp_path / "c.workbench"
    assert main(["new", "--from", "cifar10", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["template"] == "cifar10_convnet"
    assert main(["new", "--from", "cifar10", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["new", str(file)]) == 2
    assert main(["new", "lenet5", "--from", "cifar10", str(file)]) == 2


@pytest.mark.worker
def test_new_from_an_npz_has_its_shape_and_classes(tmp_path, capsys):
    data, file = tmp_path / "small.npz", tmp_path / "small.workbench"
    pictures = np.zeros((40, 12, 10, 1), np.uint8)
    labels = np.arange(40) % 4
    np.savez(data, x_train=pictures, y_train=labels, x_test=pictures, y_test=labels)
    assert main(["new", "--from", f"npz:{data}", str(file), "--json"]) == 0
    assert "12 × 10 × 1, 4 classes" in json.loads(capsys.readouterr().out)["reason"]
    graph = read_project(file).graph
    assert tuple(graph.nodes[graph.order[0]].params["shape"]) == (12, 10, 1)
    assert _trainable(file)


def test_own_data_is_never_validated_on_its_test_images():
    for side in (28, 32, 192):
        facts = DataFacts(Choice("npz", {"path": "x.npz"}), num_classes=4, shape=(side, side, 3))
        project = start_for_data(facts).project
        assert project.recipe.validation == "split"


def test_other_images_that_lose_their_color_are_told_by_set_and_by_check(project, capsys):
    """The Input of 28 x 28 x 1 is kept: it is the user's, and the way to mend it is named."""
    assert main(["set", str(project), "data=flowers1000"]) == 0
    told = capsys.readouterr().err
    assert "warning: Images will be resized." in told
    assert "Their color is dropped." in told
    main(["check", str(project)])
    found = capsys.readouterr().err
    assert "warning: Images will be resized." in found
    assert "fix: Set Input to 224 × 224 × 3" in found
    assert main(["set", str(project), "data=flowers1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_own_photos_of_differing_sizes_are_measured_before_they_are_read(tmp_path, project, capsys):
    for number, side in enumerate((300, 340)):
        folder = tmp_path / "own" / f"class{number}"
        folder.mkdir(parents=True)
        Image.new("RGB", (side, 260), (9, 99, 200)).save(folder / "a.png")
    assert main(["set", str(project), f"data=folder:{tmp_path / 'own'}"]) == 0
    told = capsys.readouterr().err
    assert "differ in size, typically 260 × 320 × 3" in told
    assert main(["set", str(project), "input.shape=192"]) == 0
    (start,) = [n for n in read_project(project).graph.nodes.values() if n.kind == "input"]
    assert tuple(start.params["shape"]) == (192, 192, 3)


@pytest.mark.parametrize(
    ("found", "shape"),
    [
        ({"short_side": 260}, (224, 224, 3)),
        ({"short_side": 40}, (32, 32, 3)),
        ({"short_side": 40, "num_channels": 1}, (32, 32, 1)),
        ({"shape": (28, 28, 1), "short_side": 28, "num_channels": 1}, (28, 28, 1)),
    ],
)
def test_a_start_without_a_pretrained_network_has_the_shape_of_the_images(found, shape):
    facts = DataFacts(Choice("zip", {"path": "own.zip"}), 5, 100, **found)
    project = start_for_data(facts, None).project
    (start,) = [n for n in project.graph.nodes.values() if n.kind == "input"]
    assert tuple(start.params["shape"]) == shape
