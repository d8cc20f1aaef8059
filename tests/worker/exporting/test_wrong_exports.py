"""An export that is wrong, or cannot be made, is caught: nothing is written, what was there stays."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.worker.conftest import chain
from tests.worker.exporting.conftest import SHAPE, make_run, request
from tests.worker.exporting.swapped import swap_weights
from workbench.errors import DatasetError, InputError, SaveError
from workbench.parts import LITERT
from workbench.runs.export.proof_table import read_exports
from workbench.worker.requests.exporting import export, handler

pytestmark = pytest.mark.worker


def test_swapped_weights_are_caught_and_their_layer_is_named(job, colors, tampered, tmp_path):
    target = tmp_path / "model.onnx"
    target.write_bytes(b"old")
    tampered(swap_weights(colors, "conv2d_6"))
    with pytest.raises(SaveError) as caught:
        export(job, request(colors, "onnx", target))
    assert "conv2d_6" in caught.value.what
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "session"]
    assert list(job.folder.iterdir()) == []
    kept = read_exports(colors)["onnx"]
    assert kept.reason
    assert kept.reason in caught.value.what
    assert kept.layer == "conv2d_6"


def test_damaged_bytes_are_caught(job, colors, tampered, tmp_path):
    def change(path):
        data = path.read_bytes()
        path.write_bytes(data[:100] + bytes(len(data) - 100))

    tampered(change)
    target = tmp_path / "ready"
    with pytest.raises(SaveError):
        export(job, request(colors, "litert", target, is_ready_folder=True))
    assert not target.exists()


def test_another_order_of_classes_in_the_script_is_not_an_agreement(
    job, colors, tampered, tmp_path
):
    def change(path):
        script = path.with_name("classify.py")
        text = script.read_text()
        assert "return scores" in text
        script.write_text(text.replace("return scores", "return scores[:, ::-1]"))

    tampered(change)
    with pytest.raises(SaveError, match="differs"):
        export(job, request(colors, "onnx", tmp_path / "m.onnx"))


def test_a_converter_that_refuses_names_the_layer(job, tmp_path):
    graph = chain(
        ("input", {"shape": SHAPE}),
        ("resizing", {"height": 9, "width": 9, "interpolation": "lanczos3"}),
        ("flatten", {}),
        ("dense", {"units": 3}),
    )
    run = make_run(tmp_path, graph)
    with pytest.raises(SaveError, match="resizing_1") as caught:
        export(job, request(run, "litert", tmp_path / "m.tflite"))
    assert caught.value.received
    assert not (tmp_path / "m.tflite").exists()


def test_c_names_the_operator_and_the_activation_at_fault(job, tmp_path):
    graph = chain(
        ("input", {"shape": SHAPE}),
        ("conv2d", {"filters": 2, "kernel_size": (3, 3), "activation": "log_softmax"}),
        ("flatten", {}),
        ("dense", {"units": 3}),
    )
    run = make_run(tmp_path, graph)
    with pytest.raises(SaveError) as caught:
        export(job, request(run, "c", tmp_path / "m.h"))
    assert caught.value.what.endswith("“conv2d_1”: no C code for the operator LOG_SOFTMAX.")
    assert caught.value.fix.endswith("or replace that layer or its activation “log_softmax”.")


@pytest.mark.full_but("place1-False", "place1-True")
@pytest.mark.parametrize("is_ready_folder", [False, True])
@pytest.mark.parametrize("place", ["missing/model.onnx", f"{'n' * 300}.onnx"])
def test_a_place_that_cannot_be_written_is_refused_before_the_conversion(
    job, colors, tmp_path, place, is_ready_folder
):
    target = tmp_path / place
    with pytest.raises(SaveError, match="was not saved") as caught:
        export(job, request(colors, "onnx", target, is_ready_folder=is_ready_folder))
    assert "unchanged" not in caught.value.what  # nothing was there
    assert job.answers == []
    assert [path.name for path in tmp_path.iterdir()] == ["session"]


def test_an_export_that_cannot_be_put_in_its_place_is_none(job, colors, tampered, tmp_path):
    export(job, request(colors, "keras", tmp_path / "model.keras"))
    kept = read_exports(colors)["keras"]
    folder = tmp_path / "folder"
    folder.mkdir()
    tampered(lambda _path: folder.rmdir())
    with pytest.raises(SaveError, match="the folder does not exist"):
        export(job, request(colors, "keras", folder / "model.keras"))
    assert read_exports(colors)["keras"] == kept


def test_a_converter_with_too_little_memory_ends_alone(job, colors, monkeypatch, tmp_path):
    monkeypatch.setattr(handler, "memory_to_give", lambda: 100_000_000)
    with pytest.raises(SaveError, match=r"converter|memory"):
        export(job, request(colors, "litert", tmp_path / "m.tflite"))
    assert not (tmp_path / "m.tflite").exists()


def test_a_runtime_that_is_not_installed_is_named_with_its_line(job, colors, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    with pytest.raises(InputError, match="ai-edge-litert") as caught:
        export(job, request(colors, "litert", tmp_path / "m.tflite"))
    assert LITERT.install_command in caught.value.fix


def test_without_test_images_noise_is_compared_and_int8_refused(job, tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "colors.npz").unlink()
    export(job, request(run, "onnx", tmp_path / "m.onnx"))
    kept = read_exports(run)["onnx"]
    assert (kept.is_noise, kept.accuracy, kept.reason) == (True, None, "")
    with pytest.raises(DatasetError, match="training images"):
        export(job, request(run, "litert_int8", tmp_path / "m.tflite"))


def test_a_folder_of_other_files_is_left_alone(job, colors, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    for more in ({"is_ready_folder": True}, {}):
        with pytest.raises(SaveError, match="other files"):
            export(job, request(colors, "savedmodel", folder, **more))
    assert (folder / "letter.txt").read_text() == "dear"
    target = tmp_path / "ready"
    export(job, request(colors, "onnx", target, is_ready_folder=True))
    (target / "model.onnx").write_bytes(b"old")
    export(job, request(colors, "onnx", target, is_ready_folder=True))
    assert len((target / "model.onnx").read_bytes()) > 1000
    assert json.loads((target / "model.onnx.json").read_text())["format"] == "workbench-export"


def test_a_wrong_c_header_is_caught_and_its_layer_is_named(job, colors, tampered, tmp_path):
    def change(path):
        text = path.read_text()
        lines = text.splitlines()
        bias = re.findall(r"model_weights model_weights_\d+ = \{\w+, (\w+)", text)[1]
        at = next(n for n, line in enumerate(lines) if f" {bias}[" in line) + 1
        lines[at] = re.sub(r"-?\d+", "90000", lines[at])
        path.write_text("\n".join(lines))

    tampered(change)
    with pytest.raises(SaveError) as caught:
        export(job, request(colors, "c", tmp_path / "m.h"))
    assert "conv2d_6" in caught.value.what
    assert sorted(path.name for path in tmp_path.iterdir()) == ["session"]


def test_a_folder_of_other_files_is_left_as_it_is_and_an_export_is_replaced(job, colors, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "classify.py").write_text("the user's own")
    with pytest.raises(SaveError, match="other files"):
        export(job, request(colors, "litert", folder, is_ready_folder=True))
    assert [path.name for path in folder.iterdir()] == ["classify.py"]
    (folder / "classify.py").unlink()
    export(job, request(colors, "litert", folder, is_ready_folder=True))
    export(job, request(colors, "savedmodel", folder))
    assert not (folder / "classify.py").exists()
    export(job, request(colors, "litert", folder, is_ready_folder=True))
    assert not (folder / "saved_model.pb").exists()
