"""TensorFlow.js: wrong files are caught, what cannot be written is refused, the table is Node's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.worker.exporting.conftest import colored, request, weights_of
from workbench.errors import SaveError
from workbench.exports import _node_runtime, run_exports
from workbench.exports._tensorflowjs import operations
from workbench.worker.requests.exporting import converter, export
from workbench.worker.requests.exporting.converter import ExportContext
from workbench.worker.requests.exporting.proof import PROBABILITIES, read_back
from workbench.worker.saved_models.keras_runner import load_keras_runner

pytestmark = pytest.mark.worker

KEY = "tensorflowjs"
PACKAGES = Path(sys.prefix) / "node" / "node_modules"

LIST_OPERATIONS = """
import fs from "node:fs";
const folder = process.argv[1];
const names = [];
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".js"))) {
  const text = fs.readFileSync(`${folder}/${file}`, "utf8");
  const { json } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  names.push(...json.map((operation) => operation.tfOpName));
}
console.log(JSON.stringify(names));
"""


def test_the_runtime_has_all_operations_that_are_written():
    folder = PACKAGES / "@tensorflow/tfjs-converter/dist/operations/op_list"
    command = ["node", "--input-type=module", "-e", LIST_OPERATIONS, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert operations.KNOWN - set(json.loads(done.stdout)) == set()


def test_swapped_weights_are_caught_and_their_layer_is_named(job, colors, tampered, tmp_path):
    kernel = weights_of(colors, "conv2d_6")

    def change(path):
        (shard,) = path.glob("*.bin")
        data = shard.read_bytes()
        assert kernel.tobytes() in data
        shard.write_bytes(
            data.replace(kernel.tobytes(), np.ascontiguousarray(kernel[::-1]).tobytes())
        )

    tampered(change)
    with pytest.raises(SaveError) as caught:
        export(job, request(colors, KEY, tmp_path / "model"))
    assert "conv2d_6" in caught.value.what
    assert not (tmp_path / "model").exists()


def test_a_damaged_model_is_caught(job, colors, tampered, tmp_path):
    def change(path):
        file = path / "model.json"
        file.write_text(file.read_text().replace('"MaxPool"', '"MinPool"'))

    tampered(change)
    with pytest.raises(SaveError, match="cannot read it") as caught:
        export(job, request(colors, KEY, tmp_path / "model"))
    assert "MinPool" in caught.value.received


def test_an_operation_that_is_not_known_is_refused_by_its_layer(colors, monkeypatch, tmp_path):
    monkeypatch.setattr(operations, "KNOWN", operations.KNOWN - {"MaxPool"})
    spec = run_exports()[KEY]
    context = ExportContext(load_keras_runner(str(colors.path)), spec, tmp_path)
    with pytest.raises(SaveError, match="max_pooling2d") as caught:
        converter._write(context, spec, tmp_path / "model")
    assert "TensorFlow.js has no operation MaxPool" in caught.value.received
    assert not (tmp_path / "model").exists()


def test_weights_of_several_files_are_read_back(colors, monkeypatch, tmp_path):
    monkeypatch.setattr(operations, "SHARD_BYTES", 500)
    for name in ("made", "scratch"):
        (tmp_path / name).mkdir()
    model, images = tmp_path / "made" / "web_model", tmp_path / "images.npy"
    order = {"model": str(colors.path), "format": KEY, "path": str(model), "memory": 0}
    converter._convert(converter.ConverterOrder(**order, scratch=str(tmp_path / "scratch")))
    names = {path.name for path in model.iterdir()}
    assert {"model.json", "group1-shard1of4.bin", "group1-shard4of4.bin"} < names
    pixels = colored(40, 4)[0]  # more than are read at a time
    np.save(images, pixels)
    found = read_back(run_exports()[KEY].reader, model, images, lambda: None)
    runner = load_keras_runner(str(colors.path))
    expected = runner.outputs(pixels)[0]
    np.testing.assert_allclose(found.answers[PROBABILITIES], expected, atol=1e-5)
    assert found.milliseconds > 0
    assert found.peak_bytes > 10_000_000


def test_missing_packages_are_named_with_the_line_that_installs_them(monkeypatch):
    monkeypatch.setattr(_node_runtime, "_folders", list)
    runtime = run_exports()[KEY].reader.runtime
    assert runtime.missing() == "no package @tensorflow/tfjs"
    assert runtime.install().startswith('npm install --prefix "')
    monkeypatch.setenv("PATH", "")
    assert runtime.missing() == "no program node"
    assert "nodejs" in runtime.install()
