"""What is kept of a run's exports, and the table of it."""

from __future__ import annotations

import msgspec
import pytest

from workbench.core.projects.project import Project
from workbench.errors import RunFolderError
from workbench.protocol.export import ExportProof
from workbench.runs.export.proof_table import (
    COLUMNS,
    EXPORTS_NAME,
    difference_text,
    keep_export,
    proof_rows,
    read_exports,
)
from workbench.runs.folder import create_run

GOOD = ExportProof(
    format="onnx",
    path="a.onnx",
    bytes=7_800,
    checked_pictures=500,
    max_difference=2.4e-7,
    top1_agreement=1.0,
    accuracy=0.811,
    model_accuracy=0.8145,
    milliseconds=0.5,
    peak_bytes=64_000_000,
    created=1.0,
)
BAD = msgspec.structs.replace(
    GOOD,
    format="litert",
    max_difference=None,
    is_noise=True,
    accuracy=None,
    reason="no answer",
    layer="conv2d_1",
)


@pytest.fixture
def run(tmp_path):
    return create_run(Project(), home=tmp_path)


def test_the_newest_export_of_each_format_is_kept(run):
    assert read_exports(run) == {}
    newer = msgspec.structs.replace(GOOD, bytes=9)
    for proof in (GOOD, BAD, newer):
        keep_export(run, proof)
    assert read_exports(run) == {"onnx": newer, "litert": BAD}


@pytest.mark.parametrize(
    "change", [{"bytes": -1}, {"top1_agreement": 2.0}, {"format": "other"}, {"created": 1e300}]
)
def test_figures_that_cannot_be_are_refused_and_replaced(run, change):
    wrong = msgspec.to_builtins(msgspec.structs.replace(GOOD, **change))
    (run.path / EXPORTS_NAME).write_bytes(msgspec.json.encode({"exports": {"onnx": wrong}}))
    with pytest.raises(RunFolderError, match="damaged"):
        read_exports(run)
    keep_export(run, GOOD)
    assert read_exports(run) == {"onnx": GOOD}


def test_the_table_marks_what_disagrees():
    good, bad = proof_rows([GOOD, BAD], {"onnx": "ONNX"})
    assert len(COLUMNS) == len(good.__dataclass_fields__) - 1
    assert (good.format, good.size, good.accuracy) == ("ONNX", "7.8 kB", "81.1%")
    assert not good.is_wrong
    assert (bad.format, bad.images, bad.difference, bad.accuracy) == (
        "litert",
        "500 (noise)",
        "–",
        "–",
    )
    assert bad.is_wrong
    assert bad.result == "no answer, from the layer “conv2d_1” on"


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (None, "–"),
        (0.0, "0"),
        (7.7e-6, "< 0.001%"),
        (6.9e-5, "0.0069%"),
        (7e-4, "0.07%"),
        (0.0172, "1.7%"),
        (0.27, "27%"),
        (0.999, "100%"),
        (1.0, "100%"),
    ],
)
def test_a_difference_is_in_percentage_points(difference, words):
    assert difference_text(difference) == words


def test_accuracies_on_fewer_images_say_so():
    few = msgspec.structs.replace(GOOD, format="tensorflowjs", checked_pictures=50)
    many, of_50, noise = proof_rows([GOOD, few, BAD], {})
    assert (many.accuracy, many.model_accuracy) == ("81.1%", "81.5%")
    assert (of_50.accuracy, of_50.model_accuracy) == ("81.1% of 50", "81.5% of 50")
    assert noise.accuracy == "–"
