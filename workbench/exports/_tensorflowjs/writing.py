"""Conversion of a Keras model to the folder of a graph model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.exports._tensorflowjs.operations import (
    CONST,
    IDENTITY,
    IMAGES,
    PLACEHOLDER,
    Operation,
    Operations,
    Values,
    canonical,
    refuse_unknown,
    split,
    trace,
    write_files,
)

# folding -------------------------------------------------------------------------------------
# What is the same whatever the images are becomes constants.

_BATCHES = (1, 3)
"""Numbers of images that sizes are computed for: what differs depends on it."""

_MOST_BYTES = 4096
"""Bytes of a constant that is embedded in TensorFlow's graph here; larger ones are fed to it."""

_SIZES = ("Shape", "ShapeN", "Size", "Rank")
"""Operations whose result depends on the shape of their input alone."""

_PASSING = (IDENTITY, "IdentityN", "StopGradient", "Snapshot", "PreventGradient", "NoOp")
_SWITCH, _MERGE, _RESHAPE = "Switch", "Merge", "Reshape"


def fold(graph: Operations) -> None:
    """Computes constants, chooses branches, and states the shapes of reshaped tensors; afterwards
    `graph.shapes` are known.
    """
    count = -1
    graph.keep_used()
    while count != len(graph.by_name):  # behind a chosen branch more may be known
        count = len(graph.by_name)
        _fold_once(graph)
    graph.shapes = _shapes(graph)


def _fold_once(graph: Operations) -> None:
    values = _known_values(graph)
    _choose_branches(graph, values)
    graph.replace(
        {
            f"{each.name}:{number}": tensor
            for each in graph.of(_PASSING)
            for number, tensor in enumerate(each.inputs)
        }
    )
    _state_shapes(graph, values)
    constants = {}
    for tensor, (first, second) in values.items():
        each = graph.by_name.get(split(tensor)[0])
        if each is not None and each.kind != CONST and _is_same(first, second):
            made = graph.constant(f"{each.name}/folded_{split(tensor)[1]}", first)
            constants[tensor] = made
    graph.replace(constants)
    graph.keep_used()


def _known_values(graph: Operations) -> dict[str, tuple[Values, Values]]:
    """Tensors that depend on no image but for their number, for two numbers of images."""
    known: set[str] = set()
    for each in graph.by_name.values():
        sources = {split(tensor)[0] for tensor in each.inputs}
        is_made = each.kind in _SIZES or (sources <= known and each.kind != PLACEHOLDER)
        if is_made and each.kind not in (_SWITCH, _MERGE):
            known.add(each.name)
    imported, weights = _imported(graph)
    wanted = [
        tensor.name
        for name in known
        for tensor in imported.get_operation_by_name(name).outputs
        if graph.by_name[name].kind != CONST
    ]
    images = imported.get_tensor_by_name(f"{IMAGES}:0")
    found = []
    with graph.tf.compat.v1.Session(graph=imported) as session:
        for count in _BATCHES:
            zeros = np.zeros((count, *images.shape[1:]), np.float32)
            found.append(session.run(wanted, {images: zeros, **weights}) if wanted else [])
    pairs = zip(*found, strict=True)
    made = {canonical(name): pair for name, pair in zip(wanted, pairs, strict=True)}
    constants = {each.name: each.value for each in graph.of((CONST,)) if each.value is not None}
    return made | {name: (value, value) for name, value in constants.items()}


def _is_same(first: Values, second: Values) -> bool:
    return np.shape(first) == np.shape(second) and bool(np.array_equal(first, second))


def _choose_branches(graph: Operations, values: dict[str, tuple[Values, Values]]) -> None:
    """Leaves of each branch what is computed for these images."""
    dead: set[str] = set()
    for each in list(graph.by_name.values()):
        if each.kind == _SWITCH:
            data, condition = each.inputs
            if condition not in values or not _is_same(*values[condition]):
                continue
            chosen = int(bool(values[condition][0]))
            dead.add(canonical(f"{each.name}:{1 - chosen}"))
            graph.replace({f"{each.name}:{chosen}": data})
        elif each.kind == _MERGE:
            alive = [tensor for tensor in each.inputs if tensor not in dead]
            if len(alive) == 1:
                graph.replace({each.name: alive[0]})
        elif any(tensor in dead for tensor in each.inputs):
            dead |= {canonical(f"{each.name}:{number}") for number in range(8)}
    graph.keep_used()


def _state_shapes(graph: Operations, values: dict[str, tuple[Values, Values]]) -> None:
    """Has -1 in the shapes of reshaped tensors for what depends on the number of images."""
    for each in graph.of((_RESHAPE,)):
        first, second = values.get(each.inputs[1], (None, None))
        if first is None or second is None or np.shape(first) != np.shape(second):
            continue
        differs = first != second
        if differs.sum() == 1 and not (first == -1).any():
            shape = np.where(differs, -1, first).astype(np.int32)
            each.inputs[1] = graph.constant(f"{each.name}/stated", shape)
    graph.keep_used()


