"""What the model card of a report says of calibration, and of images that are none of the classes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.documents import written_run
from workbench.protocol.trained.calibration import Calibration, DistanceMark
from workbench.report.facts import read_facts
from workbench.report.sections.card import section
from workbench.runs.model_card import ModelCard

FAR = DistanceMark(checksum="0" * 64, limit=0.3)
OFF = DistanceMark(checksum="0" * 64, limit=0.3, is_on=False)


def rows(calibration):
    """The known rows of the model card, by their titles."""
    card = ModelCard(
        class_names=["cat", "dog"],
        input_shape=[28, 28, 1],
        fit="crop",
        graph={},
        calibration=calibration,
    )
    return dict(section(replace(read_facts(written_run().folder), card=card)).blocks[0].rows)


@pytest.mark.parametrize("calibration", [None, Calibration(), Calibration(distance=OFF)])
def test_without_thresholds_every_image_is_assigned_to_a_class(calibration):
    assert rows(calibration)["Known limit"] == (
        "Every image is assigned to one of these 2 classes, also one that shows anything else."
    )


def test_each_reason_for_unknown_is_named():
    found = rows(Calibration(distance=FAR, least_probability=0.6))
    assert found["Known limit"] == (
        "An image is assigned to one of these 2 classes, or to none: “unknown” where it is unlike "
        "the training images (of the limit: 95% of the validation images are within) or where its "
        "highest probability is below 60.0%."
    )


def test_the_calibration_is_said_with_its_images():
    fitted = {"count": 300, "error_before": 0.09, "error_after": 0.035, "folds": 10}
    fitted |= {"loss_before": 0.7, "loss_after": 0.6}
    assert rows(Calibration(temperature=1.5, **fitted))["Calibration"] == (
        "Calibrated on 300 validation images: temperature 1.50; by 10-fold cross-validation, on "
        "images that it was not fitted on, negative log-likelihood 0.700 before, 0.600 after, "
        "expected calibration error 0.090 before, 0.035 after."
    )
    assert rows(None).get("Calibration") is None
