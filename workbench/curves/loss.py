"""The loss: of each batch alone, its mean over each epoch, and after it on validation."""

from __future__ import annotations

from workbench.curves import CurveSpec

SPEC = CurveSpec(
    key="loss",
    title="Loss",
    order=10,
    steps=lambda event: event.losses,
    batch=lambda event: event.loss,
    epoch=lambda event: event.loss,
    validation=lambda event: event.val_loss,
    place="row",
    batch_tag="batch_loss",
    epoch_tag="epoch_loss",
)
