"""The first descent of a sweep of learning rates."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.training.rate_finder import (
    batch_noise,
    first_descent,
    has_diverged,
    smoothed,
    sweep_steps,
)

RATES = np.geomspace(1e-7, 10, 200)
LOG = np.log10(RATES)


def _curve(fall_at: float, climb_at: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A loss of 2.3 that falls to 1 around one rate and climbs from another on."""
    fall = 1.3 / (1 + np.exp(-6 * (LOG - np.log10(fall_at))))
    return 2.3 - fall + np.maximum(0, LOG - np.log10(climb_at)) ** 2 * 30


def _noise(size: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(3).normal(0, size, len(RATES))


@pytest.mark.parametrize("fall_at", [1e-4, 1e-3, 1e-2])
def test_the_descent_ends_where_the_loss_falls_no_more(fall_at: float) -> None:
    found = first_descent(RATES, _curve(fall_at, 30 * fall_at))
    assert found is not None
    assert 3 * fall_at < found.rate < 90 * fall_at
    assert found.fall == pytest.approx(1.3, abs=0.1)
    assert fall_at < found.start < found.rate


def test_a_loss_that_never_falls_has_no_descent() -> None:
    assert first_descent(RATES, np.full(200, 2.3)) is None
    assert first_descent(RATES, np.linspace(2.3, 9, 200)) is None


@pytest.mark.parametrize("size", [0.003, 0.1, 0.5])
def test_a_fall_within_the_noise_of_the_batches_is_none(size: float) -> None:
    assert first_descent(RATES, 2.3 + _noise(size)) is None


def test_a_small_fall_is_found_where_the_batches_differ_less() -> None:
    small = 2.3 - 0.1 * (2.3 - _curve(1e-3, 1e-1))
    assert first_descent(RATES, small + _noise(0.002)) is not None


def test_a_second_valley_behind_a_hump_is_not_looked_at() -> None:
    hump = 1.5 * np.exp(-(((LOG + 3.3) / 0.3) ** 2))
    losses = _curve(1e-5, 1e-1) - 0.8 / (1 + np.exp(-9 * (LOG + 2.6))) + hump
    assert RATES[np.argmin(losses)] > 1e-3
    found = first_descent(RATES, losses + _noise(0.02))
    assert found is not None
    assert 2e-5 < found.rate < 5e-4


def test_what_follows_a_loss_that_is_no_number_is_not_looked_at() -> None:
    broken = _curve(1e-3, 1e-1)
    broken[150:] = np.nan
    broken[170:] = -50
    found = first_descent(RATES, broken)
    assert found is not None
    assert found.rate < RATES[150]
    assert first_descent(RATES[:2], broken[:2]) is None


def test_a_loss_that_explodes_and_comes_back_is_no_descent() -> None:
    losses = np.full(200, 1.6) + _noise(0.003)
    losses[150:170] = 1e12
    assert first_descent(RATES, losses) is None


def test_a_sweep_ends_when_the_loss_has_climbed_or_is_no_number() -> None:
    losses = _curve(1e-3, 3e-2)
    ends = [n for n in range(1, 201) if has_diverged(losses[:n])]
    assert ends
    assert RATES[ends[0]] > 3e-2
    assert has_diverged(np.array([1.0, np.inf]))
    assert not has_diverged(np.array([]))


def test_smoothing_keeps_a_constant() -> None:
    assert smoothed(np.full(5, 2.0)) == pytest.approx(2.0)


def test_noise_is_what_batches_differ_by_not_what_changes_slowly() -> None:
    slow = np.linspace(5.0, 1.0, 200)
    assert batch_noise(slow + _noise(0.1)) == pytest.approx(0.1, rel=0.25)
    assert batch_noise(slow) == pytest.approx(0.0, abs=1e-9)
    assert batch_noise(slow[:2]) == 0.0


def test_small_batches_are_swept_in_more_steps() -> None:
    assert sweep_steps(1024) == sweep_steps(256) == 120
    assert 120 < sweep_steps(128) < sweep_steps(32) == 240
