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
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.format import bytes_text
from workbench.core.network.graph import Graph
from workbench.core.projects.project import Project
from workbench.core.training.phases import phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.host.memory import memory_limit
from workbench.layers import all_layers
from workbench.preflight.lowered import Lowered, Lowering, Unchecked, marked
from workbench.worker.features.network import freeze
from workbench.worker.lowering.fault import Fault, Search
from workbench.worker.model.build import BuiltModel, build_model
from workbench.worker.process.failure import is_out_of_memory
from workbench.worker.process.lazy_keras import tf
from workbench.worker.step.optimizers import make_optimizer
from workbench.worker.step.train_step import StepMath

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
