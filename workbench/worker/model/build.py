"""Builds the graph in Keras: the model, the layers of the input pipeline, and the weights."""

from __future__ import annotations

import inspect
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backbones import block_of, checked_file, known_backbone
from workbench.core.checks.problems import Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.checks.structure import check_inputs, check_outputs
from workbench.core.network.graph import Graph, Node, keras_names
from workbench.core.network.roles import (
    ends_in_softmax,
    find_outputs,
    float32_nodes,
    input_nodes,
    pipeline_nodes,
)
from workbench.core.registry import Registry
from workbench.core.specs import BackboneSpec, LayerSpec, Role, Shape, TrainingClass
from workbench.errors import GraphError, WeightsError
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.foreign.foreign_weights import read_published_weights
from workbench.worker.model.fast_layers import (
    fast_dropout,
    fused_batch_normalization,
    linked_class,
    needs_exact_bias,
    wide_dense,
    with_exact_bias,
)
from workbench.worker.process.lazy_keras import keras

# pretrained ----------------------------------------------------------------------------------
# Pretrained weights: read, checked, and given to the layers that name them.

Array = np.ndarray[Any, np.dtype[Any]]
Weights = dict[str, dict[str, Array]]
"""Array by variable ("kernel"), by layer."""


def pretrained_arrays(key: str) -> Weights:
    """All weights of a backbone in float32, by its own names of layers and variables.

    Raises:
        WeightsError: they are missing, damaged, or not those of this backbone.
    """
    spec = known_backbone(key)
    path = checked_file(spec)
    found = _bundled(path) if spec.is_bundled else _published(spec, path)
    for layer, values in block_of(spec).constants.items():
        shapes = block_of(spec).variables[layer]
        constants = {name: np.reshape(value, shapes[name]) for name, value in values.items()}
        found[layer] = {name: array.astype(np.float32) for name, array in constants.items()}
    return found


def _bundled(path: Path) -> Weights:
    found: Weights = {}
    for name, array in read_arrays(path).items():
        layer, variable = name.split("/")
        found.setdefault(layer, {})[variable] = array.astype(np.float32)
    return found


def _published(spec: BackboneSpec, path: Path) -> Weights:
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


# build ---------------------------------------------------------------------------------------

POLICIES: Mapping[str, str] = {"float32": "float32", "bfloat16": "mixed_bfloat16"}
"""Precision of the recipe -> Keras's dtype policy."""

MOST_LISTED = 12  # findings in one message


@dataclass(frozen=True)
class BuiltModel:
    """A network as Keras has it.

    Attributes:
        model: Functional keras.Model; its input is the image, or what the pipeline gives.
        layers: Keras layer by node id, without Input, with the pipeline's layers.
        pipeline: (node id, layer) of the layers to run in the input pipeline, in order;
            empty when the model is whole.
        input_shape: (height, width, channels) of an input image.
        is_logits: The output is not probabilities.
        names: Keras layer name by node id.
        outputs: Output tensor in the model of each of its layers, by node id. A layer that is in
            several models has an output of its own in each.
    """

    model: Any
    layers: Mapping[str, Any]
    pipeline: tuple[tuple[str, Any], ...]
    input_shape: Shape
    is_logits: bool
    names: Mapping[str, str]
    outputs: Mapping[str, Any]

    @property
    def input_dtype(self) -> str:
        """What the first layer with weights computes in: images are handed over in that."""
        first = next((layer for layer in self.model.layers if layer.count_params()), None)
        return str(first.compute_dtype) if first is not None else "float32"


def build_model(
    graph: Graph,
    layers: Registry[LayerSpec],
    *,
    whole: bool = False,
    own_layers: bool = True,
    precision: str = "float32",
    seed: int | None = None,
    pretrained: bool = True,
) -> BuiltModel:
    """Builds the network.

    Args:
        graph: The network; must have no errors.
        layers: The layer types.
        whole: Put every layer into the model, also those for the input pipeline, and build it
            of Keras's own layers alone, so that it can be exported.
        own_layers: Take our forms of layers where we have one; they are made for processors.
        precision: "float32", or "bfloat16": layers then compute in bfloat16 and keep float32
            weights. The input pipeline and `core.network.roles.float32_nodes` stay in float32.
        seed: Makes initial weights and random layers repeatable; sets the random state of
            Python, NumPy and TensorFlow, from which Keras draws.
        pretrained: Give layers the pretrained weights that they name. Not needed where all weights
            are assigned afterwards, or none are used.

    Raises:
        GraphError: the graph has errors; the first ones are in the message. Or pretrained weights
            no longer fit their layer.
        WeightsError: pretrained weights are missing or damaged.
    """
    found = Propagation(graph, layers)
    _refuse_errors(graph, layers, found)
    if seed is not None:
        keras.utils.set_random_seed(seed)
    is_own = own_layers and not whole
    made = _make_layers(graph, layers, found, precision=precision, seed=seed, is_own=is_own)
    on_host = () if whole else pipeline_nodes(graph, layers)
    for node_id in on_host:
        made[node_id].build((None, *found.inputs[node_id][0]))
    first, last = input_nodes(graph, layers)[0].id, find_outputs(graph, layers)[0]
    model, outputs = _make_model(graph, made, found, first=first, last=last, on_host=on_host)
    if pretrained:
        load_pretrained(graph, made)
    return BuiltModel(
        model,
        made,
        tuple((node_id, made[node_id]) for node_id in on_host),
        found.shapes[first],
        not ends_in_softmax(graph, layers, last),
        keras_names(graph),
        outputs,
    )


