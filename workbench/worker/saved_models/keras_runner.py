"""Models in Keras that classify at once: loaded from a run or an exported `.keras`, kept warm.

A foreign configuration is never turned into a model. What builds the network is our own
graph, from the model card; the weights are plain arrays under names the graph dictates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.calibration import Halves
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.network.roles import with_training
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import WeightsError
from workbench.inference.runner import (
    Labels,
    Outputs,
    Pixels,
    Runner,
    joined_outputs,
    load_by_card,
    references_of,
    refuse_large,
    with_all_names,
)
from workbench.layers import all_layers
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.image_features import (
    MAX_FILE_BYTES,
    REFERENCES_NAME,
    read_references,
    references_path,
)
from workbench.runs.store.weights_file import read_run_weights
from workbench.worker.foreign.architecture import read_architecture, snake_case
from workbench.worker.foreign.foreign_weights import (
    read_any_card,
    read_archive_member,
    read_foreign_weights,
)
from workbench.worker.foreign.matching import Expected, Layer, Network
from workbench.worker.model.build import BuiltModel, assign_weights, build_model, named_variables
from workbench.worker.model.inference_form import (
    fast_inference,
    flat_hidden,
    hidden_node,
    with_hidden,
)
from workbench.worker.process.lazy_keras import keras, tf

# keras2 file ---------------------------------------------------------------------------------
# Weights in the layout of Keras 2: the `.h5` of its `save_weights`, loaded by order or by name.
#
# Groups and attributes are those that Keras 2.15, its last version, writes.

_VERSION = "2.15.0"
_MOST_BYTES = 64_512
"""What an attribute may hold: HDF5 has 64 KiB for the head of an object."""


def keras2_weights(layer: Any) -> list[Any]:
    """The variables of a layer in the order of Keras 2: trainable first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_keras2_weights(model: Any, path: Path) -> None:
    """Writes the weights of a functional Keras model without nested models."""
    import h5py

    with h5py.File(path, "w") as file:
        _write_names(file, "layer_names", [layer.name for layer in model.layers])
        file.attrs["backend"] = "tensorflow"
        file.attrs["keras_version"] = _VERSION
        for layer in model.layers:
            arrays = _keras2_arrays(layer)
            group = file.create_group(layer.name)
            _write_names(group, "weight_names", list(arrays))
            for name, array in arrays.items():
                group[name] = array
        _write_names(file.create_group("top_level_model_weights"), "weight_names", [])


