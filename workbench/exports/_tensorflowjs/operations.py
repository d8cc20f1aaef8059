"""The graph of a network as TensorFlow traces it: operations by name, weights as constants."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]

IMAGES = "images"
_WEIGHT = "weight_"
CONST, PLACEHOLDER, IDENTITY = "Const", "Placeholder", "Identity"


@dataclass
class Operation:
    """One operation.

    Attributes:
        name: As of a path of Keras ("functional_1/conv2d_1/Relu").
        kind: Name of the operation in TensorFlow's registry.
        inputs: Tensors, as "name" or "name:number".
        attrs: Messages AttrValue.
        value: Numbers of a constant; None for other operations.
    """

    name: str
    kind: str
    inputs: list[str] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    value: Values | None = None


@dataclass
class Operations:
    """A graph from `images`, float32 (n, height, width, channels), to outputs.

    Attributes:
        tf: The module.
        by_name: The operations.
        outputs: Tensors by the output's name.
        shapes: Shape of each tensor of known rank, by operation and number of the output; None
            for the number of images.
    """

    tf: Any
    by_name: dict[str, Operation]
    outputs: dict[str, str]
    shapes: Mapping[tuple[str, int], tuple[int | None, ...]] = field(default_factory=dict)

    def of(self, kinds: Sequence[str]) -> list[Operation]:
        """Operations of some kinds."""
        return [each for each in self.by_name.values() if each.kind in kinds]

    def source(self, tensor: str) -> Operation:
        """What makes a tensor."""
        return self.by_name[split(tensor)[0]]

    def shape(self, tensor: str) -> tuple[int | None, ...]:
        """The shape of a tensor of the traced graph.

        Raises:
            ValueError: its rank is unknown.
        """
        if split(tensor) not in self.shapes:
            raise ValueError(f"/{tensor}: of unknown shape")
        return self.shapes[split(tensor)]

    def add(
        self,
        name: str,
        kind: str,
        inputs: Sequence[str] = (),
        value: Values | None = None,
        **attrs: Any,
    ) -> str:
        """Adds an operation; returns its only output."""
        made = {key: self._attr(key, each) for key, each in attrs.items()}
        self.by_name[name] = Operation(name, kind, list(inputs), made, value)
        return name

    def constant(self, name: str, value: Any) -> str:
        """Adds a constant."""
        array = np.asarray(value)
        return self.add(name, CONST, value=array, dtype=self.tf.as_dtype(array.dtype))

    def _attr(self, key: str, value: Any) -> Any:
        """A message AttrValue of a number, a text, a type or a list of whole numbers."""
        made = self.tf.compat.v1.AttrValue()
        if isinstance(value, self.tf.DType):
            made.type = value.as_datatype_enum
        elif isinstance(value, bool):
            made.b = value
        elif isinstance(value, int):
            made.i = value
        elif isinstance(value, str):
            made.s = value.encode()
        elif isinstance(value, (list, tuple)):
            made.list.i.extend(value)
        else:
            raise TypeError(f"{key} = {value!r}")
        return made

    def replace(self, tensors: Mapping[str, str]) -> None:
        """Has other tensors wherever some are used; those may be replaced themselves."""
        plain = {canonical(old): canonical(new) for old, new in tensors.items()}

        def last(tensor: str) -> str:
            tensor = canonical(tensor)
            while tensor in plain:
                tensor = plain[tensor]
            return tensor

        for each in self.by_name.values():
            each.inputs = [last(tensor) for tensor in each.inputs]
        self.outputs = {name: last(tensor) for name, tensor in self.outputs.items()}

    def keep_used(self) -> None:
        """Leaves out what no output needs, and brings the rest into the order that data flows."""
        self.by_name = {each.name: each for each in self._flow()}

    def _flow(self) -> Iterator[Operation]:
        seen: set[str] = set()
        waiting = [(split(tensor)[0], False) for tensor in reversed(self.outputs.values())]
        while waiting:
            name, is_ready = waiting.pop()
            each = self.by_name[name]
            if is_ready:
                yield each
            elif name not in seen:
                seen.add(name)
                waiting.append((name, True))
                waiting += [(split(tensor)[0], False) for tensor in reversed(each.inputs)]


def split(tensor: str) -> tuple[str, int]:
    """Operation and number of a tensor."""
    name, _, number = tensor.partition(":")
    return name, int(number or 0)


def canonical(tensor: str) -> str:
    """The short form of a tensor's name: without ":0"."""
    return tensor.removesuffix(":0")


