"""What a run keeps of its calibration: read back as it was, and harmless where it is not."""

from __future__ import annotations

import io
import os
import zipfile

import msgspec
import numpy as np
import pytest

from workbench.core.calibration import LEAST_REFERENCES, references
from workbench.core.storage.own_file import take_lock
from workbench.errors import LinkFoundError, RunFolderError, WeightsError
from workbench.protocol.trained.calibration import Calibration, DistanceMark
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import CARD_NAME, ModelCard, decode_card, write_card
from workbench.runs.store.image_features import (
    MAX_FILE_BYTES,
    keep_calibration,
    keep_thresholds,
    read_references,
    references_path,
    write_references,
)
from workbench.runs.store.weights_file import write_arrays

CARD = ModelCard(class_names=["cat", "dog"], input_shape=[8, 8, 3], fit="crop", graph={})
ROWS = references(np.random.default_rng(1).normal(size=(80, 6)).astype(np.float32))
FOUND = Calibration(
    temperature=1.5,
    count=100,
    loss_before=0.5,
    loss_after=0.4,
    error_before=0.1,
    error_after=0.02,
    distance=DistanceMark(checksum="0" * 64, limit=0.4),
)


@pytest.fixture
def run(run):
    write_card(run.path, CARD)
    return run


def test_what_is_kept_is_read_back(run):
    keep_calibration(run, FOUND, ROWS)
    found = run.model_card().calibration
    assert msgspec.structs.replace(found, distance=None) == msgspec.structs.replace(
        FOUND, distance=None
    )
    assert found.limit == 0.4
    assert np.array_equal(read_references(references_path(run), found.distance.checksum), ROWS)


def test_thresholds_change_nothing_else(run):
    keep_calibration(run, FOUND, ROWS)
    before = run.model_card()
    found = keep_thresholds(run, least_probability=0.7, checks_distance=False)
    assert found == run.model_card().calibration
    assert (found.least_probability, found.limit) == (0.7, None)
    back = keep_thresholds(run, least_probability=None, checks_distance=True)
    assert run.model_card() == before
    assert back == before.calibration


def test_a_run_of_an_earlier_version_can_have_a_threshold(run):
    assert run.model_card().calibration is None
    found = keep_thresholds(run, least_probability=0.9, checks_distance=True)
    assert (found.temperature, found.distance) == (None, None)
    assert run.model_card().calibration.least_probability == 0.9


def test_thresholds_change_one_at_a_time(run):
    keep_calibration(run, FOUND, ROWS)
    keep_thresholds(run, least_probability=0.705)
    found = keep_thresholds(run, checks_distance=False)
    assert (found.least_probability, found.limit) == (0.705, None)
    assert keep_thresholds(run, least_probability=None).limit is None


@pytest.mark.parametrize("rows", [ROWS, None], ids=["with references", "without"])
def test_a_new_calibration_keeps_the_thresholds_that_were_set_meanwhile(run, rows):
    keep_calibration(run, FOUND, ROWS)
    keep_thresholds(run, least_probability=0.7, checks_distance=False)
    other = FOUND if rows is not None else msgspec.structs.replace(FOUND, distance=None)
    found = keep_calibration(run, other, rows)
    assert found == run.model_card().calibration
    assert (found.least_probability, found.limit) == (0.7, None)
    # Also through a time without a distance.
    back = keep_calibration(run, FOUND, ROWS)
    assert not back.distance.is_on


def test_a_run_that_is_training_keeps_its_card(run):
    lock = take_lock(run.lock_path)
    with pytest.raises(RunFolderError, match="training"):
        keep_thresholds(run, least_probability=0.5, checks_distance=True)
    os.close(lock)
    assert run.model_card().calibration is None


