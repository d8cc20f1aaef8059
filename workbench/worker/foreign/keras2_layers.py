"""The layers of a file in the layout of Keras 2, matched to those of a network.

Such a file lists its layers in the order of the network, and the arrays of each. Their names are
those of the program that wrote it, so that layers are matched by order and shapes, as Keras does;
by name only where the order does not fit. A model within a model is one layer in the file: its
arrays are taken apart by the names of the layers they begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

FileArray = tuple[str, list[int], str]
"""Name within its layer ("conv2d/kernel:0"), shape and type."""

FileLayer = tuple[str, list[FileArray]]
"""A layer with weights, and its arrays."""

_MOST_DIFFERENCES = 4  # where one layer is missing, all behind it differ
_MOST_NAME = 60


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


@dataclass(frozen=True)
class Layer:
    """A layer with weights: its name, and its arrays in the order of Keras 2, trainable first."""

    name: str
    arrays: tuple[Expected, ...]

    @property
    def forms(self) -> tuple[Any, ...]:
        """Shape and type of each array: what two layers that match have in common."""
        return tuple((array.shape, array.dtype) for array in self.arrays)


@dataclass(frozen=True)
class Matched:
    """The arrays to read, by path within the file; or what differs, in words."""

    arrays: Mapping[str, Expected]
    differences: Sequence[str] = ()


def match_layers(listed: Sequence[FileLayer], place: str, ours: Sequence[Layer]) -> Matched:
    """Finds the layer of the file for each layer of the network.

    Args:
        listed: The layers with weights of the file, in its order.
        place: What the path of each begins with in the file, "" or "GROUP/".
        ours: The layers with weights of the network, in its order.
    """
    apart = [_taken_apart(layer, place) for layer in listed]
    theirs = [layer for layers in apart for layer in layers]
    whole = [Layer(name, _placed(name, arrays, place)) for name, arrays in listed]
    for pairs in (*_pairings(apart, ours), _by_order(whole, ours)):
        if pairs and all(layer.forms == own.forms for layer, own in pairs):
            return Matched({path: own for pair in pairs for path, own in _arrays(*pair)})
    return Matched({}, _differences(theirs, ours))


def _placed(name: str, arrays: Sequence[FileArray], place: str) -> tuple[Expected, ...]:
    """The arrays of a layer of the file; the key of each is its path there."""
    return tuple(
        Expected(f"{place}{name}/{one}", tuple(shape), kind) for one, shape, kind in arrays
    )


def _pairings(
    apart: Sequence[Sequence[Layer]], ours: Sequence[Layer]
) -> Iterator[Sequence[tuple[Layer, Layer]]]:
    """The ways to match the layers of a file to ours, the most likely first.

    The layers of a model within a model that was partly frozen are not in its order, as those that
    are trained come first: they are put into that of the network, where it has their names.
    """
    places = {layer.name: number for number, layer in enumerate(ours)}
    theirs = [
        layer
        for layers in apart
        for layer in (
            sorted(layers, key=lambda layer: places[layer.name])
            if all(layer.name in places for layer in layers)
            else layers
        )
    ]
    yield _by_order(theirs, ours)
    theirs = [layer for layers in apart for layer in layers]
    yield _by_order(theirs, ours)
    yield _by_name(theirs, ours)


def _by_order(theirs: Sequence[Layer], ours: Sequence[Layer]) -> list[tuple[Layer, Layer]]:
    """Pairs of as many layers; () where one side has more."""
    return list(zip(theirs, ours, strict=True)) if len(theirs) == len(ours) else []


def _arrays(layer: Layer, own: Layer) -> Iterator[tuple[str, Expected]]:
    for found, wanted in zip(layer.arrays, own.arrays, strict=True):
        yield found.key, wanted


def _taken_apart(listed: FileLayer, place: str) -> list[Layer]:
    """The layers of which a layer of the file consists, mostly one: one for each first part of the
    names of its arrays.
    """
    name, arrays = listed
    parts: dict[str, list[Expected]] = {}
    for (array, _, _), found in zip(arrays, _placed(name, arrays, place), strict=True):
        parts.setdefault(array.rpartition("/")[0], []).append(found)
    if len(parts) == 1:
        return [Layer(name, tuple(found)) for found in parts.values()]
    return [Layer(owner.rpartition("/")[2], tuple(found)) for owner, found in parts.items()]


def _by_name(theirs: Sequence[Layer], ours: Sequence[Layer]) -> list[tuple[Layer, Layer]]:
    """Pairs of layers with the same name, shapes and types, and of all others in their order; none
    where one side has more.
    """
    if len(theirs) != len(ours):
        return []
    own = {(layer.name, layer.forms): layer for layer in ours}
    same = {key: layer for layer in theirs if (key := (layer.name, layer.forms)) in own}
    rest = zip(
        (layer for layer in theirs if layer not in same.values()),
        (layer for key, layer in own.items() if key not in same),
        strict=True,
    )
    return [*((layer, own[key]) for key, layer in same.items()), *rest]


def _differences(theirs: Sequence[Layer], ours: Sequence[Layer]) -> list[str]:
    counts = f"{len(theirs)} layers with weights in the file, {len(ours)} in the model"
    found = [counts] if len(theirs) != len(ours) else []
    return [*found, *_first_differences(theirs, ours)][:_MOST_DIFFERENCES]


def _first_differences(theirs: Sequence[Layer], ours: Sequence[Layer]) -> Iterator[str]:
    for number, (layer, own) in enumerate(zip_longest(theirs, ours), start=1):
        if layer is None or own is None or layer.forms != own.forms:
            yield f"layer {number}: {_words(layer)} in the file, {_words(own)} in the model"


def _words(layer: Layer | None) -> str:
    if layer is None:
        return "none"
    shapes = ", ".join(_shape_text(array) for array in layer.arrays[:6])
    return f"{layer.name[:_MOST_NAME]!r} ({shapes})"


def _shape_text(array: Expected) -> str:
    kind = "" if array.dtype == "float32" else f"{array.dtype[:20]} "
    return kind + ("×".join(map(str, array.shape)) or "a number")