def _imported(graph: Operations) -> tuple[Any, dict[str, Values]]:
    """A graph of TensorFlow, and what is to be fed to it: large constants."""
    v1 = graph.tf.compat.v1
    definition, fed = v1.GraphDef(), {}
    for each in graph.by_name.values():
        if each.value is not None and each.value.nbytes > _MOST_BYTES:
            fed[f"{each.name}:0"] = each.value
            node = definition.node.add(name=each.name, op=PLACEHOLDER)
            node.attr["dtype"].CopyFrom(each.attrs["dtype"])
            for side in each.value.shape:
                node.attr["shape"].shape.dim.add(size=side)
            continue
        node = definition.node.add(name=each.name, op=each.kind, input=each.inputs)
        for key, attr in each.attrs.items():
            node.attr[key].CopyFrom(attr)
        if each.value is not None:
            node.attr["value"].tensor.CopyFrom(graph.tf.make_tensor_proto(each.value))
    made = graph.tf.Graph()
    with made.as_default():
        graph.tf.graph_util.import_graph_def(definition, name="")
    return made, fed


def _shapes(graph: Operations) -> dict[tuple[str, int], tuple[int | None, ...]]:
    return {
        (each.name, number): tuple(tensor.shape.as_list())
        for each in _imported(graph)[0].get_operations()
        for number, tensor in enumerate(each.outputs)
        if tensor.shape.rank is not None
    }


# rewriting -----------------------------------------------------------------------------------
# What TensorFlow.js lacks, written with operations that it has; and what it computes at once.

_CONV, _DEPTHWISE, _MATMUL = "Conv2D", "DepthwiseConv2dNative", "MatMul"
_TRANSPOSED, _BIAS = "Conv2DBackpropInput", "BiasAdd"
_RESIZED = ("ScaleAndTranslate", "ResizeBicubic", "ResizeArea")
_FUSED = {_CONV: "_FusedConv2D", _DEPTHWISE: "FusedDepthwiseConv2dNative", _MATMUL: "_FusedMatMul"}
_FUSED_ACTIVATIONS = ("Relu", "Relu6", "Elu", "Sigmoid")


def rewrite(graph: Operations) -> None:
    """Rewrites the operations of a folded graph.

    Raises:
        ValueError: one depends on what is not constant; the text has its path.
    """
    rules: dict[str, Callable[[Operations, Operation], str | None]] = {
        "Erfc": _complement,
        "Softsign": _softsign,
        "Cumsum": _counted_from_first,
        _CONV: _grouped,
        _TRANSPOSED: _dilated,
        **dict.fromkeys(_RESIZED, _resized),
    }
    graph.replace(
        {each.name: new for each in graph.of(list(rules)) if (new := rules[each.kind](graph, each))}
    )
    graph.keep_used()
    _fuse(graph)


def _complement(graph: Operations, each: Operation) -> str:
    one = graph.constant(f"{each.name}/one", np.float32(1))
    erf = graph.add(f"{each.name}/erf", "Erf", each.inputs)
    return graph.add(f"{each.name}/complement", "Sub", [one, erf])


def _softsign(graph: Operations, each: Operation) -> str:
    (x,) = each.inputs
    one = graph.constant(f"{each.name}/one", np.float32(1))
    size = graph.add(f"{each.name}/abs", "Abs", [x])
    larger = graph.add(f"{each.name}/larger", "AddV2", [size, one])
    return graph.add(f"{each.name}/ratio", "RealDiv", [x, larger])


def _counted_from_first(graph: Operations, each: Operation) -> None:
    """Cumulative sums there take an axis that is counted from the last one for another."""
    x, axis = each.inputs
    number = int(_constant(graph, each, axis)) % len(graph.shape(x))
    each.inputs[1] = graph.constant(f"{each.name}/axis", np.int32(number))


def _grouped(graph: Operations, each: Operation) -> str | None:
    """A convolution of groups of channels: one of each group, side by side."""
    x, kernel = each.inputs
    width, channels = graph.shape(kernel)[2], graph.shape(x)[3]
    if width is None or channels is None or width == channels:
        return None
    count = channels // width
    parts = []
    kernels = np.split(_constant(graph, each, kernel), count, axis=3)
    for number, weights in enumerate(kernels):
        first = graph.constant(f"{each.name}/first_{number}", _whole(0, 0, 0, number * width))
        size = graph.constant(f"{each.name}/size_{number}", _whole(-1, -1, -1, width))
        part = graph.add(f"{each.name}/slice_{number}", "Slice", [x, first, size])
        known = graph.constant(f"{each.name}/kernel_{number}", weights)
        name = graph.add(f"{each.name}/group_{number}", _CONV, [part, known])
        graph.by_name[name].attrs = each.attrs
        parts.append(name)
    axis = graph.constant(f"{each.name}/axis", np.int32(3))
    return graph.add(f"{each.name}/groups", "ConcatV2", [*parts, axis], N=count)


