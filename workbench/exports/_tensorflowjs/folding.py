"""What is the same whatever the images are becomes constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.exports._tensorflowjs.operations import (
    CONST,
    IDENTITY,
    IMAGES,
    PLACEHOLDER,
    Operations,
    Values,
    canonical,
    split,
)

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
