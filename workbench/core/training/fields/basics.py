"""The first section of the recipe's form: optimizer, loss, metric, lengths, split, seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.format import list_text
from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam
from workbench.core.training.fields.setting import choices, setting
from workbench.core.training.losses import all_losses
from workbench.core.training.optimizers import all_optimizers


def _optimizer_help() -> str:
    specs = all_optimizers().values()
    large = list_text([spec.title for spec in specs if spec.has_layer_rates])
    hints = [*(spec.help for spec in specs if spec.help), f"{large} are for batches of thousands"]
    return f"How the weights are updated from the gradients. {'; '.join(hints)}."


def _loss_help() -> str:
    hints = "; ".join(spec.help for spec in all_losses().values() if spec.help)
    return f"The function that training minimizes. {hints[:1].upper()}{hints[1:]}."


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class BasicFields:
    """What nearly every training sets."""

    SECTION: ClassVar[str] = ""

    optimizer: str = setting(
        ChoiceParam, "adam", _optimizer_help(), place=1, **choices(all_optimizers())
    )
    loss: str = setting(ChoiceParam, "cross_entropy", _loss_help(), **choices(all_losses()))
    focal_gamma: float = setting(
        FloatParam,
        2.0,
        "how strongly well-classified examples are down-weighted.",
        maximum=20.0,
        step=0.5,
    )
    top_k: int = setting(
        IntParam,
        1,
        "k of the top-k validation accuracy. With 5, a prediction counts as correct when "
        "the label is among the 5 most likely classes. 1 is plain accuracy.",
        title="Top-k accuracy",
        maximum=1_000,
    )
    learning_rate: float = setting(
        FloatParam,
        0.001,
        "Size of each update. Too large diverges, too small trains slowly.",
        place=2,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.0001,
    )
    batch_size: int = setting(
        IntParam,
        64,
        "Images per step, over all replicas (global batch size). A product can be "
        "typed, such as the 128 * 8 of tutorials for TPUs.",
        place=4,
    )
    epochs: int = setting(IntParam, 10, "Passes over the training set.", place=5, maximum=100_000)
    steps_per_epoch: int | None = setting(
        IntParam,
        None,
        "Steps that count as one epoch. By default an epoch is one pass over the training set.",
        place=6,
        maximum=10_000_000,
        none_text="full data set",
        is_advanced=True,
    )
    validation: str = setting(
        ChoiceParam,
        "split",
        "Images for the validation metrics. A split from the training set keeps the "
        "test set unbiased; the published tutorials use the test set.",
        place=7,
        choices=("split", "test", "none"),
        titles={"split": "held-out split", "test": "test set", "none": "none"},
    )
    validation_freq: int = setting(
        IntParam,
        1,
        "Epochs from one validation to the next, counted from the start of the training, like "
        "validation_freq in Keras: with 2, epochs 2, 4, 6 are validated. Best epoch, early "
        "stopping and reduce on plateau look at these alone; their patience counts validations.",
        title="Validate every",
        unit="epochs",
        used_if=lambda recipe: recipe.validation != "none",
        maximum=100_000,
        is_advanced=True,
    )
    validation_share: float = setting(
        FloatParam,
        0.1,
        "Fraction of the training images held out for validation (stratified).",
        place=8,
        title="Validation split",
        used_if=lambda recipe: recipe.validation == "split",
        minimum=0.001,
        maximum=0.9,
        is_advanced=True,
    )
    test_share: float = setting(
        FloatParam,
        0.1,
        "Fraction of all images held out for testing, where the data set has no test set.",
        place=9,
        title="Test split",
        minimum=0.001,
        maximum=0.9,
        is_advanced=True,
    )
    momentum: float = setting(
        FloatParam,
        0.9,
        "fraction of the previous update that is carried over.",
        place=11,
        maximum=1.0,
        is_maximum_excluded=True,
        is_advanced=True,
    )
    nesterov: bool = setting(
        BoolParam,
        False,
        "computes the gradient ahead along the momentum.",
        place=12,
        title="Nesterov momentum",
        is_advanced=True,
    )
    seed: int = setting(
        IntParam,
        7,
        "Random seed: makes the split, the shuffling and the initial weights reproducible.",
        place=15,
        maximum=2**31 - 1,
        minimum=0,
    )
