"""What a model answered for each image: read back as it was kept, and harmless where it is not."""

from __future__ import annotations

import os
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from workbench.errors import LinkFoundError, RunFolderError
from workbench.protocol.describe_data import ImagePlace
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.runs.store import image_scores
from workbench.runs.store.evaluation import (
    KeptEvaluation,
    keep_evaluation,
    read_evaluation,
    read_image_scores,
)
from workbench.runs.store.image_scores import IMAGE_SCORES_NAME, ScoredImages, joined_paths, why_not
from workbench.runs.store.weights_file import read_arrays, write_arrays

CLASSES = ["cat", "dog"]
FILES = ("/x/cat/1.png", "/x/cät/\udcff.png", "/x/dog/a\nb.jpg", "/x/dog/4.png")
PATHS, LENGTHS = joined_paths(FILES)
IMAGES = ScoredImages(
    part=np.array([0, 0, 2, 2], np.int8),
    index=np.array([7, 1, 0, 3], np.int32),
    actual=np.array([0, 0, 1, 1], np.int32),
    predicted=np.array([0, 1, 1, 0], np.int32),
    rank=np.array([0, 1, 0, 1], np.int32),
    probability=np.array([0.9, 0.75, 1, 0.625], np.float32),
    loss=np.array([0.1, 1.4, 0, np.inf], np.float32),
    content=np.arange(64, dtype=np.uint8).reshape(4, 16),
    paths=PATHS,
    lengths=LENGTHS,
    brightness=np.array([0, 12.5, 200, 255], np.float32),
    sizes=np.array([[640, 480], [0, 0], [32, 32], [2**30, 1]], np.int32),
)
RESULT = Evaluation(
    id=3,
    loss=0.5,
    accuracy=0.5,
    classes=CLASSES,
    per_class=[
        ClassScore(name="cat", precision=0.5, recall=0.5, f1=0.5, count=2),
        ClassScore(name="dog", precision=0.5, recall=0.5, f1=0.5, count=2),
    ],
    confusion=[[1, 1], [1, 1]],
)
KEPT = KeptEvaluation(result=RESULT, checksum="abc", created=1_700_000_000.25)


def test_they_are_read_as_they_were_kept(run):
    keep_evaluation(run, KEPT, IMAGES)
    read = read_image_scores(run, read_evaluation(run, CLASSES))
    names = "part", "index", "actual", "predicted", "rank", "probability", "loss", "content"
    for name in (*names, "brightness", "sizes"):
        np.testing.assert_array_equal(getattr(read, name), getattr(IMAGES, name))
    assert [read.file(number) for number in range(len(read))] == list(FILES)
    assert read.place(0) == ImagePlace("train", 7)
    assert read.place(3) == ImagePlace("test", 3)
    assert read.content_of(1) == bytes(range(16, 32)).hex()
    assert read.worst_first.tolist() == [3, 1, 0, 2]
    assert read.is_right.tolist() == [True, False, True, False]


def test_images_in_no_files_have_no_paths(run):
    paths, lengths = joined_paths(())
    keep_evaluation(run, KEPT, replace(IMAGES, paths=paths, lengths=lengths))
    assert read_image_scores(run, KEPT).file(2) == ""


def test_those_of_another_evaluation_are_not_shown(run):
    keep_evaluation(run, KEPT, IMAGES)
    newer = msgspec.structs.replace(KEPT, created=KEPT.created + 1)
    assert read_image_scores(run, newer) is None
    keep_evaluation(run, newer)
    assert read_image_scores(run, newer) is None
    assert not (run.path / IMAGE_SCORES_NAME).exists()


def test_those_that_are_not_of_the_matrix_are_refused(run):
    keep_evaluation(run, KEPT, IMAGES)
    result = msgspec.structs.replace(RESULT, confusion=[[2, 0], [1, 1]])
    with pytest.raises(RunFolderError, match="damaged"):
        read_image_scores(run, msgspec.structs.replace(KEPT, result=result))


