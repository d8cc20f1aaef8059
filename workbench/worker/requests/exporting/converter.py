"""The process that writes an export: it is sent one order, and answers with one line.

A process of its own for each export: converters leak memory, print, and end the process that they
fail in. It takes no more memory than it is given.
"""

from __future__ import annotations

import inspect
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from workbench.backbones import all_backbones, backbone_keys
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node, keras_names
from workbench.core.params import check_all
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import ACTIVATION, LINEAR, ExportSpec, LayerSpec, Role, UnsupportedError
from workbench.core.training.recipe import TrainingRecipe, recipe_from
from workbench.errors import ChildDiedError, SaveError, WorkbenchError
from workbench.exports import run_exports
from workbench.inference.runner import Pixels
from workbench.layers import all_layers
from workbench.processes.child import Child, short_death
from workbench.protocol.bases import ErrorParts
from workbench.protocol.service_call import worker_command, worker_environment
from workbench.protocol.wire import error_from_parts
from workbench.runs.model_card import ModelCard
from workbench.runs.store.image_features import REFERENCES_NAME, write_references
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights, build_model, read_weights
from workbench.worker.model.inference_form import logits_of
from workbench.worker.process.failure import error_parts
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.requests.exporting.proof import compare_answers, noise
from workbench.worker.requests.exporting.ready import (
    facts_of,
    inner_temperature,
    write_facts,
    write_scripts,
    write_texts,
)
from workbench.worker.saved_models.keras_runner import (
    KerasRunner,
    load_keras_runner,
    weights_layout,
    write_keras2_weights,
)

# keras calls ---------------------------------------------------------------------------------
# A network as Keras calls, for the programs that are exported.


@dataclass(frozen=True)
class KerasCall:
    """One layer, of a unique name, as the call that creates it.

    Attributes:
        required: The arguments that have no default, in Keras's order.
        arguments: Other arguments that differ from Keras's own defaults.
        inputs: Names of the layers it is called on.
        is_tuned: Its weights learn in the fine-tuning phase alone.
    """

    name: str
    spec: LayerSpec
    required: Mapping[str, Any]
    arguments: Mapping[str, Any]
    inputs: tuple[str, ...]
    is_tuned: bool = False


def keras_calls(graph: Graph) -> list[KerasCall]:
    """The network as Keras calls in order, without arguments that Keras chooses itself."""
    layers, names = all_layers(), keras_names(graph)
    found = Propagation(graph, layers)
    calls = []
    for node_id in graph.order:
        node = graph.nodes[node_id]
        spec = layers[node.kind]
        params, _ = check_all(spec.params, node.params)
        inputs = tuple(names[source] for source in graph.sources(node_id))
        frozen = {"trainable": False} if _is_frozen(node, spec, found) else {}
        arguments = _non_default_arguments(spec, {**spec.keras_arguments(params), **frozen})
        is_tuned = bool(frozen) and node.training == "fine_tuning"
        calls.append(KerasCall(names[node_id], spec, *arguments, inputs, is_tuned))
    return calls


def _is_frozen(node: Node, spec: LayerSpec, found: Propagation) -> bool:
    """Whether a layer has weights that do not learn from the start."""
    if node.training == "always" or node.id not in found.inputs:
        return False
    return spec.count_params(found.params[node.id], found.inputs[node.id]).total > 0


def initial_model(graph: Graph, seed: int) -> Any:
    """The whole network as a training by a recipe of that seed starts with it, here and in a
    program: with pretrained weights where layers name them, random ones elsewhere. Raises
    WeightsError where weights are missing.
    """
    return build_model(graph, all_layers(), whole=True, seed=seed).model


def weights_bytes(model: Any) -> bytes:
    """The weights of a Keras model as a `.weights.h5` file."""
    with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
        path = Path(folder) / "initial.weights.h5"
        model.save_weights(path)
        return path.read_bytes()


