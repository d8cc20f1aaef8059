"""Categorical cross-entropy."""

from __future__ import annotations

from typing import Any

from workbench.core.params import Params
from workbench.core.training.specs import Code, LossInputs, LossSpec, Sources


def _compute(inputs: LossInputs, values: Params) -> Any:
    return inputs.keras.losses.categorical_crossentropy(
        inputs.targets, inputs.outputs, from_logits=inputs.is_logits
    )


def _compute_sparse(inputs: LossInputs, values: Params) -> Any:
    return inputs.keras.losses.sparse_categorical_crossentropy(
        inputs.targets, inputs.outputs, from_logits=inputs.is_logits
    )


def _code(sources: Sources, *, is_logits: bool, is_sparse: bool) -> Code:
    name = f"{'Sparse' if is_sparse else ''}CategoricalCrossentropy"
    return Code(name, (f"from_logits={is_logits}",))


SPEC = LossSpec(
    key="cross_entropy",
    title="cross-entropy",
    help="cross-entropy is the default for classification",
    order=10,
    compute=_compute,
    compute_sparse=_compute_sparse,
    code=_code,
)
