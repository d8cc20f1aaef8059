"""The bundled flower photos: small, licensed, complete, without duplicates, with a fixed test part."""

from __future__ import annotations

import collections
import runpy
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.assets import data_path
from workbench.datasets import all_datasets
from workbench.datasets._cached_files import bundled_files
from workbench.errors import DatasetError
from workbench.pictures.prepare import prepare_part
from workbench.pictures.thumbnails import decode_picture

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
SPEC = all_datasets()["flowers1000"]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "packaging" / "make_flowers.py"))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return SPEC.load(PlainContext(tmp_path_factory.mktemp("cache")), {})


def _credits():
    """Photographer by CLASS/NAME.jpg, as the license that is shipped names them."""
    lines = data_path("flowers1000_LICENSE.txt").read_text(encoding="utf-8").splitlines()
    found = [line.partition(" by ") for line in lines if ".jpg by " in line]
    return {name: words.rpartition(" - ")[0] for name, _, words in found}


def _names(part):
    return ["/".join(Path(path).parts[-2:]) for path in part.paths]


def test_it_has_as_many_photos_of_each_class_as_is_published(loaded):
    assert loaded.class_names == SPEC.class_names
    assert (len(loaded.train), len(loaded.test)) == (SPEC.num_train, SPEC.num_test) == (800, 200)
    assert np.bincount(loaded.train.labels).tolist() == [160] * 5
    assert np.bincount(loaded.test.labels).tolist() == [40] * 5
    for part in (loaded.train, loaded.test):
        labels = [loaded.class_names[label] for label in part.labels]
        assert labels == [Path(path).parent.name for path in part.paths]


def test_every_photo_decodes_and_holds_a_crop_of_the_networks_size(loaded, tmp_path):
    for part in (loaded.train, loaded.test):
        prepared = prepare_part(
            part, "train", shape=(192, 192, 3), fit="crop", ctx=PlainContext(tmp_path)
        )
        assert len(prepared) == len(part)
    assert min(decode_picture(Path(path)).shape[:2] for path in loaded.test.paths) >= (192, 192)


def test_it_is_small_and_names_every_photographer(loaded):
    assert data_path("flowers1000.zip").stat().st_size <= 15_000_000
    with zipfile.ZipFile(data_path("flowers1000.zip")) as file:
        words = file.read("LICENSE.txt").decode()
    assert words == data_path("flowers1000_LICENSE.txt").read_text(encoding="utf-8")
    assert "https://creativecommons.org/licenses/by/2.0/" in words
    assert sorted(_credits()) == sorted(_names(loaded.train) + _names(loaded.test))
    assert all(_credits().values())
    assert "CC BY 2.0" in SPEC.license


def test_no_photographer_has_photos_of_a_class_in_both_parts(loaded):
    by = _credits()
    parts = [
        {(name.split("/")[0], by[name]) for name in _names(p)} for p in (loaded.train, loaded.test)
    ]
    assert not set.intersection(*parts)


def test_no_photo_is_there_twice_or_nearly_so(loaded, script):
    hashes = script["perceptual_hashes"]
    bits = np.stack([hashes(Path(path)) for path in (*loaded.train.paths, *loaded.test.paths)])
    plain, mirrored = bits[:, 0].astype(np.float32), bits[:, 1].astype(np.float32)
    for each in (plain, mirrored):
        distances = each @ (1 - plain).T + (1 - each) @ plain.T
        np.fill_diagonal(distances, 64)
        assert distances.min() > script["LARGEST_DISTANCE"]


@pytest.mark.skipif(not (SHARED / "flowers").is_dir(), reason="../shared/data/flowers is not there")
def test_the_file_is_what_the_script_makes_of_the_source(script, tmp_path):
    script["write"](script["choose"](script["read_photos"](SHARED), SHARED), tmp_path)
    for name in ("flowers1000.zip", "flowers1000_LICENSE.txt"):
        assert (tmp_path / name).read_bytes() == data_path(name).read_bytes()


def test_the_second_time_nothing_is_unpacked(tmp_path):
    first = SPEC.load(PlainContext(tmp_path), {})
    ctx = PlainContext(tmp_path)
    again = SPEC.load(ctx, {})
    assert again.train.paths == first.train.paths
    assert ctx.reported == []


@pytest.mark.parametrize("spoil", ["remove", "cut"])
def test_what_is_missing_in_the_cache_is_unpacked_again(tmp_path, spoil):
    path = Path(SPEC.load(PlainContext(tmp_path), {}).train.paths[7])
    whole = path.read_bytes()
    if spoil == "remove":
        path.unlink()
    else:
        path.write_bytes(whole[:100])
    assert SPEC.load(PlainContext(tmp_path), {}).train.paths[7] == str(path)
    assert path.read_bytes() == whole


def test_a_damaged_bundle_is_reported(tmp_path):
    data = bytearray(data_path("flowers1000.zip").read_bytes())
    data[5_000_000] ^= 1
    archive = tmp_path / "flowers1000.zip"
    archive.write_bytes(data)
    with pytest.raises(DatasetError, match="damaged") as caught:
        bundled_files(PlainContext(tmp_path), archive)
    assert caught.value.where == str(archive)


def test_the_photos_of_a_class_are_by_many(loaded):
    by = _credits()
    for label in SPEC.class_names:
        names = [name for name in _names(loaded.test) if name.startswith(f"{label}/")]
        assert len(collections.Counter(by[name] for name in names)) >= 20