def _non_default_arguments(
    spec: LayerSpec, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits arguments into those Keras requires and those that differ from its defaults."""
    if spec.role is Role.INPUT:
        return {}, {}
    chosen = inspect.signature(getattr(keras.layers, spec.title).__init__).parameters
    required = [key for key, p in chosen.items() if p.default is p.empty and key in arguments]
    optional = {}
    for key, value in arguments.items():
        default = chosen[key].default if key in chosen else inspect.Parameter.empty
        is_same = value == default or (value == "linear" and default is None)
        if key not in required and (
            not is_same or isinstance(value, bool) != isinstance(default, bool)
        ):
            optional[key] = value
    return {key: arguments[key] for key in required}, optional


# keras2 --------------------------------------------------------------------------------------
# Whether Keras 2 has the layers of a network.

_MOST_WORDS_KERAS2 = 300


def refuse_unknown_layers(calls: Sequence[KerasCall]) -> None:
    """Raises SaveError for the first of some layers that `tf_keras` has not, or not with these
    arguments.
    """
    import tf_keras

    for call in calls:
        if call.spec.role is Role.INPUT:
            continue
        named = {call.spec.keras2_names.get(key, key): v for key, v in call.arguments.items()}
        try:
            getattr(tf_keras.layers, call.spec.title)(**call.required, **named)
        except (AttributeError, TypeError, ValueError) as error:
            raise SaveError(
                f"Keras 2 does not have the layer “{call.name}” as it is here.",
                where=call.name,
                received=" ".join(str(error).split())[:_MOST_WORDS_KERAS2],
                fix="Choose another format, or another setting of that layer.",
            ) from error


# context -------------------------------------------------------------------------------------
# What an export format is handed in the process that writes it.

NUM_COMPARED = 8
"""Images of noise that a file of Keras is compared on as it is written."""


class ExportContext:
    """What an ExportSpec's `write` is handed.

    Attributes:
        spec: The format.
        card: Class names, image shape, fit, graph and recipe as stored with the run.
        model: The whole Keras model with the run's weights: preprocessing inside, so it
            accepts raw 0..255 pixels of shape (n, height, width, channels).
        tf, keras: The modules.
        references_name, references_file: What the distance from the training images is measured by,
            as a file; None where it is not.
        folder: An empty scratch folder, removed afterwards.
        calibration: Training images, uint8 (n, height, width, channels); none where the format has
            not asked for them.
        has_layers: `answers` holds the outputs of each layer, too, by `layer_names`.
        until: Id of the layer whose outputs are the "scores" of `answers`; "" for the last.
        images: None: a run's program comes without the images.
    """

    tf, keras, images = tf, keras, None

    def __init__(
        self,
        runner: KerasRunner,
        spec: ExportSpec,
        folder: Path,
        calibration: Pixels | None = None,
        *,
        has_layers: bool = False,
        until: str = "",
    ) -> None:
        self.spec = spec
        self.card: ModelCard = runner.card
        self.graph: Graph = graph_from_plain(runner.card.graph, "the model card")
        self.recipe: TrainingRecipe = recipe_from(runner.card.recipe)[0]
        self.model: Any = runner.built.model
        self.references_name = REFERENCES_NAME
        self.references_file = _references_file(runner)
        self.folder = folder
        none = np.zeros((0, *runner.card.input_shape), np.uint8)
        self.calibration = none if calibration is None else calibration
        self.has_layers = has_layers
        self.until = until
        self._built = runner.built

    @cached_property
    def layer_names(self) -> dict[str, str]:
        """Name of the output of each layer in `answers`, by node id, in the order data flows."""
        nodes = [node for node in self.graph.order if node in self._built.outputs]
        return {node: f"layer_{number:04}" for number, node in enumerate(nodes)}

    @property
    def layers(self) -> Mapping[str, LayerSpec]:
        """The layer types."""
        return all_layers()

    @cached_property
    def weights(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """All weights by "layer/weight", as the run keeps them."""
        return read_weights(self._built)

    @property
    def keras_names(self) -> Mapping[str, str]:
        """Name of the Keras layer by node id."""
        return self._built.names

    def answers(self, images: Any) -> dict[str, Any]:
        """The network's answers as tensors by name: "scores", the probabilities of the classes.

        Args:
            images: A tensor of raw images 0..255 of any type, (n, height, width, channels).
        """
        if self.until:
            part = keras.Model(self.model.inputs, self._built.outputs[self.until])
            found = part(tf.cast(images, tf.float32), training=False)
            return {"scores": tf.cast(keras.ops.reshape(found, (len(found), -1)), tf.float32)}
        names = self.layer_names if self.has_layers else {}
        outputs = {name: self._built.outputs[node] for node, name in names.items()}
        network = keras.Model(self.model.inputs, {"scores": self.model.output, **outputs})
        found = dict(network(tf.cast(images, tf.float32), training=False))
        found["scores"] = self._probabilities(found["scores"])
        return {name: tf.cast(values, tf.float32) for name, values in found.items()}

    def _probabilities(self, scores: Any) -> Any:
        temperature = inner_temperature(self.card, self.spec)
        if temperature is None:
            return keras.ops.softmax(scores) if self.card.is_logits else scores
        logits = scores if self.card.is_logits else logits_of(scores)
        return keras.ops.softmax(logits * (1 / temperature))

    @staticmethod
    def lowered(function: Any) -> Any:
        """A concrete function of TensorFlow without variables, its branches and calls as operations
        of one graph.
        """
        # There is no public way.
        from tensorflow.python.framework import convert_to_constants

        return convert_to_constants.convert_variables_to_constants_v2(function)

    @property
    def made_by(self) -> str:
        """This program and its version."""
        return facts_of(self.card, self.spec).made_by

    def facts_json(self) -> bytes:
        """What a program has to know of the model, for formats that can carry it along."""
        return msgspec.json.format(msgspec.json.encode(facts_of(self.card, self.spec)), indent=1)

    def card_json(self) -> bytes:
        """The model card, for formats that can carry it along."""
        return msgspec.json.format(msgspec.json.encode(self.card), indent=1)

    def keras_calls(self) -> list[KerasCall]:
        """The network as Keras calls in order, without arguments that Keras chooses itself."""
        return keras_calls(self.graph)

    @property
    def has_pretrained(self) -> bool:
        """Whether its training started with pretrained weights."""
        return bool(backbone_keys(self.graph))

    @property
    def licenses(self) -> list[str]:
        """A sentence for each set of pretrained weights that its training started with."""
        known = all_backbones()
        keys = [key for key in backbone_keys(self.graph) if key in known]
        return [f"Pretrained weights of {known[key].title}: {known[key].license}." for key in keys]

    def initial_weights(self) -> bytes:
        """What a program's training starts with, as a `.weights.h5` file."""
        return weights_bytes(initial_model(self.graph, self.recipe.seed))

    def refuse_other_keras2(self, calls: Sequence[KerasCall]) -> None:
        """Raises SaveError where Keras 2 has not one of the layers, or not its arguments."""
        refuse_unknown_layers(calls)

    def write_keras2_weights(self, path: Path) -> None:
        """Writes the weights in the layout of Keras 2."""
        write_keras2_weights(self.model, path)

    def compare_keras(self, path: Path) -> None:
        """Reads an exported `.keras` as Workbench does; raises SaveError where it differs."""
        self._compare(load_keras_runner(path).built.model, path.name)

    def compare_weights(self, path: Path) -> None:
        """Reads exported weights into a fresh model of the graph; raises SaveError where its
        answers differ.
        """
        built = build_model(self.graph, all_layers(), whole=True, pretrained=False)
        found = read_foreign_weights(path, weights_layout(built), by_order=True)
        assign_weights(built, found.arrays)
        self._compare(built.model, path.name)

    def _compare(self, exported: Any, where: str) -> None:
        what = "The export was not written: its predictions would differ from the model's."
        pictures = noise(NUM_COMPARED, self.card.input_shape)
        compare_answers(self.model, exported, pictures, what, where)


def _references_file(runner: KerasRunner) -> bytes | None:
    if runner.references is None:
        return None
    with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
        path = Path(folder) / REFERENCES_NAME
        write_references(path, runner.references.astype(np.float16))
        return path.read_bytes()


# converter -----------------------------------------------------------------------------------

CALIBRATION_NAME = "calibration.npy"
EXPECTED_NAME = "expected.npz"
_DEADLINE_S = 3600.0
_MOST_WORDS = 600


class ConverterOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a converter is to write.

    Attributes:
        model: Path of a run, or of a `.keras` that Workbench has exported.
        format: Key of the format.
        path: Where to write the model, in an empty folder; facts, script and texts come beside it.
        scratch: A folder with `calibration.npy`, where the format has asked for one.
        memory: Bytes that the process may take.
        until: Id of the layer at which the network ends; "" for all of it.
        images: A file of images (n, height, width, channels): the outputs of each layer are
            written too, and what they have to be for these images, in `expected.npz`. "" for the
            answers alone.
    """

    model: str
    format: str
    path: str
    scratch: str
    memory: int
    until: str = ""
    images: str = ""


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """What was written, or what went wrong.

    Attributes:
        files: Names that the format itself has written.
        layers: Names of layers by the names of their outputs, in order; with `images` alone.
    """

    files: list[str] = []
    layers: dict[str, str] = {}
    error: ErrorParts | None = None


def convert(order: ConverterOrder, check: Callable[[], None]) -> Converted:
    """Has an export written by a process.

    Args:
        order: What.
        check: Called while it is waited for; may raise to stop.

    Raises:
        SaveError: it could not be written; caused by a ChildDiedError where the process crashed.
        WorkbenchError: as the format or the model has it.
    """
    command, line = worker_command("convert"), msgspec.json.encode(order)
    environment = worker_environment()
    try:
        with Child(
            command,
            name="the converter",
            environment=environment,
            order=line,
            check=check,
            counts_work=True,
        ) as child:
            answer = child.answer(deadline_s=_DEADLINE_S)
    except ChildDiedError as error:
        raise SaveError(
            "The export was not written: its converter did not finish.",
            where=Path(order.path).name,
            received=short_death(error),
            fix="Another format may work; with little memory left, close other programs.",
        ) from error
    done = msgspec.json.decode(answer, type=Converted)
    if done.error is not None:
        raise error_from_parts(done.error)
    return done


def run_converter(answers: IO[bytes]) -> int:
    """The process itself: reads its order from stdin; returns the exit code."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ConverterOrder)
    _limit_memory(order.memory)
    try:
        done = _convert(order)
    except WorkbenchError as error:
        done = Converted(error=error_parts(error))
    except MemoryError:
        lack = SaveError("The export was not written: it needs more memory than is free.")
        done = Converted(error=error_parts(lack))
    answers.write(msgspec.json.encode(done) + b"\n")
    answers.flush()
    return 0


def _limit_memory(most: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _convert(order: ConverterOrder) -> Converted:
    spec, path = run_exports()[order.format], Path(order.path)
    runner = load_keras_runner(order.model)
    chosen = Path(order.scratch) / CALIBRATION_NAME
    calibration = np.load(chosen) if spec.is_calibrated_by else None
    folder = Path(tempfile.mkdtemp(dir=order.scratch))
    try:
        has_layers = bool(order.images)
        context = ExportContext(
            runner, spec, folder, calibration, has_layers=has_layers, until=order.until
        )
        _write(context, spec, path)
        names = sorted(entry.name for entry in path.parent.iterdir())
        if spec.reader is not None:
            spec.write_beside(context, str(path))
            write_facts(context, path)
            write_scripts(context, path)
            write_texts(context, path)
        if not order.images:
            return Converted(files=names)
        layers = _write_expected(context, order)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Converted(files=names, layers=layers)


def _write(context: ExportContext, spec: ExportSpec, path: Path) -> None:
    """Writes the model; raises SaveError in the converter's words, with the layer they name."""
    try:
        spec.write(context, str(path))
    except (WorkbenchError, MemoryError):
        raise
    except Exception as error:
        traceback.print_exc()
        raise _refused(context, spec, error) from error


def _refused(context: ExportContext, spec: ExportSpec, error: Exception) -> SaveError:
    words = " ".join(str(error).split())
    node = named_node(context, str(error))
    layer = f"the layer “{node.name}”" if node is not None else "it"
    reason = f": {error.reason}" if isinstance(error, UnsupportedError) else ""
    activation = node.params.get(ACTIVATION, LINEAR) if node is not None else LINEAR
    part = "that layer" if activation == LINEAR else f"that layer or its activation “{activation}”"
    return SaveError(
        f"This network cannot be written as {spec.title}: its converter refuses {layer}{reason}.",
        where=node.name if node is not None else "",
        received=f"{type(error).__name__}: {words}"[:_MOST_WORDS],
        fix=f"Choose another format, or replace {part}." if node is not None else "",
    )


def named_node(context: ExportContext, words: str) -> Node | None:
    """The first layer that words of a converter name; None for none."""
    names = context.keras_names
    places = {node: at for node, name in names.items() if (at := _place(words, name)) is not None}
    return context.graph.nodes[min(places, key=lambda node: places[node])] if places else None


def _place(words: str, name: str) -> int | None:
    """Offset at which words name a layer as a part of a path ("functional_1/conv2d_1/Relu")."""
    found = [words.find(f"/{name}{end}") for end in ("/", "_1/", '"', ";", ":")]
    there = [place for place in found if place >= 0]
    return min(there) if there else None


def _write_expected(context: ExportContext, order: ConverterOrder) -> dict[str, str]:
    images = np.load(order.images)
    found = context.answers(images)
    values: dict[str, Any] = {name: np.asarray(each) for name, each in found.items()}
    np.savez(Path(order.scratch) / EXPECTED_NAME, **values)
    nodes = context.graph.nodes
    return {name: nodes[node].name for node, name in context.layer_names.items()}
