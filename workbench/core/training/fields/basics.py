"""The first section of the recipe's form: optimizer, lengths, split, seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.format import list_text
from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam
from workbench.core.training.fields.setting import choices, setting
from workbench.core.training.optimizers import all_optimizers


def _optimizer_help() -> str:
    specs = all_optimizers().values()
    large = list_text([spec.title for spec in specs if spec.has_layer_rates])
    hints = [*(spec.help for spec in specs if spec.help), f"{large} are for batches of thousands"]
    return f"How the weights are updated from the gradients. {'; '.join(hints)}."


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class BasicFields:
    """What nearly every training sets."""

    SECTION: ClassVar[str] = ""

    optimizer: str = setting(
        ChoiceParam,
        "adam",
        place=1,
        title="Optimizer",
        help=_optimizer_help(),
        **choices(all_optimizers()),
    )
    learning_rate: float = setting(
        FloatParam,
        0.001,
        place=2,
        title="Learning rate",
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.0001,
        help="Size of each update. Too large diverges, too small trains slowly.",
    )
    batch_size: int = setting(
        IntParam,
        64,
        place=4,
        title="Batch size",
        minimum=1,
        maximum=65_536,
        help="Images per step, over all replicas (global batch size).",
    )
    epochs: int = setting(
        IntParam,
        10,
        place=5,
        title="Epochs",
        minimum=1,
        maximum=100_000,
        help="Passes over the training set.",
    )
    steps_per_epoch: int | None = setting(
        IntParam,
        None,
        place=6,
        title="Steps per epoch",
        minimum=1,
        maximum=10_000_000,
        none_text="full data set",
        help="Steps that count as one epoch. By default an epoch is one pass over the "
        "training set.",
        is_advanced=True,
    )
    validation: str = setting(
        ChoiceParam,
        "split",
        place=7,
        title="Validation",
        choices=("split", "test", "none"),
        titles={"split": "from training set", "test": "test set", "none": "none"},
        help="Images for the validation metrics. A split from the training set keeps the "
        "test set unbiased; the published tutorials use the test set.",
    )
    validation_share: float = setting(
        FloatParam,
        0.1,
        place=8,
        used_if=lambda recipe: recipe.validation == "split",
        title="Validation split",
        minimum=0.001,
        maximum=0.9,
        help="Fraction of the training images held out for validation (stratified).",
        is_advanced=True,
    )
    test_share: float = setting(
        FloatParam,
        0.1,
        place=9,
        title="Test split",
        minimum=0.001,
        maximum=0.9,
        help="Fraction of all images held out for testing, where the data set has no test set.",
        is_advanced=True,
    )
    momentum: float = setting(
        FloatParam,
        0.9,
        place=11,
        title="Momentum",
        maximum=1.0,
        is_maximum_excluded=True,
        help="fraction of the previous update that is carried over.",
        is_advanced=True,
    )
    nesterov: bool = setting(
        BoolParam,
        False,
        place=12,
        title="Nesterov momentum",
        help="computes the gradient ahead along the momentum.",
        is_advanced=True,
    )
    seed: int = setting(
        IntParam,
        7,
        place=15,
        title="Seed",
        maximum=2**31 - 1,
        help="Random seed: makes the split, the shuffling and the initial weights reproducible.",
    )
