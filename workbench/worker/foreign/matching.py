"""Matching of the layers of a weights file with those of a network.

What says so, in this order: the network that the file describes, where it does; the names, where
both sides have the same ones; the order of the layers, where only one fits. Where layers could be
exchanged, that is a doubt and not a match.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workbench.protocol.weights import MatchedBy
from workbench.worker.foreign.architecture import (
    Architecture,
    Call,
    UnknownNetworkError,
    looks_alike,
    match_calls,
    read_architecture,
)

# file layers ---------------------------------------------------------------------------------
# The layers of a weights file and of a network, what they have in common, and words for them.

MOST_DIFFERENCES = 4  # where one layer is missing, all behind it differ
MOST_NAME = 60
MOST_NAMES = 6

_BASES = {
    "kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "alpha", "mean",
    "variance", "count", "depthwise_kernel", "pointwise_kernel",
}  # fmt: skip
"""What Keras calls the arrays of a layer."""

_KERAS_1 = {
    "running_mean": "moving_mean", "running_std": "moving_variance", "gamma": "gamma",
    "beta": "beta", "alphas": "alpha", "W": "kernel", "b": "bias",
}  # fmt: skip
"""What Keras 1 called them, behind the name of the layer: "convolution2d_1_W"."""

AUTOMATIC = re.compile(r"(.+?)(_[0-9]+)?")


@dataclass(frozen=True)
class Expected:
    """One array that must be in the file: what we call it, its shape and its type."""

    key: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def num_bytes(self) -> int:
        """Size of the array's data."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize

    @property
    def base(self) -> str:
        """What Keras calls it within its layer, the same for all versions; "" where unknown."""
        name = self.key.rpartition("/")[2].partition(":")[0]
        if name in _BASES:
            return name
        old = (base for end, base in _KERAS_1.items() if name.endswith(f"_{end}"))
        return next(old, "")


@dataclass(frozen=True)
class Layer:
    """A layer with weights.

    Attributes:
        name: Its name; "" where a file has none.
        arrays: Its arrays, trainable ones first; the key of one of a file is its path there.
        kind: Its class, as Keras writes it in paths ("conv2d"); "" where unknown.
        place: The model in the file whose layers are in one order with this one; "" for a layer
            that is not of a file.
        path: Path of the layer in the file; "" for a layer that is not of a file.
    """

    name: str
    arrays: tuple[Expected, ...]
    kind: str = ""
    place: str = ""
    path: str = ""

    @property
    def forms(self) -> tuple[Any, ...]:
        """Shape and type of each array: what two layers that match have in common."""
        return tuple((array.shape, array.dtype) for array in self.arrays)

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """What Keras calls each array; () where that is not known of all."""
        bases = tuple(array.base for array in self.arrays)
        if "" in bases or len({*bases}) < len(bases):
            return ()
        if "pointwise_kernel" in bases:
            return bases
        return tuple("kernel" if base == "depthwise_kernel" else base for base in bases)


@dataclass(frozen=True)
class FileLayers:
    """The layers with weights of a file, in its order.

    Attributes:
        layers: The layers.
        described: The network that the file describes.
        has_order: The order of all layers of a place is that of the file; else only of those of
            one class.
        unordered: Places whose order says nothing.
    """

    layers: Sequence[Layer]
    described: Architecture = field(default_factory=Architecture)
    has_order: bool = True
    unordered: frozenset[str] = frozenset()

    @property
    def calls(self) -> Sequence[Call]:
        """The calls of the network in the file; () where it describes none that can be followed."""
        return self.described.calls