def trace(context: Any) -> Operations:
    """The graph of a model.

    Args:
        context: An ExportContext.
    """
    tf, keras, variables = context.tf, context.keras, context.model.variables
    names: list[str] = []

    def call(images: Any, *weights: Any) -> list[Any]:
        tf.config.run_functions_eagerly(True)  # functions within become part of this
        try:
            known = list(zip(variables, weights, strict=True))
            with keras.StatelessScope(state_mapping=known):
                found = context.answers(images)
        finally:
            tf.config.run_functions_eagerly(False)
        names[:] = found
        return [tf.identity(tensor) for tensor in found.values()]

    # The weights are arguments at first: a graph's definition is copied often.
    values = {f"{_WEIGHT}{number}": np.asarray(each) for number, each in enumerate(variables)}
    given = tf.TensorSpec((None, *context.card.input_shape), tf.float32, name=IMAGES)
    weights = [tf.TensorSpec(each.shape, each.dtype, name=name) for name, each in values.items()]
    function = tf.function(call, autograph=False)
    graph = context.lowered(function.get_concrete_function(given, *weights))
    outputs = [canonical(tensor.name) for tensor in graph.outputs]
    by_name = {node.name: _operation(tf, node) for node in graph.graph.as_graph_def().node}
    made = Operations(tf, by_name, dict(zip(names, outputs, strict=True)))
    for name, each in values.items():
        made.constant(name, each)
    return made


def _operation(tf: Any, node: Any) -> Operation:
    value = tf.make_ndarray(node.attr["value"].tensor) if node.op == CONST else None
    inputs = [canonical(tensor) for tensor in node.input if not tensor.startswith("^")]
    attrs = {key: each for key, each in node.attr.items() if not key.startswith("_")}
    return Operation(node.name, node.op, inputs, attrs, value)


# known ---------------------------------------------------------------------------------------
# The operations of TensorFlow.js that networks are written with.

KNOWN = frozenset(
    [
        "Abs",
        "AddV2",
        "AvgPool",
        "BatchMatMulV2",
        "BatchToSpaceND",
        "BiasAdd",
        "Cast",
        "ConcatV2",
        "Const",
        "Conv2D",
        "Conv2DBackpropInput",
        "Cumsum",
        "DepthwiseConv2dNative",
        "Elu",
        "Erf",
        "Exp",
        "ExpandDims",
        "Expm1",
        "Fill",
        "FloorDiv",
        "FloorMod",
        "FusedDepthwiseConv2dNative",
        "GatherV2",
        "Greater",
        "GreaterEqual",
        "Identity",
        "LeakyRelu",
        "Less",
        "LessEqual",
        "Log",
        "Log1p",
        "LogSoftmax",
        "MatMul",
        "Max",
        "MaxPool",
        "Maximum",
        "Mean",
        "Min",
        "Minimum",
        "Mul",
        "Neg",
        "Pack",
        "Pad",
        "PadV2",
        "Placeholder",
        "Pow",
        "Prod",
        "Range",
        "RealDiv",
        "Relu",
        "Relu6",
        "Reshape",
        "ResizeBilinear",
        "ResizeNearestNeighbor",
        "Round",
        "Rsqrt",
        "SelectV2",
        "Selu",
        "Shape",
        "Sigmoid",
        "Slice",
        "Softmax",
        "Softplus",
        "SpaceToBatchND",
        "Split",
        "Sqrt",
        "Square",
        "SquaredDifference",
        "Squeeze",
        "StridedSlice",
        "Sub",
        "Sum",
        "Tanh",
        "Tile",
        "TopKV2",
        "Transpose",
        "ZerosLike",
        "_FusedConv2D",
        "_FusedMatMul",
    ]
)
"""By TensorFlow's names, which the graph model's are. A test has the runtime list its own."""


def refuse_unknown(graph: Operations) -> None:
    """Raises ValueError, with the path of the first operation that TensorFlow.js lacks."""
    for each in graph.by_name.values():
        if each.kind not in KNOWN:
            raise ValueError(f"/{each.name}: TensorFlow.js has no operation {each.kind}")


# files ---------------------------------------------------------------------------------------
# The files of a graph model: `model.json` and shards of weights.

MODEL_NAME = "model.json"
SHARD_BYTES = 4 * 1024 * 1024
"""Size limit of a file of weights: what browsers keep in their cache."""

