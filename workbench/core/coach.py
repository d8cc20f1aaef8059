"""The training coach as values: what is known of a run, what a rule sees in it, what to try.

Qt-free; no file is read here. The rules are plug-ins (`workbench.coach`): functions of a
`RunRecord`. A suggested change makes another project, as any edit does, and never touches the run
in which it was seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from workbench.core.evaluation.significance import share_error
from workbench.core.format import rate_text
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Project
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe

# record --------------------------------------------------------------------------------------
# What a run has shown so far, as the rules of the coach look at it. A value; NaN is "not measured"
# and "not finite".

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


# advice --------------------------------------------------------------------------------------
# What a rule of the coach answers, and what is made of it: values.
#
# A change makes another project, so that undoing it is undoing an edit of the project; the run that
# it was seen in is not touched.

_TITLES = {param.key: param for param in RECIPE_PARAMS}


@dataclass(frozen=True)
class Change:
    """What to try.

    Attributes:
        recipe: Values of the recipe by key.
        layers: Values of layers' parameters, by node and key.
    """

    recipe: Mapping[str, Any] = field(default_factory=dict)
    layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """What is to be looked at.

    Attributes:
        figures: (what, value) in words.
        curve: Key of the curve that shows it; "" where none does.
        first, last: Epochs, from 1, in which it shows; 0 where it shows in none.
        node: The layer that it is about; "" for none.
    """

    figures: tuple[tuple[str, str], ...] = ()
    curve: str = ""
    first: int = 0
    last: int = 0
    node: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a rule concludes from a run, in two sentences.

    Attributes:
        observation: What is there, a sentence.
        recommendation: What to do about it, a sentence.
        evidence: What shows it.
        change: What to try; None where it is no value of the project.
        verdict: The same in a line without a full stop, where it is a verdict on the run.
    """

    observation: str
    recommendation: str
    evidence: Evidence = field(default_factory=Evidence)
    change: Change | None = None
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class Advice(Diagnosis):
    """A diagnosis with the rule's key and its heading."""

    rule: str
    title: str


@dataclass(frozen=True, kw_only=True)
class CoachSpec:
    """A rule of the coach.

    Attributes:
        key: File name, and `rule` in JSON.
        title: Heading of what it finds.
        order: The gravest first.
        watches: What it looks for, as a few words in a list.
        gives_verdict: Its diagnosis is a verdict on the run, for lists and the end of a log.
        is_last_resort: It names no cause: reported only where no other rule finds anything.
        look: Its diagnosis of a run; None for nothing. Quick, and without side effects.
    """

    key: str
    title: str
    order: int
    watches: str
    gives_verdict: bool = False
    is_last_resort: bool = False
    look: Callable[[RunRecord], Diagnosis | None]

    def advice(self, record: RunRecord) -> Advice | None:
        """Its diagnosis of a run, with its heading."""
        seen = self.look(record)
        if seen is None:
            return None
        return Advice(rule=self.key, title=self.title, **vars(seen))


def advise(record: RunRecord, rules: Iterable[CoachSpec]) -> list[Advice]:
    """What the rules see in a run, the gravest first."""
    found = [(rule, advice) for rule in rules if (advice := rule.advice(record)) is not None]
    if any(not rule.is_last_resort for rule, _ in found):
        found = [(rule, advice) for rule, advice in found if not rule.is_last_resort]
    return [advice for _, advice in found]


def verdict_on(record: RunRecord, rules: Iterable[CoachSpec]) -> str:
    """The gravest verdict on a run, a line without a full stop; "" for none."""
    found = (rule.advice(record) for rule in rules if rule.gives_verdict)
    return next((advice.verdict for advice in found if advice is not None), "")


def with_change(project: Project, change: Change) -> Project:
    """The project with a change; layers that it does not have are left out.

    Raises:
        ParamError: a value does not fit.
    """
    graph = project.graph
    for node_id, values in change.layers.items():
        if node_id in graph.nodes:
            graph = graph.with_params(node_id, **values)
    return replace(project, graph=graph, recipe=project.recipe.with_values(**change.recipe))


def holds(project: Project, change: Change) -> bool:
    """Whether the project has all of a change already."""
    return with_change(project, change) == project


def change_words(change: Change, project: Project) -> list[str]:
    """What it changes in a project, a line each: "Learning rate: 0.1 → 0.01"."""
    lines = [
        _line(project.recipe, key, value)
        for key, value in change.recipe.items()
        if getattr(project.recipe, key) != value
    ]
    nodes = project.graph.nodes
    for node_id, values in change.layers.items():
        if node_id in nodes:
            lines += [f"{nodes[node_id].name}: {key} {value}" for key, value in values.items()]
    return lines


def _line(recipe: TrainingRecipe, key: str, value: Any) -> str:
    param = _TITLES[key]
    before, after = (
        rate_text(each) if isinstance(each, float) else param.show(each)
        for each in (getattr(recipe, key), value)
    )
    return f"{param.title}: {before} → {after}"


# statistics ----------------------------------------------------------------------------------
# How large a difference must be before it means something.

CERTAIN = 1.96
"""Standard errors within which 95 of 100 figures are."""


def smallest_difference(accuracy: float, images: int) -> float:
    """The difference of two runs' accuracies on so many images that is no noise."""
    return CERTAIN * math.sqrt(2.0) * share_error(accuracy, images)


def slope(values: Floats) -> tuple[float, float]:
    """The slope of a series per place, and its standard error.

    The median of the slopes between all pairs (Theil and Sen), which a few outliers do not move;
    the error follows from the median distance to that line.

    Args:
        values: (n,), at least three of them, finite.
    """
    places = np.arange(len(values))
    first, second = np.triu_indices(len(values), 1)
    found = float(np.median((values[second] - values[first]) / (second - first)))
    rest = values - found * places
    spread = 1.4826 * float(np.median(np.abs(rest - np.median(rest))))
    return found, spread * math.sqrt(12.0 / len(values) ** 3)
