"""Principal components against NumPy's SVD, nearest rows and lassos against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.data_check import image_map
from workbench.core.data_check.image_map import (
    Features,
    inside_polygon,
    main_directions,
    nearest,
    principal_components,
    reduced,
    sample_places,
    sample_size,
)


def known_rows(count, width, *, seed=1):
    """Rows that vary most along known directions, and less and less along the others."""
    random = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(random.standard_normal((width, width)))
    spread = 10.0 * 0.7 ** np.arange(width)
    return (random.standard_normal((count, width)) * spread) @ turned + random.normal(size=width)


@pytest.mark.parametrize(("count", "width"), [(500, 40), (30, 200), (2000, 3)])
def test_components_are_those_of_a_full_decomposition(count, width):
    rows = known_rows(count, width)
    found = principal_components(rows)
    left, singular, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    expected = left[:, :2] * singular[:2]
    signs = np.sign((found.points * expected).sum(axis=0))
    np.testing.assert_allclose(found.points * signs, expected, atol=2e-3 * singular[0])
    shares = singular[:2] ** 2 / (singular**2).sum()
    np.testing.assert_allclose(found.shares, shares, rtol=1e-4)
    assert found.points.dtype == np.float32


def test_the_same_rows_give_the_same_map():
    rows = known_rows(200, 20).astype(np.float16)
    np.testing.assert_array_equal(
        principal_components(rows).points, principal_components(rows.copy()).points
    )


@pytest.mark.parametrize("rows", [np.ones((4, 3)), np.arange(5.0)[:, None], np.ones((1, 6))])
def test_rows_of_fewer_directions_have_points_too(rows):
    found = principal_components(rows)
    assert found.points.shape == (len(rows), 2)
    assert np.isfinite(found.points).all()
    assert np.isfinite(found.shares).all()
    assert found.points[:, 1] == pytest.approx(np.zeros(len(rows)), abs=1e-5)


def test_the_nearest_row_of_a_row_is_itself():
    rows = known_rows(300, 12)
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    for at in (0, 7, 299):
        found, far = nearest(unit, 3 * unit[at], 8)
        assert found[0] == at
        assert far[0] == pytest.approx(0, abs=1e-6)
        assert far.tolist() == sorted(far.tolist())
        expected = np.argsort(1 - unit @ unit[at], kind="stable")[:8]
        assert found.tolist() == expected.tolist()


def test_fewer_rows_than_wanted_are_all_found():
    found, far = nearest(np.eye(3, dtype=np.float32), np.array([0, 0, 1], np.float32), 8)
    assert found.tolist() == [2, 0, 1]
    assert far.tolist() == [0, 1, 1]
    assert len(nearest(np.zeros((0, 3), np.float32), np.ones(3, np.float32), 8)[0]) == 0


def test_a_sample_is_reproducible_and_in_order():
    assert sample_places(5, 5).tolist() == [0, 1, 2, 3, 4]
    found = sample_places(1000, 10)
    assert len(set(found.tolist())) == 10
    assert found.tolist() == sorted(found.tolist())
    np.testing.assert_array_equal(found, sample_places(1000, 10))


def is_inside(point, corners):
    """Even-odd, one edge after the other (W. R. Franklin's PNPOLY)."""
    x, y = point
    inside = False
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


@pytest.mark.parametrize("num_corners", [3, 4, 60])
def test_points_within_a_line(num_corners):
    random = np.random.default_rng(num_corners)
    points = random.uniform(-1, 1, (400, 2)).astype(np.float32)
    corners = random.uniform(-0.9, 0.9, (num_corners, 2))
    expected = [is_inside(point, corners) for point in points.astype(np.float64)]
    assert inside_polygon(points, corners).tolist() == expected
    assert 0 < sum(expected) < 400


def test_a_square_holds_what_is_in_it():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], np.float64)
    points = np.array([[1, 1], [3, 1], [-1, 1], [1, 3], [0.5, 1.9]], np.float32)
    assert inside_polygon(points, square).tolist() == [True, False, False, False, True]
    assert inside_polygon(points, square[:2]).tolist() == [False] * 5


def test_reduced_outputs_keep_the_angles_between_images(monkeypatch):
    rows = np.abs(known_rows(400, 900)).astype(np.float32)
    monkeypatch.setattr(image_map, "MOST_COLUMNS", 60)
    basis = main_directions(rows[:300])
    assert basis.shape == (900, 60)
    np.testing.assert_allclose(basis.T.astype(float) @ basis, np.eye(60), atol=5e-3)
    kept = Features(reduced(rows, basis).astype(np.float16), basis)
    assert kept.width == 900
    np.testing.assert_allclose(kept.of(rows[:5]), kept.rows[:5], atol=1e-3)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(kept.rows @ kept.rows.T, unit @ unit.T, atol=0.01)


def test_few_outputs_are_kept_as_they_are():
    assert sample_size(512) == 0
    assert sample_size(10_000) == 1_536
    assert sample_size(100_000_000) == 2
    rows = known_rows(5, 7).astype(np.float32)
    kept = Features(reduced(rows, None).astype(np.float16))
    assert kept.width == 7
    np.testing.assert_allclose(np.linalg.norm(kept.of(rows), axis=1), 1, atol=1e-6)
