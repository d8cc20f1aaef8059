"""Compilation of a project and its images to a loop that can run: strategy, model, pipelines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.core.training.phases import Phase
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.protocol.events import Plan
from workbench.targets import all_targets
from workbench.worker.execution.ahead import benchmark_ahead
from workbench.worker.execution.plan import OnProgress, settle_plan, settled_before
from workbench.worker.input.sharding import WHOLE, Shard
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.process.versions import compiles_for_processors
from workbench.worker.step.evaluator import Evaluator
from workbench.worker.step.trainable import Arrays, Sizes, StartStep, Task, Trainable, sizes_of

__all__ = ["Compiled", "Connected", "Sizes", "compile_training", "connect", "sizes_of"]


@dataclass(frozen=True)
class Compiled(Trainable):
    """All that training needs, ready to run.

    Attributes:
        plan: How it is run.
        iterator: Endless training batches.
        validation, test: Evaluators; None where there is no such part. The same object
            when both are the same images.
        batches: What the iterator is made of.
        start: Where the batches begin when they are iterated again.
        limits: What the target allows.
        phase: The phase of the training that it is made for.
        first_step: Steps of the phases before.
    """

    plan: Plan
    iterator: Any
    validation: Evaluator | None
    test: Evaluator | None
    batches: Any
    start: StartStep
    limits: TargetLimits
    phase: Phase
    first_step: int

    def restart(self, step: int) -> Any:
        """A new iterator of the training batches, from a step on; counted from 0."""
        self.start.step = step
        return self.loop.distribute(self.batches)


@dataclass(frozen=True)
class Connected:
    """A target that is reached: its `tf.distribute` strategy, what training there must obey, and
    which part of each batch this machine computes.
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

    The target defines what it allows, and this environment what can be had here: where a
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
    epochs_done: int = 0,
    measure: bool = False,
    initial: Arrays | None = None,
    on_progress: OnProgress = lambda _phase, _text, _fraction: None,
) -> Compiled:
    """Settles how the training is run, and builds model, optimizer and pipelines for it.

    Args:
        project: Graph and recipe.
        data: Its images.
        target: Made by `connect`.
        sizes: Made by `sizes_of`.
        check: Called now and then; raises when the user has stopped it.
        plan: Settled earlier, for a training that is resumed; None to settle one.
        start_step: Steps done before, with that plan.
        epochs_done: Epochs done before; they say which phase is compiled.
        measure: Whether time may be spent on measuring to settle it.
        initial: Weights that the training starts from, as far as they fit.
        on_progress: Called with phase, words and fraction.

    Raises:
        GraphError: the network's outputs are not the data set's classes.
    """
    task = Task(
        project,
        data,
        target.strategy,
        sizes,
        epochs_done=epochs_done,
        limits=target.limits,
        share=target.share,
        initial=initial,
        on_progress=on_progress,
    )
    if plan is None:
        settled = settle_plan(task, measure=measure, on_progress=on_progress, check=check)
    else:
        benchmark_ahead.end()
        settled = settled_before(task, plan, check, start_step=start_step)
    # Whatever was built or measured on the way has drawn from the global random state.
    keras.utils.set_random_seed(project.recipe.seed)
    trained, batches = settled.trainable, settled.batches
    layers = [layer for _, layer in trained.built.pipeline]

    def evaluator(part: PreparedPart | None) -> Evaluator | None:
        return None if part is None else Evaluator(trained.whole_loop, part, layers)

    if trained.features is not None and trained.features.validation is not None:
        validation: Evaluator | None = Evaluator(trained.loop, trained.features.validation, [])
    else:
        validation = evaluator(data.validation)
    return Compiled(
        **vars(trained),
        plan=settled.plan,
        iterator=trained.loop.distribute(batches),
        validation=validation,
        test=validation if data.validation is data.test else evaluator(data.test),
        batches=batches,
        start=task.start,
        limits=target.limits,
        phase=task.phase,
        first_step=task.phase.first_epoch * sizes.steps_per_epoch,
    )
