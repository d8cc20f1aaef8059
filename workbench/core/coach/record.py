"""What a run has shown so far, as the rules of the coach look at it. A value; NaN is "not measured"
and "not finite".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe

Floats: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True)
class LayerState:
    """A layer that learns: norms of gradient and last update relative to that of its weights."""

    node: str
    gradient: float
    update: float


@dataclass(frozen=True)
class UnitState:
    """Units of a layer that ends in ReLU, and how many are zero on all measured images."""

    node: str
    units: int
    dead: int


@dataclass(frozen=True)
class Measurement:
    """The layers at the end of an epoch.

    Attributes:
        images: How many training images it was measured on.
        accuracy: On those, without augmentation and dropout.
        rate: Learning rate of the last step.
    """

    epoch: int
    images: int
    accuracy: float
    rate: float
    layers: tuple[LayerState, ...] = ()
    units: tuple[UnitState, ...] = ()

    @property
    def update(self) -> float:
        """Median of the layers' relative updates; NaN where none was measured."""
        found = [layer.update for layer in self.layers if math.isfinite(layer.update)]
        return float(np.median(found)) if found else math.nan


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A run so far.

    Attributes:
        epochs: Number of each finished epoch, (k,).
        loss, accuracy: Means over each epoch on the training images, (k,).
        val_loss, val_accuracy: On the validation images after each epoch, (k,).
        rates: Learning rate at the end of each epoch, (k,).
        epoch_steps: Last step of each epoch, (k,).
        steps, step_losses: Number and loss of each step, (n,).
        class_names: Names of the classes; empty before the images are there.
        num_train, num_validation: Images of those parts.
        per_class: (classes, 3), images that train, validate and test; empty where not known.
        num_shared: Held-out images that are among the training images too; 0 where not known.
        confusion: (classes, classes) of the last epoch's validation, rows the true classes.
        measured: What was measured of the layers, in order.
        recipe, graph: What is trained; None where not known.
        regularizes: Training images are augmented or mixed, or units are dropped, so that the
            training accuracy is lower than that of the same network on the same images.
        rival: Name and validation accuracy of the run of its project that comes closest; ("", NaN)
            where there is none.
    """

    epochs: Floats = field(default_factory=_none)
    loss: Floats = field(default_factory=_none)
    accuracy: Floats = field(default_factory=_none)
    val_loss: Floats = field(default_factory=_none)
    val_accuracy: Floats = field(default_factory=_none)
    rates: Floats = field(default_factory=_none)
    epoch_steps: Floats = field(default_factory=_none)
    steps: Floats = field(default_factory=_none)
    step_losses: Floats = field(default_factory=_none)
    class_names: tuple[str, ...] = ()
    num_train: int = 0
    num_validation: int = 0
    per_class: Floats = field(default_factory=lambda: np.empty((0, 3)))
    num_shared: int = 0
    confusion: Floats | None = None
    measured: tuple[Measurement, ...] = ()
    recipe: TrainingRecipe | None = None
    graph: Graph | None = None
    regularizes: bool = True
    rival: tuple[str, float] = ("", math.nan)

    @property
    def num_classes(self) -> int:
        """Classes, at least two."""
        return max(2, len(self.class_names))

    @property
    def guessing(self) -> float:
        """The cross-entropy of guessing: the logarithm of the number of classes."""
        return math.log(self.num_classes)

    @property
    def has_failed(self) -> bool:
        """The loss of the last step was not finite."""
        return bool(len(self.step_losses)) and not math.isfinite(float(self.step_losses[-1]))

    @property
    def last(self) -> Measurement | None:
        """The latest measurement of the layers."""
        return self.measured[-1] if self.measured else None

    @cached_property
    def is_at_full_rate(self) -> Floats:
        """(k,) whether an epoch ended at half the highest rate of all or more."""
        if not np.isfinite(self.rates).any():
            return np.ones(len(self.epochs), bool)
        rates: Floats = np.nan_to_num(self.rates, nan=np.inf)
        full: Floats = rates >= 0.5 * np.nanmax(self.rates)
        return full

    @cached_property
    def loss_errors(self) -> Floats:
        """Standard error of each epoch's mean training loss, (k,), by the spread of its steps."""
        ends = np.searchsorted(self.steps, self.epoch_steps, side="right")
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        parts = (self.step_losses[a:b] for a, b in zip(begins, ends, strict=True))
        return np.array([_error_of_mean(part) for part in parts])

    def name_of(self, node: str) -> str:
        """A layer's name; its id where the graph is not known."""
        found = self.graph.nodes.get(node) if self.graph is not None else None
        return found.name if found is not None else node


def _error_of_mean(values: Floats) -> float:
    """Half the trend within an epoch is no noise: differences of neighbors show the noise alone."""
    finite = values[np.isfinite(values)]
    if len(finite) < 3:
        return math.nan
    spread = float(np.diff(finite).std()) / math.sqrt(2.0)
    return spread / math.sqrt(len(finite))
