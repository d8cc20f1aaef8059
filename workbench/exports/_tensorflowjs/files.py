"""The files of a graph model: `model.json` and shards of weights."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
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
)

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