def test_nothing_is_written_behind_a_link(run):
    link = run.path.parent / "link"
    link.symlink_to(run.path)
    for write in (
        lambda: keep_calibration(RunFolder(link), FOUND, ROWS),
        lambda: keep_thresholds(RunFolder(link), least_probability=0.5, checks_distance=True),
    ):
        with pytest.raises(LinkFoundError):
            write()
    assert not references_path(run).exists()


HOSTILE_CARDS = {
    "temperature 0": {"temperature": 0},
    "temperature below 0": {"temperature": -1.5},
    "an endless temperature": {"temperature": 1e300},
    "a temperature that is no number": {"temperature": "hot"},
    "threshold above 1": {"least_probability": 1.5},
    "threshold below 0": {"least_probability": -0.1},
    "words without end": {"reason": "x" * 10_000},
    "a checksum that is a path": {"distance": {"checksum": "../../x", "limit": 0.4}},
    "an endless limit": {"distance": {"checksum": "0" * 64, "limit": 1e300}},
    "a count below 0": {"count": -1},
    "an error above 1": {"error_after": 2.0},
    "a list": [1, 2],
}


@pytest.mark.parametrize("value", HOSTILE_CARDS.values(), ids=HOSTILE_CARDS)
def test_a_card_with_an_impossible_calibration_is_refused(value):
    plain = {**msgspec.to_builtins(CARD), "calibration": value}
    with pytest.raises(RunFolderError, match="damaged"):
        decode_card(msgspec.json.encode(plain), CARD_NAME)


def test_a_card_without_a_calibration_is_that_of_an_earlier_version():
    plain = msgspec.to_builtins(CARD)
    del plain["calibration"]
    assert decode_card(msgspec.json.encode(plain), CARD_NAME) == CARD


def npz(**arrays):
    def write(path):
        return write_arrays(path, arrays)

    return write


def text(content):
    def write(path):
        path.write_bytes(content)
        return ""

    return write


def pickled(path):
    data = io.BytesIO()
    np.save(data, np.array([{"a": 1}] * 60, dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("references.npy", data.getvalue())
    return ""


def compressed(path):
    checksum = write_references(path, ROWS)
    with zipfile.ZipFile(path) as archive:
        data = archive.read("references.npy")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("references.npy", data)
    return checksum


def flipped(path):
    checksum = write_references(path, ROWS)
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(bytes(data))
    return checksum


def other_checksum(path):
    write_references(path, ROWS)
    return "f" * 64


HALF = np.float16
HOSTILE_FILES = {
    "empty": text(b""),
    "no archive": text(b"not a zip file" * 100),
    "a pickle": pickled,
    "compressed": compressed,
    "a flipped bit": flipped,
    "of other weights": other_checksum,
    "no references": npz(other=ROWS),
    "more than references": npz(references=ROWS, more=ROWS),
    "float64": npz(references=ROWS.astype(np.float64)),
    "one row": npz(references=ROWS[:1]),
    "too few rows": npz(references=ROWS[: LEAST_REFERENCES - 1]),
    "three axes": npz(references=ROWS.reshape(80, 3, 2)),
    "no axis": npz(references=HALF(1)),
    "not finite": npz(references=np.full((80, 6), np.nan, HALF)),
    "infinite": npz(references=np.full((80, 6), np.inf, HALF)),
    "long rows": npz(references=ROWS * HALF(9)),
    "too large": npz(references=np.zeros((MAX_FILE_BYTES // 8, 6), HALF)),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("is_inside", [False, True], ids=["file", "archive member"])
@pytest.mark.parametrize("write", HOSTILE_FILES.values(), ids=HOSTILE_FILES)
def test_references_from_elsewhere_are_refused(tmp_path, write, is_inside):
    path = tmp_path / "references.npz"
    checksum = write(path)
    data = path.read_bytes() if is_inside else None
    with pytest.raises(WeightsError):
        read_references(path, checksum, data)


def test_missing_references_are_named(tmp_path):
    with pytest.raises(WeightsError, match="missing"):
        read_references(tmp_path / "references.npz", "0" * 64)
