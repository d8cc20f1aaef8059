"""The kept map of a run's images: read back as it was kept, and harmless where it is not."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from tests.runs.store.test_image_scores import IMAGES
from workbench.core.data_check.image_map import Features
from workbench.core.projects.project import Project
from workbench.errors import LinkFoundError, RunFolderError
from workbench.runs.export.tables import image_map_csv
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.store.image_features import (
    IMAGE_FEATURES_NAME,
    IMAGE_MAP_NAME,
    ImageMap,
    keep_image_map,
    load_features,
    load_image_map,
)
from workbench.runs.store.image_scores import joined_paths
from workbench.runs.store.weights_file import read_arrays, write_arrays

WEIGHTS = "ab" * 32
MAP = ImageMap(
    images=IMAGES,
    role=np.array([0, 0, 1, 2], np.int8),
    totals=np.array([5, 1, 1], np.int64),
    points=np.array([[0, 1], [2, 3], [4, 5], [-1.5, 0.25]], np.float32),
    shares=np.array([0.5, 0.25]),
    weights=WEIGHTS,
    created=1_700_000_000.5,
)
FEATURES = Features(np.eye(4, 3, dtype=np.float16))


@pytest.fixture
def run():
    return create_run(Project(), title="mapped")


def test_it_is_read_as_it_was_kept(run):
    keep_image_map(run, MAP, FEATURES)
    found = load_image_map(run, WEIGHTS, 2)
    for name in ("role", "totals", "shares"):
        np.testing.assert_array_equal(getattr(found, name), getattr(MAP, name))
    np.testing.assert_array_equal(found.points, MAP.points)
    assert found.images.file(1) == IMAGES.file(1)
    assert found.counts == [2, 1, 1]
    assert found.is_sample
    np.testing.assert_array_equal(load_features(run, found).rows, FEATURES.rows)
    assert load_features(run, found).width == 3


def test_directions_are_kept_with_the_features(run):
    basis = np.eye(7, 3, dtype=np.float16)
    keep_image_map(run, MAP, Features(FEATURES.rows, basis))
    found = load_features(run, MAP)
    np.testing.assert_array_equal(found.basis, basis)
    assert found.width == 7


def test_places_by_umap_of_earlier_versions_are_ignored(run):
    keep_image_map(run, MAP, FEATURES)
    path = run.path / IMAGE_MAP_NAME
    write_arrays(path, {**read_arrays(path), "umap": np.asarray(MAP.points * 2)})
    found = load_image_map(run, WEIGHTS, 2)
    np.testing.assert_array_equal(found.points, MAP.points)
    assert load_features(run, found) is not None


def test_those_of_other_weights_are_not_shown(run):
    assert load_image_map(run, WEIGHTS, 2) is None
    keep_image_map(run, MAP, FEATURES)
    assert load_image_map(run, "cd" * 32, 2) is None
    later = replace(MAP, created=MAP.created + 1)
    assert load_features(run, later) is None
    (run.path / IMAGE_FEATURES_NAME).unlink()
    assert load_features(run, MAP) is None


@pytest.mark.parametrize(
    "change",
    [
        {"role": np.array([0, 0, 1, 3], np.int8)},
        {"role": np.zeros(3, np.int8)},
        {"totals": np.array([1, 1, 1], np.int64)},
        {"pca": np.full((4, 2), np.nan, np.float32)},
        {"model": np.zeros(5, np.uint8)},
        {"actual": np.array([0, 0, 1, 2], np.int32)},
        {"shares": None},
        {"lengths": None},
    ],
)
def test_columns_that_cannot_be_are_refused(run, change):
    keep_image_map(run, MAP, FEATURES)
    path = run.path / IMAGE_MAP_NAME
    arrays = {**read_arrays(path), **change}
    write_arrays(path, {name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(RunFolderError, match="damaged"):
        load_image_map(run, WEIGHTS, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"features": np.zeros((3, 3), np.float16)},
        {"features": np.full((4, 3), np.inf, np.float16)},
        {"features": np.zeros((4, 3))},
        {"basis": np.zeros((5, 2), np.float16)},
        {"more": np.zeros(1)},
    ],
)
def test_features_that_cannot_be_are_refused(run, change):
    keep_image_map(run, MAP, FEATURES)
    path = run.path / IMAGE_FEATURES_NAME
    write_arrays(path, {**read_arrays(path), **change})
    with pytest.raises(RunFolderError, match="damaged"):
        load_features(run, MAP)


def test_damaged_bytes_are_refused(run):
    keep_image_map(run, MAP, FEATURES)
    for name in (IMAGE_MAP_NAME, IMAGE_FEATURES_NAME):
        path = run.path / name
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
    with pytest.raises(RunFolderError, match="damaged"):
        load_image_map(run, WEIGHTS, 2)
    with pytest.raises(RunFolderError, match="damaged"):
        load_features(run, MAP)


def test_nothing_is_written_behind_a_link(run, tmp_path):
    link = run.path.parent / "linked"
    run.path.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LinkFoundError):
        keep_image_map(RunFolder(link), MAP, FEATURES)
    assert not (tmp_path / "elsewhere" / IMAGE_MAP_NAME).exists()


def test_a_table_has_all_images():
    rows = list(csv.reader(io.StringIO(image_map_csv(MAP, ["cat", "dog"]))))
    assert rows[0] == ["file", "label", "predicted", "x", "y", "part"]
    assert rows[1] == ["/x/cat/1.png", "cat", "cat", "0", "1", "train"]
    assert rows[4] == ["/x/dog/4.png", "dog", "cat", "-1.5", "0.25", "test"]
    paths, lengths = joined_paths(())
    bare = replace(IMAGES, paths=paths, lengths=lengths)
    table = image_map_csv(replace(MAP, images=bare), ["cat", "dog"])
    assert list(csv.reader(io.StringIO(table)))[1][0] == "train:7"