@dataclass(frozen=True)
class Network:
    """A network that weights are for: its layers with weights in their order, and all of it."""

    layers: Sequence[Layer]
    described: Architecture = field(default_factory=Architecture)

    @property
    def calls(self) -> Sequence[Call]:
        """All its calls."""
        return self.described.calls

    @cached_property
    def above(self) -> Mapping[str, frozenset[str]]:
        """Names of the layers with weights that lead to each of them."""
        known = {layer.name for layer in self.layers}
        reached: list[frozenset[str]] = []
        found: dict[str, frozenset[str]] = {}
        for call in self.calls:
            sources = [each for each in call.inputs if each >= 0]
            before = frozenset[str]().union(*(reached[each] for each in sources))
            name = call.names[-1]
            found.setdefault(name, before - {name})
            reached.append(before | {name} if name in known else before)
        return found

    @cached_property
    def looks(self) -> Mapping[str, int]:
        """A number for each layer, the same for those whose exchange changes nothing."""
        colors = looks_alike(self.calls)
        found: dict[str, int] = {}
        for call, color in zip(self.calls, colors, strict=True):
            found.setdefault(call.names[-1], color)  # its own call comes before its activation's
        return found

    def can_be_exchanged(self, one: Layer, other: Layer) -> bool:
        """Whether neither of two layers leads to the other, and it matters which is which."""
        above, looks = self.above, self.looks
        is_chained = one.name in above.get(other.name, ()) or other.name in above.get(one.name, ())
        return not is_chained and looks.get(one.name) != looks.get(other.name)


Pairs = list[tuple[Layer, Layer]]


@dataclass(frozen=True)
class Matched:
    """What the layers of a file are in a network.

    Attributes:
        pairs: (layer of the file, layer of the network).
        by: What says so.
        doubts: What may be otherwise, in sentences.
        exchangeable: Layers that the file does not tell apart: the order was taken.
        differences: Why there is no match, in words; then there are no pairs.
    """

    pairs: Pairs = field(default_factory=list)
    by: MatchedBy = ""
    doubts: Sequence[str] = ()
    exchangeable: Sequence[str] = ()
    differences: Sequence[str] = ()

    @property
    def arrays(self) -> Mapping[str, tuple[str, Expected]]:
        """Path in the file and form of each array of the network, by its key."""
        return {
            own.key: (found.key, own)
            for layer, wanted in self.pairs
            for found, own in arranged(layer, wanted) or ()
        }


def arranged(layer: Layer, own: Layer) -> list[tuple[Expected, Expected]] | None:
    """The arrays of two layers in pairs, by what Keras calls them where that is known of both; None
    where they do not match.
    """
    if len(layer.arrays) != len(own.arrays) or (layer.kind and own.kind and layer.kind != own.kind):
        return None
    theirs = layer.arrays
    if layer.bases and own.bases:
        found = dict(zip(layer.bases, layer.arrays, strict=True))
        if {*found} != {*own.bases}:
            return None
        theirs = tuple(found[base] for base in own.bases)
    pairs = list(zip(theirs, own.arrays, strict=True))
    fits = all((one.shape, one.dtype) == (other.shape, other.dtype) for one, other in pairs)
    return pairs if fits else None


def differences_of(theirs: Sequence[Layer], ours: Sequence[Layer]) -> list[str]:
    """What is on one side alone, and how many there are."""
    found = []
    if len(theirs) != len(ours):
        found.append(f"{len(theirs)} layers with weights in the file, {len(ours)} in the model")
    rest, missing = [*theirs], []
    for own in ours:
        fitting = next((layer for layer in rest if arranged(layer, own) is not None), None)
        if fitting is None:
            missing.append(own)
        else:
            rest.remove(fitting)
    found += [f"{words_of(layer)} in the file" for layer in rest[:MOST_DIFFERENCES]]
    return [*found, *(f"{words_of(own)} in the model" for own in missing[:MOST_DIFFERENCES])] or [
        "equal layers in another order"
    ]


def pair_words(layer: Layer, own: Layer) -> str:
    """A layer of the file beside one of the network."""
    return f"{words_of(layer)} in the file, {words_of(own)} in the model"


def group_words(layers: Sequence[Layer]) -> str:
    """The names of layers of one form, and their shapes."""
    names = [f"“{(layer.name or layer.path)[:MOST_NAME]}”" for layer in layers[:MOST_NAMES]]
    more = len(layers) - len(names)
    shapes = ", ".join(map(_shape_text, layers[0].arrays[:6]))
    return f"{', '.join(names)}{f' and {more} more' if more else ''} ({shapes})"


