"""How to train: the recipe, its parameters for the form, and the optimizers on offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from workbench.core.params import (
    BoolParam,
    ChoiceParam,
    FloatParam,
    IntParam,
    Param,
    check_all,
)
from workbench.errors import ParamError

OPTIMIZERS: Mapping[str, str] = {
    "sgd": "SGD",
    "adam": "Adam",
    "adamw": "AdamW",
    "rmsprop": "RMSprop",
}
"""Optimizer key -> Keras class name."""

RECIPE_PARAMS: tuple[Param, ...] = (
    ChoiceParam(
        key="optimizer",
        title="Optimizer",
        default="adam",
        choices=tuple(OPTIMIZERS),
        titles=OPTIMIZERS,
        help="How the weights follow the gradient. Adam is a good first choice.",
    ),
    FloatParam(
        key="learning_rate",
        title="Learning rate",
        default=0.001,
        minimum=0.0,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.0001,
        help="Size of each step. Too large diverges, too small takes for ever.",
    ),
    ChoiceParam(
        key="schedule",
        title="Schedule",
        default="constant",
        choices=("constant", "cosine"),
        help="Keeps the learning rate, or lets it fall along a cosine to a hundredth.",
    ),
    IntParam(
        key="batch_size",
        title="Batch size",
        default=64,
        minimum=1,
        maximum=65_536,
        help="Pictures per step, over all replicas together.",
    ),
    IntParam(
        key="epochs",
        title="Epochs",
        default=10,
        minimum=1,
        maximum=100_000,
        help="How many times training goes through the pictures.",
    ),
    IntParam(
        key="steps_per_epoch",
        title="Steps per epoch",
        default=None,
        minimum=1,
        maximum=10_000_000,
        is_optional=True,
        none_text="all pictures",
        help="Steps that count as one epoch; left open, an epoch is all pictures once.",
        is_advanced=True,
    ),
    ChoiceParam(
        key="validation",
        title="Validate on",
        default="split",
        choices=("split", "test", "none"),
        titles={
            "split": "a part of the training pictures",
            "test": "the test pictures",
            "none": "nothing",
        },
        help="What the validation curve is measured on. The published tutorials use the "
        "test pictures; a part of the training pictures keeps the test honest.",
    ),
    FloatParam(
        key="validation_share",
        title="Validation share",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Part of the training pictures kept for validation, the same in each class.",
        is_advanced=True,
    ),
    FloatParam(
        key="test_share",
        title="Test share",
        default=0.1,
        minimum=0.001,
        maximum=0.9,
        help="Part of all pictures kept for the test where the source has no test part.",
        is_advanced=True,
    ),
    ChoiceParam(
        key="keep",
        title="Keep weights of",
        default="last",
        choices=("last", "best"),
        titles={"last": "the last epoch", "best": "the best epoch"},
        help="Which weights the run ends with; best is by validation accuracy.",
    ),
    FloatParam(
        key="momentum",
        title="Momentum",
        default=0.9,
        minimum=0.0,
        maximum=1.0,
        is_maximum_excluded=True,
        help="For SGD and RMSprop: how much of the last step is kept.",
        is_advanced=True,
    ),
    BoolParam(
        key="nesterov",
        title="Nesterov",
        default=False,
        help="For SGD: look ahead along the momentum before each step.",
        is_advanced=True,
    ),
    FloatParam(
        key="weight_decay",
        title="Weight decay",
        default=None,
        minimum=0.0,
        maximum=10.0,
        step=0.001,
        is_optional=True,
        help="Pulls the weights towards zero a little at each step. Automatic is the "
        "optimizer's own: 0.004 for AdamW, none for the others.",
        is_advanced=True,
    ),
    ChoiceParam(
        key="precision",
        title="Precision",
        default="auto",
        choices=("auto", "float32", "bfloat16"),
        help="bfloat16 is several times faster where the processor has matrix units for it; "
        "automatic takes it only there. The last layer and the loss stay in float32.",
    ),
    IntParam(
        key="seed",
        title="Seed",
        default=7,
        minimum=0,
        maximum=2**31 - 1,
        help="Start of all random numbers: the same seed gives the same split, order and start.",
    ),
)


class TrainingRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """One way to train; fields are the parameters above, same names, same defaults."""

    optimizer: str = "adam"
    learning_rate: float = 0.001
    schedule: str = "constant"
    batch_size: int = 64
    epochs: int = 10
    steps_per_epoch: int | None = None
    validation: str = "split"
    validation_share: float = 0.1
    test_share: float = 0.1
    keep: str = "last"
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float | None = None
    precision: str = "auto"
    seed: int = 7

    def with_values(self, **values: Any) -> TrainingRecipe:
        """A recipe with some values changed; raises ParamError for a wrong one."""
        recipe, errors = recipe_from({**msgspec.structs.asdict(self), **values})
        if errors:
            raise errors[0]
        return recipe

    def optimizer_arguments(self) -> dict[str, Any]:
        """What the Keras optimizer is given beside the learning rate; nothing that is its
        own default.
        """
        arguments: dict[str, Any] = {}
        if self.optimizer in {"sgd", "rmsprop"} and self.momentum:
            arguments["momentum"] = self.momentum
        if self.optimizer == "sgd" and self.nesterov:
            arguments["nesterov"] = True
        # AdamW alone has a decay of its own, which a 0 must be able to turn off.
        if self.weight_decay or (self.weight_decay == 0 and self.optimizer == "adamw"):
            arguments["weight_decay"] = self.weight_decay
        return arguments


def recipe_from(values: Mapping[str, Any]) -> tuple[TrainingRecipe, list[ParamError]]:
    """A recipe from plain values, and what is wrong with them (defaults stand in)."""
    checked, errors = check_all(RECIPE_PARAMS, values)
    return TrainingRecipe(**checked), errors
