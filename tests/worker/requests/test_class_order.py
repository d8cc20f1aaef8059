"""The order of the classes of weights from elsewhere: confirmed by images, told, or asked."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.runs.folder import RunFolder

pytestmark = pytest.mark.worker

LEVELS = {"1": 20, "2": 90, "10": 160, "11": 230}
KERAS = ["1", "10", "11", "2"]
NATURAL = ["1", "2", "10", "11"]


def data_of(folder: Path, levels: dict[str, int], count: int = 12) -> Path:
    """One folder a class, with grey pictures of its level and a little noise."""
    random = np.random.default_rng(3)
    for name, level in levels.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            noise = random.integers(-15, 16, (4, 6))
            Image.fromarray((level + noise).astype(np.uint8)).save(folder / name / f"{number}.png")
    return folder


def project_of(data: Path, units: int = 4, **more) -> Project:
    nodes = [
        Node("n1", "input", "image", {"shape": (4, 6, 1)}),
        Node("n2", "flatten", "flat", {}),
        Node("n3", "dense", "last", {"units": units}),
    ]
    return Project(
        title="Levels",
        graph=Graph.of(nodes, [Edge("n1", "n2"), Edge("n2", "n3")]),
        dataset=Choice("folder", {"path": str(data)}),
        **more,
    )


def weights_of(path: Path, levels: list[int]) -> Path:
    """Weights under which the nearest of the levels decides: output n is the n-th of them."""
    level = np.array(levels, np.float32) / 255
    kernel = np.repeat(2 * level[None] / 24 / 255, 24, axis=0)
    with h5py.File(path, "w") as file:
        file["layers/dense/vars/0"] = kernel.astype(np.float32)
        file["layers/dense/vars/1"] = -(level**2)
    return path


class Loads:
    """The command `load`, with the project and weights of a test."""

    def __init__(self, folder: Path, capsys, run) -> None:
        self.folder, self._capsys, self._run, self._number = folder, capsys, run, 0

    def __call__(self, project: Project, order: list[str], levels: dict[str, int], *more: str):
        """Exit code, what was printed as JSON lines, and the class names of the run."""
        self._number += 1
        path, run = self.folder / "p.workbench", self.folder / f"run{self._number}"
        save_project(project, path)
        weights = weights_of(self.folder / "w.weights.h5", [levels[name] for name in order])
        code = self._run(["load", str(path), str(weights), "--run", str(run), "--json", *more])
        lines = [json.loads(line) for line in self._capsys.readouterr().out.splitlines()]
        names = RunFolder(run).model_card().class_names if code == 0 else None
        return code, lines, names


@pytest.fixture
def load(tmp_path, capsys, run_command):
    return Loads(tmp_path, capsys, run_command)


@pytest.mark.parametrize(("order", "key"), [(KERAS, "code_point"), (NATURAL, "data")])
def test_the_order_that_the_images_confirm_is_taken_and_said(load, tmp_path, order, key):
    project = project_of(data_of(tmp_path / "data", LEVELS))
    code, (line,), names = load(project, order, LEVELS)
    assert (code, names) == (0, order)
    found = line["class_order"]
    assert (found["chosen"], found["images"]) == (key, 48)
    assert {each["order"]: each["accuracy"] for each in found["orders"]} == {
        key: 1.0,
        ({"data", "code_point"} - {key}).pop(): 0.25,
    }
    assert f"The classes are in the order {', '.join(order)}: 100.0% correct" in line["text"]
    assert "25.0% correct" in line["text"]


def test_the_matrix_is_right_and_the_images_are_not_said_to_be_trained_on(
    load, tmp_path, capsys, run_command
):
    load(project_of(data_of(tmp_path / "data", LEVELS)), KERAS, LEVELS)
    assert run_command(["evaluate", str(tmp_path / "run1"), "--part", "train"]) == 0
    printed = capsys.readouterr()
    assert "Training set, 40 images" in printed.out
    assert "100.0%" in printed.out
    assert "trained elsewhere" in printed.out
    assert "seen in training" not in printed.out
    assert "was trained on these images" not in printed.out


@pytest.mark.parametrize("case", ["few images", "no data", "weights at chance"])
def test_without_evidence_the_order_is_asked_and_nothing_is_made(load, tmp_path, case):
    data = data_of(tmp_path / "data", LEVELS, count=1 if case == "few images" else 12)
    levels = dict.fromkeys(LEVELS, 100) if case == "weights at chance" else LEVELS
    project = project_of(data)
    if case == "no data":
        for picture in data.rglob("*.png"):
            picture.write_bytes(b"not a picture")
    code, (found, line), names = load(project, KERAS, levels)
    assert (code, names) == (3, None)
    assert "order of the classes" in line["error"]["what"]
    assert "--class-order" in line["error"]["fix"]
    orders = {each["order"]: each["classes"] for each in found["class_order"]["orders"]}
    assert orders == {"data": NATURAL, "code_point": KERAS}
    assert "code_point (1, 10, 11, 2)" in line["error"]["received"]
    assert not (tmp_path / "run1").exists()
    assert load(project, KERAS, levels, "--class-order", "code_point")[2] == KERAS
    assert load(project, KERAS, levels, "--class-order", "natural")[2] == NATURAL
    assert load(project, KERAS, levels, "--classes", "1,10,11,2")[2] == KERAS


def test_what_the_user_says_is_taken_against_the_images_and_the_figures_are_said(load, tmp_path):
    project = project_of(data_of(tmp_path / "data", LEVELS))
    code, (line,), names = load(project, KERAS, LEVELS, "--class-order", "data")
    assert (code, names) == (0, NATURAL)
    assert "in the order 1, 2, 10, 11: 25.0% correct" in line["text"]


def test_any_other_order_is_offered_and_not_taken(load, tmp_path):
    levels = {"ant": 20, "bee": 90, "cat": 160, "dog": 230}
    project = project_of(data_of(tmp_path / "data", levels))
    order = ["dog", "ant", "cat", "bee"]
    code, (found, line), _ = load(project, order, levels)
    assert code == 3
    assert "best_fit (dog, ant, cat, bee): 100.0% correct" in line["error"]["received"]
    assert [each["order"] for each in found["class_order"]["orders"]] == ["data", "best_fit"]
    assert load(project, order, levels, "--class-order", "best_fit")[2] == order
    (tmp_path / "names.txt").write_text("dog\nant\ncat\nbee\n")
    assert load(project, order, levels, "--classes", str(tmp_path / "names.txt"))[2] == order


def test_capital_letters_and_renamed_and_merged_classes(load, tmp_path):
    levels = {"Apple": 20, "banana": 90, "Cherry": 160, "date": 230}
    data = data_of(tmp_path / "data", levels)
    assert load(project_of(data), ["Apple", "Cherry", "banana", "date"], levels)[2] == [
        "Apple", "Cherry", "banana", "date",
    ]  # fmt: skip
    edits = DataEdits(classes={"Apple": "zucchini"})
    renamed = {"zucchini": 20, "Cherry": 160, "banana": 90, "date": 230}
    names = list(renamed)  # as Keras sorts the folders that the pictures are in
    assert load(project_of(data, edits=edits), names, renamed)[2] == names
    merged = DataEdits(classes={"Apple": "fruit", "banana": "fruit"})
    lines = load(project_of(data, 3, edits=merged), ["fruit", "Cherry", "date"],
                 {"fruit": 55, "Cherry": 160, "date": 230})  # fmt: skip
    assert lines[2] == ["fruit", "Cherry", "date"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("--class-order", "random"), ("--classes", "a,b"), ("--classes", "a,a,b,c")],
)
def test_an_order_that_cannot_be_is_refused(load, tmp_path, option, value):
    project = project_of(data_of(tmp_path / "data", LEVELS))
    code, lines, _ = load(project, KERAS, LEVELS, option, value)
    assert code == 2
    assert "error" in lines[-1]


FLOWERS = {"daisy": 20, "roses": 120, "tulips": 220}


@pytest.mark.parametrize(
    ("told", "near"),
    [
        ("tulips,daisy,rosen", "“roses” in place of “rosen”"),
        ("tulips,daisy,lily", "as the project has them"),
        ("tulips,daisy,Daisy", ""),
    ],
)
def test_a_told_name_that_is_no_class_of_the_images_is_refused(load, tmp_path, told, near):
    project = project_of(data_of(tmp_path / "data", FLOWERS), 3)
    code, (*_, line), _ = load(project, list(FLOWERS), FLOWERS, "--classes", told)
    assert code == 2
    assert near in line["error"]["fix"]
    assert not near or line["error"]["expected"] == "daisy, roses, tulips"
    assert not (tmp_path / "run1").exists()


def test_told_names_are_those_of_the_images_in_any_writing(load, tmp_path):
    project = project_of(data_of(tmp_path / "data", FLOWERS), 3)
    code, (line,), names = load(project, list(FLOWERS), FLOWERS, "--classes", "Tulips,daisy, ROSES")
    assert (code, names) == (0, ["tulips", "daisy", "roses"])
    assert "“Tulips” is taken as “tulips”" in line["text"]


def test_told_names_are_taken_where_the_images_name_no_such_classes(load, tmp_path):
    data = data_of(tmp_path / "data", FLOWERS)
    more = {**FLOWERS, "violet": 250}
    code, (line,), names = load(
        project_of(data, 4), list(more), more, "--classes", "tulips,daisy,roses,violet"
    )
    assert (code, names) == (0, ["tulips", "daisy", "roses", "violet"])
    assert "No classes of the project's images: “violet”." in line["text"]
    numbered = project_of(data_of(tmp_path / "numbered", LEVELS))
    assert load(numbered, NATURAL, LEVELS, "--classes", "a,b,c,d")[2] == ["a", "b", "c", "d"]
    assert load(numbered, NATURAL, LEVELS, "--classes", "1,2,10,12")[0] == 2
