"""The section of the learning rate's schedule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from workbench.core.format import list_text
from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam
from workbench.core.training.fields.setting import choices, setting
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.schedules import all_schedules

# regularization ------------------------------------------------------------------------------
# The sections of what keeps a network from overfitting.


def _weight_decay_help() -> str:
    titles: dict[float, list[str]] = {}
    for spec in all_optimizers().values():
        titles.setdefault(spec.default_decay, []).append(spec.title)
    titles.pop(0.0)
    shares = ", ".join(f"{decay:g} for {list_text(names)}" for decay, names in titles.items())
    start = "Shrinks the weights at each step. Automatic is the optimizer's default: "
    return f"{start}{shares}, none for the others."


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RegularizationFields:
    """What is done against overfitting."""

    SECTION: ClassVar[str] = "Regularization"

    label_smoothing: float = setting(
        FloatParam,
        0.0,
        "Fraction of each label that is spread over all classes, against overconfidence. "
        "0.1 is common. Applied to the training loss only.",
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.05,
    )
    class_weights: str = setting(
        ChoiceParam,
        "none",
        "Balanced: images of rare classes get a higher weight in the loss, so that all "
        "classes count equally.",
        choices=("none", "balanced"),
    )
    weight_decay: float | None = setting(
        FloatParam, None, _weight_decay_help(), place=13, maximum=10.0, step=0.001
    )
    decay_biases: bool = setting(
        BoolParam,
        True,
        "Applies weight decay to biases and normalization parameters too. Off is usually "
        "better; earlier versions of Workbench had it on.",
        used_if=lambda recipe: recipe.has_weight_decay,
    )
    clip_norm: float | None = setting(
        FloatParam,
        None,
        "Maximum global norm of the gradients; larger gradients are scaled down.",
        title="Gradient clipping",
        maximum=1e6,
        is_minimum_excluded=True,
        step=0.5,
        none_text="off",
    )
    ema_decay: float | None = setting(
        FloatParam,
        None,
        "Decay of an exponential moving average of the weights, which is what is "
        "validated and saved. 0.999 is common.",
        title="Weight averaging (EMA)",
        maximum=1.0,
        is_minimum_excluded=True,
        is_maximum_excluded=True,
        step=0.001,
        none_text="off",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class AugmentationFields:
    """What is done to training images beside the layers behind Input."""

    SECTION: ClassVar[str] = "Augmentation"

    mixing: str = setting(
        ChoiceParam,
        "none",
        "Trains on mixtures of two images and their labels: mixup blends them, CutMix "
        "pastes a patch of one into the other.",
        title="Mixup / CutMix",
        choices=("none", "mixup", "cutmix"),
        titles={"none": "off", "mixup": "mixup", "cutmix": "CutMix"},
    )
    mixing_alpha: float = setting(
        FloatParam,
        0.2,
        "Parameter of the beta distribution of the mixing ratio: near 0 mostly one image, "
        "1 uniform. The papers use 0.2 for mixup and 1 for CutMix.",
        used_if=lambda recipe: recipe.mixing != "none",
        maximum=100.0,
        is_minimum_excluded=True,
        step=0.1,
    )
    random_erasing: float = setting(
        FloatParam,
        0.0,
        "Probability that a random rectangle of a training image is filled with the mean "
        "color of the image.",
        maximum=1.0,
        step=0.05,
    )


# fine tuning ---------------------------------------------------------------------------------
# The section of what becomes of frozen layers: cached features, and a phase of fine-tuning.


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class FineTuningFields:
    """How a network with pretrained layers is trained."""

    SECTION: ClassVar[str] = "Fine-tuning"

    fine_tuning_after: int | None = setting(
        IntParam,
        None,
        "Epochs of training the head on the frozen layers; the epochs after them are "
        "fine-tuning, in which the layers marked for it learn too.",
        title="Fine-tuning after",
        unit="epochs",
        maximum=100_000,
        none_text="off",
    )
    fine_tuning_rate: float | None = setting(
        FloatParam,
        None,
        "Learning rate at the start of fine-tuning. Automatic: a hundredth of the learning rate.",
        title="Fine-tuning rate",
        used_if=lambda recipe: recipe.fine_tuning_after is not None,
        is_minimum_excluded=True,
        maximum=100.0,
        step=0.00001,
    )
    feature_cache: str = setting(
        ChoiceParam,
        "auto",
        "Automatic: the outputs of frozen layers are computed once for each image and kept, "
        "and only the layers behind them are trained. Off: they are computed in each step.",
        title="Feature cache",
        choices=("auto", "off"),
        titles={"auto": "automatic"},
    )
    augmented_copies: int = setting(
        IntParam,
        4,
        "Augmented versions of each training image in the feature cache; the epochs use them "
        "in turn. Without augmentation there is one.",
        title="Augmented copies",
        used_if=lambda recipe: recipe.feature_cache == "auto",
        maximum=1_000,
    )


# execution -----------------------------------------------------------------------------------
# The section of how training is executed.


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ExecutionFields:
    """What changes the speed of training, and hardly its result."""

    SECTION: ClassVar[str] = "Execution"

    precision: str = setting(
        ChoiceParam,
        "auto",
        "bfloat16 is several times faster on a processor with native bfloat16; automatic "
        "uses it only there. The last layer and the loss stay in float32.",
        place=14,
        choices=("auto", "float32", "bfloat16"),
        titles={"auto": "automatic"},
    )
    xla: str = setting(
        ChoiceParam,
        "auto",
        "Compiles the training step with XLA: slower to start, often faster to run. "
        "Automatic benchmarks both and uses the faster.",
        title="XLA",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
    )
    steps_per_call: int | None = setting(
        IntParam,
        None,
        "Training steps per call of the compiled function. Automatic: about an eighth of "
        "a second of steps.",
        title="Steps per execution",
        maximum=1_000,
    )
    pipeline: str = setting(
        ChoiceParam,
        "auto",
        "Where decoded images are cached: in memory, on disk, or not at all (decoded "
        "again each epoch). Automatic uses memory when they fit.",
        title="Data cached in",
        choices=("auto", "memory", "cached", "streamed"),
        titles={
            "auto": "automatic",
            "memory": "memory",
            "cached": "disk",
            "streamed": "no cache",
        },
    )
    threads: int | None = setting(
        IntParam,
        None,
        "Threads that compute a training step. Automatic uses all cores.",
        title="CPU threads",
        maximum=1_024,
    )
    sync_batch_norm: str = setting(
        ChoiceParam,
        "auto",
        "With several replicas: batch statistics over the global batch, as on one device "
        "(on), or per replica, which is faster (off). Automatic synchronizes below 32 "
        "images per replica.",
        title="Synchronized batch norm",
        choices=("auto", "on", "off"),
        titles={"auto": "automatic"},
    )


# schedule ------------------------------------------------------------------------------------

SCALINGS: Mapping[str, str] = {
    "none": "none",
    "linear": "linear",
    "square_root": "square root",
}
"""How the learning rate follows the batch: key -> its name."""

SCALES: Mapping[str, Callable[[float], float]] = {
    "none": lambda _share: 1.0,
    "linear": lambda share: share,
    "square_root": math.sqrt,
}
"""Scaling -> what a rate is multiplied with for so many times the batch it is meant for."""


def _schedule_help() -> str:
    specs = all_schedules().values()
    names = [f"{spec.text} ({spec.help})" if spec.help else spec.text for spec in specs]
    return f"Learning rate schedule: {', '.join(names[:-1])} or {names[-1]}."


def _warm_up_help() -> str:
    shares = [
        f"{spec.warm_up_share:.0%} for {spec.text}"
        for spec in all_schedules().values()
        if spec.warm_up_share
    ]
    start = "Epochs of linear warm-up to the full learning rate. Automatic share of the training: "
    return f"{start}{', '.join(shares)}, none otherwise."


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ScheduleFields:
    """How the learning rate changes during training."""

    SECTION: ClassVar[str] = "Schedule"

    schedule: str = setting(
        ChoiceParam, "constant", _schedule_help(), place=3, **choices(all_schedules())
    )
    warmup_epochs: float | None = setting(
        FloatParam, None, _warm_up_help(), title="Warm-up epochs", maximum=10_000.0, step=0.5
    )
    final_share: float = setting(
        FloatParam,
        0.01,
        "final learning rate as a fraction of the peak.",
        title="Final LR fraction",
        maximum=1.0,
    )
    decay_every_epochs: float = setting(
        FloatParam,
        10.0,
        "epochs per decay by the factor.",
        title="Decay every",
        is_minimum_excluded=True,
        maximum=100_000.0,
        step=1.0,
        unit="epochs",
    )
    decay_factor: float = setting(
        FloatParam,
        0.1,
        "multiplier of the learning rate at each decay.",
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.05,
    )
    plateau_patience: int = setting(
        IntParam,
        5,
        "epochs without improvement before the learning rate is reduced.",
        maximum=10_000,
        unit="epochs",
    )
    rate_scaling: str = setting(
        ChoiceParam,
        "none",
        "Scales the learning rate with the global batch size. Linear: twice the batch, "
        "twice the rate (Goyal et al., 2017, for SGD). Square root suits Adam and LAMB.",
        title="LR scaling (with batch)",
        choices=tuple(SCALINGS),
        titles=SCALINGS,
    )
    rate_base_batch: int = setting(
        IntParam,
        256,
        "Batch size that the learning rate is given for.",
        title="Reference batch size",
        used_if=lambda recipe: recipe.rate_scaling != "none",
    )
