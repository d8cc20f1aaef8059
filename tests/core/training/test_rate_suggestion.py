"""The rate that a sweep suggests."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.training.rate_suggestion import has_diverged, smoothed, suggest_rate

RATES = np.geomspace(1e-6, 10, 120)


def _curve(fall_at: float, climb_at: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A loss of 2.3 that falls to 1 around one rate and climbs from another on."""
    log = np.log10(RATES)
    fall = 1.3 / (1 + np.exp(-6 * (log - np.log10(fall_at))))
    return 2.3 - fall + np.maximum(0, log - np.log10(climb_at)) ** 2 * 30


@pytest.mark.parametrize("fall_at", [1e-4, 1e-3, 1e-2])
def test_the_rate_lies_where_the_loss_falls(fall_at: float) -> None:
    suggested = suggest_rate(RATES, _curve(fall_at, 30 * fall_at))
    assert suggested is not None
    assert fall_at / 3 < suggested < 12 * fall_at


def test_a_loss_that_never_falls_suggests_no_rate() -> None:
    assert suggest_rate(RATES, np.full(120, 2.3)) is None
    assert suggest_rate(RATES, np.linspace(2.3, 9, 120)) is None


def test_what_follows_a_loss_that_is_no_number_is_not_looked_at() -> None:
    losses = _curve(1e-3, 1e-1)
    broken = losses.copy()
    broken[90:] = np.nan
    broken[100:] = -50
    found = suggest_rate(RATES, broken)
    assert found is not None
    assert found < RATES[90]
    assert suggest_rate(RATES[:2], losses[:2]) is None


def test_a_sweep_ends_when_the_loss_has_climbed_or_is_no_number() -> None:
    losses = _curve(1e-3, 3e-2)
    ends = [n for n in range(1, 121) if has_diverged(losses[:n])]
    assert ends
    assert RATES[ends[0]] > 3e-2
    assert has_diverged(np.array([1.0, np.inf]))
    assert not has_diverged(np.array([]))


def test_smoothing_keeps_a_constant() -> None:
    assert smoothed(np.full(5, 2.0)) == pytest.approx(2.0)
