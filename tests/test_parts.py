"""What of Workbench is installed apart."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.errors import MissingPartError, NeedsTensorFlowError
from workbench.inference.load import load_onnx_runner
from workbench.parts import CLASSIFY, PARTS, TRAIN, WINDOW, Part
from workbench.runs.ready import can_be_ready

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.fixture
def without(monkeypatch):
    """A function that makes the modules of parts impossible to import."""

    def block(*parts):
        for module in (module for part in parts for module in part.modules):
            monkeypatch.setitem(sys.modules, module, None)

    return block


def test_the_parts_are_the_extras():
    assert {part.key for part in PARTS} == EXTRAS.keys() - {"full"}
    (full,) = EXTRAS["full"]
    assert set(full.removeprefix("model-workbench[").removesuffix("]").split(",")) == {
        part.key for part in (CLASSIFY, TRAIN, WINDOW)
    }


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.key)
def test_an_extra_installs_what_is_looked_for(part):
    names = {re.split(r"[<>=!~]", line)[0] for line in EXTRAS[part.key]}
    assert names <= set(part.packages)
    part.require()  # the environment of the tests has all of them


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.key)
def test_a_missing_part_is_an_error_with_the_line_that_installs_it(part, without):
    without(part)
    assert not part.is_installed
    with pytest.raises(MissingPartError, match="is not installed") as caught:
        part.require()
    assert caught.value.fix == f'Install it with `pip install "model-workbench[{part.key}]"`.'
    assert caught.value.where == sys.executable
    assert part.modules[0] in caught.value.received
    assert part.key in caught.value.expected


def test_one_module_of_several_is_not_enough(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(MissingPartError) as caught:
        TRAIN.require()
    assert caught.value.received == "no module keras"


def test_a_folder_without_code_is_no_module(tmp_path, monkeypatch):
    (tmp_path / "left_over" / "__pycache__").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    part = Part(key="x", library="X", purpose="x", modules=("left_over",), packages=("x",))
    assert not part.is_installed
    (tmp_path / "left_over" / "__init__.py").touch()
    assert part.is_installed


def test_what_classifies_is_the_missing_part_only_where_nothing_else_can(tmp_path, without):
    without(CLASSIFY)
    with pytest.raises(NeedsTensorFlowError):
        load_onnx_runner(tmp_path)
    without(TRAIN)
    with pytest.raises(MissingPartError, match="ONNX Runtime"):
        load_onnx_runner(tmp_path)


def test_a_file_of_keras_needs_tensorflow(tmp_path, without):
    (tmp_path / "model.keras").touch()
    without(TRAIN)
    with pytest.raises(MissingPartError, match="TensorFlow") as caught:
        load_onnx_runner(tmp_path / "model.keras")
    assert "Weights of Keras" in caught.value.expected


def test_no_trainer_is_kept_ready_without_tensorflow(without):
    assert can_be_ready(Project())
    without(TRAIN)
    assert not can_be_ready(Project())
