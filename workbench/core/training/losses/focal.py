"""Focal loss (Lin et al., 2017), without class weights of its own."""

from __future__ import annotations

from typing import Any

from workbench.core.params import Params
from workbench.core.training.specs import Code, LossInputs, LossSpec, Sources


def _compute(inputs: LossInputs, values: Params) -> Any:
    return inputs.keras.losses.categorical_focal_crossentropy(
        inputs.targets,
        inputs.outputs,
        alpha=1.0,
        gamma=values["focal_gamma"],
        from_logits=inputs.is_logits,
    )


def _code(sources: Sources, *, is_logits: bool, is_sparse: bool) -> Code:
    arguments = ("alpha=1.0", f"gamma={sources['focal_gamma']}", f"from_logits={is_logits}")
    return Code("CategoricalFocalCrossentropy", arguments)


SPEC = LossSpec(
    key="focal",
    title="focal",
    name="focal loss",
    help="focal loss focuses on hard examples",
    order=20,
    uses=("focal_gamma",),
    compute=_compute,
    code=_code,
)