@pytest.mark.parametrize(
    "changed",
    [
        {"actual": np.array([0, 0, 1, 2], np.int32)},
        {"actual": np.array([0, 0, 1], np.int32)},
        {"predicted": np.array([0, -1, 1, 0], np.int32)},
        {"predicted": np.array([0, 1, 1, 0], np.int64)},
        {"part": np.array([0, 0, 2, 3], np.int8)},
        {"part": np.array([0, 0, 2, -1], np.int8)},
        {"index": np.array([7, 1, -1, 3], np.int32)},
        {"rank": np.array([0, 1, 0, 2], np.int32)},
        {"probability": np.array([0.9, 0.75, 1, 7], np.float32)},
        {"probability": np.array([0.9, np.nan, 1, 0.5], np.float32)},
        {"loss": np.array([0.1, np.nan, 0, 0], np.float32)},
        {"content": np.zeros((4, 15), np.uint8)},
        {"lengths": np.array([1, 2, 3, 4], np.int32)},
        {"lengths": np.array([-1, len(PATHS) + 1, 0, 0], np.int32)},
        {"lengths": LENGTHS[:2], "paths": PATHS[: LENGTHS[:2].sum()]},
        {"created": np.zeros(3)},
        {"more": np.zeros(3)},
        {"brightness": np.zeros(3, np.float32)},
        {"brightness": np.array([0, 1, 2, np.nan], np.float32)},
        {"sizes": np.full((4, 2), -1, np.int32)},
        {"sizes": np.zeros((4, 3), np.int32)},
    ],
)
def test_columns_that_cannot_be_of_this_model_are_refused(run, changed):
    keep_evaluation(run, KEPT, IMAGES)
    path = run.path / IMAGE_SCORES_NAME
    write_arrays(path, read_arrays(path) | changed)
    with pytest.raises(RunFolderError, match="damaged") as caught:
        read_image_scores(run, KEPT)
    assert caught.value.fix == "Evaluate again."


def test_what_earlier_versions_did_not_measure_is_not_there(run):
    keep_evaluation(run, KEPT, IMAGES)
    path = run.path / IMAGE_SCORES_NAME
    arrays = read_arrays(path)
    del arrays["brightness"], arrays["sizes"]
    write_arrays(path, arrays)
    read = read_image_scores(run, KEPT)
    assert len(read.brightness) == len(read.sizes) == 0
    np.testing.assert_array_equal(read.rank, IMAGES.rank)
    assert [bool(why_not(read, by, {})) for by in ("size", "brightness", "folder")] == [1, 1, 0]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\0" * 1_000])
def test_a_damaged_file_is_refused(run, content):
    keep_evaluation(run, KEPT, IMAGES)
    (run.path / IMAGE_SCORES_NAME).write_bytes(content)
    with pytest.raises(RunFolderError, match="damaged"):
        read_image_scores(run, KEPT)


def test_a_file_that_is_too_large_is_neither_read_nor_written(run, monkeypatch):
    keep_evaluation(run, KEPT, IMAGES)
    small = replace(image_scores._SCORES, max_bytes=500)
    monkeypatch.setattr(image_scores, "_SCORES", small)
    with pytest.raises(RunFolderError, match="damaged"):
        read_image_scores(run, KEPT)
    with pytest.raises(RunFolderError, match="too many"):
        keep_evaluation(run, KEPT, IMAGES)


def test_a_pipe_of_that_name_is_not_waited_for(run):
    os.mkfifo(run.path / IMAGE_SCORES_NAME)
    assert read_image_scores(run, KEPT) is None


def test_they_are_not_written_through_a_link(run, tmp_path):
    (tmp_path / "mine").write_text("precious")
    (run.path / IMAGE_SCORES_NAME).symlink_to(tmp_path / "mine")
    with pytest.raises(LinkFoundError):
        keep_evaluation(run, KEPT, IMAGES)
    assert (tmp_path / "mine").read_text() == "precious"
