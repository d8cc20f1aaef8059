"""What README and license of a ready folder say of this model, and of no other."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests.worker.exporting.conftest import make_run
from tests.worker.exporting.test_formats import exported
from workbench.datasets import all_datasets
from workbench.exports import run_exports
from workbench.protocol.trained.calibration import Calibration
from workbench.runs.model_card import read_card, write_card

pytestmark = pytest.mark.worker


def texts(service, run, key, folder):
    exported(service, run, key, folder, is_ready_folder=True)
    return [(folder / name).read_text("utf-8") for name in ("README.md", "LICENSE.txt")]


def test_unknown_is_promised_only_where_a_least_probability_is_known(colors, service, tmp_path):
    readme, _ = texts(service, colors, "onnx", tmp_path / "with")
    assert "is “unknown”" in readme
    run = make_run(tmp_path)
    card = read_card(run.path)
    calibration = Calibration(temperature=2.0, least_probability=None)
    write_card(run.path, msgspec.structs.replace(card, calibration=calibration))
    readme, _ = texts(service, run, "onnx", tmp_path / "without")
    assert "unknown" not in readme
    assert "Every image gets one of these classes" in readme


def test_the_license_of_images_of_ones_own_is_not_known(colors, service, tmp_path):
    _, license_text = texts(service, colors, "onnx", tmp_path / "own")
    assert "(Colors), whose license is not known to Workbench" in license_text
    spec = all_datasets()["fashion_mnist"]
    run = make_run(tmp_path)
    dataset = {"key": spec.key, "params": {}}
    card = msgspec.structs.replace(read_card(run.path), dataset=dataset, dataset_title=spec.title)
    write_card(run.path, card)
    _, license_text = texts(service, run, "onnx", tmp_path / "published")
    assert f"{spec.title} (license: {spec.license})." in license_text
    assert "not known" not in license_text


def test_the_readme_of_integers_has_their_scale_and_zero_point(colors, service, tmp_path):
    readme, _ = texts(service, colors, "litert_int8", tmp_path / "ready")
    from ai_edge_litert.interpreter import Interpreter

    model = Interpreter(model_path=str(tmp_path / "ready" / "model.tflite"))
    words = " ".join(readme.split())
    for (each,) in (model.get_input_details(), model.get_output_details()):
        assert each["dtype"] is np.uint8
        scale, zero = each["quantization"]
        assert f"(scale {scale:g}, zero point {zero})" in words
    assert "integers of 8 bits (uint8, uint8)" in words
    float_readme, _ = texts(service, colors, "litert", tmp_path / "float")
    assert "zero point" not in float_readme


def test_no_summary_depends_on_where_it_is_read():
    assert [key for key, spec in run_exports().items() if " here" in spec.summary] == []
