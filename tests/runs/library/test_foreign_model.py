"""Models of other programs where a run or an exported .keras is expected."""

from __future__ import annotations

import pickle
import zipfile

import h5py
import numpy as np
import pytest

from tests.worker.requests.brightness import brightness_project
from workbench.cli import main
from workbench.errors import RunFolderError
from workbench.layers import all_layers
from workbench.onnx.model import onnx_model
from workbench.runs.library.index import find_model, refuse_foreign


def _hdf5(path):
    with h5py.File(path, "w") as file:
        file["x"] = 1


def _onnx(path):
    graph = brightness_project(path).graph
    arrays = {"dense/kernel": np.zeros((24, 2), "f4"), "dense/bias": np.zeros(2, "f4")}
    path.write_bytes(onnx_model(graph, all_layers(), arrays))


def _zipped(*names):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"x")

    return write


def _tflite_with_a_card(path):
    _zipped("workbench.json")(path)
    path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(56) + path.read_bytes())


def _folder(name, data=b"x"):
    def write(path):
        path.mkdir()
        (path / name).write_bytes(data)

    return write


KINDS = {
    "w.h5": (_hdf5, "HDF5", "workbench load"),
    "m.keras": (_zipped("model.weights.h5", "config.json"), "Keras", "workbench load"),
    "m.zip": (_zipped("weights.weights.h5"), "notebook", "workbench load"),
    "m.tflite": (_tflite_with_a_card, "TensorFlow Lite", "classify.py"),
    "m.onnx": (_onnx, "ONNX", "classify.py"),
    "m.pt": (_zipped("m/data.pkl"), "PyTorch", "classify.py"),
    "m.pth": (lambda path: path.write_bytes(pickle.dumps([1])), "pickled", "classify.py"),
    "x.zip": (_zipped("a.png"), "ZIP", "classify.py"),
    "saved": (_folder("saved_model.pb"), "SavedModel", "classify.py"),
    "saved_model.pb": (lambda path: path.write_bytes(b"\x08\x01"), "SavedModel", "classify.py"),
    "js": (_folder("model.json", b'{"modelTopology": {}}'), "TensorFlow.js", "classify.py"),
    "model.json": (lambda path: path.write_bytes(b'{"modelTopology": 1}'), ".js", "classify.py"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_model_of_another_kind_is_named_with_the_way_out(tmp_path, name):
    write, what, fix = KINDS[name]
    write(tmp_path / name)
    with pytest.raises(RunFolderError) as caught:
        find_model(tmp_path / name)
    assert what in caught.value.received
    assert fix in caught.value.fix
    assert caught.value.where == str(tmp_path / name)


@pytest.mark.parametrize("data", [b"", b"PK", b"{", b'{"a": 1}', b"text", b"\x08\x01", b"[" * 90])
def test_what_is_not_known_is_left_to_others(tmp_path, data):
    path = tmp_path / "model.keras"
    path.write_bytes(data)
    refuse_foreign(path)
    refuse_foreign(tmp_path / "nothing")
    refuse_foreign(tmp_path)
    _zipped("workbench.json", "model.weights.h5")(path)
    refuse_foreign(path)


def test_a_large_json_is_not_read(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b'{"modelTopology": "' + b"x" * (1 << 20) + b'"}')
    refuse_foreign(path)


def test_the_command_says_what_the_file_is(tmp_path, capsys):
    _hdf5(tmp_path / "w.h5")
    assert main(["classify", str(tmp_path / "w.h5"), "picture.png"]) == 3
    assert "HDF5" in capsys.readouterr().err
