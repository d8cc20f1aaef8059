"""Reshape: the same values in another shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.core.format import shape_text
from workbench.core.params import Params, ShapeParam
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.core.specs.layer import OnnxLayer, OnnxValue


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    target: Shape = params["target_shape"]
    have = math.prod(inputs[0])
    known = math.prod(n for n in target if n != -1)
    if -1 not in target:
        if have != known:
            raise ShapeProblem(
                "The number of values must stay the same",
                f"The input has {have:,} values, {shape_text(target)} has {known:,}.",
                ("set_target_shape:[-1]",),
            )
        return target
    if have % known:
        raise ShapeProblem(
            "The number of values must stay the same",
            f"The input has {have:,} values, which is not divisible by the {known:,} of the "
            "given axes.",
            ("set_target_shape:[-1]",),
        )
    return tuple(have // known if n == -1 else n for n in target)


def _keras_arguments(params: Params) -> dict[str, Any]:
    return {"target_shape": tuple(params["target_shape"])}


def _write(layer: OnnxLayer) -> OnnxValue:
    shape = np.array([-1, *layer.shape], np.int64)
    return layer.out(layer.op("Reshape", layer.last(layer.inputs[0]), shape))


SPEC = LayerSpec(
    key="reshape",
    title="Reshape",
    category="core",
    summary="Changes the shape and keeps all values in order.",
    params=(
        ShapeParam(
            "target_shape",
            (-1,),
            "The new shape without the batch axis; -1 once for the remaining size.",
            can_infer=True,
        ),
    ),
    infer_shape=_infer_shape,
    is_linear=True,
    describe=lambda params: "×".join("rest" if n == -1 else str(n) for n in params["target_shape"]),
    keras_arguments=_keras_arguments,
    keywords=("shape", "view", "axes"),
    onnx=_write,
)
