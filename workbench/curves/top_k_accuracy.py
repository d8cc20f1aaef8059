"""The share, 0..1, of validation images whose class is among the recipe's `top_k` likeliest."""

from __future__ import annotations

from workbench.curves import CurveSpec

SPEC = CurveSpec(
    key="top_k_accuracy",
    title="Top-k accuracy",
    order=30,
    validation=lambda event: event.top_k_accuracy,
    validation_key="top_k_accuracy",
    is_optional=True,
    place="nowhere",
    epoch_tag="epoch_top_k_accuracy",
)
