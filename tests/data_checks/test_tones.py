"""Blank images, images of few tones and values that are cut: found, and never invented."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.class_folders import smooth_photo, write_photos
from tests.contexts import PlainContext
from workbench.core.params import defaults
from workbench.core.specs import ArrayPart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.data_checks import all_data_checks
from workbench.datasets import all_datasets
from workbench.pictures.survey import survey_of
from workbench.worker.input.sources import with_value_range

RULES = ("blank", "few_tones", "cut_tones")


def found(loaded, tmp_path):
    ctx = PlainContext(tmp_path / "cache")
    survey = survey_of(loaded, {}, TrainingRecipe(), ctx)
    return [finding for key in RULES for finding in all_data_checks()[key].find(survey)]


def arrays(images):
    return LoadedData(("a", "b"), ArrayPart(images, np.arange(len(images)) % 2))


def folder(path, **params):
    spec, ctx = all_datasets()["folder"], PlainContext(path.parent / "cache")
    given = {**defaults(spec.params), "path": str(path), **params}
    return with_value_range(spec.load(ctx, given), given, ctx)


def test_blank_images_are_named_by_what_they_are(tmp_path):
    data = write_photos(tmp_path / "data", 6)
    dark = np.asarray(smooth_photo(90)) // 16
    Image.fromarray(dark).save(data / "cat" / "dark.png")
    Image.fromarray(255 - dark).save(data / "cat" / "pale.png")
    Image.new("RGB", (120, 90), (255, 0, 40)).save(data / "dog" / "red.png")
    uniform, black, white = found(folder(data), tmp_path)
    names = [finding.images[0].file.rpartition("/")[2] for finding in (uniform, black, white)]
    assert names == ["red.png", "dark.png", "pale.png"]
    assert {finding.rule for finding in (uniform, black, white)} == {"blank"}
    assert len({finding.key for finding in (uniform, black, white)}) == 3
    assert "value range" not in black.message


def test_black_arrays_point_to_the_value_range(tmp_path):
    images = np.random.default_rng(0).integers(0, 16, (20, 16, 16, 1), np.uint8)
    (black,) = found(arrays(images), tmp_path)
    assert "20 of 20 images" in black.message
    assert "value range" in black.message


def test_rounded_photos_have_few_tones_and_masks_are_a_hint(tmp_path):
    photos = np.stack([np.asarray(smooth_photo(n, (32, 32))) for n in range(20)])
    photos[3] = np.where(photos[3] > 127, 255, 0)
    (one,) = found(arrays(photos), tmp_path)
    assert (one.rule, one.severity, one.num_images) == ("few_tones", "warning", 1)
    (every,) = found(arrays(np.where(photos > 127, np.uint8(255), np.uint8(0))), tmp_path)
    assert (every.severity, every.num_images) == ("hint", 20)


def test_images_of_one_bit_mean_their_two_tones(tmp_path):
    data = write_photos(tmp_path / "data", 4)
    for file in data.rglob("*.png"):
        Image.open(file).convert("1").save(file)
    assert found(folder(data), tmp_path) == []


def test_values_beyond_the_range_are_counted(tmp_path):
    data = tmp_path / "data"
    for label in ("a", "b"):
        (data / label).mkdir(parents=True)
        for number in range(4):
            gray = np.asarray(smooth_photo(number, (40, 40)).convert("L"), np.uint16) * 16
            Image.fromarray(gray).save(data / label / f"{number}.png")
    Image.fromarray(np.full((40, 40), 5000, np.uint16)).save(data / "a" / "0.png")
    findings = {finding.rule: finding for finding in found(folder(data, range="0-4095"), tmp_path)}
    assert "up to 100% of an image" in findings["cut_tones"].message
    assert findings["cut_tones"].num_images == 1


@pytest.mark.parametrize("name", ["digits", "fashion", "flowers"])
def test_nothing_is_invented(name, tmp_path, shared_data):
    if name == "digits":
        digits = np.load(shared_data / "digits.npz")["x"]
        loaded = arrays(np.round(digits[..., None] * (255 / 16)).astype(np.uint8))
    elif name == "fashion":
        spec = all_datasets()["fashion_mnist"]
        loaded = spec.load(PlainContext(tmp_path), {})
        loaded = LoadedData(
            loaded.class_names,
            ArrayPart(loaded.train.pictures[:10_000], loaded.train.labels[:10_000]),
        )
    else:
        loaded = folder(shared_data / "flowers")
        part = loaded.train
        chosen = slice(None, None, 9)
        loaded = LoadedData(loaded.class_names, type(part)(part.paths[chosen], part.labels[chosen]))
    assert found(loaded, tmp_path) == []
