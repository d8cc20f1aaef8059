"""Whether XLA compiles a project's training step, checked by TensorFlow here, without a TPU.

The step is traced as a trainer on a TPU has it (one replica's part, Keras's own layers) and
turned into StableHLO, the text that a TPU's compiler begins with. Nothing is run, and no
image is read. What XLA has no kernel for here, it has none for on a TPU either, but for
`TPU_ONLY` (found by comparing the kernels of TensorFlow 2.21 for processors with those of
tensorflow-tpu 2.19.1 and 2.20.0).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.fixes import move_behind_input_fix
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.shapes import Propagation
from workbench.core.format import bytes_text
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import input_nodes, pipeline_nodes
from workbench.core.params import ChoiceParam
from workbench.core.projects.project import Project
from workbench.core.specs import Shape
from workbench.core.training.progress_rules import phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.host.memory import memory_limit
from workbench.layers import all_layers
from workbench.preflight.lowered import (
    Lowered,
    Lowering,
    Refused,
    Unchecked,
    marked,
    node_of,
    with_names,
)
from workbench.worker.features import freeze
from workbench.worker.input.augment import through
from workbench.worker.model.build import BuiltModel, build_model, make_layer
from workbench.worker.process.failure import is_out_of_memory
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.step.train_step import StepMath, make_optimizer

# fault ---------------------------------------------------------------------------------------
# Why a step cannot be compiled: from TensorFlow's exception to a layer of the network, and to
# what would help. What is offered as a fix has been tried.

Compile = Callable[[Callable[..., Any], list[Any]], object]
"""(function, types of its arguments) -> anything; raises where it cannot be compiled."""

_UNKNOWN_OP = re.compile(r"No registered '(\w+)' OpKernel[^{]*\{\{node ([^}]+)\}\}")
_ANY_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_TRACING = (
    re.compile(r"registry has no entry for: (\w+)"),
    re.compile(r"of '(\w+)' Op\b"),
)
_LONGEST = 300
_TRIED = 2  # images that a layer is tried with


@dataclass(frozen=True)
class Fault:
    """What prevents compiling: TensorFlow's operation and the id of the layer, "" where
    there is none, and the exception's first line.
    """

    op: str
    node: str
    words: str


class Search:
    """Looks for the layer at fault, and for what helps.

    Args:
        graph: The network as the user has named it.
        built: Its model, of the `marked` graph.
        compiles: Compiles a function; raises where that cannot be done.
        whole: Compiles the step of a changed network: what was raised, or else anything.
    """

    def __init__(
        self, graph: Graph, built: BuiltModel, compiles: Compile, whole: Callable[[Graph], object]
    ) -> None:
        self._graph = graph
        self._built = built
        self._compiles = compiles
        self._whole = whole
        self._layers = all_layers()
        self._found = Propagation(graph, self._layers)

    def fault(self, error: Exception, *, harmless: Collection[str]) -> Fault:
        """The operation and the layer that an exception of tracing or compiling is about; those
        of `harmless` operations only where there is no other.
        """
        op, node = self._blamed(str(error), harmless)
        if not node:  # it has happened while tracing: each layer is tried by itself
            node, error = next(self._at_fault(), ("", error))
            op = op or _op_in(str(error))
        return Fault(op, node, self._first_line(str(error)))

    def refusal(self, fault: Fault) -> Refused:
        """The fault in words, with the fixes that help."""
        node = self._graph.nodes.get(fault.node)
        if node is None:
            return Refused(
                op=fault.op,
                node="",
                words=f"The training step cannot be compiled for a TPU: {fault.words}",
                fix="Choose another loss or optimizer.",
            )
        settings, can_move = self._settings(node.id), self._can_move(node.id)
        which = f"computes {fault.op}, which XLA cannot compile for a TPU."
        return Refused(
            op=fault.op,
            node=node.id,
            words=f"“{node.name}” "
            + (which if fault.op else f"cannot be compiled for a TPU: {fault.words}"),
            fix=self._fix_words(node, settings, can_move=can_move),
            settings=settings,
            can_move=can_move,
        )

    # the layer ---------------------------------------------------------------------------

    def _blamed(self, text: str, harmless: Collection[str] = ()) -> tuple[str, str]:
        """The operation and the layer that an exception's words name; "" for none."""
        named = _UNKNOWN_OP.findall(text)
        bad = [found for found in named if found[0] not in harmless] or named
        op, path = bad[0] if bad else (_op_in(text), _path_in(text))
        return op, node_of(path, self._graph)

    def _at_fault(self) -> Iterator[tuple[str, Exception]]:
        """The layers of the model that do not compile by themselves, and why."""
        in_pipeline = {node_id for node_id, _ in self._built.pipeline}
        for node_id, layer in self._built.layers.items():
            if node_id in in_pipeline:
                continue
            error = self._failure(layer, self._found.inputs[node_id])
            if error is not None:
                yield node_id, error

    def _failure(self, layer: Any, shapes: Sequence[Shape]) -> Exception | None:
        """What happens when one layer is compiled, forward and backward; None when it can be."""

        def compute(*inputs: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                given = list(inputs) if len(inputs) > 1 else inputs[0]
                outputs = through(given, [layer], training=True)
                total = tf.reduce_sum(tf.cast(outputs, tf.float32))
            learned = [variable.value for variable in layer.trainable_variables]
            none = tf.UnconnectedGradients.ZERO
            return tape.gradient(total, [*inputs, *learned], unconnected_gradients=none)

        try:
            self._compiles(
                compute, [tf.TensorSpec((_TRIED, *shape), layer.compute_dtype) for shape in shapes]
            )
        except Exception as error:  # noqa: BLE001 - of whatever kind TensorFlow raises
            return error
        return None

    # what helps --------------------------------------------------------------------------

    def _settings(self, node_id: str) -> list[tuple[str, str]]:
        """(parameter, value) for each choice of the layer that lets it compile, and that the
        rest of the network bears.
        """
        spec, values = self._layers[self._graph.nodes[node_id].kind], self._found.params[node_id]
        helpful = []
        for param in spec.params:
            if not isinstance(param, ChoiceParam):
                continue
            others = [value for value in param.choices if value != values[param.key]]
            good = (value for value in others if self._helps(node_id, param.key, value))
            helpful += [(param.key, value) for value in islice(good, 1)]
        return helpful

    def _helps(self, node_id: str, key: str, value: str) -> bool:
        spec = self._layers[self._graph.nodes[node_id].kind]
        changed = self._graph.with_params(node_id, **{key: value})
        if not self._bears(changed):
            return False
        arguments = spec.keras_arguments({**self._found.params[node_id], key: value})
        arguments["dtype"] = self._built.layers[node_id].dtype_policy
        layer = make_layer(getattr(keras.layers, spec.title), "tried", arguments, seed=1)
        shapes = self._found.inputs[node_id]
        layer.build([(None, *s) for s in shapes] if len(shapes) > 1 else (None, *shapes[0]))
        if self._failure(layer, shapes) is not None:
            return False
        # Some are at fault only together with their neighbors.
        after = self._whole(changed)
        return not isinstance(after, Exception) or self._blamed(str(after))[1] != node_id

    def _can_move(self, node_id: str) -> bool:
        """Whether the layer may run in the input pipeline, right behind Input."""
        if self._layers[self._graph.nodes[node_id].kind].place == "model":
            return False
        start = input_nodes(self._graph, self._layers)[0]
        moved = move_behind_input_fix(node_id, start.id, "").apply(self._graph)
        return self._bears(moved) and node_id in pipeline_nodes(moved, self._layers)

    def _bears(self, changed: Graph) -> bool:
        """Whether the network is still right after a change."""
        return not analyse(changed, self._layers, recipe=TrainingRecipe()).errors

    def _fix_words(self, node: Node, settings: Sequence[tuple[str, str]], *, can_move: bool) -> str:
        params = {param.key: param for param in self._layers[node.kind].params}
        variants = [
            f"set {params[key].title.lower()} to {params[key].show(value)}"
            for key, value in settings
        ]
        if can_move:
            variants.append("move it directly after Input, where it runs on the host")
        text = ", or ".join(variants) or f"replace {self._layers[node.kind].title} by another layer"
        return f"{text[0].upper()}{text[1:]}."

    def _first_line(self, text: str) -> str:
        """Text of an exception, with the layer names of the project."""
        lines = text.strip().splitlines() or ["no reason was given"]
        return with_names(lines[0][:_LONGEST], self._graph)


def _op_in(text: str) -> str:
    found = [match.group(1) for pattern in _TRACING if (match := pattern.search(text))]
    return found[0] if found else ""


def _path_in(text: str) -> str:
    match = _ANY_NODE.search(text)
    return match.group(1) if match else ""


# lower ---------------------------------------------------------------------------------------

TPU_ONLY = frozenset({"ResizeNearestNeighborGrad"})
"""Operations that TPUs have kernels for, and processors have not."""

_ROOM = 0.5
"""Fraction of the memory that weights, optimizer and their start may take."""

_MAIN = "func.func @main("
_OWN_FORM = (
    "XLA compiles the step here, but not to portable StableHLO, so Google's compiler "
    "cannot be run on it."
)
"""Message where the text differs: XLA mixes types within an operation now and then, which the text
then shows by another form."""

_COPY = re.compile(r"mhlo\.copy (%[\w#]+) : (tensor<[^>]*>)")


def lower_step(project: Project, *, batch: int, precision: str, num_classes: int = 0) -> Lowering:
    """Builds the training step of one replica and turns it into StableHLO.

    The time grows with the network: for an untrusted one, call `child.lower_within`.

    Args:
        project: Graph and recipe; its data set is not touched.
        batch: Images per step of this one replica.
        precision: "float32" or "bfloat16".
        num_classes: 0 for the network's number of outputs.

    Raises:
        GraphError: the network has errors, or its outputs are not the classes.
    """
    started = time.monotonic()
    analysis = _checked(project, num_classes)
    words = _too_large(analysis)
    if words:
        answer: Lowering = Unchecked(words=words)
    else:
        answer = _lowered(project, batch=batch, precision=precision)
    return msgspec.structs.replace(answer, seconds=round(time.monotonic() - started, 3))


def _lowered(project: Project, *, batch: int, precision: str) -> Lowering:
    def text_of(graph: Graph) -> tuple[BuiltModel, str | Exception]:
        built = build_model(
            marked(graph),
            all_layers(),
            own_layers=False,
            precision=precision,
            seed=project.recipe.seed,
            pretrained=False,
        )
        # Of two phases that of fine-tuning is the larger one.
        freeze(built, graph, phases_of(project.recipe)[-1].learns)
        try:
            step, signature = step_of(built, project.recipe, batch=batch)
            return built, lowered_text(step, signature)
        except Exception as error:  # noqa: BLE001 - TensorFlow raises any kind; all are explained
            return built, error

    built, text = text_of(project.graph)
    if isinstance(text, str):
        return Lowered(text=text) if _MAIN in text else Unchecked(words=_OWN_FORM)
    if is_out_of_memory(text):
        return Unchecked(words="This computer has too little memory for the check.")
    search = Search(project.graph, built, lowered_text, lambda graph: text_of(graph)[1])
    fault = search.fault(text, harmless=TPU_ONLY)
    return _unchecked(project, fault) if fault.op in TPU_ONLY else search.refusal(fault)


def _unchecked(project: Project, fault: Fault) -> Unchecked:
    node = project.graph.nodes.get(fault.node)
    words = (
        f"{'The step' if node is None else f'“{node.name}”'} uses {fault.op}, which only "
        "the TPU compiler supports: the rest cannot be checked here."
    )
    return Unchecked(op=fault.op, node=fault.node, words=words)


def lowered_text(function: Callable[..., Any], signature: list[Any]) -> str:
    """A function's StableHLO, as PJRT's compilers read it.

    Raises:
        Exception: of whatever kind TensorFlow raises, where it cannot be compiled.
    """
    compiled = tf.function(function, jit_compile=True, autograph=False)
    # A platform "TPU" needs the device there; before optimization the text is the same.
    make = compiled.experimental_get_compiler_ir(*signature)
    text = make(stage="stablehlo", platform_name="CPU")
    # So TensorFlow marks the variables' new values; others do not have that operation.
    return _COPY.sub(r"stablehlo.optimization_barrier \1 : \2", str(text))


def step_of(
    built: BuiltModel, recipe: TrainingRecipe, *, batch: int
) -> tuple[Callable[..., Any], list[Any]]:
    """One replica's training step, and the types of what the input pipeline hands over for
    it: images, labels, rate.
    """
    classes = int(built.model.output_shape[-1])
    optimizer = make_optimizer(recipe)
    optimizer.build(built.model.trainable_variables)
    # Only their number matters here.
    weights = None if recipe.class_weights == "none" else np.ones(classes, np.float32)
    math = StepMath(tf.distribute.get_strategy(), built, optimizer, batch, recipe, weights)
    labels = tf.TensorSpec((batch,), tf.int64)
    if recipe.mixing != "none":
        labels = tf.TensorSpec((batch, classes), tf.float32)
    shape = (batch, *built.model.input_shape[1:])
    pictures = tf.TensorSpec(shape, pictures_dtype(built, recipe))
    return math.train, [pictures, labels, tf.TensorSpec((), tf.float32)]


def pictures_dtype(built: BuiltModel, recipe: TrainingRecipe) -> str:
    """The type in which the input pipeline hands images over to the step."""
    return built.input_dtype if built.pipeline or recipe.mixing == "mixup" else "uint8"


def _checked(project: Project, num_classes: int) -> Analysis:
    facts = DatasetFacts(None, num_classes, "the data set") if num_classes else None
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe, dataset=facts)
    analysis.refuse_errors()
    return analysis


def _too_large(analysis: Analysis) -> str:
    """Words where the weights alone would not fit into this computer's memory; "" otherwise."""
    needed, room = analysis.costs.weight_bytes, _ROOM * memory_limit()
    if not room or needed <= room:
        return ""
    return (
        f"Weights and optimizer state need {bytes_text(needed)} for the check; this computer "
        f"has {bytes_text(room)} available."
    )
