"""What tests and proofs of heat maps share: covering what a map shows as hot, and other places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.worker.explain import Explainer, grayed, hottest, random_weights, rank_correlation
from workbench.worker.saved_models.keras_runner import KerasRunner


@dataclass
class Grayed:
    """How images answer to gray places.

    Attributes:
        count: Images that were looked at.
        lowered: Of them, those whose hottest tenth lowers the probability more than a tenth of the
            same shape elsewhere.
        hot, other: Sum of what the probability loses by either.
    """

    count: int = 0
    lowered: int = 0
    hot: float = 0.0
    other: float = 0.0

    @property
    def share(self) -> float:
        """Of the images, 0..1."""
        return self.lowered / max(1, self.count)

    def add(self, runner: KerasRunner, image, number, heat, rng) -> None:
        """Grays an image uint8 (height, width, channels) for the class of a number."""
        tenth = hottest(heat)
        elsewhere = np.roll(tenth, [rng.integers(side) for side in tenth.shape], (0, 1))
        covered = [
            image,
            *(grayed(image, one) for one in (tenth, elsewhere)),
        ]
        whole, hot, other = runner.predict(np.stack(covered))[:, number].tolist()
        self.count += 1
        self.lowered += hot < other
        self.hot += whole - hot
        self.other += whole - other


def random_correlation(explainer: Explainer, runner: KerasRunner, image, number) -> float | None:
    """Of the map of an image and that of random weights, at the same layers; None where one of
    them is the same everywhere.
    """
    found = explainer.explain(image[None], np.array([number]))
    with random_weights(runner.built, seed=1):
        other = explainer.explain(image[None], np.array([number]), layers=found.layers[0])
    return rank_correlation(found.heat[0], other.heat[0])