def words_of(layer: Layer) -> str:
    """A layer and the shapes of its arrays."""
    shapes = ", ".join(map(_shape_text, layer.arrays[:6]))
    kind = f"{layer.kind} " if layer.kind and layer.kind not in layer.name else ""
    return f"{kind}{(layer.name or layer.path)[:MOST_NAME]!r} ({shapes})"


def _shape_text(array: Expected) -> str:
    kind = "" if array.dtype == "float32" else f"{array.dtype[:20]} "
    return kind + ("×".join(map(str, array.shape)) or "a number")


# listed layers -------------------------------------------------------------------------------
# What the reader lists of a weights file, as layers that can be matched.

FileArray = tuple[str, list[int], str]
"""Path within its layer ("conv2d/kernel:0", "vars/0"), shape and type."""

FileLayer = tuple[str, str, list[FileArray]]
"""A layer with weights: where it is, its name, and its arrays."""


def file_layers(
    listed: Sequence[FileLayer], place: str | None, config: str | bytes = b""
) -> FileLayers:
    """The layers of a file, as they are matched.

    Args:
        listed: The layers with weights, in the order of the file.
        place: What the path of each begins with in the layout of Keras 2, "" or "GROUP/"; None in
            that of Keras 3.
        config: The network that the file describes, JSON; empty for none.
    """
    described = _described(config)
    if place is None:
        return FileLayers([_keras3_layer(layer) for layer in listed], described, has_order=False)
    layers = [layer for each in listed for layer in _taken_apart(each, place)]
    # Of a model within a model that is partly frozen, the trained layers come first.
    unordered = frozenset(layer.place for layer in layers if layer.place)
    return FileLayers(layers, described, unordered=unordered)


def whole_layers(listed: Sequence[FileLayer], place: str) -> FileLayers:
    """The layers of a file in the layout of Keras 2, in which a model within a model is one, as it
    is in the tables of published weights.
    """
    return FileLayers([Layer(name, _placed(place + path, found)) for path, name, found in listed])


def _described(config: str | bytes) -> Architecture:
    """The network that is described, or why it cannot be followed."""
    try:
        return read_architecture(config) if config else Architecture()
    except UnknownNetworkError as error:
        return Architecture(why_unknown=str(error))


def _keras3_layer(listed: FileLayer) -> Layer:
    path, name, arrays = listed
    place, _, last = path.rpartition("/")
    stem, _, number = last.rpartition("_")
    kind = stem if number.isdecimal() else last
    return Layer(name, _placed(path, arrays), kind, place.replace(_OLD_LAYERS, "layers"), path)


_OLD_LAYERS = "_layer_checkpoint_dependencies"
"""What TensorFlow 2.13 called the group of a model's layers."""


def _placed(path: str, arrays: Sequence[FileArray]) -> tuple[Expected, ...]:
    """The arrays of a layer; the key of each is its path in the file."""
    return tuple(Expected(f"{path}/{one}", tuple(shape), kind) for one, shape, kind in arrays)


def _taken_apart(listed: FileLayer, place: str) -> list[Layer]:
    """The layers of which a layer of the file consists, mostly one: a model within a model is one
    for each first part of the names of its arrays.
    """
    path, name, arrays = listed
    parts: dict[str, list[Expected]] = {}
    for (array, _, _), found in zip(arrays, _placed(place + path, arrays), strict=True):
        parts.setdefault(array.rpartition("/")[0], []).append(found)
    if len(parts) == 1:
        return [Layer(name, tuple(found)) for found in parts.values()]
    return [
        Layer(owner.rpartition("/")[2], tuple(found), place=name) for owner, found in parts.items()
    ]


# matching ------------------------------------------------------------------------------------


def match_layers(file: FileLayers, network: Network) -> Matched:
    """Finds the layer of the file for each layer of the network."""
    found = _by_structure(file, network)
    if found is None:
        found = _by_names(file, network) or _by_order(file, network)
    return found


def match_in_order(file: FileLayers, ours: Sequence[Layer]) -> Matched:
    """The same where the order is known to be that of the network."""
    if len(file.layers) == len(ours):
        pairs = list(zip(file.layers, ours, strict=True))
        if all(layer.forms == own.forms for layer, own in pairs):
            return Matched(pairs, "order")
    return Matched(differences=differences_of(file.layers, ours))


