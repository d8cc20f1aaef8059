"""Dense: every input connected with every output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from workbench.core.params import IntParam, Params
from workbench.core.specs import LayerSpec, ParamCount, Role, Shape, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import (
    activation_param,
    extras,
    join,
    unless,
    weight_params,
    with_regularizers,
)
from workbench.layers._onnx import activated, bias_of


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    return (*inputs[0][:-1], params["units"])


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    return ParamCount(params["units"] * (inputs[0][-1] + bool(params["use_bias"])))


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(inputs[0]) * int(params["units"])


def _describe(params: Params) -> str:
    units = params["units"]
    words = "1 unit" if units == 1 else f"{units:,} units"
    return join(words, unless(params, "activation", "linear"), *extras(params))


def _projection(shape: Shape, wanted: Shape) -> Params | None:
    return {"units": wanted[0]} if len(shape) == len(wanted) == 1 else None


def _refits(params: Params, output: Shape, wanted: Shape) -> Iterator[Params]:
    if len(output) == len(wanted):
        yield {"units": wanted[-1]}


def _write(layer: OnnxLayer) -> OnnxValue:
    name = layer.op("MatMul", layer.last(layer.inputs[0]), layer.weight("kernel"))
    bias = bias_of(layer)
    if bias is not None:
        name = layer.op("Add", name, bias)
    return activated(layer, name, is_channels_first=False)


SPEC = LayerSpec(
    key="dense",
    title="Dense",
    category="core",
    summary="Fully connected layer. The last one has one unit per class.",
    params=(
        IntParam(
            "units",
            128,
            "Number of outputs. In the last layer: the number of classes.",
            maximum=1_048_576,
        ),
        activation_param(),
        *weight_params("kernel"),
    ),
    infer_shape=_infer_shape,
    is_linear=True,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    describe=_describe,
    keras_arguments=with_regularizers,
    role=Role.DENSE,
    width="units",
    projection=_projection,
    refits=_refits,
    training_class=TrainingClass.DENSE,
    common_rank=4,
    keywords=("fully connected", "linear", "classifier", "units"),
    onnx=_write,
)