_TYPES: Mapping[str, tuple[str, str]] = {
    "f": ("float32", "DT_FLOAT"),
    "i": ("int32", "DT_INT32"),
    "u": ("int32", "DT_INT32"),
    "b": ("bool", "DT_BOOL"),
}
"""The types of numbers there, by the kind of a type of NumPy; TensorFlow.js has no others."""


def write_files(graph: Operations, folder: Path, shape: tuple[int, int, int], by: str) -> None:
    """Writes the graph model.

    Args:
        graph: The graph, of operations that TensorFlow.js knows.
        folder: To be made.
        shape: (height, width, channels) of an image.
        by: What has made it.
    """
    folder.mkdir()
    for name, tensor in graph.outputs.items():
        graph.outputs[name] = graph.add(name, IDENTITY, [tensor], T=graph.tf.float32)
    weights = {
        each.name: _plain(each.value) for each in graph.of((CONST,)) if each.value is not None
    }
    paths = _write_shards(weights, folder)
    specs = [
        {"name": name, "shape": list(values.shape), "dtype": _TYPES[values.dtype.kind][0]}
        for name, values in weights.items()
    ]
    model = {
        "format": "graph-model",
        "generatedBy": by,
        "convertedBy": by,
        "signature": _signature(graph, shape),
        "modelTopology": {
            "node": [_node(each) for each in graph.by_name.values()],
            "library": {},
            "versions": {"producer": 1, "minConsumer": 1},
        },
        "weightsManifest": [{"paths": paths, "weights": specs}],
    }
    text = json.dumps(model, separators=(",", ":"), allow_nan=False)
    (folder / MODEL_NAME).write_text(text, encoding="utf-8")


def _write_shards(weights: Mapping[str, Values], folder: Path) -> list[str]:
    """Writes the weights behind each other, cut into files; returns their names."""
    data = memoryview(b"".join(values.tobytes() for values in weights.values()))
    count = max(1, -(-len(data) // SHARD_BYTES))
    names = [f"group1-shard{number + 1}of{count}.bin" for number in range(count)]
    for number, name in enumerate(names):
        (folder / name).write_bytes(data[number * SHARD_BYTES :][:SHARD_BYTES])
    return names


def _plain(values: Values) -> Values:
    """Values of a type that TensorFlow.js has, little-endian."""
    return np.ascontiguousarray(values.astype(_TYPES[values.dtype.kind][0])).reshape(values.shape)


def _signature(graph: Operations, shape: tuple[int, int, int]) -> dict[str, Any]:
    def port(name: str, *sizes: int) -> dict[str, Any]:
        dims = {"dim": [{"size": str(size)} for size in sizes]} if sizes else {"unknownRank": True}
        return {"name": f"{name}:0", "dtype": "DT_FLOAT", "tensorShape": dims}

    return {
        "inputs": {IMAGES: port(IMAGES, -1, *shape)},
        "outputs": {name: port(name) for name in graph.outputs},
    }


def _node(each: Operation) -> dict[str, Any]:
    """An operation as Protocol Buffers write it in JSON; constants without their values."""
    if each.value is not None:
        kind = {"type": _TYPES[each.value.dtype.kind][1]}
        empty = {"dtype": kind["type"], "tensorShape": {}}
        return {
            "name": each.name,
            "op": each.kind,
            "attr": {"dtype": kind, "value": {"tensor": empty}},
        }
    attrs = {key: found for key, attr in each.attrs.items() if (found := _attr(attr)) is not None}
    made: dict[str, Any] = {"name": each.name, "op": each.kind, "attr": attrs}
    if each.kind != PLACEHOLDER:
        made["input"] = each.inputs
    return made


def _attr(attr: Any) -> dict[str, Any] | None:
    which = attr.WhichOneof("value")
    if which == "list":
        lists = {
            kind.name: [_one(kind.name, each, kind) for each in values]
            for kind, values in attr.list.ListFields()
        }
        return {"list": lists}
    if which in ("s", "i", "f", "b", "type", "shape"):
        field = attr.DESCRIPTOR.fields_by_name[which]
        return {which: _one(which, getattr(attr, which), field)}
    return None


def _one(which: str, value: Any, field: Any) -> Any:
    """A value in JSON: 64-bit numbers as text, bytes in base64, types by name."""
    if which == "s":
        return base64.b64encode(value).decode("ascii")
    if which == "i":
        return str(value)
    if which == "type":
        return field.enum_type.values_by_number[value].name
    if which == "shape":
        return {"dim": [{"size": str(dim.size)} for dim in value.dim]}
    return value
