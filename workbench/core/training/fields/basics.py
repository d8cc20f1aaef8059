"""The first section of the recipe's form: optimizer, loss, metric, lengths, split, seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.format import list_text
from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam, TextParam
from workbench.core.training.fields.setting import choices, setting
from workbench.core.training.losses import all_losses
from workbench.core.training.optimizers import all_optimizers

# dividing ------------------------------------------------------------------------------------
# The section of how images are divided into training, validation and test.

MAX_FOLDS = 100


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DividingFields:
    """How the images are divided."""

    SECTION: ClassVar[str] = "Split"

    split: str = setting(
        ChoiceParam,
        "order",
        "By content: exact duplicates always land in the same part, renaming files changes "
        "nothing, and images that are added later move none of the others. By order: by the "
        "place of an image in the list of all.",
        title="Split",
        choices=("order", "content"),
        of_new="content",
        titles={"order": "by order", "content": "by content"},
        is_advanced=True,
    )
    group_by: str = setting(
        ChoiceParam,
        "none",
        "Images of one group stay in one part: those in the same subfolder of their class, or "
        "those whose file names are alike up to the last _ or - with a number or a letter, such "
        "as patient07_1 and patient07_2.",
        title="Groups",
        used_if=lambda recipe: recipe.split == "content",
        choices=("none", "subfolder", "prefix"),
        titles={"prefix": "name prefix"},
        is_advanced=True,
    )
    group_pattern: str = setting(
        TextParam,
        "",
        "Regular expression that finds the group in a file name without its extension: its "
        "first group in parentheses, or all that it matches. Empty: the rule for prefixes.",
        title="Pattern of groups",
        used_if=lambda recipe: recipe.split == "content" and recipe.group_by == "prefix",
        is_advanced=True,
    )
    split_seed: int | None = setting(
        IntParam,
        None,
        "Random seed of the split alone, so that other weights can be trained on the same "
        "split. As Seed: it has the seed of the training.",
        title="Seed of the split",
        minimum=0,
        maximum=2**31 - 1,
        none_text="as Seed",
        is_advanced=True,
    )
    folds: int | None = setting(
        IntParam,
        None,
        "Cross-validation: the images that are not for testing are divided into this many "
        "parts, of which one is held out for validation.",
        title="Folds",
        used_if=lambda recipe: recipe.validation == "split",
        minimum=2,
        maximum=MAX_FOLDS,
        none_text="off",
        is_advanced=True,
    )
    fold: int = setting(
        IntParam,
        1,
        "Which fold is held out for validation, from 1.",
        title="Fold",
        used_if=lambda recipe: recipe.validation == "split" and recipe.folds is not None,
        maximum=MAX_FOLDS,
        is_advanced=True,
    )


# checkpoints ---------------------------------------------------------------------------------
# The section of what is kept of a training, and by which metric.


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CheckpointFields:
    """Which weights a run ends with, and when it ends."""

    SECTION: ClassVar[str] = "Checkpoints"

    keep: str = setting(
        ChoiceParam,
        "last",
        "Which weights the run keeps at the end. The best epoch is that of both phases, where "
        "there is fine-tuning.",
        place=10,
        title="Save weights from",
        choices=("last", "best"),
        titles={"last": "last epoch", "best": "best epoch"},
    )
    keep_by: str = setting(
        ChoiceParam,
        "val_accuracy",
        "Metric for the best epoch, early stopping and reduce on plateau: validation "
        "accuracy, validation loss, top-k accuracy or training loss. Without validation, "
        "the training metric is used.",
        title="Monitor",
        choices=("val_accuracy", "val_loss", "top_k", "loss"),
        titles={
            "val_accuracy": "val. accuracy",
            "val_loss": "val. loss",
            "top_k": "top-k",
            "loss": "training loss",
        },
    )
    early_stopping_patience: int | None = setting(
        IntParam,
        None,
        "Stops training after this many epochs without improvement. With fine-tuning it ends each "
        "phase by itself: after the head comes fine-tuning.",
        title="Early stopping, patience",
        unit="epochs",
        maximum=100_000,
        none_text="off",
    )


# basics --------------------------------------------------------------------------------------


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
