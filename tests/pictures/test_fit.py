"""Fitting: right proportions, right channels, untouched where nothing has to change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import PictureError, SaveError
from workbench.pictures.fit import fit_picture
from workbench.pictures.fits import FITS
from workbench.pictures.png import png_bytes, write_png
from workbench.pictures.thumbnails import decode_picture, thumbnail


def stripes(height: int, width: int) -> np.ndarray:
    """Left third red, middle green, right blue."""
    pixels = np.zeros((height, width, 3), np.uint8)
    for channel, part in enumerate(np.array_split(np.arange(width), 3)):
        pixels[:, part, channel] = 255
    return pixels


@given(
    height=st.integers(1, 300),
    width=st.integers(1, 300),
    channels=st.sampled_from([1, 3]),
    shape=st.tuples(st.integers(1, 80), st.integers(1, 80), st.sampled_from([1, 3])),
    fit=st.sampled_from(sorted(FITS)),
)
@settings(max_examples=80, deadline=None)
def test_any_picture_fits_any_shape(height, width, channels, shape, fit):
    pixels = np.full((height, width, channels), 77, np.uint8)
    fitted = fit_picture(pixels, shape, fit=fit)
    assert fitted.shape == shape
    assert fitted.dtype == np.uint8
    if fit == "pad":
        assert set(np.unique(fitted)) <= {0, 77}
        assert (fitted == 77).any()
    else:
        assert (fitted == 77).all()


@pytest.mark.parametrize("fit", FITS)
def test_what_fits_is_not_touched(fit):
    pixels = np.random.default_rng(1).integers(0, 256, (17, 23, 3), np.uint8)
    assert (fit_picture(pixels, (17, 23, 3), fit=fit) == pixels).all()
    grey = pixels[..., :1]
    assert (fit_picture(grey, (17, 23, 1), fit=fit) == grey).all()
    assert (fit_picture(grey, (17, 23, 3), fit=fit) == grey).all()


def test_crop_keeps_the_middle():
    fitted = fit_picture(stripes(30, 90), (30, 30, 3), fit="crop")
    assert (fitted[..., 1] == 255).all()
    assert fitted[..., 0].max() == 0


def test_stretch_keeps_all_and_pad_adds_black():
    stretched = fit_picture(stripes(30, 90), (30, 30, 3), fit="stretch")
    assert stretched[15, [2, 15, 27]].argmax(axis=-1).tolist() == [0, 1, 2]
    padded = fit_picture(stripes(30, 90), (30, 30, 3), fit="pad")
    assert (padded[:10] == 0).all()
    assert (padded[20:] == 0).all()
    assert padded[15, [2, 15, 27]].argmax(axis=-1).tolist() == [0, 1, 2]


def test_grey_is_what_the_eye_sees():
    colour = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)
    assert fit_picture(colour, (1, 3, 1), fit="crop").ravel().tolist() == [76, 150, 29]


def test_odd_sizes_are_safe(shared_data):
    for name in ("png_very_wide.png", "png_1x1.png"):
        pixels = decode_picture(shared_data / "odd_images" / name)
        for fit in FITS:
            assert fit_picture(pixels, (192, 192, 3), fit=fit).shape == (192, 192, 3)


@pytest.mark.parametrize(
    ("pixels", "shape", "fit"),
    [
        (np.zeros((4, 4, 3), np.float32), (4, 4, 3), "crop"),
        (np.zeros((4, 4, 2), np.uint8), (4, 4, 3), "crop"),
        (np.zeros((0, 4, 3), np.uint8), (4, 4, 3), "crop"),
        (np.zeros((4, 4, 3), np.uint8), (4, 4, 2), "crop"),
        (np.zeros((4, 4, 3), np.uint8), (16,), "crop"),
        (np.zeros((4, 4, 3), np.uint8), (4, 4, 3), "squeeze"),
    ],
)
def test_what_cannot_be_fitted_is_said(pixels, shape, fit):
    with pytest.raises(PictureError) as caught:
        fit_picture(pixels, shape, fit=fit)
    assert caught.value.received
    assert caught.value.expected


def test_png_round_trip(tmp_path):
    pixels = np.random.default_rng(2).integers(0, 256, (9, 7, 3), np.uint8)
    path = tmp_path / "new" / "a.png"
    write_png(path, pixels)
    assert (decode_picture(path) == pixels).all()
    grey = decode_picture(png_bytes(pixels[..., :1]))
    assert (grey == pixels[..., :1]).all()
    assert [p.name for p in path.parent.iterdir()] == ["a.png"]


def test_png_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveError, match="could not be written"):
        write_png(tmp_path / "file" / "a.png", np.zeros((1, 1, 3), np.uint8))


def test_thumbnails_keep_proportions():
    assert thumbnail(stripes(100, 400), 96).shape == (24, 96, 3)
    assert thumbnail(stripes(3, 4000), 96).shape == (1, 96, 3)
    assert thumbnail(stripes(400, 100)[..., :1], 96).shape == (96, 24, 1)
    small = stripes(28, 28)
    assert thumbnail(small, 96) is small