# by the network in the file -------------------------------------------------------------


def _by_structure(file: FileLayers, network: Network) -> Matched | None:
    """By the network that the file describes; None where it is another one, or not described."""
    places = match_calls(network.calls, file.calls) if file.calls else None
    if places is None:
        return None
    by_path = {layer.path: layer for layer in file.layers}
    by_name = {(layer.place, layer.name): layer for layer in file.layers}
    own = {layer.name: layer for layer in network.layers}
    pairs: Pairs = []
    for call, place in zip(network.calls, places, strict=True):
        if not call.path or call.names[-1] not in own:
            continue
        theirs = file.calls[place]
        inside = (theirs.names[0] if len(theirs.names) > 1 else "", theirs.names[-1])
        layer = by_path.get(theirs.path) or by_name.get(inside) or by_name.get(("", inside[0]))
        if layer is None or arranged(layer, own[call.names[-1]]) is None:
            return None
        pairs.append((layer, own[call.names[-1]]))
    used = {id(layer) for layer, _ in pairs}
    if len(pairs) < len(own) or any(id(layer) not in used for layer in file.layers):
        return None
    is_named = all(layer.name == wanted.name for layer, wanted in pairs)
    doubts = [*_image_doubts(file, network), *_other_names(pairs, own)]
    return Matched(pairs, "names" if is_named else "structure", doubts)


def _other_names(pairs: Pairs, own: Mapping[str, Layer]) -> Iterator[str]:
    """That names stand elsewhere than in the network, where people gave them."""
    moved = [
        f"“{layer.name[:MOST_NAME]}” is “{wanted.name}” here"
        for layer, wanted in pairs
        if layer.name != wanted.name and layer.name in own and not _is_automatic(layer, own)
    ]
    if moved:
        yield (
            "Layers were matched by the network in the file, in which their names stand elsewhere: "
            f"{', '.join(moved[:MOST_NAMES])}."
        )


# by names ----------------------------------------------------------------------------


def _by_names(file: FileLayers, network: Network) -> Matched | None:
    """By the names, where both sides have the same ones; None where they have not."""
    own = {layer.name: layer for layer in network.layers}
    names = [layer.name for layer in file.layers]
    if len({*names}) < len(names) or {*names} != own.keys():
        return None
    pairs = [(layer, own[layer.name]) for layer in file.layers]
    wrong = [pair for pair in pairs if arranged(*pair) is None]
    if not wrong and not (moved := _out_of_order(file, network, pairs)):
        return Matched(pairs, "names", _structure_doubts(file, network))
    if wrong and all(_is_automatic(layer, own) for layer, _ in wrong):
        return None  # numbers of another session of Keras
    words = [pair_words(*pair) for pair in wrong] if wrong else moved
    return Matched(differences=words[:MOST_DIFFERENCES])


def _is_automatic(layer: Layer, own: Mapping[str, Layer]) -> bool:
    """Whether Keras gave the name of a layer: it says nothing but the class."""
    stem = AUTOMATIC.fullmatch(layer.name)
    kinds = {each.kind for each in own.values()} | {layer.kind, ""}
    return stem is not None and stem[1] in kinds


def _out_of_order(file: FileLayers, network: Network, pairs: Pairs) -> list[str]:
    """The layers that lead to each other the other way round in file and network."""
    found, before = [], defaultdict[Any, list[tuple[Layer, Layer]]](list)
    for layer, own in pairs:
        if layer.place in file.unordered:
            continue
        series = layer.place if file.has_order else (layer.place, layer.kind)
        above = next(
            (each for each in before[series] if own.name in network.above[each[1].name]), None
        )
        if above is not None:
            found.append(
                f"“{above[0].name[:MOST_NAME]}” before “{layer.name[:MOST_NAME]}” in the file, "
                f"“{own.name}” before “{above[1].name}” in the model"
            )
        before[series].append((layer, own))
    return found


# by order -----------------------------------------------------------------------------


