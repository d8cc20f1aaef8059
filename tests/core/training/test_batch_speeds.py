"""The batch size by measured speeds: steady ones, disturbed ones, and those of a busy computer."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.training.batch_change import BatchSpeeds

SIZES = [8, 16, 32, 64, 128, 256, 512, 1024, 2048]
TRUE = [size / (0.004 + size / 16_000) for size in SIZES]
"""A step takes 4 ms and a time for each image."""

BUSY = [1_793.0, 651.0, 1_973.0, 12_215.0, 12_476.0, 9_703.0, 22_042.0, 6_738.0, 8_487.0]
"""Measured once on a computer with a load of 6 to 10."""


def once(speeds):
    return BatchSpeeds({size: [speed] for size, speed in zip(SIZES, speeds, strict=True)})


def test_steady_speeds_are_measured_once():
    speeds = once(TRUE)
    assert speeds.suspects == []
    assert speeds.fastest == 2048
    assert speeds.suggested == 1024
    assert (speeds.unsteadiness, speeds.is_uncertain) == (0.0, False)
    assert speeds.words == "1,024: 15,059 images/s, within 3% of the fastest (2,048)."


def test_the_speeds_of_a_busy_computer_decide_nothing():
    speeds = once(BUSY)
    assert speeds.suspects == SIZES
    assert speeds.is_uncertain
    assert speeds.unsteadiness == pytest.approx(1 - 651 / 1_793)
    assert speeds.words == (
        "Uncertain, as this computer is busy: measured speeds go up and down by 64%. Search again "
        "when no other program is working. So far 512: 22,042 images/s, the fastest."
    )


@pytest.mark.parametrize(("at", "factor"), [(4, 0.5), (6, 2.0), (8, 0.6), (0, 0.7), (7, 1.4)])
def test_one_disturbed_measurement_is_found_and_outvoted(at, factor):
    disturbed = [speed * (factor if i == at else 1.0) for i, speed in enumerate(TRUE)]
    suspects = once(disturbed).suspects
    assert SIZES[at] in suspects
    measured = {size: [speed] for size, speed in zip(SIZES, disturbed, strict=True)}
    for size in suspects:
        measured[size] += [TRUE[SIZES.index(size)]] * 2
    speeds = BatchSpeeds(measured)
    assert list(speeds.speeds.values()) == TRUE
    assert (speeds.suspects, speeds.suggested, speeds.is_uncertain) == ([], 1024, False)
    assert speeds.spread(SIZES[at]) == pytest.approx(1 - min(factor, 1 / factor))


def test_speeds_that_fall_beyond_the_best_size_are_no_noise():
    falls = [*TRUE[:6], 12_500.0, 10_500.0, 7_000.0]
    speeds = once(falls)
    assert 2048 in speeds.suspects  # measured again, and found to be so
    again = BatchSpeeds({size: [speed] * 3 for size, speed in zip(SIZES, falls, strict=True)})
    assert not again.is_uncertain
    assert again.fastest == 256
    assert "the fastest" in again.words


def test_a_deciding_size_whose_measurements_never_agree_is_uncertain():
    speeds = BatchSpeeds({64: [950.0], 128: [1_000.0, 2_000.0, 500.0]})
    assert speeds.spread(128) == 0.75
    assert speeds.suggested == 64
    assert speeds.is_uncertain
    assert "by 50%" in speeds.words
    agreed = BatchSpeeds({64: [950.0], 128: [1_000.0, 2_000.0, 980.0]})
    assert not agreed.is_uncertain


def test_noise_of_a_busy_computer_rarely_passes_for_a_result():
    """Each measurement is slowed down up to threefold at random; three of each size."""
    random, right, admitted = np.random.default_rng(3), 0, 0
    for _ in range(200):
        measured = {
            size: list(true / random.uniform(1.0, 3.0, 3))
            for size, true in zip(SIZES, TRUE, strict=True)
        }
        speeds = BatchSpeeds(measured)
        admitted += speeds.is_uncertain
        right += not speeds.is_uncertain and TRUE[SIZES.index(speeds.suggested)] > 0.7 * TRUE[-1]
    assert admitted > 20
    assert admitted + right > 180


def test_a_single_size_is_the_answer():
    speeds = BatchSpeeds({8: [100.0]})
    assert (speeds.fastest, speeds.suggested, speeds.suspects) == (8, 8, [])
    assert speeds.words == "8: 100 images/s, the fastest."
