"""What is kept of a calibration, and its words."""

from __future__ import annotations

import msgspec
import pytest
from scipy.stats import binomtest

from workbench.core.evaluation.significance import wilson_interval
from workbench.protocol.trained.calibration import (
    Bins,
    Calibration,
    CalibrationScores,
    DistanceMark,
    KeptImages,
    calibration_words,
    reliability_words,
)


def test_a_distance_that_is_off_has_no_limit():
    mark = DistanceMark(checksum="0" * 64, limit=0.25)
    assert Calibration(distance=mark).limit == 0.25
    off = DistanceMark(checksum="0" * 64, limit=0.25, is_on=False)
    assert Calibration(distance=off).limit is None
    assert Calibration().limit is None


def test_the_limit_says_how_sure_it_is():
    assert DistanceMark(checksum="0" * 64, limit=0.25).words == ""
    mark = DistanceMark(checksum="0" * 64, limit=0.25, within=95, count=100, with_training=True)
    interval = proportion_confint(95, 100)
    assert mark.words == (
        "95.0% of 100 training and validation images are within (95% interval "
        f"{interval[0]:.1%} to {interval[1]:.1%})"
    )
    own = msgspec.structs.replace(mark, with_training=False)
    assert "100 validation images" in own.words


def test_a_card_with_more_images_within_than_there_are_is_damaged():
    text = b'{"checksum":"%s","limit":0.25,"within":101,"count":100}' % (b"0" * 64)
    with pytest.raises(msgspec.ValidationError, match="101 of 100 images"):
        msgspec.json.decode(text, type=DistanceMark)


def test_an_interval_of_counts_that_cannot_be_is_that_of_the_nearest_that_can():
    assert wilson_interval(101, 100) == wilson_interval(100, 100)
    assert wilson_interval(-1, 100) == wilson_interval(0, 100)


def proportion_confint(right, count):
    found = binomtest(right, count).proportion_ci(method="wilson")
    return found.low, found.high


def test_it_says_why_pictures_of_something_else_get_a_class():
    on = DistanceMark(checksum="0" * 64, limit=0.25)
    assert Calibration(distance=on).blind_words == ""
    off = msgspec.structs.replace(on, is_on=False)
    assert (
        "the check of unknown pictures is off. Switch it on"
        in Calibration(distance=off).blind_words
    )
    assert Calibration(no_distance="15 validation images are too few").blind_words.endswith(
        "there is no check of unknown pictures, as 15 validation images are too few."
    )
    assert "not calibrated yet" in Calibration().blind_words


@pytest.mark.parametrize(
    ("temperature", "reason", "words"),
    [
        (1.5, "", ("temperature 1.50; negative log-likelihood 0.600 before, 0.500 after; expected "
         "calibration error 0.100 before, 0.200 after")),
        (None, "38 images are too few", ("negative log-likelihood 0.500, expected calibration error "
         "0.200; not calibrated: 38 images are too few")),
        (None, "", "negative log-likelihood 0.500, expected calibration error 0.200"),
    ],
)  # fmt: skip
def test_an_evaluation_says_both_losses_and_errors(temperature, reason, words):
    def bins(accuracy):
        rest = [0.0] * 14
        return Bins(counts=[10, *[0] * 14], confidence=[0.5, *rest], accuracy=[accuracy, *rest])

    scores = CalibrationScores(
        temperature=temperature,
        reason=reason,
        expected_calibration_error=0.2,
        before=bins(0.4),
        after=bins(0.3),
        kept=KeptImages(all=[0] * 101, right=[0] * 101),
        negative_log_likelihood=0.5,
        loss_before=0.6,
    )
    assert reliability_words(scores) == words


def test_the_error_of_a_diagram_is_weighted_by_images():
    zeros = [0.0] * 13
    bins = Bins(
        counts=[3, 1, *[0] * 13], confidence=[0.5, 0.9, *zeros], accuracy=[0.7, 0.5, *zeros]
    )
    assert bins.error == pytest.approx(0.75 * 0.2 + 0.25 * 0.4)


def test_the_words_have_both_errors_or_the_reason():
    found = Calibration(temperature=1.5, count=1200, error_before=0.08, error_after=0.012)
    assert calibration_words(found) == (
        "Calibrated on 1,200 validation images: temperature 1.50; on the same images, negative "
        "log-likelihood – before, – after, expected calibration error 0.080 before, 0.012 after."
    )
    judged = msgspec.structs.replace(
        found,
        loss_before=0.541,
        loss_after=0.48,
        loss_change=(-0.1, -0.02),
        error_change=(-0.09, 0.001),
        folds=10,
    )
    assert calibration_words(judged) == (
        "Calibrated on 1,200 validation images: temperature 1.50; by 10-fold cross-validation, on "
        "images that it was not fitted on, negative log-likelihood 0.541 before, 0.480 after "
        "(change -0.100 to -0.020, 95% interval), expected calibration error 0.080 before, 0.012 "
        "after (change -0.090 to +0.001, 95% interval)."
    )
    assert calibration_words(Calibration(reason="too few images")) == (
        "Not calibrated: too few images."
    )
    assert calibration_words(Calibration()) == "Not calibrated: there is no temperature."
