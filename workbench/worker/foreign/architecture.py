"""The network that a Keras file describes, read as data: no layer is made of it.

Models within models are taken apart, and what changes no answer is left out (dropout, augmentation,
a softmax at the end), so that the calls of two networks which compute the same are the same. Of
Keras 2 and 3, of functional and sequential models.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from workbench.assets import resource_path

MAX_CALLS = 5_000
_MOST_DEPTH = 12
_IMAGE_RANK = 4  # with the batch

Label = tuple[str, frozenset[tuple[str, Any]]]
"""Class of a layer, and its parameters that differ from their defaults."""


class _Function(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """A layer that is nothing but a function, where its parameters have these values."""

    kind: str
    name: str
    where: dict[str, Any]


class _Rules(msgspec.Struct, frozen=True):
    """`resources/keras_layers.toml`, which explains its fields."""

    packages: frozenset[str]
    at_rest: frozenset[str]
    keras2: frozenset[str]
    flat: frozenset[str]
    commutative: frozenset[str]
    models: frozenset[str]
    function: str
    function_behind: str
    last: str
    always: tuple[str, ...]
    functions: tuple[_Function, ...]
    defaults: dict[str, Any]
    classes: dict[str, str]
    parameters: dict[str, str]


@cache
def _rules() -> _Rules:
    text = resource_path("keras_layers.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Rules)


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
        return self.label[0] in _rules().commutative


@dataclass(frozen=True)
class Architecture:
    """A network that is described.

    Attributes:
        calls: Its calls, each behind those that feed it; the last one gives the answer.
        image: Height, width and channels of its images, None for any; () where that is not said.
        why_unknown: Why the description cannot be followed; "" where it can, or there is none.
    """

    calls: Sequence[Call] = ()
    image: tuple[int | None, ...] = ()
    why_unknown: str = ""


class UnknownNetworkError(Exception):
    """The description cannot be followed; the text says why."""


def read_architecture(text: str | bytes) -> Architecture:
    """The network in the JSON that Keras describes it with.

    Raises:
        UnknownNetworkError: it is no model of one input and one output, or describes it in a way
            that is not known here.
    """
    try:
        config = msgspec.json.decode(text)
        shape = _input_shape(config)
        reader = _Reader(is_keras2=shape[0] == "batch_input_shape")
        last = reader.model(config, -1, "", ())
        image = tuple(None if each is None else int(each) for each in shape[1][1:])
    except (
        msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, IndexError, TypeError,
        ValueError, AttributeError,
    ) as error:  # fmt: skip
        raise UnknownNetworkError(f"{type(error).__name__}: {error}"[:200]) from error
    return Architecture(_behind(reader.calls, last), image)


def _input_shape(config: Any) -> tuple[str, Sequence[Any]]:
    """The shape of what a model takes, with the batch, behind the word for it, which is another one
    in Keras 2 and 3. ("", ()) where it is not said.
    """
    inner = config["config"]
    layers = inner if isinstance(inner, list) else inner["layers"]
    first = layers[0]
    if isinstance(inner, dict) and "input_layers" in inner:
        name, _ = _only(inner["input_layers"])
        (first,) = (layer for layer in layers if layer["name"] == name)
    if first["class_name"] in _rules().models:
        return _input_shape(first)
    words = (word for word in ("batch_shape", "batch_input_shape") if first["config"].get(word))
    word = next(words, "")
    return word, first["config"][word] if word else ()


def _behind(calls: Sequence[Call], last: int) -> list[Call]:
    """The calls that lead to the last one, renumbered; without a softmax at the end."""
    if last >= 0 and calls[last].label == (_rules().last, frozenset()):
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

    is_keras2: bool = False
    calls: list[Call] = field(default_factory=list)
    ranks: dict[int, int] = field(default_factory=lambda: {-1: _IMAGE_RANK})

    def model(self, config: Any, source: int, path: str, names: tuple[str, ...]) -> int:
        """Calls a model on a tensor; returns the place of its answer."""
        if len(names) > _MOST_DEPTH:
            raise ValueError("models within models")
        if (kind := _class_of(config)) not in _rules().models:
            raise ValueError(f"a class of its own: {kind}")
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
        left = [
            (name, number, _sources(call))
            for name, (layer, _) in layers.items()
            for number, call in enumerate(layer["inbound_nodes"])
        ]
        known = _call_numbers([end, *(key for _, _, sources in left for key in sources)])
        done: dict[tuple[str, int], int] = {(start[0], 0): source}
        while left:
            ready = [each for each in left if all(known[key] in done for key in each[2])]
            if not ready:
                raise ValueError("a layer without its inputs")
            for name, number, sources in ready:
                layer, place = layers[name]
                inputs = tuple(done[known[key]] for key in sources)
                done[name, number] = self.layer(layer, inputs, place, names)
            left = [each for each in left if each[:2] not in done]
        return done[known[end]]

    def layer(self, layer: Any, inputs: tuple[int, ...], path: str, names: tuple[str, ...]) -> int:
        """Calls a layer; returns the place of its answer."""
        kind, config = _class_of(layer), layer["config"]
        if kind in _rules().models:
            name = config["name"] if isinstance(config, dict) else layer["name"]
            return self.model(layer, _only_input(inputs), f"{path}/", (*names, name))
        own = (*names, str(config["name"]))
        is_other = self.is_keras2 and kind in _rules().keras2
        if kind in _rules().at_rest and not is_other:
            return inputs[0]
        rank = self.ranks[inputs[0]]
        function = _function_of(kind, config)
        behind = function or self._function(config.get(_rules().function_behind), rank)
        if kind != _rules().function and not function:
            label = _label(f"{kind} of Keras 2" if is_other else kind, config, rank)
            inputs = (self._add(label, inputs, path, own),)
            self.ranks[inputs[0]] = rank = _rank_behind(kind, config, rank)
        if behind is not None:
            inputs = (self._add(behind, inputs, "", own),)
            self.ranks[inputs[0]] = rank
        return inputs[0]

    def _add(self, label: Label, inputs: tuple[int, ...], path: str, names: tuple[str, ...]) -> int:
        if len(self.calls) >= MAX_CALLS:
            raise ValueError(f"more than {MAX_CALLS:,} calls")
        self.calls.append(Call(label, inputs, path, names))
        return len(self.calls) - 1

    def _function(self, value: Any, rank: int) -> Label | None:
        """The function behind a layer, which may be a layer itself; None for none."""
        if isinstance(value, dict) and isinstance(value["config"], str):
            return f"function {value['config']}", frozenset()  # one of its own
        if isinstance(value, dict):
            kind = _class_of(value)
            return _function_of(kind, value["config"]) or _label(kind, value["config"], rank)
        name = snake_case(value) if value else "linear"
        if self.is_keras2 and name in _rules().keras2:
            name = f"{name} of Keras 2"
        return None if name == "linear" else (name, frozenset())


def _class_of(layer: Any) -> str:
    """The class of a layer or model; of one that is not Keras's own a name that no other one has.
    Files of Keras before 2.12 do not say whose it is.
    """
    kind, package = str(layer["class_name"]), str(layer.get("module") or "").partition(".")[0]
    if "module" not in layer or package in _rules().packages:
        return kind
    return f"{layer.get('registered_name') or kind} of {package or 'its maker'}"


def _rank_behind(kind: str, config: Mapping[str, Any], rank: int) -> int:
    """Dimensions of what a layer gives, with the batch, from those of what it takes."""
    if "target_shape" in config:
        return 1 + len(config["target_shape"])
    return 2 if kind in _rules().flat and not config.get("keepdims") else rank


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


def _call_numbers(used: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[str, int]]:
    """Layer and call, as others refer to it, with the calls of each layer numbered from 0: Keras 2
    counts the making of a model within the model as its first call.
    """
    numbers: dict[str, set[int]] = {}
    for name, number in used:
        numbers.setdefault(name, set()).add(number)
    return {
        (name, number): (name, place)
        for name, found in numbers.items()
        for place, number in enumerate(sorted(found))
    }


def _keras3_tensors(value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, list):
        for each in value:
            yield from _keras3_tensors(each)
    elif isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        name, number, _ = value["config"]["keras_history"]
        yield str(name), int(number)
    elif isinstance(value, dict):
        yield from _keras3_tensors([*value.values()])


def _function_of(kind: str, config: Mapping[str, Any]) -> Label | None:
    """The function that a layer is nothing but; None for other layers."""
    for function in _rules().functions:
        wanted = {"max_value": None, **function.where} if kind == function.kind else {}
        found = {key: config.get(key, value) for key, value in wanted.items()}
        if wanted and all(_plain(found[key]) == _plain(wanted[key]) for key in wanted):
            return function.name, frozenset()
    return None


def _label(kind: str, config: Mapping[str, Any], rank: int) -> Label:
    rules = _rules()
    named = {rules.parameters.get(key, key): value for key, value in config.items()}
    found = {
        key: _plain(named[key])
        for key in (*rules.always, *rules.defaults)
        if named.get(key) is not None
        and (key in rules.always or _plain(named[key]) != _plain(rules.defaults[key]))
    }
    if "pool_size" in found and named.get("strides") in (None, named["pool_size"]):
        found.pop("strides", None)
    axis = _plain(config.get("axis", -1))
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if axis not in (-1, rank - 1, None):
        found["axis"] = axis
    return rules.classes.get(kind, kind), frozenset(found.items())


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


# same network --------------------------------------------------------------------------------
# Whether two networks compute the same, and which call of one is which of the other.
#
# Colors are refined along both directions of the graph until they stay (Weisfeiler and Leman,
# 1968). Calls that still look alike are distinguished one by one; the result is checked edge by
# edge: what is found is an isomorphism, whatever the colors say.

_MOST_TIES = 200
"""Calls distinguished one by one: each takes a walk over both networks."""


def match_calls(ours: Sequence[Call], theirs: Sequence[Call]) -> list[int] | None:
    """For each call of ours the place of the one of theirs that computes the same; None where the
    networks differ. Of calls that can be exchanged, those with the same name are taken.
    """
    if len(ours) != len(theirs):
        return None
    marks: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number in range(_MOST_TIES):
        colors = _Colors()
        own, other = colors.of(ours, marks[0]), colors.of(theirs, marks[1])
        if Counter(own) != Counter(other):
            return None
        tie = _first_tie(own)
        if tie is None:
            places = {color: place for place, color in enumerate(other)}
            found = [places[color] for color in own]
            return found if _is_same(ours, theirs, found) else None
        alike = [place for place, color in enumerate(other) if color == own[tie]]
        name = ours[tie].names[-1]
        chosen = next((place for place in alike if theirs[place].names[-1] == name), alike[0])
        marks[0][tie] = marks[1][chosen] = number
    return None


def looks_alike(calls: Sequence[Call]) -> list[int]:
    """A number for each call, the same for those that nothing in the network distinguishes."""
    return _Colors().of(calls, {})


def _first_tie(colors: Sequence[int]) -> int | None:
    counts = Counter(colors)
    return next((place for place, color in enumerate(colors) if counts[color] > 1), None)


class _Colors:
    """Numbers for what calls look like, the same numbers for several networks."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, calls: Sequence[Call], marks: Mapping[int, int]) -> list[int]:
        """The color of each call by all that leads to it, and all that it leads to."""
        above: list[int] = []
        for place, call in enumerate(calls):
            inputs = [above[each] if each >= 0 else -1 for each in call.inputs]
            if call.is_commutative:
                inputs.sort()
            above.append(self._number(call.label, marks.get(place, -1), tuple(inputs)))
        uses: list[list[tuple[int, int]]] = [[] for _ in calls]
        colors = [0] * len(calls)
        for place in reversed(range(len(calls))):
            call = calls[place]
            colors[place] = self._number("below", above[place], tuple(sorted(uses[place])))
            for port, source in enumerate(call.inputs):
                if source >= 0:
                    uses[source].append((colors[place], -1 if call.is_commutative else port))
        return colors

    def _number(self, *what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _is_same(ours: Sequence[Call], theirs: Sequence[Call], found: Sequence[int]) -> bool:
    """Whether each call has the inputs of the one that it is matched to."""
    for call, place in zip(ours, found, strict=True):
        own = [found[each] if each >= 0 else -1 for each in call.inputs]
        other = list(theirs[place].inputs)
        if call.is_commutative:
            own.sort()
            other.sort()
        if own != other or call.label != theirs[place].label:
            return False
    return len({*found}) == len(found)
