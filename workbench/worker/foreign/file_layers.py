"""The layers of a weights file and of a network, what they have in common, and words for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workbench.protocol.weights import MatchedBy
from workbench.worker.foreign.architecture import Architecture, Call
from workbench.worker.foreign.same_network import looks_alike

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