def build_pipeline(
    graph: Graph, layers: Registry[LayerSpec], *, seed: int | None = None
) -> tuple[Any, ...]:
    """The Keras layers that run in the input pipeline, in order, as `build_model` makes them. The
    rest of the network may be unfinished or wrong.

    Raises:
        GraphError: there is not exactly one Input, or a layer of the pipeline is wrong.
    """
    chain = pipeline_nodes(graph, layers)
    kept = {*chain, *(node.id for node in input_nodes(graph, layers))}
    head = graph.without_nodes([key for key in graph.nodes if key not in kept])
    found = Propagation(head, layers)
    _refuse([p for p in (*check_inputs(head, layers, None), *found.problems) if p.stops_training])
    if seed is not None:
        keras.utils.set_random_seed(seed)
    made = _make_layers(head, layers, found, precision="float32", seed=seed, is_own=True)
    for node_id in chain:
        made[node_id].build((None, *found.inputs[node_id][0]))
    return tuple(made[node_id] for node_id in chain)


def _make_layers(
    graph: Graph,
    layers: Registry[LayerSpec],
    found: Propagation,
    *,
    precision: str,
    seed: int | None,
    is_own: bool,
) -> dict[str, Any]:
    """All layers but Input by node id, not connected yet; of Keras's classes, or where
    `is_own` of our faster ones that compute the same.
    """
    names = keras_names(graph)
    float32 = {*float32_nodes(graph, layers), *pipeline_nodes(graph, layers)}
    made: dict[str, Any] = {}
    for node_id in graph.order:
        spec = layers[graph.nodes[node_id].kind]
        if spec.role is Role.INPUT or node_id not in found.shapes:
            continue
        policy = "float32" if node_id in float32 else POLICIES[precision]
        arguments = {**spec.keras_arguments(found.params[node_id]), "dtype": policy}
        node_seed = None if seed is None else layer_seed(seed, names[node_id])
        own = own_class(spec, arguments, precision) if is_own else None
        cls = own or getattr(keras.layers, spec.title)
        made[node_id] = make_layer(cls, names[node_id], arguments, seed=node_seed)
    return made


def own_class(spec: LayerSpec, arguments: Mapping[str, Any], precision: str) -> Any:
    """Our class to train a layer with in a network of that precision, which computes the same but
    better; None for Keras's.
    """
    if spec.training_class is TrainingClass.FUSED_BATCH_NORM:
        return fused_batch_normalization()
    if spec.training_class is TrainingClass.FAST_DROPOUT:
        return fast_dropout()
    is_wide = arguments["dtype"] == "float32"
    if not is_wide and needs_exact_bias(spec.training_class, arguments):
        return with_exact_bias(spec.title)
    if is_wide and spec.training_class is TrainingClass.DENSE and precision != "float32":
        return wide_dense()
    return linked_class(spec.training_class)


def make_layer(cls: Any, name: str, arguments: Mapping[str, Any], *, seed: int | None) -> Any:
    """One Keras layer; `seed` is handed on where the layer draws random numbers."""
    draws = seed is not None and "seed" in inspect.signature(cls.__init__).parameters
    return cls(**arguments, name=name, **({"seed": seed} if draws else {}))


def _make_model(
    graph: Graph,
    made: Mapping[str, Any],
    found: Propagation,
    *,
    first: str,
    last: str,
    on_host: Sequence[str],
) -> tuple[Any, Mapping[str, Any]]:
    """The functional model from behind the input pipeline's layers to the output, and the outputs
    of its layers.
    """
    start = on_host[-1] if on_host else first
    source = keras.Input(shape=found.shapes[start], name=keras_names(graph)[first])
    outputs = connect(graph, made, {start: source}, {first, *on_host})
    return keras.Model(source, {start: source, **outputs}[last], name="network"), outputs


def connect(
    graph: Graph, made: Mapping[str, Any], start: Mapping[str, Any], skipped: Collection[str]
) -> dict[str, Any]:
    """Calls the layers in order on each other's outputs, the first on `start`; returns theirs, by
    node id.
    """
    tensors, outputs = dict(start), {}
    for node_id in graph.order:
        if node_id in skipped or node_id not in made:
            continue
        inputs = [tensors[source] for source in graph.sources(node_id)]
        is_merge = len(inputs) > 1
        tensors[node_id] = made[node_id](inputs if is_merge else inputs[0])
        outputs[node_id] = tensors[node_id]
    return outputs


