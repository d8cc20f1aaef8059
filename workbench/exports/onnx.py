"""ONNX, written from the graph and the weights by our own writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._lite import python_runtime
from workbench.onnx.model import OPSET, onnx_model
from workbench.onnx.protobuf import text
from workbench.parts import CLASSIFY

_METADATA, _KEY, _VALUE = 14, 1, 2  # fields of ModelProto and StringStringEntryProto
_FACTS = "workbench"


def _write(context: Any, path: str) -> None:
    layers = context.layer_names if context.has_layers else {}
    more = {name: node for node, name in layers.items()}
    model = onnx_model(context.graph, context.layers, context.weights, more=more)
    # A field at the end of a message is as good as one within.
    facts = text(_KEY, _FACTS) + text(_VALUE, context.facts_json())
    Path(path).write_bytes(model + text(_METADATA, facts))


SPEC = ExportSpec(
    key="onnx",
    title="ONNX",
    summary=f"One file for ONNX Runtime and most other programs, opset {OPSET}, for any number of "
    "images at once.",
    suffix=".onnx",
    group="Servers and desktops",
    write=_write,
    has_layers=True,
    is_standard=False,
    reader=ExportReader(
        runtime=python_runtime("onnxruntime", "onnxruntime", CLASSIFY),
        section="onnxruntime",
        has_softmax=False,
    ),
)
