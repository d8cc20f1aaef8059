"""Each format that has answers: a ready folder, whose script classifies as Workbench does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.worker.conftest import chain
from tests.worker.exporting.conftest import NAMES, SHAPE, TEMPERATURE, make_run
from workbench.cli import _service
from workbench.cli import main as workbench
from workbench.exports import run_exports
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.export import Export, Exported
from workbench.runs.export.proof_table import read_exports

pytestmark = pytest.mark.worker

FORMATS = {key: spec for key, spec in run_exports().items() if spec.reader is not None}
PYTHON = {key for key, spec in FORMATS.items() if spec.reader.runtime.start == "python"}
LIGHT = {key for key, spec in FORMATS.items() if not spec.reader.needs_tensorflow}

WITHOUT_TENSORFLOW = """
import runpy, sys
sys.modules["tensorflow"] = sys.modules["keras"] = sys.modules["workbench"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def exported(service, run, key, path, *, is_ready_folder=False):
    """The figures of an export that has succeeded."""
    answers = service.answers(
        Export, model=str(run.path), format=key, path=str(path), is_ready_folder=is_ready_folder
    )
    proofs = [answer.proof for answer in answers if isinstance(answer, Exported)]
    assert proofs, answers[-1]
    return proofs[0]


def classified(service, run, photos):
    """(label, probability) of each file as Workbench has it."""
    answers = service.answers(Classify, model=str(run.path), pictures=photos)
    rows = [answer for answer in answers if isinstance(answer, Classified)]
    return [(row.scores[0].name, row.scores[0].probability) for row in rows]


def run_script(folder, photos, key):
    """(label, probability) of each file as the folder's script prints them."""
    runtime = FORMATS[key].reader.runtime
    if runtime.start == "node":  # as `npm install` has it
        (folder / "node_modules").symlink_to(Path(sys.prefix) / "node" / "node_modules")
    without = ["-c", WITHOUT_TENSORFLOW] if key in LIGHT else []
    start = [sys.executable, "-P", *without] if key in PYTHON else [runtime.start]
    command = [*start, str(folder / runtime.script), *photos]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = [line.removeprefix(f"{path}: ") for path, line in zip(photos, lines, strict=True)]
    return [(row.rpartition(" ")[0], float(row.rpartition(" ")[2])) for row in rows]


@pytest.mark.full_but("onnx", "c")
@pytest.mark.parametrize("key", FORMATS)
def test_the_script_of_a_ready_folder_classifies_as_workbench_does(
    key, colors, photos, service, tmp_path
):
    proof = exported(service, colors, key, tmp_path / "ready", is_ready_folder=True)
    assert (proof.checked_pictures, proof.is_noise, proof.reason) == (30, False, "")
    is_exact = FORMATS[key].reader.is_exact
    assert proof.max_difference < (1e-5 if is_exact else 0.1)
    names = {path.name for path in (tmp_path / "ready").iterdir()}
    spec = FORMATS[key]
    assert {*spec.reader.runtime.scripts, "README.md", "LICENSE.txt"} < names
    readme = (tmp_path / "ready" / "README.md").read_text("utf-8")
    described = set(re.findall(r"^- `(.+?)`: \w", readme, re.MULTILINE))
    assert described == names - {"README.md"}
    facts = tmp_path / "ready" / f"{spec.name}{spec.suffix}.json"
    known = json.loads(facts.read_text())
    is_inside = spec.reader.has_temperature
    temperature = None if is_inside else TEMPERATURE
    assert (known["class_names"], known["temperature"]) == (NAMES, temperature)
    readme = (tmp_path / "ready" / "README.md").read_text()
    assert ("the model divides its logits by 2.500" in readme) == is_inside
    ours = classified(service, colors, photos)
    theirs = run_script(tmp_path / "ready", photos, key)
    for (label, probability), (other, shown) in zip(ours, theirs, strict=True):
        assert shown == pytest.approx(probability, abs=2e-4 if is_exact else 0.05)
        assert other == label


@pytest.mark.full_but("litert_int8-softmax")
@pytest.mark.parametrize("end", ["softmax", "linear"])
@pytest.mark.parametrize("key", ["litert_int8", "c"])
def test_numbers_of_8_bits_are_calibrated_in_the_model(key, end, photos, service, tmp_path):
    """A power of them would have steps of a tenth and more at a temperature like this."""
    dense = ("dense", {"units": 3, "activation": end})
    graph = chain(("input", {"shape": SHAPE}), ("flatten", {}), ("rescaling", {}), dense)
    run = make_run(tmp_path, graph, temperature=12.0)
    proof = exported(service, run, key, tmp_path / "ready", is_ready_folder=True)
    assert proof.max_difference < 0.02
    ours = classified(service, run, photos)
    shown = [probability for _, probability in run_script(tmp_path / "ready", photos, key)]
    assert shown == pytest.approx([probability for _, probability in ours], abs=0.02)


@pytest.mark.full_but("pad")
@pytest.mark.parametrize("fit", ["stretch", "pad"])
def test_images_are_fitted_as_here(fit, photos, service, tmp_path):
    run = make_run(tmp_path, fit=fit)
    exported(service, run, "onnx", tmp_path / "ready", is_ready_folder=True)
    ours = classified(service, run, photos)
    theirs = run_script(tmp_path / "ready", photos, "onnx")
    assert [label for label, _ in theirs] == [label for label, _ in ours]
    shown = [probability for _, probability in theirs]
    assert shown == pytest.approx([probability for _, probability in ours], abs=2e-4)


def test_a_file_has_its_facts_beside_and_inside(colors, service, tmp_path):
    exported(service, colors, "litert", tmp_path / "m.tflite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tflite", "m.tflite.json"]
    with zipfile.ZipFile(tmp_path / "m.tflite") as archive:
        assert archive.read("labels.txt").decode().split() == NAMES
        inside = archive.read("workbench.json")
    assert inside == (tmp_path / "m.tflite.json").read_bytes()


READ_FILES = """
import json, sys
import tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
files = [open(path, "rb").read() for path in sys.argv[2:]]
answers = model.signatures["serving_files"](files=tf.constant(files))
print(json.dumps(answers["scores"].numpy().tolist()))
"""


@pytest.mark.full_but("crop")
@pytest.mark.parametrize("fit", ["crop", "pad"])
def test_a_saved_model_takes_image_files(fit, photos, service, tmp_path):
    run = make_run(tmp_path, fit=fit)
    exported(service, run, "savedmodel", tmp_path / "model")
    assert (tmp_path / "model" / "assets.extra" / "workbench.json").is_file()
    exported(service, run, "onnx", tmp_path / "ready", is_ready_folder=True)
    command = [sys.executable, "-c", READ_FILES, str(tmp_path / "model"), photos[0], photos[2]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    script = f"""
import json, runpy, sys
program = runpy.run_path({str(tmp_path / "ready" / "classify.py")!r})
from pathlib import Path
model = program["open_model"](Path({str(tmp_path / "ready" / "model.onnx")!r}))
rows = [program["probabilities"](model, program["load_image"](p)[None])[0] for p in sys.argv[1:]]
print(json.dumps([row.tolist() for row in rows]))
"""
    command = [sys.executable, "-c", script, photos[0], photos[2]]
    ours = subprocess.run(command, capture_output=True, text=True, check=True)
    for theirs, row in zip(json.loads(done.stdout), json.loads(ours.stdout), strict=True):
        assert theirs == pytest.approx(row, abs=2e-3)  # a pixel may be rounded otherwise


def test_the_command_shows_what_was_proved(colors, service, tmp_path, monkeypatch, capsys):
    exported(service, colors, "onnx", tmp_path / "m.onnx")
    assert read_exports(colors)["onnx"].path == str(tmp_path / "m.onnx")
    monkeypatch.setattr(_service, "ServiceCall", lambda: service.call)
    assert workbench(["export", str(colors.path), "--list"]) == 0
    out = capsys.readouterr().out
    assert "onnx" in out
    assert "agrees" in out
    assert workbench(["export", str(colors.path), "--list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (row,) = (row for row in rows if row["format"] == "onnx")
    expected = {"path", "bytes", "checked_pictures", "max_difference", "top1_agreement"}
    assert {*expected, "milliseconds", "accuracy", "peak_bytes"} < row.keys()
    assert workbench(["export", str(colors.path)]) == 2
