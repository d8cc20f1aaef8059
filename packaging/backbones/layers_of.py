"""A functional Keras model as layers of this application, with what each weight becomes.

What only training uses (Dropout, stochastic depth, layers that change nothing) is left out.
Padding right before a window that is what `padding="same"` adds becomes that: the same numbers at
the usual image size, and every other size works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from workbench.layers import all_layers

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Start:
    """A layer in front of the Keras model, which brings 0 to 255 to what that expects."""

    kind: str
    params: Mapping[str, Any]
    constants: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def offset(cls, offsets: Sequence[float], scales: Sequence[float] = (1.0, 1.0, 1.0)) -> Start:
        """A factor and an offset for each channel: a depthwise window of one pixel."""
        kernel = np.reshape(scales, (1, 1, len(scales), 1)).tolist()
        constants = {"kernel": kernel, "bias": list(offsets)}
        return cls("depthwise_conv2d", {"kernel_size": [1, 1]}, constants)


@dataclass
class Block:
    """Layers and edges as a project file has them, and the weights.

    Attributes:
        input_shape: The usual shape of an image.
        nodes, edges: As in a project file; the first node takes the images, the last one gives the
            features.
        variables: Shape by variable, by layer.
        constants: Values of variables that no file holds, by variable, by layer.
        source: For each layer of the Keras model with weights, in the order of its file: shape
            there, layer and variable here, and the axis that is reversed, -1 for none.
    """

    input_shape: Shape
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    variables: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    constants: dict[str, dict[str, Any]] = field(default_factory=dict)
    source: list[list[list[Any]]] = field(default_factory=list)

    def plain(self, key: str) -> dict[str, Any]:
        """As its file holds it."""
        return {
            "format": "workbench-backbone",
            "version": 1,
            "key": key,
            "input_shape": list(self.input_shape),
            "nodes": self.nodes,
            "edges": self.edges,
            "variables": self.variables,
            "constants": self.constants,
            "source": self.source,
        }

    def add(self, kind: str, name: str, params: Mapping[str, Any], sources: Sequence[str]) -> str:
        """A new layer behind others, by their ids; returns its id."""
        spec = all_layers()[kind]
        standard = {key: _plain(value) for key, value in spec.defaults().items()}
        changed = {k: v for k, v in params.items() if standard[k] != v}
        node = f"n{len(self.nodes) + 1}"
        taken = {other["name"] for other in self.nodes}
        assert name not in taken, name  # noqa: S101
        self.nodes.append({"id": node, "kind": kind, "name": name, "params": changed})
        for port, source in enumerate(sources):
            self.edges.append({"source": source, "target": node, "port": port})
        return node

    def name_of(self, node: str) -> str:
        """The name of a layer by its id."""
        return next(other["name"] for other in self.nodes if other["id"] == node)

    def arrays(self, source: Sequence[Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
        """The weights by LAYER/VARIABLE, from those of each layer of the source in its order."""
        found: dict[str, np.ndarray] = {}
        for entries, given in zip(self.source, source, strict=True):
            for (shape, layer, variable, axis), array in zip(entries, given, strict=True):
                assert list(array.shape) == shape, (layer, array.shape, shape)  # noqa: S101
                turned = np.flip(array, axis) if axis >= 0 else array
                wanted = self.variables[layer][variable]
                found[f"{layer}/{variable}"] = np.ascontiguousarray(turned.reshape(wanted))
        return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def block_of(
    model: Any, start: Start | None = None, *, prefix: str = "", reversed_channels: str = ""
) -> Block:
    """The layers of a Keras model.

    Args:
        model: A functional model from images to features.
        start: What comes in front of it.
        prefix: Cut off the names of its layers.
        reversed_channels: The name of the first convolution where it expects blue, green, red.
    """
    return _Reader(model, prefix, reversed_channels).read(start)


@dataclass(frozen=True)
class _Padding:
    """Zeros behind a node, of this height: top, bottom, left, right."""

    source: str
    sides: tuple[int, ...]
    height: int
    name: str

    def is_same(self, kernel: int, stride: int) -> bool:
        """Whether a window with padding="same" adds these."""
        total = max((-(-self.height // stride) - 1) * stride + kernel - self.height, 0)
        halves = (total // 2, total - total // 2)
        return self.sides == (*halves, *halves)


class _Reader:
    def __init__(self, model: Any, prefix: str, reversed_channels: str) -> None:
        self._model = model
        self._prefix = prefix
        self._reversed = reversed_channels
        self.block = Block(tuple(model.input_shape[1:]))
        self._at: dict[int, str] = {}  # id of a Keras tensor -> our node, or a name below
        self._targets: dict[int, tuple[str, str]] = {}  # id of a Keras weight -> layer, variable
        self._paddings: dict[str, _Padding] = {}
        self._plus3: dict[str, str] = {}  # x + 3, and at most 6 of it -> the node of x

    def read(self, start: Start | None) -> Block:
        """All layers in order, then the weights in the order of Keras's file."""
        image = self._model.inputs[0]
        self._at[id(image)] = ""
        if start is not None:
            node = self.block.add(start.kind, f"input_{start.kind.split('_')[0]}", start.params, ())
            self._constants(node, start.constants)
            self._at[id(image)] = node
        for operation in self._model.operations:
            if operation.__class__.__name__ != "InputLayer":
                self._visit(operation)
        for layer in self._model.layers:
            entries = [[list(weight.shape), *self._target(weight)] for weight in _file_order(layer)]
            if entries:
                self.block.source.append(entries)
        return self.block

    def _constants(self, node: str, constants: Mapping[str, Any]) -> None:
        if constants:
            name = self.block.name_of(node)
            shapes = {key: list(np.shape(value)) for key, value in constants.items()}
            self.block.variables[name] = shapes
            self.block.constants[name] = dict(constants)

    def _target(self, weight: Any) -> list[Any]:
        layer, variable = self._targets[id(weight)]
        return [layer, variable, 2 if layer == self._reversed and variable == "kernel" else -1]

    # layers ------------------------------------------------------------------------------

    def _visit(self, operation: Any) -> None:
        kind = operation.__class__.__name__
        inputs = [t for t in _arguments(operation) if hasattr(t, "shape")]
        output = operation.output
        if kind == "Sequential":
            self._at[id(output)] = self._chain(operation, self._at[id(inputs[0])])
            return
        sources = [self._at[id(tensor)] for tensor in inputs]
        self._at[id(output)] = self._converted(operation, sources)

    def _chain(self, sequential: Any, source: str) -> str:
        for layer in sequential.layers:
            source = self._converted(layer, [source])
        return source

    def _converted(self, operation: Any, sources: list[str]) -> str:
        take = getattr(self, f"_make_{operation.__class__.__name__.lower()}", None)
        if take is None:
            raise SystemExit(f"{operation.name}: {operation.__class__.__name__} is not converted")
        return str(take(operation, sources))

    def _name(self, layer: Any) -> str:
        return layer.name.removeprefix(self._prefix)

    def _weighted(
        self, kind: str, layer: Any, sources: list[str], params: Mapping[str, Any], name: str = ""
    ) -> str:
        sources, params = self._without_padding(kind, sources, dict(params))
        node = self.block.add(kind, name or self._name(layer), params, [s for s in sources if s])
        for weight in layer.weights:
            variable, shape = weight.name, list(weight.shape)
            if kind == "conv2d" and len(shape) == 2:
                shape = [1, 1, *shape]  # of Dense, over the channels of each position
            elif kind == "depthwise_conv2d" and len(shape) == 1 and variable != "bias":
                variable, shape = "kernel", [1, 1, shape[0], 1]  # a factor per channel
            elif kind == "depthwise_conv2d" and len(shape) == 4:
                shape = [*shape[:2], shape[2] * shape[3], 1]  # as many groups as channels
            name = self.block.name_of(node)
            self._targets[id(weight)] = (name, variable)
            self.block.variables.setdefault(name, {})[variable] = shape
        return node

    def _without_padding(
        self, kind: str, sources: list[str], params: dict[str, Any]
    ) -> tuple[list[str], dict[str, Any]]:
        """Takes the padding in front into the window, where that is what "same" adds."""
        found = self._paddings.get(sources[0])
        if found is None:
            return sources, params
        # Around the highest value zeros count, where "same" adds what never wins.
        if kind != "max_pooling2d" and found.is_same(
            params["kernel_size"][0], params["strides"][0]
        ):
            return [found.source], {**params, "padding": "same"}
        padding = {"padding": list(found.sides)}
        return [self.block.add("zero_padding2d", found.name, padding, [found.source])], params

    def _make_zeropadding2d(self, layer: Any, sources: list[str]) -> str:
        (top, bottom), (left, right) = layer.padding
        key = f"padding of {layer.name}"
        sides = (top, bottom, left, right)
        self._paddings[key] = _Padding(sources[0], sides, layer.input.shape[1], self._name(layer))
        return key

    def _make_rescaling(self, layer: Any, sources: list[str]) -> str:
        params = {"scale": float(layer.scale), "offset": float(layer.offset)}
        return self.block.add("rescaling", "input_rescaling", params, [s for s in sources if s])

    def _make_normalization(self, layer: Any, sources: list[str]) -> str:
        mean, deviation = np.ravel(layer.input_mean), np.sqrt(np.ravel(layer.input_variance))
        start = Start.offset((-mean / deviation).tolist(), (1 / deviation).tolist())
        used = [s for s in sources if s]
        node = self.block.add(start.kind, "input_normalization", start.params, used)
        self._constants(node, start.constants)
        return node

    def _make_conv2d(self, layer: Any, sources: list[str]) -> str:
        window = _window(layer)
        if layer.groups > 1:  # as many groups as channels in ConvNeXt
            assert layer.groups == layer.filters == layer.input.shape[-1]  # noqa: S101
            return self._weighted("depthwise_conv2d", layer, sources, window)
        return self._weighted("conv2d", layer, sources, {"filters": layer.filters, **window})

    def _make_depthwiseconv2d(self, layer: Any, sources: list[str]) -> str:
        return self._weighted("depthwise_conv2d", layer, sources, _window(layer))

    def _make_dense(self, layer: Any, sources: list[str]) -> str:
        params = {"filters": layer.units, "kernel_size": [1, 1], "activation": _activation(layer)}
        return self._weighted("conv2d", layer, sources, params)

    def _make_layerscale(self, layer: Any, sources: list[str]) -> str:
        params = {"kernel_size": [1, 1], "use_bias": False}
        return self._weighted("depthwise_conv2d", layer, sources, params)

    def _make_batchnormalization(self, layer: Any, sources: list[str]) -> str:
        params = {"momentum": float(layer.momentum), "epsilon": float(layer.epsilon)}
        return self._weighted("batch_normalization", layer, sources, params)

    def _make_layernormalization(self, layer: Any, sources: list[str]) -> str:
        name = "head_layernorm" if layer.name.startswith("layer_normalization") else ""
        return self._weighted(
            "layer_normalization", layer, sources, {"epsilon": float(layer.epsilon)}, name
        )

    def _make_relu(self, layer: Any, sources: list[str]) -> str:
        if sources[0] in self._plus3:
            assert layer.max_value == 6  # noqa: S101
            self._plus3[f"relu6 of {sources[0]}"] = self._plus3[sources[0]]
            return f"relu6 of {sources[0]}"
        params = {"max_value": float(layer.max_value or 0.0)}
        return self._weighted(
            "relu", layer, sources, params, self._value_name(layer, sources, "relu")
        )

    def _make_activation(self, layer: Any, sources: list[str]) -> str:
        function = _activation(layer)
        if function == "linear":
            return sources[0]
        if function == "relu":
            return self._weighted(
                "relu", layer, sources, {}, self._value_name(layer, sources, "relu")
            )
        name = self._value_name(layer, sources, function)
        return self._weighted("activation", layer, sources, {"activation": function}, name)

    def _value_name(self, layer: Any, sources: list[str], words: str) -> str:
        """A name made of the layer before, where Keras only counted."""
        if not layer.name.startswith(("re_lu", "activation")):
            return ""
        return f"{self.block.name_of(sources[0]).removesuffix('_bn')}_{words}"

    def _make_dropout(self, _layer: Any, sources: list[str]) -> str:
        return sources[0]

    _make_stochasticdepth = _make_dropout

    # Operations without a layer: x + 3, then at most 6, then / 6 is a hard sigmoid.

    def _make_add(self, operation: Any, sources: list[str]) -> str:
        if len(sources) > 1:
            last = self.block.name_of(sources[-1])
            name = last.replace("_layer_scale", "_add")
            name = self._name(operation) if name == last else name
            return self.block.add("add", name, {}, sources)
        if _numbers(operation) != [3.0]:
            raise SystemExit(f"{operation.name}: plus {_numbers(operation)} is not converted")
        self._plus3[f"{sources[0]} + 3"] = sources[0]
        return f"{sources[0]} + 3"

    def _make_multiply(self, operation: Any, sources: list[str]) -> str:
        if len(sources) == 1:
            before = self._plus3[sources[0]]
            assert abs(_numbers(operation)[0] - 1 / 6) < 1e-9  # noqa: S101
            name = f"{self.block.name_of(before)}_hard_sigmoid"
            return self.block.add("activation", name, {"activation": "hard_sigmoid"}, [before])
        return self.block.add("multiply", self._name(operation), {}, sources)

    def _make_maxpooling2d(self, layer: Any, sources: list[str]) -> str:
        params = {"pool_size": list(layer.pool_size), "strides": list(layer.strides)}
        params = {**params, "padding": layer.padding}
        sources, _ = self._without_padding("max_pooling2d", sources, params)
        return self.block.add("max_pooling2d", self._name(layer), params, sources)

    def _make_globalaveragepooling2d(self, layer: Any, sources: list[str]) -> str:
        name = self._name(layer)
        name = "avg_pool" if name.startswith("global_average") else name
        node = self.block.add("global_average_pooling2d", name, {}, sources)
        if not layer.keepdims:
            return node
        return self._shaped(f"{name}_reshape", layer.output.shape[1:], node)

    def _make_reshape(self, layer: Any, sources: list[str]) -> str:
        return self._shaped(self._name(layer), layer.target_shape, sources[0])

    def _shaped(self, name: str, shape: Sequence[int], source: str) -> str:
        return self.block.add("reshape", name, {"target_shape": list(shape)}, [source])


def _window(layer: Any) -> dict[str, Any]:
    assert tuple(layer.dilation_rate) == (1, 1)  # noqa: S101
    return {
        "kernel_size": list(layer.kernel_size),
        "strides": list(layer.strides),
        "padding": layer.padding,
        "activation": _activation(layer),
        "use_bias": bool(layer.use_bias),
    }


def _activation(layer: Any) -> str:
    return str(keras.activations.serialize(layer.activation))


def _file_order(layer: Any) -> list[Any]:
    """A layer's weights in the order of Keras's HDF5 files: those that learn come first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _arguments(operation: Any) -> list[Any]:
    """What the operation was called with: tensors and numbers."""
    arguments = operation._inbound_nodes[0].arguments  # noqa: SLF001 - Keras has no other way
    return list(keras.tree.flatten((arguments.args, arguments.kwargs)))


def _numbers(operation: Any) -> list[float]:
    return [float(value) for value in _arguments(operation) if isinstance(value, int | float)]