def _keras2_arrays(layer: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a layer as Keras 2 names and orders them."""
    renamed = {}
    if isinstance(layer, keras.layers.DepthwiseConv2D):
        renamed = {"kernel": "depthwise_kernel"}
    return {
        f"{layer.name}/{renamed.get(variable.name, variable.name)}:0": np.asarray(variable.numpy())
        for variable in keras2_weights(layer)
    }


def _write_names(group: Any, key: str, names: Sequence[str]) -> None:
    """Writes a list of names as an attribute, in parts (KEY0, KEY1, ...) where it is long."""
    array = np.array([name.encode() for name in names], "S") if names else np.zeros(0, "S1")
    each = max(1, _MOST_BYTES // array.itemsize)
    if len(array) <= each:
        group.attrs[key] = array
        return
    for number, start in enumerate(range(0, len(array), each)):
        group.attrs[f"{key}{number}"] = array[start : start + each]


# weights layout ------------------------------------------------------------------------------
# A network as the reader of foreign weights needs it: its layers with weights, and its calls.


def weights_layout(built: BuiltModel) -> Network:
    """The layers with weights of a network, built with `whole=True`, in Keras's order; the arrays
    of each as Keras saves them, trainable ones first.
    """
    keys = {id(variable): key for key, variable in named_variables(built).items()}
    layers = [
        Layer(
            layer.name,
            tuple(
                Expected(keys[id(variable)], tuple(map(int, variable.shape)), str(variable.dtype))
                for variable in keras2_weights(layer)
            ),
            snake_case(type(layer).__name__),
        )
        for layer in built.model.layers
        if layer.weights
    ]
    return Network(layers, read_architecture(built.model.to_json()))


# keras runner --------------------------------------------------------------------------------

BATCH_SIZES = (1, 8, 32, 256)
"""Images are padded to one of these, so that few programs are compiled."""

_LARGE_BATCH_NUMBERS = 4_000_000
"""The largest batch is used only where its images hold fewer numbers than this."""


class KerasRunner(Runner):
    """A model in Keras, compiled on first use for each batch size.

    Args:
        card: Its card, with the calibration.
        built: The network with its weights.
        graph: Its layers.
        references: What the distance from the training images is measured by; None for nothing.
    """

    def __init__(
        self, card: ModelCard, built: BuiltModel, graph: Graph, references: Halves | None = None
    ) -> None:
        self.built = built
        self.graph = graph
        hidden = hidden_node(built, graph)
        inner = None if hidden is None else with_hidden(built, hidden).outputs[1]
        super().__init__(card, 0 if inner is None else int(inner.shape[-1]), references)
        self._sizes = [
            size
            for size in BATCH_SIZES
            if size <= 32 or size * math.prod(self._shape) < _LARGE_BATCH_NUMBERS
        ]
        self._answer, self._score = _compiled(built, hidden)

    def _compute(self, x: Pixels, labels: Labels | None) -> Outputs:
        pieces = []
        for padded, count, start in self._batches(x):
            if labels is None:
                found = self._answer(padded)
            else:
                truth = np.zeros(len(padded), np.int64)
                truth[:count] = labels[start : start + count]
                found = self._score(padded, truth)
            pieces.append(Outputs(*(each.numpy()[:count] for each in found)))
        return joined_outputs(pieces)

    def _batches(self, x: Pixels) -> Iterator[tuple[Pixels, int, int]]:
        """Pieces of one of the batch sizes: (images, how many of them count, where)."""
        start = 0
        while start < len(x):
            waiting = len(x) - start
            size = next((size for size in self._sizes if size >= waiting), self._sizes[-1])
            chunk = np.ascontiguousarray(x[start : start + size])
            count = len(chunk)
            if count < size:
                chunk = np.concatenate([chunk, np.zeros((size - count, *self._shape), np.uint8)])
            yield chunk, count, start
            start += count


def _compiled(built: BuiltModel, hidden: str | None) -> tuple[Any, Any]:
    """Two functions of uint8 images, compiled once for each batch size.

    The first gives probabilities and hidden outputs, of no columns without a hidden layer; the
    second has labels as an input too, and gives the losses, too. Both compute the network in its
    fast form, with the weights of now.
    """
    model = built.model if hidden is None else with_hidden(built, hidden)
    fast = fast_inference(model, as_logits=not built.is_logits)

    def logits_of(pictures: Any) -> tuple[Any, Any]:
        found = fast(pictures)
        logits, inner = (found, found[:, :0]) if hidden is None else found
        return tf.cast(logits, tf.float32), flat_hidden(inner)

    def answer(pictures: Any) -> Any:
        logits, inner = logits_of(pictures)
        return tf.nn.softmax(logits), inner

    def score(pictures: Any, labels: Any) -> Any:
        logits, inner = logits_of(pictures)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.nn.softmax(logits), inner, losses

    return tf.function(answer, autograph=False), tf.function(score, autograph=False)


def load_keras_runner(path: str | Path) -> KerasRunner:
    """Loads a model that can classify: a run folder, or a `.keras` that Workbench has exported.

    Raises:
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or a file that Workbench has not exported.
        ProjectFileError: the card's graph is damaged.
    """
    path = Path(path)
    return load_by_card(partial(read_any_card, path), partial(_load, path))


def _load(path: Path, card: ModelCard) -> KerasRunner:
    graph = graph_from_plain(card.graph, str(path))
    built = build_whole(graph, str(path))
    units = int(built.model.output_shape[-1])
    card = with_all_names(card, units, built.input_shape, str(path))
    assign_weights(built, _arrays(path, card, built))
    return KerasRunner(card, built, graph, _references(path, card))


def _references(path: Path, card: ModelCard) -> Halves | None:
    if path.is_dir():
        return references_of(card, partial(read_references, references_path(RunFolder(path))))
    return references_of(card, partial(_references_inside, path))


def _references_inside(path: Path, checksum: str) -> Halves:
    data = read_archive_member(path, REFERENCES_NAME, max_bytes=MAX_FILE_BYTES)
    return read_references(path, checksum, data)


def build_whole(graph: Graph, where: str) -> BuiltModel:
    """The network with everything inside, float32, after its size has been judged.

    Raises:
        WeightsError: the graph has problems, or is too large for this computer.
    """
    # That a network is frozen keeps it from being trained, not from being used.
    usable = with_training(graph, graph.nodes, "always")
    analysis = analyse(usable, all_layers(), recipe=TrainingRecipe())
    if analysis.errors:
        raise WeightsError(
            f"The model cannot be built: {analysis.errors[0].title}.",
            where=where,
            received=analysis.errors[0].message,
            fix="Fix the problems of the project first.",
        )
    refuse_large(4 * analysis.costs.parameters.total, "bytes of weights", where)
    return build_model(graph, all_layers(), whole=True, pretrained=False)


def _arrays(path: Path, card: ModelCard, built: BuiltModel) -> Mapping[str, np.ndarray[Any, Any]]:
    if path.is_dir():
        return read_run_weights(path, card)
    return read_foreign_weights(path, weights_layout(built), by_order=True).arrays
