"""The sections of what keeps a network from overfitting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.format import list_text
from workbench.core.params import BoolParam, ChoiceParam, FloatParam
from workbench.core.training.fields.setting import setting
from workbench.core.training.optimizers import all_optimizers


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
