"""The graph of a network as TensorFlow traces it: operations by name, weights as constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
