"""The network that a Keras file describes, read as data: no layer is made of it.

Models within models are taken apart, and what changes no answer is left out (dropout, augmentation,
a softmax at the end), so that the calls of two networks which compute the same are the same. Of
Keras 2 and 3, of functional and sequential models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

MAX_CALLS = 5_000
_MOST_DEPTH = 12

Label = tuple[str, frozenset[tuple[str, Any]]]
"""Class of a layer, and its parameters that differ from their defaults."""

_AT_REST = {
    "InputLayer", "Dropout", "SpatialDropout2D", "GaussianNoise", "GaussianDropout",
    "AlphaDropout", "ActivityRegularization", "Identity",
}  # fmt: skip
_COMMUTATIVE = {"Add", "Multiply", "Average", "Maximum", "Minimum"}
_MODELS = {"Functional", "Model", "Sequential"}
_RENAMED = {
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
}

_DEFAULTS: Mapping[str, Any] = {
    "units": None, "filters": None, "kernel_size": None, "strides": 1, "padding": "valid",
    "dilation_rate": 1, "groups": 1, "use_bias": True, "depth_multiplier": 1,
    "output_padding": None, "epsilon": None, "center": True, "scale": True, "rms_scaling": False,
    "offset": 0, "shared_axes": None, "pool_size": None, "keepdims": False, "cropping": None,
    "size": None, "interpolation": None, "target_shape": None, "dims": None, "height": None,
    "width": None, "crop_to_aspect_ratio": False, "pad_to_aspect_ratio": False,
    "negative_slope": 0, "max_value": None, "threshold": 0, "invert": False, "mean": None,
    "variance": None, "data_format": "channels_last",
}  # fmt: skip
"""The parameters that change what a layer computes, with the value where a file lacks them."""


@dataclass(frozen=True)
class Call:
    """One use of a layer.

    Attributes:
        label: What it computes.
        inputs: Places of the calls that feed it, in order; -1 for the image.
        path: Where Keras 3 keeps its weights in a file, "layers/functional/layers/conv2d".
        names: Its name, behind those of the models that it is in.
    """

    label: Label
    inputs: tuple[int, ...]
    path: str
    names: tuple[str, ...]

    @property
    def is_commutative(self) -> bool:
        """Whether the order of its inputs does not matter."""
        return self.label[0] in _COMMUTATIVE


class UnknownNetworkError(Exception):
    """The description cannot be followed; the text says why."""


def read_architecture(text: str | bytes) -> list[Call]:
    """The calls of a network in the JSON that Keras describes it with, each behind those that feed
    it, the last one gives the answer.

    Raises:
        UnknownNetworkError: it is no model of one input and one output, or describes it in a way
            that is not known here.
    """
    try:
        config = msgspec.json.decode(text)
        reader = _Reader()
        last = reader.model(config, -1, "", ())
    except (
        msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, IndexError, TypeError,
        ValueError, AttributeError,
    ) as error:  # fmt: skip
        raise UnknownNetworkError(f"{type(error).__name__}: {error}"[:200]) from error
    return _behind(reader.calls, last)


def _behind(calls: Sequence[Call], last: int) -> list[Call]:
    """The calls that lead to the last one, renumbered; without a softmax at the end."""
    while last >= 0 and calls[last].label == ("softmax", frozenset()):
        last = calls[last].inputs[0]
    needed, waiting = set[int](), [last]
    while waiting:
        place = waiting.pop()
        if place >= 0 and place not in needed:
            needed.add(place)
            waiting += calls[place].inputs
    numbers = {old: new for new, old in enumerate(sorted(needed))} | {-1: -1}
    return [
        Call(call.label, tuple(numbers[each] for each in call.inputs), call.path, call.names)
        for place, call in enumerate(calls)
        if place in needed
    ]


@dataclass
class _Reader:
    """Follows a description from the image on. Whatever is wrong raises what Python raises."""

    calls: list[Call] = field(default_factory=list)

    def model(self, config: Any, source: int, path: str, names: tuple[str, ...]) -> int:
        """Calls a model on a tensor; returns the place of its answer."""
        if len(names) > _MOST_DEPTH:
            raise ValueError("models within models")
        inner = config["config"]
        if config["class_name"] == "Sequential":
            layers = inner if isinstance(inner, list) else inner["layers"]
            for layer, place in _placed(layers, path):
                source = self.layer(layer, (source,), place, names)
            return source
        return self.functional(inner, source, path, names)

    def functional(self, inner: Any, source: int, path: str, names: tuple[str, ...]) -> int:
        """The same of a functional model with one input and one output."""
        layers = {layer["name"]: (layer, place) for layer, place in _placed(inner["layers"], path)}
        start, end = _only(inner["input_layers"]), _only(inner["output_layers"])
        done: dict[tuple[str, int], int] = {(start[0], 0): source}
        left = [
            (name, number, _sources(call))
            for name, (layer, _) in layers.items()
            for number, call in enumerate(layer["inbound_nodes"])
        ]
        while left:
            ready = [each for each in left if all(key in done for key in each[2])]
            if not ready:
                raise ValueError("a layer without its inputs")
            for name, number, sources in ready:
                layer, place = layers[name]
                inputs = tuple(done[key] for key in sources)
                done[name, number] = self.layer(layer, inputs, place, names)
            left = [each for each in left if each[:2] not in done]
        return done[end[0], end[1]]

    def layer(self, layer: Any, inputs: tuple[int, ...], path: str, names: tuple[str, ...]) -> int:
        """Calls a layer; returns the place of its answer."""
        kind, config = layer["class_name"], layer["config"]
        if kind in _MODELS:
            name = config["name"] if isinstance(config, dict) else layer["name"]
            return self.model(layer, _only_input(inputs), f"{path}/", (*names, name))
        own = (*names, str(config["name"]))
        if kind in _AT_REST or kind.startswith("Random"):
            return inputs[0]
        activation = _activation(config.get("activation"))
        if kind != "Activation":
            simple = _simple_activation(kind, config)
            activation = simple or activation
            if not simple:
                inputs = (self._add(_label(kind, config), inputs, path, own),)
        if activation != "linear":
            inputs = (self._add((activation, frozenset()), inputs, "", own),)
        return inputs[0]

    def _add(self, label: Label, inputs: tuple[int, ...], path: str, names: tuple[str, ...]) -> int:
        if len(self.calls) >= MAX_CALLS:
            raise ValueError(f"more than {MAX_CALLS:,} calls")
        self.calls.append(Call(label, inputs, path, names))
        return len(self.calls) - 1


def _placed(layers: Sequence[Any], path: str) -> Iterator[tuple[Any, str]]:
    """The layers of a model, and where Keras 3 keeps the weights of each: it numbers the layers of
    each class in their order.
    """
    used: dict[str, int] = {}
    for layer in layers:
        stem = snake_case(layer["class_name"])
        number = used[stem] = used.get(stem, -1) + 1
        yield layer, f"{path}layers/{stem}" + (f"_{number}" if number else "")


def snake_case(name: str) -> str:
    """A class as Keras writes it in paths: BatchNormalization is batch_normalization."""
    text = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", text).lower()


def _only(tensors: Any) -> tuple[str, int]:
    """Layer and call of the one input or output of a model."""
    while isinstance(tensors, list) and len(tensors) == 1:
        (tensors,) = tensors
    name, number, _ = tensors
    return str(name), int(number)


def _only_input(inputs: Sequence[int]) -> int:
    (source,) = inputs
    return source


def _sources(call: Any) -> list[tuple[str, int]]:
    """Layer and call of each tensor that a call takes; of Keras 3 (an object) or 2 (lists)."""
    if isinstance(call, dict):
        return [*_keras3_tensors([call["args"], call["kwargs"]])]
    if len(call) > 1 and isinstance(call[0], str):
        call = [call]
    return [(str(each[0]), int(each[1])) for each in call]


def _keras3_tensors(value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, list):
        for each in value:
            yield from _keras3_tensors(each)
    elif isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        name, number, _ = value["config"]["keras_history"]
        yield str(name), int(number)
    elif isinstance(value, dict):
        yield from _keras3_tensors([*value.values()])


def _activation(value: Any) -> str:
    """The name of an activation; "linear" for none."""
    while isinstance(value, dict):
        inner = value["config"]
        value = inner if isinstance(inner, str | dict) and inner else value["class_name"]
        if isinstance(value, dict) and "config" not in value:
            value = value.get("name", "unknown")
    return snake_case(value) if value else "linear"


def _simple_activation(kind: str, config: Mapping[str, Any]) -> str:
    """The activation that a layer is nothing but; "" for other layers."""
    if kind == "Softmax" and config.get("axis", -1) in (-1, [-1]):
        return "softmax"
    if kind != "ReLU":
        return ""
    value = (config.get("max_value"), config.get("negative_slope") or 0, config.get("threshold"))
    return {(None, 0, 0): "relu", (6, 0, 0): "relu6"}.get((value[0], value[1], value[2] or 0), "")


def _label(kind: str, config: Mapping[str, Any]) -> Label:
    found = {
        name: _plain(config[key])
        for name, key in _keys(config)
        if config.get(key) is not None and _plain(config[key]) != _plain(_DEFAULTS[name])
    }
    if found.get("strides") == found.get("pool_size") or (
        "pool_size" in found and config.get("strides") is None
    ):
        found.pop("strides", None)
    if kind == "Concatenate":
        axis = config.get("axis", -1)
        found["axis"] = -1 if axis in (-1, 3) else axis
    return _RENAMED.get(kind, kind), frozenset(found.items())


def _keys(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The parameters that count, and their keys in a description."""
    for name in _DEFAULTS:
        if name in config:
            yield name, name
    if "alpha" in config and "negative_slope" not in config:
        yield "negative_slope", "alpha"


def _plain(value: Any) -> Any:
    """A value that can be compared: [2, 2] and 2 are the same."""
    if isinstance(value, list | tuple):
        values = tuple(_plain(each) for each in value)
        return values[0] if len(values) > 1 and len({*values}) == 1 else values
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return repr(sorted(value.items()))
    return value
