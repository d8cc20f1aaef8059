"""Pretrained weights: read, checked, and given to the layers that name them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assets import resource_path
from workbench.backbones import all_backbones, block_of
from workbench.core.network.graph import Graph, Node
from workbench.core.specs import BackboneSpec, BundledWeights, DownloadedWeights
from workbench.downloads import keras_folder
from workbench.errors import GraphError, WeightsError
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.foreign.foreign_weights import read_published_weights

Array = np.ndarray[Any, np.dtype[Any]]
Weights = dict[str, dict[str, Array]]
"""Array by variable ("kernel"), by layer."""

_MD5_LENGTH = 32
RECORD_SUFFIX = ".sha256"
"""Of the file that holds the checksum of a download whose makers publish none."""


def pretrained_arrays(key: str) -> Weights:
    """All weights of a backbone in float32, by its own names of layers and variables.

    Raises:
        WeightsError: they are missing, damaged, or not those of this backbone.
    """
    spec = backbone(key)
    weights = spec.weights
    if isinstance(weights, BundledWeights):
        found = _bundled(spec, weights)
    else:
        found = _downloaded(spec, weights)
    for layer, values in block_of(spec).constants.items():
        shapes = block_of(spec).variables[layer]
        constants = {name: np.reshape(value, shapes[name]) for name, value in values.items()}
        found[layer] = {name: array.astype(np.float32) for name, array in constants.items()}
    return found


def backbone(key: str) -> BackboneSpec:
    """A backbone by its key; raises WeightsError where this version has none."""
    spec = all_backbones().get(key)
    if spec is None:
        raise WeightsError(
            "The pretrained weights are of a network that this version does not have.",
            received=key[:80],
            expected=", ".join(all_backbones()),
            fix="Open the project with the version that made it, or start with random weights.",
        )
    return spec


def downloaded_path(weights: DownloadedWeights) -> Path:
    """Where the file of downloaded weights is or would be: in Keras's own folder."""
    return keras_folder("models") / weights.file_name


def _bundled(spec: BackboneSpec, weights: BundledWeights) -> Weights:
    path = resource_path(spec.weights_resource)
    _check_file(spec, path, weights.sha256, fix="Reinstall Workbench.")
    found: Weights = {}
    for name, array in read_arrays(path).items():
        layer, variable = name.split("/")
        found.setdefault(layer, {})[variable] = array.astype(np.float32)
    return found


def _downloaded(spec: BackboneSpec, weights: DownloadedWeights) -> Weights:
    path = downloaded_path(weights)
    _check_download(spec, weights, path)
    source = block_of(spec).source
    layers = [[entry.shape for entry in entries] for entries in source]
    found: Weights = {}
    for entries, arrays in zip(source, read_published_weights(path, layers), strict=True):
        for entry, array in zip(entries, arrays, strict=True):
            axis = entry.reversed_axis
            turned = array if axis is None else np.flip(array, axis)
            shape = block_of(spec).variables[entry.layer][entry.variable]
            found.setdefault(entry.layer, {})[entry.variable] = turned.reshape(shape)
    return found


def _check_download(spec: BackboneSpec, weights: DownloadedWeights, path: Path) -> None:
    if not path.is_file():
        raise WeightsError(
            f"The pretrained weights of {spec.title} have not been downloaded.",
            where=str(path),
            expected=f"{path.name} from {weights.address}",
            fix=f"Download them once, or copy {path.name} into {path.parent}.",
        )
    record = path.with_name(path.name + RECORD_SUFFIX)
    checksum = weights.checksum
    if not checksum and record.is_file():
        checksum = record.read_text(encoding="ascii", errors="replace").strip()
    if checksum:
        _check_file(spec, path, checksum, fix="Delete it, and download it again.")


def _check_file(spec: BackboneSpec, path: Path, checksum: str, *, fix: str) -> None:
    received = file_checksum(path, is_md5=len(checksum) == _MD5_LENGTH)
    if received != checksum:
        raise WeightsError(
            f"The file with the pretrained weights of {spec.title} is damaged.",
            where=str(path),
            received=f"{path.stat().st_size:,} bytes with the checksum {received}",
            expected=f"the checksum {checksum}",
            fix=fix,
        )


def file_checksum(path: Path, *, is_md5: bool = False) -> str:
    """sha256 of a file, or md5; raises WeightsError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5" if is_md5 else "sha256").hexdigest()
    except OSError as error:
        raise WeightsError(
            "The file cannot be read.", where=str(path), received=str(error)
        ) from error


def load_pretrained(graph: Graph, made: Mapping[str, Any]) -> None:
    """Gives the layers that name pretrained weights those weights; all others keep theirs.

    Args:
        graph: The network.
        made: Built Keras layers by node id.

    Raises:
        WeightsError: weights are missing or damaged.
        GraphError: weights do not fit their layer, which was changed; nothing was assigned.
    """
    nodes = [node for node in graph.nodes.values() if node.pretrained and node.id in made]
    weights = {key: pretrained_arrays(key) for key in dict.fromkeys(map(_key_of, nodes))}
    pairs = [pair for node in nodes for pair in _pairs(node, made[node.id], weights)]
    for variable, array in pairs:
        variable.assign(array)


def _key_of(node: Node) -> str:
    return node.pretrained.partition("/")[0]


def _pairs(node: Node, layer: Any, weights: Mapping[str, Weights]) -> Iterator[tuple[Any, Array]]:
    """The variables of a layer, each with its array."""
    key, _, name = node.pretrained.partition("/")
    arrays = weights[key].get(name, {})
    wanted = {variable.name: tuple(variable.shape) for variable in layer.weights}
    have = {variable: array.shape for variable, array in arrays.items()}
    if wanted != have:
        raise GraphError(
            f"The pretrained weights of “{node.name}” do not fit it any more.",
            where=node.name,
            received=f"{node.pretrained}: {_shapes_text(have)}",
            expected=_shapes_text(wanted),
            fix="Undo the change of this layer, or let it start with random weights.",
        )
    yield from ((variable, arrays[variable.name]) for variable in layer.weights)


def _shapes_text(shapes: Mapping[str, tuple[int, ...]]) -> str:
    parts = (f"{name} {' × '.join(map(str, shape))}" for name, shape in shapes.items())
    return ", ".join(parts) or "no weights"
