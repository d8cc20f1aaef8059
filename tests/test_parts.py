"""What of Workbench is installed apart."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.errors import MissingPartError, NeedsTensorFlowError
from workbench.inference.onnx_runner import load_onnx_runner
from workbench.parts import (
    CLASSIFY,
    CUDA,
    HEIC,
    KERAS2,
    PARTS,
    TRAIN,
    WEBCAM,
    WINDOW,
    Part,
    install_line,
    installed_version,
    part_to_install,
)
from workbench.runs.start import can_be_ready

ROOT = Path(__file__).resolve().parents[1]
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = TABLE["project"]["optional-dependencies"]
OF_TESTS = {re.split(r"[<>=!~]", line)[0] for line in TABLE["dependency-groups"]["dev"]}


@pytest.fixture
def without(monkeypatch):
    """A function that makes the modules of parts impossible to import."""

    def block(*parts):
        for module in (module for part in parts for module in part.modules):
            monkeypatch.setitem(sys.modules, module, None)

    return block


def test_the_parts_are_the_extras():
    assert {part.key for part in (*PARTS, CUDA)} == EXTRAS.keys() - {"full"}
    (full,) = EXTRAS["full"]
    assert set(full.removeprefix("model-workbench[").removesuffix("]").split(",")) == {
        part.key for part in (CLASSIFY, TRAIN, WINDOW)
    }


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.key)
def test_an_extra_installs_what_is_looked_for(part):
    names = {re.split(r"[<>=!~]", line)[0] for line in EXTRAS[part.key]}
    assert names <= set(part.packages)
    assert list(part.requirements) == EXTRAS[part.key]
    if names <= OF_TESTS | {
        "tensorflow",
        "keras",
        "onnxruntime",
        "PySide6-Essentials",
        "pyqtgraph",
    }:
        part.require()  # the environment of the tests has them


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.key)
def test_a_missing_part_is_an_error_with_the_line_that_installs_it(part, without):
    without(part)
    assert not part.is_installed
    with pytest.raises(MissingPartError, match="is not installed") as caught:
        part.require()
    assert caught.value.fix == f"Install it with `{part.install_command}`."
    assert part_to_install(caught.value.fix) == part
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
    part = Part(
        key="x",
        library="X",
        purpose="x",
        modules=("left_over",),
        packages=("x",),
        requirements=("x",),
    )
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


def test_a_line_names_this_python_and_packages_of_the_index():
    assert HEIC.install_command == f'{sys.executable} -m pip install "pillow-heif>=0.22"'
    for part in (*PARTS, CUDA):
        assert "model-workbench" not in part.install_command


def test_a_part_that_goes_with_another_package_follows_its_version():
    series = ".".join(installed_version("tensorflow").split(".")[:2])
    assert KERAS2.wanted == (f"tf_keras=={series}.*",)
    assert WEBCAM.wanted == (f"PySide6-Addons=={installed_version('PySide6-Essentials')}",)


def test_words_of_another_computer_offer_nothing_here():
    assert (
        part_to_install('Install it with `/there/python -m pip install "pillow-heif>=0.22"`.')
        is None
    )
    assert part_to_install("") is None


@pytest.mark.parametrize("has_uv", [False, True])
def test_an_environment_without_pip_is_given_a_line_that_works(monkeypatch, has_uv):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "pip" else find(name, *rest),
    )
    monkeypatch.setattr("shutil.which", lambda _name: "/usr/bin/uv" if has_uv else None)
    line = install_line(["a>=1", "b"])
    if has_uv:
        assert line == f'/usr/bin/uv pip install --python {sys.executable} "a>=1" b'
    else:
        own = f"{sys.executable} -m"
        assert line == f'{own} ensurepip && {own} pip install "a>=1" b'


def test_a_path_with_spaces_is_quoted(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/home/me/My Files/python")
    assert install_line(["a"]) == '"/home/me/My Files/python" -m pip install a'
    monkeypatch.setattr(sys, "executable", "/home/$me/python")
    assert install_line(["a"]).startswith("'/home/$me/python'")


def test_a_python_of_the_system_is_told_to_install_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    assert "--break" not in install_line(["a"])
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert install_line(["a"]).endswith("pip install --break-system-packages a")
