"""Robustness of a run's model: accuracy on altered test images."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import FinalAnswer, Request
from workbench.protocol.weights import KeptWeights


class NamedStrengths(msgspec.Struct, frozen=True, kw_only=True):
    """A robustness test: a name, and key of an alteration -> its strength."""

    name: str
    strengths: dict[str, float]


class AlteredAccuracy(msgspec.Struct, frozen=True, kw_only=True):
    """Accuracy on altered test images.

    Attributes:
        test: Name of the robustness test.
        strengths: Strength of each applied alteration: one of the test, or all together.
        level: The part of the test's strengths that this is, 0..1.
        accuracy: 0..1.
    """

    test: str
    strengths: dict[str, float]
    level: float
    accuracy: float


class Robustness(FinalAnswer, frozen=True, kw_only=True, tag="robustness"):
    """Accuracy on test images, unaltered and altered.

    Attributes:
        accuracy: Accuracy on the same images without any alteration, 0..1.
        count, total: How many test images were used, and how many there are.
        measured: In the order of the tests; of each alteration the lower level first, then of all
            together, where there are several.
        weights: Epoch and kind of the evaluated weights; None where that is not known.
        mean_accuracy: Mean of all altered accuracies of the suite, each alteration with the same
            weight (mean corruption accuracy); None for tests of a project.
    """

    accuracy: float
    count: int
    total: int
    measured: list[AlteredAccuracy]
    weights: KeptWeights | None = None
    mean_accuracy: float | None = None


class MeasureRobustness(Request, frozen=True, kw_only=True, tag="measure_robustness"):
    """Scores a run's test images with alterations, and keeps the scores with the run.

    Attributes:
        model: As in Evaluate.
        tests: What to measure; none for those of the run's project as it was trained.
        images: At most so many test images are used, evenly spread; 0 for all.
        is_suite: The ready suite is measured, at its five strengths, in place of tests.
    """

    final_answer = Robustness
    handler = "trained.robustness"

    model: str
    tests: list[NamedStrengths] = []
    images: int = 1_000
    is_suite: bool = False
