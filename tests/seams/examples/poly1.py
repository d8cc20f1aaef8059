"""Poly-1 cross-entropy (Leng et al., 2022): one more term of cross-entropy's Taylor series."""

from __future__ import annotations

from typing import Any

from workbench.core.params import Params
from workbench.core.training.specs import Code, LossInputs, LossSpec, Sources

_DEFINITION = '''\
def poly1_cross_entropy(targets, outputs):
    """Poly-1 cross-entropy (Leng et al., 2022) of each picture."""
    entropy = keras.losses.categorical_crossentropy(
        targets, outputs, from_logits={is_logits}
    )
    correct = keras.ops.sum(targets * {probabilities}, axis=-1)
    return entropy + 1.0 - correct
'''


def _compute(inputs: LossInputs, values: Params) -> Any:
    entropy = inputs.keras.losses.categorical_crossentropy(
        inputs.targets, inputs.outputs, from_logits=inputs.is_logits
    )
    correct = inputs.tf.reduce_sum(inputs.targets * inputs.probabilities, axis=-1)
    return entropy + 1.0 - correct


def _code(sources: Sources, *, is_logits: bool, is_sparse: bool) -> Code:
    probabilities = "keras.ops.softmax(outputs)" if is_logits else "outputs"
    text = _DEFINITION.format(is_logits=is_logits, probabilities=probabilities)
    return Code("poly1_cross_entropy", definition=text)


SPEC = LossSpec(
    key="poly1",
    title="Poly-1",
    name="Poly-1 cross-entropy",
    compute=_compute,
    code=_code,
)
