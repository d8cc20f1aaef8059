"""Small sets of real photos: heads on a bundled backbone's features, calibrated by the product."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

from workbench.backbones import known_backbone
from workbench.core.calibration import fit_temperature, with_temperature
from workbench.inference.runner import answers_of
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.prepare import PreparedPart
from workbench.pictures.thumbnails import decode_reduced
from workbench.protocol.trained.calibration import Calibration
from workbench.worker.model.inference_form import BATCH, BackboneFeatures
from workbench.worker.saved_models.calibrating import fit_calibration

BACKBONE = "efficientnet_lite0"
NUM_CIFAR = 5_000
LEAST_OTHERS = 1_000
_NUM_BINS = 15

Floats = np.ndarray[Any, np.dtype[np.float32]]
Labels = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Photos:
    """Features (n, d) and classes (n,) of a data set."""

    name: str
    features: Floats
    labels: Labels


def photos(shared: Path) -> list[Photos]:
    """Flowers and CIFAR-10 by the bundled backbone."""
    backbone = BackboneFeatures(known_backbone(BACKBONE))
    files = sorted((shared / "flowers").glob("*/*.jpg"))
    side = side_to_decode(backbone.shape)
    classes = sorted({file.parent.name for file in files})
    flowers = (decode_reduced(str(file), side).pixels for file in files)
    with np.load(shared / "cifar10.npz") as data:
        cifar, truth = data["x_test"][:NUM_CIFAR], data["y_test"][:NUM_CIFAR]
    labels = np.array([classes.index(file.parent.name) for file in files])
    return [
        Photos("flowers", _features(backbone, flowers), labels),
        Photos("CIFAR-10", _features(backbone, iter(cifar)), truth.ravel().astype(np.int64)),
    ]


def _features(backbone: BackboneFeatures, pictures: Iterator[Any]) -> Floats:
    rows, batch = [], []
    for picture in pictures:
        batch.append(fit_picture(picture, backbone.shape))
        if len(batch) == BATCH:
            rows.append(backbone.of(np.stack(batch)))
            batch = []
    if batch:
        rows.append(backbone.of(np.stack(batch)))
    found = np.concatenate(rows)
    return found.reshape(len(found), -1)


@dataclass(frozen=True)
class Judged:
    """A small set: what its validation images have given, judged on the others.

    Attributes:
        data: Photos, strange ones for the check of the distance, and the three parts' places.
        head: scikit-learn's classifier, fitted on the training part.
    """

    data: Photos
    strange: Photos
    train: Labels
    validation: Labels
    others: Labels
    head: Any

    def _measure(self, part: PreparedPart) -> tuple[Floats, Floats]:
        return self.head.predict_proba(part.x).astype(np.float32), part.x

    def _part(self, places: Labels) -> PreparedPart:
        return PreparedPart(self.data.features[places], self.data.labels[places])

    @cached_property
    def fitted(self) -> tuple[Calibration, Any]:
        """What the product fits, and its references."""
        width = self.data.features.shape[1]
        return fit_calibration(
            self._part(self.validation), self._part(self.train), width, self._measure
        )

    @cached_property
    def raw(self) -> Floats:
        """Probabilities of the others."""
        return self._measure(self._part(self.others))[0]

    @cached_property
    def truth(self) -> Labels:
        """Classes of the others."""
        return self.data.labels[self.others]

    @cached_property
    def shown(self) -> Floats:
        """The probabilities that the product answers with."""
        return answers_of(*self.fitted, self.raw, self.data.features[self.others]).probabilities

    @cached_property
    def plain(self) -> tuple[float, Floats]:
        """The temperature of the lowest loss on the validation images, and its probabilities."""
        part = self._part(self.validation)
        found = fit_temperature(self._measure(part)[0], part.y)
        return found, with_temperature(self.raw, found)

    @cached_property
    def scores(self) -> list[tuple[float, float]]:
        """Loss and calibration error of raw, shown and plain probabilities, computed apart."""
        return [judged(each, self.truth) for each in (self.raw, self.shown, self.plain[1])]

    @property
    def told(self) -> tuple[float, float]:
        """Of the others, and of strange pictures, those that are within the limit."""
        found, references = self.fitted
        shares = []
        for features in (self.data.features[self.others], self.strange.features[:LEAST_OTHERS]):
            raw = self.head.predict_proba(features).astype(np.float32)
            far = answers_of(found, references, raw, features).distances
            shares.append(float((far <= found.distance.limit).mean()))
        return shares[0], shares[1]


def judged(probabilities: Floats, truth: Labels) -> tuple[float, float]:
    """Negative log-likelihood by scikit-learn, expected calibration error by hand."""
    rows = np.maximum(probabilities.astype(np.float64), 1e-38)
    rows /= rows.sum(axis=1, keepdims=True)
    confidence, is_right = rows.max(axis=1), rows.argmax(axis=1) == truth
    error = 0.0
    for number in range(_NUM_BINS):
        inside = (confidence > number / _NUM_BINS) & (confidence <= (number + 1) / _NUM_BINS)
        if inside.any():
            gap = confidence[inside].mean() - is_right[inside].mean()
            error += float(inside.mean() * abs(gap))
    return float(log_loss(truth, rows, labels=range(rows.shape[1]))), error


def small_set(found: list[Photos], number: int, num_validation: int) -> Judged:
    """A set of its own for each number: the data sets in turn, heads from rather unsure to much too
    sure of themselves.
    """
    rng = np.random.default_rng(number)
    data, strange = found[number % 2], found[1 - number % 2]
    places = rng.permutation(len(data.labels))
    num_train = int(rng.choice([80, 145, 300, 600]))
    ends = num_train, num_train + num_validation
    train, validation, others = places[: ends[0]], places[ends[0] : ends[1]], places[ends[1] :]
    if number % 5 == 4:
        head: Any = MLPClassifier((64,), max_iter=60, random_state=number)
    else:
        strength = float(10.0 ** rng.uniform(-2, 3))
        head = LogisticRegression(C=strength, max_iter=300)
    with warnings.catch_warnings():  # as short a training as users make
        warnings.simplefilter("ignore", ConvergenceWarning)
        head.fit(data.features[train], data.labels[train])
    assert len(others) >= LEAST_OTHERS
    return Judged(data, strange, train, validation, others, head)
