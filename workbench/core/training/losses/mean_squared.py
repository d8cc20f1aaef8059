"""Mean squared error of the probabilities."""

from __future__ import annotations

from typing import Any

from workbench.core.params import Params
from workbench.core.training.specs import Code, LossInputs, LossSpec, Sources

_DEFINITION = '''\
def squared_error(targets, logits):
    """Mean squared error of the probabilities."""
    return keras.losses.mean_squared_error(targets, keras.ops.softmax(logits))
'''


def _compute(inputs: LossInputs, values: Params) -> Any:
    return inputs.keras.losses.mean_squared_error(inputs.targets, inputs.probabilities)


def _code(sources: Sources, *, is_logits: bool, is_sparse: bool) -> Code:
    if is_logits:
        return Code("squared_error", definition=_DEFINITION)
    return Code("MeanSquaredError")


SPEC = LossSpec(
    key="mean_squared",
    title="MSE",
    help="MSE (mean squared error) compares probabilities",
    order=30,
    compute=_compute,
    code=_code,
)