def layer_seed(seed: int, name: str) -> int:
    """A seed of its own for each random layer, the same for the same seed and name."""
    return random.Random(f"{seed}/{name}").randrange(2**31)  # noqa: S311 - not for secrets


def _refuse_errors(graph: Graph, layers: Registry[LayerSpec], found: Propagation) -> None:
    _refuse([p for p in _problems(graph, layers, found) if p.stops_training])


def _refuse(errors: Sequence[Problem]) -> None:
    if not errors:
        return
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    raise GraphError(
        f"The model cannot be built: {errors[0].message}{more}",
        where=errors[0].title,
        fix="Fix the problems that the check lists.",
    )


def _problems(graph: Graph, layers: Registry[LayerSpec], found: Propagation) -> Iterator[Problem]:
    yield from check_inputs(graph, layers, None)
    yield from found.problems
    yield from check_outputs(graph, layers, found)


# weights ----------------------------------------------------------------------


def named_variables(built: BuiltModel) -> dict[str, Any]:
    """NODE_NAME/VARIABLE_NAME -> Keras variable, for all weights, without random seeds."""
    return {
        f"{built.names[node_id]}/{variable.name}": variable
        for node_id, layer in built.layers.items()
        for variable in layer.weights
    }


def read_weights(built: BuiltModel) -> dict[str, Array]:
    """All weights as arrays, with batch-norm statistics and Normalization's mean and variance."""
    return {name: np.asarray(variable.numpy()) for name, variable in named_variables(built).items()}


def assign_weights(built: BuiltModel, arrays: Mapping[str, Array]) -> None:
    """Sets all weights.

    Args:
        built: The network.
        arrays: One array for each weight, by the names of `read_weights`.

    Raises:
        WeightsError: a name is missing or unknown, or a shape or type differs; all such
            findings are listed, and no weight has changed.
    """
    variables = named_variables(built)
    findings = [*_name_findings(variables, arrays), *_array_findings(variables, arrays)]
    if findings:
        listed = "; ".join(findings[:MOST_LISTED])
        more = len(findings) - MOST_LISTED
        raise WeightsError(
            "These weights do not fit this model.",
            received=listed + (f"; and {more} more" if more > 0 else ""),
            expected=f"{len(variables)} arrays, one for each weight of the model",
            fix="Use weights that were saved from the same model. Nothing was changed.",
        )
    old = read_weights(built)
    try:
        _assign(built, variables, arrays)
    except BaseException:
        _assign(built, variables, old)
        raise


def _assign(built: BuiltModel, variables: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    for name, variable in variables.items():
        variable.assign(arrays[name])
    finish_statistics(built)


def finish_statistics(built: BuiltModel) -> None:
    """Makes Normalization layers compute with the mean and variance they now hold.

    Keras keeps constants made from these weights; call this after assigning them.
    """
    for layer in built.layers.values():
        finalize = getattr(layer, "finalize_state", None)
        if finalize is not None:
            finalize()


def _name_findings(variables: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[str]:
    for name in variables:
        if name not in arrays:
            yield f"“{name}” is missing"
    for name in arrays:
        if name not in variables:
            yield f"“{name[:80]}” is not in the model"


def _array_findings(variables: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[str]:
    for name, variable in variables.items():
        if name not in arrays:
            continue
        array, shape = arrays[name], tuple(variable.shape)
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.kind not in "fiu":
            yield f"“{name}” contains {getattr(array, 'dtype', type(array).__name__)}, not numbers"
        elif array.shape != shape:
            yield f"“{name}” has the shape {array.shape}, not {shape}"


# initial -------------------------------------------------------------------------------------
# Gives a network the weights of another one, as far as they fit.


@dataclass(frozen=True)
class Fitting:
    """The layers with weights, by name, in the network's order.

    Attributes:
        layers: Those whose weights are all there, in their shapes.
        others: Those that the other network does not have, or in other shapes.
    """

    layers: tuple[str, ...]
    others: tuple[str, ...]


def fitting_layers(built: BuiltModel, arrays: Mapping[str, Array]) -> Fitting:
    """Which layers of a network can have some weights: array by name of layer and weight, as of
    `read_weights`.
    """
    fits = {
        layer: all(_fits(variable, arrays.get(name)) for name, variable in variables.items())
        for layer, variables in _by_layer(built).items()
    }
    others = tuple(layer for layer, is_fitting in fits.items() if not is_fitting)
    return Fitting(tuple(layer for layer in fits if layer not in others), others)


def take_weights(built: BuiltModel, arrays: Mapping[str, Array]) -> None:
    """Assigns the weights of every fitting layer; the other layers keep theirs."""
    by_layer = _by_layer(built)
    for layer in fitting_layers(built, arrays).layers:
        for name, variable in by_layer[layer].items():
            variable.assign(arrays[name])
    finish_statistics(built)


def _by_layer(built: BuiltModel) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, variable in named_variables(built).items():
        found.setdefault(name.rpartition("/")[0], {})[name] = variable
    return found


def _fits(variable: Any, array: Array | None) -> bool:
    return array is not None and array.dtype.kind in "fiu" and array.shape == tuple(variable.shape)
