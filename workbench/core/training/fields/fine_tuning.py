"""The section of what becomes of frozen layers: cached features, and a phase of fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.params import ChoiceParam, FloatParam, IntParam
from workbench.core.training.fields.setting import setting


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
