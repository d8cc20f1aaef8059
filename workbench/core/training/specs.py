"""What the files in `optimizers/`, `schedules/` and `losses/` declare.

A spec is data plus functions that are *handed* keras or tf; a plug-in file never imports them.
Which parameters of a recipe a spec needs is listed in its `uses`; its functions are given the
values of those, by key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from workbench.core.params import Params

Array = np.ndarray[Any, np.dtype[np.float64]]

Sources = Mapping[str, str]
"""Values of parameters as Python source, by key."""


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """What optimizers, schedules and losses have in common.

    Attributes:
        key: File name and JSON value, e.g. "one_cycle".
        title: Name in the form's list, e.g. "one-cycle".
        name: Name in sentences, where that is another, e.g. "focal loss".
        help: When to choose it, a clause for the form's tooltip; may be "".
        order: Position in the form's list; equals are sorted by key.
        uses: Parameters of the recipe that not all others of its kind use.
    """

    key: str
    title: str
    name: str = ""
    help: str = ""
    order: int = 100
    uses: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its name in sentences."""
        return self.name or self.title


class Code(NamedTuple):
    """An object that an exported program makes.

    Attributes:
        name: Class of Keras, or what `definition` defines.
        arguments: Arguments as source; none for a function that is named, not called.
        definition: Source of a class or function that Keras lacks; "" for Keras's own.
    """

    name: str
    arguments: tuple[str, ...] = ()
    definition: str = ""


class LowRate(NamedTuple):
    """Learning rates that are too low for an optimizer.

    Attributes:
        below: Rates below this one are.
        suggested: A usual rate.
        reason: Rate -> why it is too low, in sentences.
    """

    below: float
    suggested: float
    reason: Callable[[float], str]


class HighRate(NamedTuple):
    """Learning rates that are far too high for an optimizer.

    Attributes:
        above: Rates above this one are.
        suggested: A usual rate.
        reason: Why they are, as a sentence.
    """

    above: float
    suggested: float
    reason: str


PER_WEIGHT = HighRate(
    above=0.1,
    suggested=0.001,
    reason="A step changes each weight by about the learning rate, however small its gradient, and "
    "most weights are well below 1: they would be replaced rather than trained.",
)
"""The rate that is too high for optimizers that divide by the size of the gradients. Their authors
use 0.0001 to 0.01."""


@cache
def _defined(definition: str, name: str, keras: Any) -> Any:
    """The class `name` that a plug-in's source defines; the same one each time."""
    names = {"__name__": __name__, keras.__name__: keras}
    exec(definition, names)  # noqa: S102 - a text of this program, the one that it exports
    return names[name]


@dataclass(frozen=True, kw_only=True)
class OptimizerSpec(TrainingSpec):
    """One optimizer.

    Attributes:
        slots: Numbers that it keeps for each trainable number.
        class_name: Its class; `title` where it is "".
        arguments: Values of `uses` -> the class's arguments that are not its own defaults.
        decay_arguments: The class's arguments for the weight decay.
        default_decay: Weight decay where the recipe leaves it open.
        rate_scaling: Value of the recipe's `rate_scaling` that suits it.
        has_layer_rates: Each layer has a rate of its own, which batches of thousands need.
        low_rate: Which learning rates are too low for it.
        high_rate: Which are far too high; most optimizers divide by the size of the gradients.
        definition: Source of its class where Keras has none, for training and exported programs.
    """

    slots: int
    class_name: str = ""
    arguments: Callable[[Params], dict[str, Any]] = lambda values: {
        key: value for key, value in values.items() if value
    }
    decay_arguments: tuple[str, ...] = ("weight_decay",)
    default_decay: float = 0.0
    rate_scaling: Literal["linear", "square_root"] = "square_root"
    has_layer_rates: bool = False
    low_rate: LowRate | None = None
    high_rate: HighRate | None = PER_WEIGHT
    definition: str = ""

    def keras_class(self, keras: Any) -> Any:
        """The class to make it of."""
        name = self.class_name or self.title
        if self.definition:
            return _defined(self.definition, name, keras)
        return getattr(keras.optimizers, name)

    @property
    def source_name(self) -> str:
        """Its class as exported programs name it."""
        return f"{'' if self.definition else 'keras.optimizers.'}{self.class_name or self.title}"


@dataclass(frozen=True, kw_only=True)
class ScheduleSpec(TrainingSpec):
    """One learning-rate schedule.

    Attributes:
        factors: (values of `uses`, steps, total steps, steps per epoch) -> what the peak rate is
            multiplied with at these steps, 0 to 1, float64 (steps,). Steps count from 0 at the
            end of the warm-up, unless `counts_warm_up`.
        counts_warm_up: The steps of the warm-up count.
        drops: (values, total steps, steps per epoch) -> steps at which the rate drops at once,
            as corners of a drawing; None where it changes smoothly.
        warm_up_share: Part of all steps for the warm-up where the recipe leaves it open.
        start_divisor: The warm-up starts at the peak rate divided by this; 0: at a step's rise.
        describe: (values, peak rate) -> what follows the warm-up, e.g. "then constant".
        first_decay: Values -> epochs before the first decay; None where that is at once or never.
        spans_training: It decays until the end, however long the training is.
        follows_metric: It is also multiplied with the recipe's `decay_factor` after
            `plateau_patience` epochs in which the monitored metric has not improved.
        code: (values as source, peak rate as source, total steps as source) -> the
            LearningRateSchedule of an exported program; None for a constant rate.
        has_keras_warm_up: That class has `warmup_target` and `warmup_steps`.
    """

    factors: Callable[[Params, Array, int, int], Array]
    counts_warm_up: bool = False
    drops: Callable[[Params, int, int], Array] | None = None
    warm_up_share: float = 0.0
    start_divisor: int = 0
    describe: Callable[[Params, float], str]
    first_decay: Callable[[Params], float] | None = None
    spans_training: bool = False
    follows_metric: bool = False
    code: Callable[[Sources, str, str], Code] | None
    has_keras_warm_up: bool = False


class LossInputs(NamedTuple):
    """What a loss is computed from. Tensors are float32.

    Attributes:
        tf, keras: The modules.
        targets: Shares of classes, (batch, classes); class numbers, int (batch,), for
            `compute_sparse`.
        outputs: The network's outputs, (batch, classes).
        is_logits: The outputs are logits; else probabilities.
    """

    tf: Any
    keras: Any
    targets: Any
    outputs: Any
    is_logits: bool

    @property
    def probabilities(self) -> Any:
        """The outputs as probabilities, (batch, classes)."""
        return self.tf.nn.softmax(self.outputs) if self.is_logits else self.outputs


class LossCode(Protocol):
    """Writes a loss for an exported program."""

    def __call__(self, sources: Sources, *, is_logits: bool, is_sparse: bool) -> Code:
        """A loss of Keras, or a function (targets, outputs) -> the loss of each image.

        Args:
            sources: The values of `uses`.
            is_logits: Outputs are logits; else probabilities.
            is_sparse: Targets are class numbers; only where there is a `compute_sparse`.
        """


@dataclass(frozen=True, kw_only=True)
class LossSpec(TrainingSpec):
    """One loss.

    Attributes:
        compute: (inputs, values of `uses`) -> the loss of each image, float32 (batch,).
        compute_sparse: The same of class numbers; None where only shares of classes will do.
        code: The same loss in an exported program.
    """

    compute: Callable[[LossInputs, Params], Any]
    compute_sparse: Callable[[LossInputs, Params], Any] | None = None
    code: LossCode
