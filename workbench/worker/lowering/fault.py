"""Why a step cannot be compiled: from TensorFlow's exception to a layer of the network, and to
what would help. What is offered as a fix has been tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from workbench.core.checks.analysis import analyse
from workbench.core.checks.fixes import move_behind_input_fix
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import input_nodes, pipeline_nodes
from workbench.core.params import ChoiceParam
from workbench.core.specs import Shape
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.preflight.lowered import Refused, node_of, with_names
from workbench.worker.input.augment import through
from workbench.worker.model.build import BuiltModel, make_layer
from workbench.worker.process.lazy_keras import keras, tf

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
