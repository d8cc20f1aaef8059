"""What a file or folder is that should classify and is neither a run nor exported by Workbench."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.errors import RunFolderError

_HEAD_BYTES = 64
_MOST_JSON_BYTES = 1 << 20
_ONNX_FIELDS = (0x12, 0x1A, 0x22, 0x3A, 0x42)
"""What follows the version in a file of ONNX: names of its producer, a graph, sets of operators."""

_HDF5 = "an HDF5 file, such as weights or a model of Keras (.h5)"
_LOAD = (
    "A run is made of it in a project with its network: in the window by File > Load weights, in a "
    "terminal by `workbench load PROJECT FILE`."
)
_SCRIPT = (
    "If Workbench exported it, run the classify.py of its ready folder, or classify with the run "
    "that it was exported from. Otherwise load the Keras file (.keras, .h5) that it was made of: "
    "in the window by File > Load weights, in a terminal by `workbench load PROJECT FILE`."
)


def refuse_foreign(path: Path) -> None:
    """Raises RunFolderError for a model of another kind, with what it is by its content, and what
    can be done with it; returns for anything else.
    """
    found = _kind(path)
    if found is None:
        return
    what, fix = found
    raise RunFolderError(
        "This is neither a run nor a model that Workbench can classify with.",
        where=str(path),
        received=what,
        expected="a run, or a .keras file that Workbench has exported",
        fix=fix,
    )


def _kind(path: Path) -> tuple[str, str] | None:
    """What it is, and what to do; None where it is not known."""
    try:
        return _folder_kind(path) if path.is_dir() else _file_kind(path)
    except OSError:  # the next to open it reports why it cannot be read
        return None


def _folder_kind(path: Path) -> tuple[str, str] | None:
    if (path / "saved_model.pb").is_file() or (path / "saved_model.pbtxt").is_file():
        return "a SavedModel folder of TensorFlow", _SCRIPT
    if (path / "model.json").is_file() and _is_tensorflowjs(path / "model.json"):
        return "a model of TensorFlow.js", _SCRIPT
    return None


def _file_kind(path: Path) -> tuple[str, str] | None:
    with open_foreign(path) as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"PK"):
        return _archive_kind(path)
    is_json = head.startswith(b"{")
    kinds = (
        (head.startswith(b"\x89HDF\r\n\x1a\n"), _HDF5, _LOAD),
        (head[4:8] == b"TFL3", "a TensorFlow Lite (LiteRT) model", _SCRIPT),
        (path.name == "saved_model.pb", "the graph of a SavedModel folder of TensorFlow", _SCRIPT),
        (is_json and _is_tensorflowjs(path), "a model of TensorFlow.js", _SCRIPT),
        (_is_onnx(head), "an ONNX model", _SCRIPT),
        (_is_pickle(head, path), "a pickled object of Python, such as a PyTorch model", _SCRIPT),
    )
    return next(((what, fix) for is_it, what, fix in kinds if is_it), None)


def _is_onnx(head: bytes) -> bool:
    is_version = head[:1] == b"\x08" and head[1:2] < b"\x20"
    return is_version and len(head) > 2 and head[2] in _ONNX_FIELDS


def _is_pickle(head: bytes, path: Path) -> bool:
    return head.startswith(b"\x80") and path.suffix.lower() in (".pt", ".pth", ".pkl")


def _archive_kind(path: Path) -> tuple[str, str] | None:
    try:
        with open_foreign(path) as file, zipfile.ZipFile(file) as archive:
            members = {*archive.namelist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return None
    kinds = (
        ("workbench.json" in members, "", ""),
        ("model.weights.h5" in members, "a model that Keras saved (.keras)", _LOAD),
        ("weights.weights.h5" in members, "the result of a notebook", _LOAD),
        (any(name.endswith("data.pkl") for name in members), "a model of PyTorch", _SCRIPT),
        (True, "a ZIP archive without a model of Keras", _SCRIPT),
    )
    what, fix = next((what, fix) for is_it, what, fix in kinds if is_it)
    return (what, fix) if what else None


def _is_tensorflowjs(path: Path) -> bool:
    try:
        plain = json.loads(read_foreign(path, _MOST_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and "modelTopology" in plain
