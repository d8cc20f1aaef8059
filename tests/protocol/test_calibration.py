"""What is kept of a calibration, and its words."""

from __future__ import annotations

import pytest

from workbench.protocol.trained.calibration import (
    Bins,
    Calibration,
    DistanceMark,
    calibration_words,
)


def test_a_distance_that_is_off_has_no_limit():
    mark = DistanceMark(checksum="0" * 64, limit=0.25)
    assert Calibration(distance=mark).limit == 0.25
    off = DistanceMark(checksum="0" * 64, limit=0.25, is_on=False)
    assert Calibration(distance=off).limit is None
    assert Calibration().limit is None


def test_the_error_of_a_diagram_is_weighted_by_images():
    zeros = [0.0] * 13
    bins = Bins(
        counts=[3, 1, *[0] * 13], confidence=[0.5, 0.9, *zeros], accuracy=[0.7, 0.5, *zeros]
    )
    assert bins.error == pytest.approx(0.75 * 0.2 + 0.25 * 0.4)


def test_the_words_have_both_errors_or_the_reason():
    found = Calibration(temperature=1.5, count=1200, error_before=0.08, error_after=0.012)
    assert calibration_words(found) == (
        "Calibrated on 1,200 validation images: temperature 1.50, "
        "expected calibration error 0.080 before, 0.012 after."
    )
    assert calibration_words(Calibration(reason="too few images")) == (
        "Not calibrated: too few images."
    )
    assert calibration_words(Calibration()) == "Not calibrated: there is no temperature."
