"""A model with its optimizer and its loop, made in one of the ways a training can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from workbench.core.checks.costs import frozen_end
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Node
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.core.training.progress_rules import Phase, phase_after, phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import DatasetError, GraphError
from workbench.layers import all_layers, layers_by_title
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.worker.features import FeatureExtraction, Features, OnProgress, freeze
from workbench.worker.input.augment import through
from workbench.worker.input.pipeline import (
    WHOLE,
    CacheMode,
    Shard,
    cache_mode_of,
    endless_passes,
    is_on_processors,
    training_pipeline,
    whole_epochs,
)
from workbench.worker.model.build import BuiltModel, build_model, named_variables, take_weights
from workbench.worker.model.fast_layers import fold_replicas, synchronize
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.step.train_step import Averaging, StepMath, class_weights, make_optimizer
from workbench.worker.step.training_loop import TrainingLoop

# adapt normalization -------------------------------------------------------------------------
# Layers that are adapted, as Normalization to mean and variance, before training: to the
# images of the training part.

_MOST_AT_ONCE = 256
_BATCH_BYTES = 32 * 2**20
"""Bytes of a batch as float32: large images come in smaller batches."""

Batches = Callable[[], Iterator[Any]]
Forward = Callable[[Any], Any]


def adapt_normalizations(
    strategy: Any, built: BuiltModel, part: PreparedPart, *, check: Callable[[], None]
) -> None:
    """Adapts every layer that its layer type says so of, from input to output.

    Args:
        strategy: The `tf.distribute` strategy in whose scope the model was made.
        built: Its pipeline layers and its model's layers are looked through.
        part: The training part: nothing is learned from the others.
        check: Called between batches; raises when the user has stopped it.
    """
    pipeline = [layer for _, layer in built.pipeline]
    adapt_pipeline(pipeline, part, check=check)
    for layer in built.model.layers:
        if is_adapted(layer):
            before = _device(strategy, keras.Model(built.model.input, layer.input))
            _adapt(layer, _batches(part, _after(_host(pipeline), before), check))


def adapt_pipeline(
    pipeline: Sequence[Any], part: PreparedPart, *, check: Callable[[], None]
) -> None:
    """Adapts the layers of the input pipeline alone; arguments as of `adapt_normalizations`."""
    for number, layer in enumerate(pipeline):
        if is_adapted(layer):
            _adapt(layer, _batches(part, _host(pipeline[:number]), check))


def is_adapted(layer: Any) -> bool:
    """Whether a layer is adapted to the training images."""
    spec = layers_by_title().get(type(layer).__name__)
    return spec is not None and spec.is_adapted


def _adapt(layer: Any, batches: Batches) -> None:
    shape = np.shape(next(batches()))[1:]
    signature = tf.TensorSpec((None, *shape), tf.float32)
    # Keras's own adapting mixes types in a layer that computes in bfloat16, and fails.
    twin = type(layer).from_config({**layer.get_config(), "dtype": "float32"})
    twin.adapt(tf.data.Dataset.from_generator(batches, output_signature=signature))
    for own, learned in zip(layer.weights, twin.weights, strict=True):
        own.assign(learned.numpy())
    layer.finalize_state()


def _host(layers: Sequence[Any]) -> Forward:
    """What the layers of the input pipeline give, computed on the processor."""
    return lambda pictures: through(pictures, layers, training=False)


def _after(first: Forward, second: Forward) -> Forward:
    return lambda pictures: second(first(pictures))


def _device(strategy: Any, model: Any) -> Forward:
    """What a part of the model gives, computed where the model is placed, as one function: Keras
    has some operations compiled for the processor that other builds of TensorFlow cannot compile.
    """

    def of_replica(pictures: Any) -> Any:
        return model(pictures, training=False)

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def compute(pictures: Any) -> Any:
        return strategy.run(of_replica, args=(pictures,))

    def forward(pictures: Any) -> Any:
        outputs = compute(tf.convert_to_tensor(pictures))
        return strategy.experimental_local_results(outputs)[0]  # all have computed the same

    return forward


def _batches(part: PreparedPart, forward: Forward, check: Callable[[], None]) -> Batches:
    """Makes iterators over float32 batches of what `forward` makes of the images."""
    picture_bytes = 4 * int(np.prod(part.x.shape[1:]))
    size = max(1, min(_MOST_AT_ONCE, _BATCH_BYTES // picture_bytes))

    def batches() -> Iterator[Any]:
        for start in range(0, len(part), size):
            check()
            pictures = np.asarray(part.x[start : start + size], np.float32)
            outputs = forward(pictures)
            yield tf.cast(outputs, tf.float32).numpy()

    return batches


# variants ------------------------------------------------------------------------------------
# Execution variants of a training: the candidates, their order, and which one wins.

_CLEARLY = 0.03
"""A way must save this share of the time to replace the expected one: less is noise."""


@dataclass(frozen=True)
class Variant:
    """One way to run the steps: in "float32" or "bfloat16", compiled by XLA or not."""

    precision: str
    xla: bool = False

    @property
    def words(self) -> str:
        """Its name for people."""
        return f"{self.precision} with XLA" if self.xla else self.precision


PLAIN = Variant("float32")
"""What gains are measured against."""


@dataclass(frozen=True)
class Timing:
    """Seconds of a step, and until the first step is over: tracing and compiling."""

    step_s: float
    start_s: float

    def run_s(self, steps: int) -> float:
        """Seconds of a whole run."""
        return self.start_s + steps * self.step_s


def possible_variants(
    recipe: TrainingRecipe, *, has_bfloat16: bool, may_compile: bool = True
) -> tuple[Variant, ...]:
    """The ways that the recipe's pins and the target allow, the most promising first.

    XLA comes last: on processors its convolutions are
    often many times slower than oneDNN's, and compiling needs several seconds. The target
    `has_bfloat16` in hardware; it `may_compile` the step by XLA at our request.
    """
    if recipe.precision == "auto":
        precisions = ["bfloat16", "float32"] if has_bfloat16 else ["float32"]
    else:
        precisions = [recipe.precision]
    if not may_compile or recipe.xla == "off":
        compiling = [False]
    else:
        compiling = [True] if recipe.xla == "on" else [False, True]
    # Where bfloat16 has units, float32 is worth a look only as what gains are against.
    return tuple(
        Variant(precision, xla)
        for xla in compiling
        for precision in (precisions if xla == compiling[0] else precisions[:1])
    )


def best_variant(
    variants: Sequence[Variant], timings: Mapping[Variant, Timing], *, steps: int
) -> Variant:
    """The way with the shortest run of so many steps, compiling included; the first of `variants`
    unless another one saves clearly more than noise.
    """
    measured = [variant for variant in variants if variant in timings]
    if not measured or measured[0] != variants[0]:
        return variants[0]
    best = min(measured, key=lambda variant: timings[variant].run_s(steps))
    limit = (1 - _CLEARLY) * timings[variants[0]].run_s(steps)
    return best if timings[best].run_s(steps) < limit else variants[0]


def gain_of(variant: Variant, timings: Mapping[Variant, Timing]) -> float | None:
    """How many times faster than plain float32 a step is; None where that is not measured,
    or is the same thing.
    """
    if variant == PLAIN or variant not in timings or PLAIN not in timings:
        return None
    return timings[PLAIN].step_s / max(timings[variant].step_s, 1e-9)


# trainable -----------------------------------------------------------------------------------

Arrays = Mapping[str, np.ndarray[Any, np.dtype[Any]]]


@dataclass(frozen=True)
class Sizes:
    """Batch and epoch of a training; a batch is what all replicas train on in one step."""

    batch_size: int
    steps_per_epoch: int
    epochs: int

    @property
    def total_steps(self) -> int:
        """Steps of the whole training."""
        return self.steps_per_epoch * self.epochs


def sizes_of(project: Project, num_train: int, *, replicas: int = 1) -> Sizes:
    """The sizes a recipe means for so many images.

    A batch is never larger than the training part, and a multiple of the replicas.

    Raises:
        DatasetError: there are fewer images than replicas.
    """
    if num_train < replicas:
        raise DatasetError(
            "There are fewer training images than replicas.",
            received=f"{num_train:,} images, {replicas:,} replicas",
            expected="at least one image per replica",
            fix="Use fewer replicas, or add images.",
        )
    recipe = project.recipe
    batch_size = min(recipe.batch_size, num_train)
    batch_size = max(batch_size // replicas, 1) * replicas
    steps = recipe.steps_per_epoch or max(1, num_train // batch_size)
    return Sizes(batch_size, steps, recipe.epochs)


@dataclass
class StartStep:
    """The step that batches begin with when they are iterated again."""

    step: int = 0

    def __call__(self) -> int:
        return self.step


@dataclass(frozen=True)
class Task:
    """What is to be trained, on what, where.

    Attributes:
        strategy: The `tf.distribute` strategy.
        start: Where its batches begin.
        epochs_done: Epochs that were trained before; they say which phase is trained.
        limits: What the target allows.
        share: Which part of each batch this machine computes.
        initial: Weights that it starts from, by name; None for random and pretrained ones.
        on_progress: Called with phase, words and the fraction done of what takes long.
    """

    project: Project
    data: PreparedData
    strategy: Any
    sizes: Sizes
    start: StartStep = field(default_factory=StartStep)
    epochs_done: int = 0
    limits: TargetLimits = field(default_factory=TargetLimits)
    share: Shard = WHOLE
    initial: Arrays | None = None
    on_progress: OnProgress = lambda _phase, _text, _fraction: None

    @cached_property
    def place(self) -> CacheMode:
        """Cache mode of the training images: in memory, cached, or streamed."""
        return cache_mode_of(self.data.train, self.project.recipe)

    @property
    def phase(self) -> Phase:
        """The phase that is trained."""
        return phase_after(self.project.recipe, self.epochs_done)

    @cached_property
    def frozen_end(self) -> str | None:
        """The last layer whose outputs are computed once for each image; None where all layers
        are computed in each step.
        """
        recipe, graph = self.project.recipe, self.project.graph
        is_shared = self.share != WHOLE or not is_on_processors(self.strategy)
        if is_shared or not recipe.may_cache_features:
            return None
        phase, found = self.phase, Propagation(graph, all_layers())
        return frozen_end(graph, all_layers(), found, lambda node: phase.learns(node.training))


@dataclass(frozen=True)
class Trainable:
    """A network that can be trained one way: with an optimizer and a loop made for it.

    Attributes:
        built: The whole network.
        loop: Trains and evaluates it; with `features`, the part behind its frozen layers.
        whole_loop: Evaluates the whole network on images.
        features: What is trained on instead of images; None for images.
        given: Names of `state_variables` that this phase leaves as they are and that a resumed run
            gets again from a file: the weights of frozen pretrained layers.
        given_weights: The same for all phases, by the names of `build.read_weights`.
    """

    variant: Variant
    built: BuiltModel
    optimizer: Any
    averaging: Averaging
    loop: TrainingLoop
    whole_loop: TrainingLoop
    features: Features | None
    given: frozenset[str]
    given_weights: frozenset[str]

    def state_variables(self) -> dict[str, Any]:
        """Every tf.Variable that training changes: weights, statistics, random states,
        optimizer slots, the step number. The names are the same in every process.
        """
        found = _model_variables(self.built)
        for number, variable in enumerate(self.optimizer.variables):
            found[f"optimizer/{number}"] = variable.value
        return found

    def read_state(self) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
        """A copy of all state."""
        return {name: np.array(value.numpy()) for name, value in self.state_variables().items()}

    def restore_state(self, arrays: Arrays) -> None:
        """Puts a copy back, bit for bit."""
        for name, variable in self.state_variables().items():
            variable.assign(arrays[name])


_MODEL = "model/"


def _model_variables(built: BuiltModel) -> dict[str, Any]:
    """Every tf.Variable of a network by its name in checkpoints."""
    # Keras's own paths count up with each model of a process; these do not.
    return {
        f"{_MODEL}{layer.name}/{number}": variable.value
        for layer in built.model.layers
        for number, variable in enumerate(layer.variables)
    }


def is_of_model(name: str) -> bool:
    """Whether a name of `Trainable.state_variables` is of the network, not of its optimizer."""
    return name.startswith(_MODEL)


def make_trainable(task: Task, variant: Variant, check: Callable[[], None]) -> Trainable:
    """Builds the network from its seed and initial weights: each call gives the same.

    Raises:
        GraphError: the network's outputs are not the data set's classes.
    """
    recipe, built = task.project.recipe, _built(task, variant)
    adapt_normalizations(task.strategy, built, task.data.train, check=check)
    if task.initial is not None:
        take_weights(built, task.initial)
    features = _features(task, built, variant.precision, check)
    with task.strategy.scope():
        trained = built if features is None else features.head
        optimizer = make_optimizer(task.phase.recipe)
        optimizer.build(trained.model.trainable_variables)

    def loop_of(network: BuiltModel) -> TrainingLoop:
        weights = class_weights(recipe, task.data.train.y, len(task.data.class_names))
        size = task.sizes.batch_size
        step = StepMath(task.strategy, network, optimizer, size, recipe, weights)
        return TrainingLoop(step, xla=variant.xla, share=task.share)

    loop = loop_of(trained)
    whole = loop if features is None else loop_of(built)
    averaging = Averaging(task.strategy, trained.model, optimizer)
    given, given_weights = _given(task, built)
    return Trainable(
        variant, built, optimizer, averaging, loop, whole, features, given, given_weights
    )


def _given(task: Task, built: BuiltModel) -> tuple[frozenset[str], frozenset[str]]:
    """See `Trainable.given` and `given_weights`. Frozen layers without pretrained weights are not
    among them: random values may differ on another computer.
    """
    nodes, phases = task.project.graph.nodes, phases_of(task.project.recipe)
    now = _pretrained_weights(built, nodes, [task.phase])
    always = _pretrained_weights(built, nodes, phases)
    state = _model_variables(built).items()
    return (
        frozenset(name for name, variable in state if id(variable) in now),
        frozenset(
            name for name, each in named_variables(built).items() if id(each.value) in always
        ),
    )


def _pretrained_weights(
    built: BuiltModel, nodes: Mapping[str, Node], phases: Sequence[Phase]
) -> set[int]:
    """Identities of the pretrained variables that no phase of some changes."""
    return {
        id(weight.value)
        for key, layer in built.layers.items()
        if nodes[key].pretrained and not any(phase.learns(nodes[key].training) for phase in phases)
        for weight in layer.weights
    }


def _built(task: Task, variant: Variant) -> BuiltModel:
    """The network for the strategy's replicas, with what the phase does not train frozen."""
    recipe = task.project.recipe
    with task.strategy.scope():
        keras.utils.set_random_seed(recipe.seed)
        built = build_model(
            task.project.graph,
            all_layers(),
            own_layers=task.limits.own_layers,
            precision=variant.precision,
            seed=recipe.seed,
        )
        _check_outputs(built, task.data)
        replicas = task.strategy.num_replicas_in_sync
        fold_replicas(built.model, replicas)
        is_synced = recipe.syncs_batch_norm(task.sizes.batch_size, replicas)
        synchronize(built.model, is_on=is_synced)
        freeze(built, task.project.graph, task.phase.learns)
    return built