def _dilated(graph: Operations, each: Operation) -> None:
    """A transposed convolution knows no dilation: zeros are between the weights."""
    _, rows, columns, _ = each.attrs["dilations"].list.i or (1, 1, 1, 1)
    if rows == columns == 1:
        return
    kernel = _constant(graph, each, each.inputs[1])
    height, width = (
        (side - 1) * by + 1 for side, by in zip(kernel.shape, (rows, columns), strict=False)
    )
    made = np.zeros((height, width, *kernel.shape[2:]), kernel.dtype)
    made[::rows, ::columns] = kernel
    each.inputs[1] = graph.constant(f"{each.name}/dilated", made)
    each.attrs = {key: attr for key, attr in each.attrs.items() if key != "dilations"}


def _resized(graph: Operations, each: Operation) -> str:
    """Resizing by weighted sums of rows and of columns: two products with matrices."""
    x, *more = each.inputs
    _, height, width, channels = graph.shape(x)
    if height is None or width is None or channels is None:
        raise ValueError(f"/{each.name}: of unknown size")
    given = [_constant(graph, each, tensor) for tensor in more]
    of_rows = _matrix(graph.tf, each, height, [values[0] for values in given])
    of_columns = _matrix(graph.tf, each, width, [values[1] for values in given])
    new_height, new_width = len(of_rows), len(of_columns)

    def shaped(name: str, tensor: str, *shape: int) -> str:
        sizes = graph.constant(f"{each.name}/{name}_shape", _whole(*shape))
        return graph.add(f"{each.name}/{name}", "Reshape", [tensor, sizes])

    def product(name: str, matrix: Values, tensor: str) -> str:
        known = graph.constant(f"{each.name}/{name}_matrix", matrix[None])
        return graph.add(f"{each.name}/{name}", "BatchMatMulV2", [known, tensor])

    rows = product("rows", of_rows, shaped("flat", x, -1, height, width * channels))
    columns = product("columns", of_columns, shaped("split", rows, -1, width, channels))
    return shaped("resized", columns, -1, new_height, new_width, channels)


def _matrix(tf: Any, each: Operation, side: int, given: list[Any]) -> Values:
    """The weights (new side, side) of an operation along one axis, by what it makes of ones."""
    ones = np.eye(side, dtype=np.float32)[:, :, None, None]
    size = [int(given[0]), 1]
    if each.kind == "ScaleAndTranslate":
        found = tf.raw_ops.ScaleAndTranslate(
            images=ones,
            size=size,
            scale=[float(given[1]), 1.0],
            translation=[float(given[2]), 0.0],
            kernel_type=each.attrs["kernel_type"].s.decode(),
            antialias=each.attrs["antialias"].b,
        )
    else:
        known = {key: attr.b for key, attr in each.attrs.items() if attr.WhichOneof("value") == "b"}
        found = getattr(tf.raw_ops, each.kind)(images=ones, size=size, **known)
    return np.ascontiguousarray(found.numpy()[:, :, 0, 0].T)


def _whole(*numbers: int) -> Values:
    return np.array(numbers, np.int32)


def _constant(graph: Operations, each: Operation, tensor: str) -> Values:
    value = graph.source(tensor).value
    if value is None:
        raise ValueError(f"/{each.name}/{each.kind}: {tensor} is not constant")
    return value


def _fuse(graph: Operations) -> None:
    """Has bias and activation computed with the layer that they follow."""
    users: dict[str, list[Operation]] = {}
    for each in graph.by_name.values():
        for tensor in each.inputs:
            users.setdefault(tensor, []).append(each)
    ends = set(graph.outputs.values())

    def only_user(tensor: str) -> Operation | None:
        found = users.get(tensor, [])
        return found[0] if len(found) == 1 and tensor not in ends else None

    for each in graph.of(list(_FUSED)):
        bias = only_user(each.name)
        if bias is None or bias.kind != _BIAS or graph.source(bias.inputs[1]).kind != CONST:
            continue
        last, words = bias, [b"BiasAdd"]
        after = only_user(bias.name)
        if after is not None and after.kind in _FUSED_ACTIVATIONS:
            last = after
            words.append(after.kind.encode())
        attrs = graph.tf.compat.v1.AttrValue()
        attrs.list.s.extend(words)
        graph.add(
            f"{last.name}/fused", _FUSED[each.kind], [*each.inputs, bias.inputs[1]], num_args=1
        )
        graph.by_name[f"{last.name}/fused"].attrs |= {**each.attrs, "fused_ops": attrs}
        graph.replace({last.name: f"{last.name}/fused"})
    graph.keep_used()


# writing -------------------------------------------------------------------------------------


def write_graph_model(context: Any, folder: Path) -> None:
    """Writes a graph model of images, float32 (n, height, width, channels), 0..255.

    Args:
        context: An ExportContext.
        folder: To be made.

    Raises:
        ValueError: an operation cannot be written; the text has its path.
    """
    graph = trace(context)
    fold(graph)
    rewrite(graph)
    refuse_unknown(graph)
    write_files(graph, folder, tuple(context.card.input_shape), context.made_by)
