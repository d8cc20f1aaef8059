"""Heat maps over whole pictures."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.pictures.fit import fit_picture, fitted_boxes
from workbench.pictures.fits import FITS
from workbench.pictures.heat import heat_colors, heat_levels, on_picture, overlaid


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("size", [(48, 100), (100, 48), (40, 40), (1, 500)])
def test_a_map_lies_where_the_model_has_seen_it(size, fit):
    """A bright spot of the picture is at the same place of the map, and back on the picture."""
    picture = np.zeros((*size, 1), np.uint8)
    top, left = size[0] // 2, size[1] // 2 + min(size) // 4
    picture[max(0, top - 4) : top + 4, max(0, left - 4) : left + 4] = 255
    heat = fit_picture(picture, (32, 32, 1), fit=fit)[..., 0].astype(np.float32) / 255
    found = on_picture(heat, size, fit)
    assert found.shape == size
    if heat.max() > 0.5:
        hot = np.argwhere(found > 0.9 * np.nanmax(found)).mean(axis=0)
        spot = np.argwhere(picture[..., 0]).mean(axis=0)
        assert np.abs(hot - spot).max() <= 3
    left, top, right, bottom = fitted_boxes((size[1], size[0]), (32, 32), fit)[0]
    assert not np.isnan(found[top:bottom, left:right]).any()
    assert np.isnan(found).sum() == found.size - (right - left) * (bottom - top)
    assert (fit == "crop" and size[0] != size[1]) == bool(np.isnan(found).any())


def test_levels_keep_the_order_and_mark_what_has_no_value():
    heat = np.array([[0, 0.5, 1, np.nan]], np.float32)
    levels = heat_levels(heat)
    assert levels.tolist() == [[1, 128, 255, 0]]
    colors = heat_colors(levels)
    assert colors[0, :, 3].tolist() == [255, 255, 255, 0]
    assert colors[0, 0, :3].tolist() == [68, 1, 84]
    assert colors[0, 2, :3].tolist() == [253, 231, 37]


def test_hotter_is_brighter_also_in_gray():
    colors = heat_colors(np.arange(1, 256, dtype=np.uint8))[:, :3]
    gray = colors @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(gray) > -1).all()
    assert gray[-1] - gray[0] > 150


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 1), (2, 2, 3)])
def test_the_picture_shows_through_and_is_itself_where_there_is_no_value(shape):
    picture = np.full(shape, 100, np.uint8)
    levels = np.array([[0, 255], [255, 1]], np.uint8)
    found = overlaid(picture, levels, opacity=0.5)
    assert found.shape == (2, 2, 3)
    assert found[0, 0].tolist() == [100, 100, 100]
    assert found[0, 1].tolist() == [176, 166, 68]