def _features(
    task: Task, built: BuiltModel, precision: str, check: Callable[[], None]
) -> Features | None:
    """The outputs of the frozen part for all images; None where there is no such part."""
    end = task.frozen_end
    if end is None:
        return None
    extraction = FeatureExtraction(
        built,
        task.project.graph,
        all_layers(),
        end,
        recipe=task.project.recipe,
        precision=precision,
        check=check,
        on_progress=task.on_progress,
    )
    return extraction.features(task.data)


def training_batches(task: Task, trainable: Trainable, *, start_step: int = 0) -> Any:
    """The endless dataset of the task's training batches from a step on, not yet distributed.

    Iterated again, it begins with whatever `task.start` then says.
    """
    task.start.step = start_step
    recipe, train = task.project.recipe, task.data.train
    order = endless_passes if recipe.steps_per_epoch else whole_epochs
    features = trainable.features
    copies = 1 if features is None else features.copies
    return training_pipeline(
        train if features is None else features.train,
        partial(order, len(train), task.sizes.batch_size, seed=recipe.seed, copies=copies),
        [layer for _, layer in trainable.built.pipeline] if features is None else [],
        batch_size=task.sizes.batch_size,
        seed=recipe.seed,
        start_step=task.start,
        place=task.place if features is None else cache_mode_of(features.train),
        recipe=recipe,
        num_classes=len(task.data.class_names),
        dtype=trainable.built.input_dtype,
        may_compile=task.limits.jit_host,
        share=task.share,
    )


def _check_outputs(built: BuiltModel, data: PreparedData) -> None:
    outputs, classes = built.model.output_shape[-1], len(data.class_names)
    if outputs != classes:
        raise GraphError(
            f"The model has {outputs:,} outputs, but the data set has {classes:,} classes.",
            where=built.model.layers[-1].name,
            received=f"{outputs:,} outputs",
            expected=f"{classes:,} outputs, one per class",
            fix=f"Set the units of the last Dense layer to {classes:,}.",
        )
