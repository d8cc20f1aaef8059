"""Concatenate: its inputs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.params import ChoiceParam, Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._onnx import alike

_AXES = {"channels": -1, "height": 1, "width": 2}
"""Choice -> Keras's axis, which counts the batch."""


def _axis(params: Params, rank: int) -> int:
    axis = _AXES[params["axis"]]
    if axis > rank:
        raise ShapeProblem(
            "Axis does not exist",
            f"Concatenate joins along the {params['axis']}, which these inputs do not have.",
            ('set_axis:"channels"',),
        )
    return rank - 1 if axis == -1 else axis - 1


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    first = inputs[0]
    axis = _axis(params, len(first))
    total = first[axis]
    for other in inputs[1:]:
        if len(other) != len(first) or _without(other, axis) != _without(first, axis):
            raise ShapeProblem(
                "Concatenate needs inputs of matching shapes",
                f"They are joined along the {params['axis']}, so all other axes must be equal.",
                ("match_inputs:max_pooling2d",),
            )
        total += other[axis]
    return (*first[:axis], total, *first[axis + 1 :])


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _keras_arguments(params: Params) -> dict[str, Any]:
    return {"axis": _AXES[params["axis"]]}


def _write(layer: OnnxLayer) -> OnnxValue:
    is_first, names = alike(layer, layer.inputs)
    axis = _axis(layer.params, len(layer.shape))
    tensor_axis = (2, 3, 1)[axis] if is_first else axis + 1
    return layer.out(layer.op("Concat", *names, axis=tensor_axis), is_channels_first=is_first)


SPEC = LayerSpec(
    key="concatenate",
    title="Concatenate",
    category="merge",
    summary="Joins its inputs along one axis, by default the channels.",
    params=(
        ChoiceParam(
            "axis",
            "channels",
            "The axis that grows. All other axes must be equal.",
            title="Axis",
            choices=tuple(_AXES),
        ),
    ),
    infer_shape=_infer_shape,
    describe=lambda params: "" if params["axis"] == "channels" else f"along {params['axis']}",
    min_inputs=2,
    max_inputs=None,
    keras_arguments=_keras_arguments,
    common_rank=11,
    keywords=("merge", "join", "inception", "densenet", "concat"),
    onnx=_write,
)
