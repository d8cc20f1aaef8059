"""ELU: negative values bend towards a limit."""

from __future__ import annotations

from workbench.core.params import FloatParam
from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import same_shape, unless


def _write(layer: OnnxLayer) -> OnnxValue:
    return layer.mapped("Elu", layer.inputs[0], alpha=layer.params["alpha"])


SPEC = LayerSpec(
    key="elu",
    title="ELU",
    category="activation",
    summary="Keeps positive values and lets negative ones approach a limit smoothly.",
    params=(
        FloatParam("alpha", 1.0, "Negative values approach minus alpha.", maximum=100.0, step=0.1),
    ),
    infer_shape=same_shape,
    describe=lambda params: unless(params, "alpha", 1.0, "alpha {:g}"),
    keywords=("activation", "exponential"),
    onnx=_write,
)
