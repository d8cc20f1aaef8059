"""The accuracy, 0..1: of each batch alone, over each epoch, and after it on validation."""

from __future__ import annotations

from workbench.curves import CurveSpec

SPEC = CurveSpec(
    key="accuracy",
    title="Accuracy",
    order=20,
    is_share=True,
    steps=lambda event: event.accuracies,
    batch=lambda event: event.accuracy,
    epoch=lambda event: event.accuracy,
    validation=lambda event: event.val_accuracy,
    place="row",
    batch_tag="batch_accuracy",
    epoch_tag="epoch_accuracy",
)
