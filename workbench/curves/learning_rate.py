"""The learning rate that each event names: the same for all of its steps."""

from __future__ import annotations

from workbench.curves import CurveSpec

SPEC = CurveSpec(
    key="learning_rate",
    title="Learning rate",
    order=40,
    batch=lambda event: event.learning_rate,
    epoch=lambda event: event.learning_rate,
    is_optional=True,
    place="below",
    batch_tag="learning_rate",
)
