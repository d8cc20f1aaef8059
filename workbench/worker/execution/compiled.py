"""From a project and its pictures to a loop that can run: strategy, model, pipelines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.protocol.events import Plan
from workbench.targets import all_targets
from workbench.worker.execution.plan import Tell, settle_plan, settled_before
from workbench.worker.input.sharding import WHOLE, Shard
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.process.versions import compiles_for_processors
from workbench.worker.step.batching import Sizes, sizes_of
from workbench.worker.step.evaluator import Evaluator
from workbench.worker.step.trainable import StartStep, Task, Trainable
from workbench.worker.step.training_loop import TrainingLoop
from workbench.worker.step.weight_averaging import Averaging

__all__ = ["Compiled", "Connected", "Sizes", "compile_training", "connect", "sizes_of"]


@dataclass(frozen=True)
class Compiled:
    """All that training needs, ready to run.

    Attributes:
        trainable: The network and what trains it.
        plan: How it is run.
        iterator: Endless training batches.
        validation, test: Evaluators; None where there is no such part. The same object
            when both are the same pictures.
        batches: What the iterator is made of.
        start: Where the batches begin when they are iterated anew.
        limits: What the target allows.
    """

    trainable: Trainable
    plan: Plan
    iterator: Any
    validation: Evaluator | None
    test: Evaluator | None
    batches: Any
    start: StartStep
    limits: TargetLimits

    @property
    def built(self) -> BuiltModel:
        """The model."""
        return self.trainable.built

    @property
    def averaging(self) -> Averaging:
        """Moving average of the weights; does nothing unless the recipe asks for it."""
        return self.trainable.averaging

    @property
    def loop(self) -> TrainingLoop:
        """Runs its steps."""
        return self.trainable.loop

    def restart(self, step: int) -> Any:
        """A new iterator of the training batches, from a step on; counted from 0."""
        self.start.step = step
        return self.loop.distribute(self.batches)

    def state_variables(self) -> dict[str, Any]:
        """Every tf.Variable that training changes, by a name that is the same in every process."""
        return self.trainable.state_variables()


@dataclass(frozen=True)
class Connected:
    """A target that is reached.

    Attributes:
        strategy: The `tf.distribute` strategy.
        limits: What training there must obey.
        share: Which part of each batch this machine computes.
    """

    strategy: Any
    limits: TargetLimits = field(default_factory=TargetLimits)
    share: Shard = WHOLE

    @property
    def replicas(self) -> int:
        """Devices that share each batch."""
        return int(self.strategy.num_replicas_in_sync)


def connect(project: Project) -> Connected:
    """Reaches the project's target. The first thing that a process does with TensorFlow.

    The target knows what it allows, and this environment what can be had here: where a
    TensorFlow for TPUs is installed, no XLA for the processor, whatever the target.
    """
    spec = all_targets()[project.target.key]
    params, _ = check_all(spec.params, project.target.params)
    limits = spec.limits(params)
    if not compiles_for_processors():
        limits = replace(limits, jit_step=False, jit_host=False)
    return Connected(spec.connect(tf, params), limits)


def compile_training(
    project: Project,
    data: PreparedData,
    *,
    target: Connected,
    sizes: Sizes,
    check: Callable[[], None],
    plan: Plan | None = None,
    start_step: int = 0,
    measure: bool = False,
    tell: Tell | None = None,
) -> Compiled:
    """Settles how the training is run, and builds model, optimizer and pipelines for it.

    Args:
        project: Graph and recipe.
        data: Its pictures.
        target: Made by `connect`.
        sizes: Batch size, steps per epoch, epochs.
        check: Called now and then; raises when the user has asked to stop.
        plan: Settled earlier, for a training that is resumed; None to settle one.
        start_step: Steps done before, with that plan.
        measure: Whether time may be spent on measuring to settle it.
        tell: Told phase, words and fraction meanwhile.

    Raises:
        GraphError: the network's outputs are not the data set's classes.
    """
    task = Task(project, data, target.strategy, sizes, limits=target.limits, share=target.share)
    if plan is None:
        settled = settle_plan(task, measure=measure, tell=tell or _tell_nobody, check=check)
    else:
        settled = settled_before(task, plan, check, start_step=start_step)
    # Whatever was built or measured on the way has drawn from the global random state.
    keras.utils.set_random_seed(project.recipe.seed)
    loop = settled.trainable.loop
    layers = [layer for _, layer in settled.trainable.built.pipeline]

    def evaluator(part: PreparedPart | None) -> Evaluator | None:
        if part is None:
            return None
        return Evaluator(
            loop,
            part,
            layers,
            batch_size=sizes.batch_size,
            replicas=target.replicas,
            top_k=project.recipe.top_k,
        )

    test = evaluator(data.test)
    is_same = data.validation is data.test
    validation = test if is_same else evaluator(data.validation)
    batches = settled.batches
    iterator = loop.distribute(batches)
    return Compiled(
        settled.trainable,
        settled.plan,
        iterator,
        validation,
        test,
        batches,
        task.start,
        target.limits,
    )


def _tell_nobody(_phase: str, _text: str, _fraction: float | None) -> None:
    pass
