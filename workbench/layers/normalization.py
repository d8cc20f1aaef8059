"""Normalization: each channel to mean 0 and variance 1 over the training images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import Curve, Draw, IntensityTransform, LayerSpec, ParamCount, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import normalized_range, one_per_value, same_shape

_LEAST_DEVIATION = 1e-7  # Keras's epsilon


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    return ParamCount(0, 2 * inputs[0][-1] + 1)  # mean, variance, and Keras's counter


def _curve(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    mean, variance = (np.asarray(value, np.float32) for value in (layer.mean, layer.variance))
    scale = 1 / np.maximum(np.sqrt(variance), np.float32(_LEAST_DEVIATION))
    return pictures, curve.then(scale, -mean * scale)


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,) = layer.inputs
    mean = layer.by_channel(layer.weight("mean").reshape(-1), value)
    variance = layer.by_channel(layer.weight("variance").reshape(-1), value)
    deviation = np.maximum(np.sqrt(variance), np.float32(_LEAST_DEVIATION))
    return layer.mapped("Div", layer.mapped("Sub", value, mean), deviation)


SPEC = LayerSpec(
    key="normalization",
    title="Normalization",
    category="preprocessing",
    summary="Normalizes each channel to mean 0 and variance 1, computed from the training "
    "images before training starts.",
    infer_shape=same_shape,
    range_of=normalized_range,
    count_params=_count_params,
    count_multiply_adds=one_per_value,
    place="either",
    is_adapted=True,
    pipeline_form=IntensityTransform(_curve),
    keywords=("standardize", "mean", "variance", "adapt", "scale"),
    onnx=_write,
)
