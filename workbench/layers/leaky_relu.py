"""LeakyReLU: negative values become small."""

from __future__ import annotations

from workbench.core.params import FloatParam
from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import same_shape


def _write(layer: OnnxLayer) -> OnnxValue:
    return layer.mapped("LeakyRelu", layer.inputs[0], alpha=layer.params["negative_slope"])


SPEC = LayerSpec(
    key="leaky_relu",
    title="LeakyReLU",
    category="activation",
    summary="Like ReLU, but with a small slope for negative values, so that units do not die.",
    params=(
        FloatParam(
            "negative_slope",
            0.3,
            "Negative values are multiplied by this.",
            maximum=100.0,
            step=0.05,
        ),
    ),
    infer_shape=same_shape,
    describe=lambda params: f"slope {params['negative_slope']:g}",
    keras2_names={"negative_slope": "alpha"},
    keywords=("activation", "rectified"),
    onnx=_write,
)
