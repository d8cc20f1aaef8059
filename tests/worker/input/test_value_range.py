"""One value range for all files of a data set, inferred or given, down to the fitted pixels."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.class_folders import smooth_photo
from tests.contexts import PlainContext
from workbench.core.projects.data_edits import DataEdits
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import ParamError
from workbench.pictures.dataset_bundle import pack, unpacked
from workbench.pictures.prepare import prepare
from workbench.worker.input.sources import as_trained, load_source, load_unedited


def write(folder, make, count=8):
    """Images of two classes; `make` gives the numbers of image n as (40, 40)."""
    for number in range(count):
        place = folder / "ab"[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        values = make(np.asarray(smooth_photo(number, (40, 40)).convert("L"), np.float64) / 255)
        name = place / f"{number}.{'png' if values.dtype == np.uint16 else 'tif'}"
        if name.suffix == ".png":
            Image.fromarray(values).save(name)
        else:
            tifffile.imwrite(name, values)
    return folder


def loaded(folder, **params):
    ctx = PlainContext(folder.parent / "cache")
    return load_unedited(ctx, "folder", {"path": str(folder), **params})


def twelve(gray):
    return np.round(gray * 4095).astype(np.uint16)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (twelve, "0-4095"),
        (lambda gray: np.round(gray * 1023).astype(np.uint16), "0-1023"),
        (lambda gray: np.round(gray * 65_535).astype(np.uint16), "0-65535"),
        (lambda gray: gray.astype(np.float32), "0-1"),
        (lambda gray: (gray * 2 - 1).astype(np.float32), "-1-1"),
        (lambda gray: (gray * 60_000).astype(np.int32), "0-65535"),
    ],
)
def test_the_range_of_the_files_is_inferred_once_and_shown(tmp_path, make, expected):
    data = loaded(write(tmp_path / "data", make))
    assert data.train.value_range == expected
    (inference,) = data.inferences
    assert (inference.key, inference.param) == ("value_range", "range")
    assert [option.value for option in inference.options][-1] == "each"
    assert "go from" in inference.sentence


def test_numbers_without_a_usual_range_share_one(tmp_path):
    """Hounsfield units: the air is as dark in an image of bones as in one of soft tissue."""
    folder = write(tmp_path / "data", lambda gray: np.round(gray * 3000 - 1000).astype(np.int16))
    tifffile.imwrite(folder / "a" / "soft.tif", np.full((40, 40), 60, np.int16))
    data = loaded(folder)
    low, high = (float(part) for part in data.train.value_range.removeprefix("-").split("-"))
    assert data.train.value_range.startswith("-")
    assert 800 < low <= 1000
    assert 1500 < high <= 2000
    assert data.inferences[0].is_doubtful


def test_several_ranges_are_a_doubt(tmp_path):
    folder = write(tmp_path / "data", twelve)
    write(folder, lambda gray: (gray * 2 - 1).astype(np.float32))
    data = loaded(folder)
    assert data.train.value_range == ""
    assert data.inferences[0].is_doubtful
    assert {option.value for option in data.inferences[0].options} == {"0-4095", "-1-1"}


def test_photos_of_8_bits_have_no_range(tmp_path):
    folder = tmp_path / "data"
    for number in range(4):
        place = folder / "ab"[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        smooth_photo(number).save(place / f"{number}.png")
    data = loaded(folder)
    assert (data.train.value_range, data.inferences) == ("", ())
    assert loaded(folder, range="0-4095").inferences == ()
    assert loaded(folder, range="0-4095").train.value_range == "0-4095"


def test_a_range_can_be_given(tmp_path):
    folder = write(tmp_path / "data", twelve)
    data = loaded(folder, range="0-65535")
    assert data.train.value_range == "0-65535"
    assert data.inferences[0].is_told
    assert loaded(folder, range="each").train.value_range == ""
    with pytest.raises(ParamError, match="Value range"):
        loaded(folder, range="bright")


def test_damaged_files_do_not_decide(tmp_path):
    folder = write(tmp_path / "data", twelve)
    good = (folder / "a" / "0.png").read_bytes()
    (folder / "a" / "cut.png").write_bytes(good[:200])
    (folder / "b" / "gone.png").symlink_to(tmp_path / "nowhere")
    assert loaded(folder).train.value_range == "0-4095"


def test_training_gets_the_pixels_of_the_range(tmp_path):
    folder, ctx = write(tmp_path / "data", twelve), PlainContext(tmp_path / "cache")
    recipe = TrainingRecipe().with_values(validation="none")
    given = {"path": str(folder)}
    data = load_source(ctx, "folder", given, DataEdits())
    prepared = prepare(data, shape=(40, 40, 1), fit="crop", recipe=recipe, ctx=ctx)
    assert prepared.value_range == "0-4095"
    for place, file in enumerate(prepared.train.files):
        expected = np.round(np.asarray(Image.open(file)) * (255 / 4095))
        assert np.abs(np.asarray(prepared.train.x[place])[..., 0] - expected).max() <= 1
    whole = prepare(as_trained(data, ""), shape=(40, 40, 1), fit="crop", recipe=recipe, ctx=ctx)
    assert np.asarray(whole.train.x).max() <= 16, "kept rows of another range are not read"


def test_the_range_goes_to_another_computer(tmp_path):
    folder, ctx = write(tmp_path / "data", twelve), PlainContext(tmp_path / "cache")
    data = load_source(ctx, "folder", {"path": str(folder)}, DataEdits())
    pack(data, tmp_path / "parcel.zip", ctx)
    import zipfile

    with zipfile.ZipFile(tmp_path / "parcel.zip") as archive:
        archive.extractall(tmp_path / "there")
    assert unpacked(tmp_path / "there").train.value_range == "0-4095"
