"""Activation: any of Keras's activation functions by name."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._common import activation_param, same_shape
from workbench.layers._onnx import activation

SPEC = LayerSpec(
    key="activation",
    title="Activation",
    category="activation",
    summary="Applies a function to every value. Most layers have an activation of their own; a "
    "separate one can follow a normalization or an Add.",
    params=(activation_param("relu"),),
    infer_shape=same_shape,
    describe=lambda params: str(params["activation"]),
    keywords=("function", "nonlinearity", "relu", "sigmoid", "tanh", "gelu", "swish", "silu"),
    onnx=activation,
)
