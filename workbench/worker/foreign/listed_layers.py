"""What the reader lists of a weights file, as layers that can be matched."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.worker.foreign.architecture import (
    Architecture,
    UnknownNetworkError,
    read_architecture,
)
from workbench.worker.foreign.file_layers import Expected, FileLayers, Layer

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