def _by_order(file: FileLayers, network: Network) -> Matched:
    """By the order of the layers of the same form, and by names that people gave to both."""
    own = {layer.name: layer for layer in network.layers}
    named = [
        (layer, own[layer.name])
        for layer in file.layers
        if layer.name in own and not _is_automatic(layer, own)
    ]
    wrong = [pair_words(*pair) for pair in named if arranged(*pair) is None]
    if wrong:
        return Matched(differences=wrong[:MOST_DIFFERENCES])
    taken = {id(layer) for pair in named for layer in pair}
    theirs = [layer for layer in file.layers if id(layer) not in taken]
    ours = [layer for layer in network.layers if id(layer) not in taken]
    groups, other = _grouped(theirs, ours), _grouped(ours, theirs)
    if any(len(groups[key]) != len(other[key]) for key in {*groups, *other}):
        return Matched(differences=differences_of(file.layers, network.layers))
    pairs = [
        *named,
        *(pair for key in groups for pair in zip(groups[key], other[key], strict=True)),
    ]
    pairs.sort(key=lambda pair: file.layers.index(pair[0]))
    wrong = _out_of_order(file, network, pairs) or [
        f"{group_words(group)}: in several models within the model, whose order is not known"
        for group in groups.values()
        if not file.has_order and len({layer.place for layer in group}) > 1
    ]
    if wrong:
        return Matched(differences=wrong[:MOST_DIFFERENCES])
    doubtful = [
        group_words(groups[key])
        for key in groups
        if len(other[key]) > 1 and _is_doubtful(file, network, groups[key], other[key])
    ]
    return Matched(pairs, "order", _structure_doubts(file, network), doubtful)


def _grouped(layers: Sequence[Layer], others: Sequence[Layer]) -> dict[Any, list[Layer]]:
    """The layers that match each other by what is known of both sides, in their order."""
    has_kinds = all(layer.kind for layer in (*layers, *others))
    has_bases = all(layer.bases for layer in (*layers, *others))
    groups = defaultdict[Any, list[Layer]](list)
    for layer in layers:
        forms = zip(layer.bases, layer.forms, strict=True) if has_bases else layer.forms
        key = (tuple(sorted(forms)) if has_bases else tuple(forms), layer.kind if has_kinds else "")
        groups[key].append(layer)
    return groups


def _is_doubtful(
    file: FileLayers, network: Network, theirs: Sequence[Layer], ours: Sequence[Layer]
) -> bool:
    """Whether layers of the same form could be exchanged: the order in the file says nothing, or is
    one of several that the network allows.
    """
    if any(layer.place in file.unordered for layer in theirs):
        return True
    pairs = ((one, other) for number, one in enumerate(ours) for other in ours[number + 1 :])
    return any(network.can_be_exchanged(one, other) for one, other in pairs)


def _structure_doubts(file: FileLayers, network: Network) -> list[str]:
    """How the network in the file differs, where it describes one."""
    if file.described.why_unknown:
        words = "The network in the file cannot be compared with that of the project; its outputs"
        return [f"{words} may be others ({file.described.why_unknown[:MOST_NAME]})."]
    if not file.calls:
        return []
    theirs = Counter(call.label for call in file.calls)
    ours = Counter(call.label for call in network.calls)
    more = [f"{_label_words(label)} in the file" for label in theirs - ours]
    more += [f"{_label_words(label)} in the project" for label in ours - theirs]
    listed = "; ".join(more[:MOST_NAMES]) or "its layers are connected in another way"
    words = "The network in the file is not that of the project; its outputs may be others"
    return [f"{words}: {listed}.", *_image_doubts(file, network)]


def _image_doubts(file: FileLayers, network: Network) -> list[str]:
    """That the network in the file takes images of another size."""
    theirs, ours = file.described.image, network.described.image
    if all(one is None or one == other for one, other in zip(theirs, ours, strict=False)):
        return []
    sizes = [" × ".join(map(str, (each or "any" for each in shape))) for shape in (theirs, ours)]
    return [f"The network in the file takes images of {sizes[0]}, that of the project {sizes[1]}."]


def _label_words(label: tuple[str, frozenset[tuple[str, Any]]]) -> str:
    name, params = label
    shown = ", ".join(f"{key}={value}" for key, value in sorted(params, key=str)[:3])
    return f"{name[:MOST_NAME]} ({shown[:80]})" if shown else name[:MOST_NAME]
