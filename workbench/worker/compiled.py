"""From a project and its pictures to a loop that can run: strategy, model, pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.core.params import check_all
from workbench.core.project import Project
from workbench.errors import GraphError
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.targets import all_targets
from workbench.worker.adapt import adapt_normalizations
from workbench.worker.build import BuiltModel, build_model
from workbench.worker.evaluator import Evaluator
from workbench.worker.loop import TrainingLoop
from workbench.worker.losses import class_weights
from workbench.worker.optimizers import make_optimizer
from workbench.worker.order import Indices, endless_passes, whole_epochs
from workbench.worker.pipeline import training_pipeline
from workbench.worker.precision import choose_precision


@dataclass(frozen=True)
class Sizes:
    """Batch and epoch of a training.

    Attributes:
        batch_size: Pictures a step, over all replicas together.
        steps_per_epoch: Steps an epoch.
        epochs: Epochs.
    """

    batch_size: int
    steps_per_epoch: int
    epochs: int

    @property
    def total_steps(self) -> int:
        """Steps of the whole training."""
        return self.steps_per_epoch * self.epochs


def sizes_of(project: Project, num_train: int, *, replicas: int = 1) -> Sizes:
    """The sizes a recipe means for so many pictures.

    A batch is never larger than the training part, and a multiple of the replicas.
    """
    recipe = project.recipe
    batch_size = min(recipe.batch_size, num_train)
    batch_size = max(batch_size // replicas, 1) * replicas
    steps = recipe.steps_per_epoch or max(1, num_train // batch_size)
    return Sizes(batch_size, steps, recipe.epochs)


@dataclass(frozen=True)
class Compiled:
    """All that training needs, ready to run.

    Attributes:
        built: The model.
        loop: Runs its steps.
        iterator: Endless training batches.
        validation, test: Evaluators; None where there is no such part. The same object
            when both are the same pictures.
    """

    built: BuiltModel
    loop: TrainingLoop
    iterator: Any
    validation: Evaluator | None
    test: Evaluator | None


def connect(tf: Any, project: Project) -> Any:
    """The target's strategy."""
    spec = all_targets()[project.target.key]
    params, _ = check_all(spec.params, project.target.params)
    return spec.connect(tf, params)


def compile_training(
    tf: Any,
    keras: Any,
    project: Project,
    data: PreparedData,
    *,
    strategy: Any,
    sizes: Sizes,
    check: Callable[[], None],
) -> Compiled:
    """Builds model, optimizer and pipelines.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        project: Graph and recipe.
        data: Its pictures.
        strategy: Of `tf.distribute`.
        sizes: Of batch and epochs.
        check: Called now and then; raises when the user has asked to stop.

    Raises:
        GraphError: the network's outputs are not the data set's classes.
    """
    with strategy.scope():
        built, optimizer = _build(keras, project, data)
    adapt_normalizations(tf, keras, built, data.train, check)
    layers = [layer for _, layer in built.pipeline]
    recipe, num_classes = project.recipe, len(data.class_names)
    loop = TrainingLoop(
        tf,
        keras,
        strategy,
        built,
        optimizer,
        batch_size=sizes.batch_size,
        recipe=recipe,
        class_weights=class_weights(recipe, data.train.y, num_classes),
    )
    order = _order(project, len(data.train), sizes)
    seed, batch_size = project.recipe.seed, sizes.batch_size
    dataset = training_pipeline(tf, data.train, order, layers, batch_size=batch_size, seed=seed)

    def evaluator(part: PreparedPart | None) -> Evaluator | None:
        if part is None:
            return None
        replicas = strategy.num_replicas_in_sync
        return Evaluator(
            tf,
            loop,
            part,
            layers,
            batch_size=batch_size,
            replicas=replicas,
            top_k=recipe.top_k,
        )

    test = evaluator(data.test)
    is_same = data.validation is data.test
    validation = test if is_same else evaluator(data.validation)
    return Compiled(built, loop, loop.distribute(dataset), validation, test)


def _build(keras: Any, project: Project, data: PreparedData) -> tuple[BuiltModel, Any]:
    """The model and its optimizer; call within the strategy's scope."""
    recipe = project.recipe
    keras.utils.set_random_seed(recipe.seed)
    precision = choose_precision(recipe).precision
    built = build_model(keras, project.graph, all_layers(), precision=precision, seed=recipe.seed)
    _check_outputs(built, data)
    optimizer = make_optimizer(keras, recipe)
    optimizer.build(built.model.trainable_variables)
    return built, optimizer


def _order(project: Project, count: int, sizes: Sizes) -> Callable[[], Iterator[Indices]]:
    recipe = project.recipe
    make = endless_passes if recipe.steps_per_epoch else whole_epochs
    return partial(make, count, sizes.batch_size, seed=recipe.seed)


def _check_outputs(built: BuiltModel, data: PreparedData) -> None:
    outputs, classes = built.model.output_shape[-1], len(data.class_names)
    if outputs != classes:
        raise GraphError(
            f"The network has {outputs:,} outputs, but the data set has {classes:,} classes.",
            where=built.model.layers[-1].name,
            received=f"{outputs:,} outputs",
            expected=f"{classes:,} outputs, one for each class",
            fix=f"Set the units of the last Dense layer to {classes:,}.",
        )
