"""What each alteration does to pixels, and how several are applied."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from workbench.alterations import all_alterations, altered, checked, strength_words, suite
from workbench.errors import UsageError

COLORS = np.random.default_rng(4).integers(0, 256, (24, 32, 3), dtype=np.uint8)
GRAYS = COLORS[..., :1]
BY_KEY = all_alterations()


@pytest.mark.parametrize("pixels", [COLORS, GRAYS], ids=["color", "gray"])
@pytest.mark.parametrize("spec", BY_KEY.values(), ids=list(BY_KEY))
def test_every_alteration_changes_the_pixels_but_not_their_shape(spec, pixels):
    before = pixels.copy()
    for strength in {spec.least, spec.greatest, spec.at(spec.greatest, 0.5)} - {spec.neutral}:
        result = altered(pixels, {spec.key: strength})
        assert (result.shape, result.dtype) == (pixels.shape, np.uint8)
        assert not np.array_equal(result, pixels)
        assert np.array_equal(result, altered(pixels, {spec.key: strength}))
    assert np.array_equal(pixels, before)


@pytest.mark.parametrize("spec", BY_KEY.values(), ids=list(BY_KEY))
def test_the_neutral_strength_changes_nothing(spec):
    assert np.array_equal(altered(COLORS, {spec.key: spec.neutral}), COLORS)
    assert checked({spec.key: spec.neutral}) == {}


@pytest.mark.parametrize("spec", BY_KEY.values(), ids=list(BY_KEY))
def test_one_pixel_can_be_altered(spec):
    one = np.full((1, 1, 3), 100, np.uint8)
    for strength in (spec.least, spec.greatest):
        assert altered(one, {spec.key: strength}).shape == (1, 1, 3)


def test_a_quarter_turn_is_clockwise():
    picture = np.zeros((9, 9, 1), np.uint8)
    picture[0, 4] = 255  # at the top
    assert altered(picture, {"rotation": 90})[4, 8, 0] > 200


def test_what_a_turned_picture_leaves_empty_has_the_color_of_its_edge():
    picture = np.full((21, 21, 3), (250, 240, 10), np.uint8)
    picture[8:13, 8:13] = 0
    assert altered(picture, {"rotation": 45})[0, 0].tolist() == [250, 240, 10]


def test_a_crop_of_half_shows_the_middle_enlarged():
    picture = np.zeros((16, 16, 1), np.uint8)
    picture[4:12, 4:12] = 200
    assert (altered(picture, {"crop": 50})[1:-1, 1:-1] == 200).all()


def test_a_gray_border_may_cover_parts_of_pixels():
    picture = np.full((10, 10, 1), 28, np.uint8)
    result = altered(picture, {"background": 15})[..., 0]
    assert result[0, 5] == 128  # covered
    assert result[1, 5] == 78  # half covered
    assert result[2, 5] == 28  # not covered


def test_light_multiplies_the_values():
    picture = np.array([[[10, 100, 200]]], np.uint8)
    assert altered(picture, {"brightness": 50}).tolist() == [[[15, 150, 255]]]
    assert altered(picture, {"brightness": -100}).tolist() == [[[0, 0, 0]]]


def test_contrast_keeps_the_mean_and_scales_the_distance_from_it():
    pixels = np.array([[[60], [100]], [[100], [140]]], np.uint8)
    assert altered(pixels, {"contrast": -50})[..., 0].tolist() == [[80, 100], [100, 120]]
    assert altered(pixels, {"contrast": 100})[..., 0].tolist() == [[20, 100], [100, 180]]
    assert np.ptp(altered(pixels, {"contrast": -100})) == 0


def test_the_suite_has_each_strength_within_its_bounds():
    tests = suite()
    assert {"blur", "noise", "jpeg", "brightness", "contrast"} <= {
        key for strengths in tests.values() for key in strengths
    }
    for strengths in tests.values():
        assert checked(strengths) == strengths


def test_blur_keeps_the_mean_and_lowers_the_contrast():
    result = altered(COLORS, {"blur": 10}).astype(float)
    assert result.mean() == pytest.approx(COLORS.mean(), abs=1.5)
    assert result.std() < COLORS.std() / 2


def test_noise_has_the_standard_deviation_and_is_another_one_in_another_image():
    flat = np.full((100, 100, 1), 120, np.uint8)
    result = altered(flat, {"noise": 10}).astype(float)
    assert result.std() == pytest.approx(25.5, rel=0.05)
    other = altered(flat + 1, {"noise": 10}).astype(float) - 1
    assert not np.array_equal(result, other)


def test_noise_stays_while_another_strength_changes():
    flat = np.full((20, 20, 1), 100, np.uint8)
    dark, light = (
        altered(flat, {"noise": 5, "brightness": percent}).astype(int) - 100 - percent
        for percent in (-20, 20)
    )
    assert np.array_equal(dark, light)


def test_jpeg_is_what_pillow_writes():
    file = io.BytesIO()
    Image.fromarray(COLORS).save(file, "JPEG", quality=30)
    assert np.array_equal(altered(COLORS, {"jpeg": 30}), np.array(Image.open(file)))


def test_the_order_does_not_depend_on_the_order_of_the_choice():
    strengths = {"jpeg": 10, "rotation": 30, "blur": 5}
    assert list(checked(strengths)) == ["rotation", "blur", "jpeg"]
    turned = dict(reversed(strengths.items()))
    assert np.array_equal(altered(COLORS, strengths), altered(COLORS, turned))


@pytest.mark.parametrize("strengths", [{"sepia": 1}, {"blur": 21}, {"crop": float("nan")}])
def test_what_cannot_be_applied_is_refused(strengths):
    with pytest.raises(UsageError):
        altered(COLORS, strengths)


def test_a_part_of_a_strength_is_counted_from_the_neutral_one():
    assert BY_KEY["rotation"].at(-20, 0.5) == -10
    assert BY_KEY["jpeg"].at(20, 0.5) == 60


def test_strengths_as_words():
    words = strength_words({"jpeg": 20, "rotation": -15, "fog": 2.5})
    assert words == "Rotation -15°, JPEG quality 20, fog 2.5"
