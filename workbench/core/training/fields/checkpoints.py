"""The section of what is kept of a training, and by which metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.params import ChoiceParam, IntParam
from workbench.core.training.fields.setting import setting


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
