"""Compilation of a project and its images to a loop that can run: strategy, model, pipelines."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from workbench.core.checks.analysis import analyse
from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.core.training.progress_rules import Phase
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.processes.child import fork
from workbench.protocol.events import Plan
from workbench.runs.state.preparing import predict_run, read_speeds
from workbench.targets import all_targets
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.execution.autotune import (
    Known,
    Likeness,
    SearchResult,
    keep_known,
    likeness_of,
    plan_key,
    read_known,
    read_similar,
    search,
)
from workbench.worker.input.pipeline import WHOLE, Shard
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.process.setup import compiles_for_processors
from workbench.worker.step.trainable import (
    Arrays,
    Sizes,
    StartStep,
    Task,
    Timing,
    Trainable,
    Variant,
    best_variant,
    gain_of,
    make_trainable,
    possible_variants,
    sizes_of,
    training_batches,
)
from workbench.worker.step.training_loop import MAX_STEPS, Evaluator, StepResults, steps_per_call

# plan text -----------------------------------------------------------------------------------
# A plan in words: what was chosen, what it gains, and how that is known.


def plan_words(
    variant: Variant,
    timings: Mapping[Variant, Timing],
    recipe: TrainingRecipe,
    *,
    source: str,
    spent_s: float = 0.0,
) -> str:
    """Such as "bfloat16, 2.6× faster than float32 (benchmarked in 4.4 s)" for the chosen variant;
    the recipe's pins are named. The timings come from a source: "measured" now, in `spent_s`
    seconds, "measured before", on a "similar" network, or "known" without measuring.
    """
    gain = gain_of(variant, timings)
    parts = [_way_words(variant, recipe)]
    if gain is not None:
        parts.append(f"{gain:.1f}× faster than float32")
    if variant in timings and len(timings) > 1:
        parts.extend(_losers(variant, timings))
        when = {"measured": f"in {spent_s:.1f} s", "similar": "on a similar network"}
        parts[-1] += f" (benchmarked {when.get(source, 'earlier')})"
    elif len(parts) == 1 and recipe.precision == "auto" and variant.precision == "bfloat16":
        parts.append("not benchmarked: the run is too short")
    if recipe.threads:
        parts.append(f"{_count(recipe.threads, 'thread')} (pinned)")
    return ", ".join(parts)


def _way_words(variant: Variant, recipe: TrainingRecipe) -> str:
    if recipe.precision != "auto":
        words = f"{variant.precision} (pinned)"
        if variant.precision == "bfloat16" and not computes_bfloat16():
            words += ", slow: not native on this CPU"
    elif variant.precision == "bfloat16":
        words = "bfloat16 (native on this CPU)"
    elif computes_bfloat16():
        words = "float32"
    else:
        words = "float32 (no native bfloat16 on this CPU)"
    if variant.xla:
        words += ", XLA" + (" (pinned)" if recipe.xla == "on" else "")
    return words


def _losers(variant: Variant, timings: Mapping[Variant, Timing]) -> list[str]:
    """What was tried and not taken, apart from plain float32, which the gain names."""
    others = [other for other in timings if other != variant and other.xla]
    return [
        f"XLA {timings[other].step_s / max(timings[variant].step_s, 1e-9):.1f}× slower"
        for other in others[:1]
        if timings[other].step_s >= timings[variant].step_s
    ]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


# ahead ---------------------------------------------------------------------------------------
# A benchmark made ahead of a training, by a fork of this process.
#
# It is forked before TensorFlow computes anything here, so nothing of a benchmark is left in the
# process that trains. What it measures is kept as any answer is (`execution.autotune`).

_NICENESS = 10
_LOOK_S = 0.1


class BenchmarkAhead:
    """At most one benchmark under way. For the main thread, which the fork ends with."""

    def __init__(self) -> None:
        self._pid = 0
        self._key = ""

    def begin(self, key: str, benchmark: Callable[[], None]) -> None:
        """Begins the benchmark of a plan key in place of another one; once for the same key.

        Where it fails, it is made again by the training that needs it, which reports what is wrong.
        """
        if key == self._key:
            return
        self.end()

        def work() -> None:
            os.nice(_NICENESS)
            benchmark()

        with suppress(OSError):  # too many processes, or no memory
            self._pid = fork(work)
            self._key = key

    def wait_for(self, key: str, is_enough: Callable[[], bool]) -> None:
        """Waits while the benchmark of this key is under way, until what it has kept is enough;
        ends it then, or another one. `is_enough` is called now and then and may raise to give up.
        """
        while key == self._key and self._is_under_way() and not is_enough():
            time.sleep(_LOOK_S)
        self.end()

    def end(self) -> None:
        """Ends the benchmark that is under way."""
        if self._is_under_way():
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        self._pid, self._key = 0, ""

    def _is_under_way(self) -> bool:
        if self._pid and os.waitpid(self._pid, os.WNOHANG)[0]:
            self._pid = 0
        return self._pid != 0


benchmark_ahead = BenchmarkAhead()
"""The one of this process; in a trainer that was not kept ready it has no benchmark."""


# plan ----------------------------------------------------------------------------------------
# The execution plan: how THIS network is trained HERE, measured before the first epoch.
#
# Nothing of the measuring stays behind: the network that was measured is put back to its start
# bit for bit, so a measured run and an unmeasured one of the same plan are the same run.

OnProgress = Callable[[str, str, float | None], None]
Check = Callable[[], None]

_WORTH_S = 15.0
"""A run expected to be shorter is not measured: 2% of it would not pay for two steps."""

_SAMPLE_BATCHES = 2
_TURN_S = 0.1

_PINS = ("precision", "xla", "steps_per_call", "pipeline", "threads")


@dataclass(frozen=True)
class SettledPlan:
    """A plan, and what was made on the way: the network at its start, and its endless training
    dataset.
    """

    plan: Plan
    trainable: Trainable
    batches: Any


def settle_plan(task: Task, *, measure: bool, on_progress: OnProgress, check: Check) -> SettledPlan:
    """Chooses how to run: by the recipe's pins, by what was measured here before, also on a similar
    network, by measuring now, where `measure` allows it, or else by what is known of the processor.

    `on_progress` is called with the phase "measuring", words and a fraction; `check` is called
    now and then and raises when the user has stopped it.
    """
    recipe, key = task.project.recipe, plan_key(task.project, task.sizes.batch_size)
    is_worth_it = measure and _is_worth_it(task)

    def is_known() -> bool:
        check()
        return not is_worth_it or not _look_up(task, key, measure=True).to_measure

    benchmark_ahead.wait_for(key, is_known)
    found = _look_up(task, key, measure=measure)
    if found.to_measure and is_worth_it:
        return _measured(task, found, on_progress=on_progress, check=check)
    variants, known, expected = found.variants, found.known, found.expected
    steps = task.sizes.total_steps
    # The time of a single variant decides nothing.
    timings = expected.timings if len(expected.timings) > 1 else {}
    variant = best_variant(variants, timings, steps=steps)
    trainable = make_trainable(task, variant, check)
    is_own = expected is known
    source = ("measured before" if is_own else "similar") if timings else "known"
    words = plan_words(variant, timings, recipe, source=source)
    plan = _plan(task, variant, timings if is_own else {}, words)
    return SettledPlan(plan, trainable, training_batches(task, trainable))


def benchmark(task: Task) -> None:
    """Benchmarks what a training would, and keeps it for that; nothing where all is known."""
    found = _look_up(task, plan_key(task.project, task.sizes.batch_size), measure=True)
    if found.to_measure:
        first = make_trainable(task, found.variants[0], _nothing)
        _race(
            task,
            found,
            first,
            training_batches(task, first),
            on_progress=_nothing,
            check=_nothing,
        )


def _nothing(*_words: object) -> None:
    pass


@dataclass(frozen=True)
class _Found:
    """What is known before anything is measured.

    Attributes:
        variants: The possible ones, the most promising first.
        known: What was measured on this network.
        expected: That, or what a similar network lets expect.
        key, likeness: What new measurements are kept by; no likeness where nothing may be measured.
        to_measure: The variants that a training of so many steps should race against the first.
    """

    variants: tuple[Variant, ...]
    known: Known
    expected: Known
    key: str
    likeness: Likeness | None = None
    to_measure: tuple[Variant, ...] = ()


def _look_up(task: Task, key: str, *, measure: bool) -> _Found:
    variants, known = _variants(task), read_known(key)
    # What is benchmarked is a step of the whole network; behind features it is another one.
    if not (measure and task.limits.may_measure and task.frozen_end is None):
        return _Found(variants, known, known, key)
    likeness = likeness_of(task.project, task.sizes.batch_size)
    expected = _expected(known, likeness, variants[0])
    unknown = expected.to_measure(variants, task.sizes.total_steps)
    return _Found(variants, known, expected, key, likeness, unknown)


def _variants(task: Task) -> tuple[Variant, ...]:
    limits, has_bfloat16 = task.limits, task.limits.has_bfloat16
    return possible_variants(
        task.project.recipe,
        has_bfloat16=computes_bfloat16() if has_bfloat16 is None else has_bfloat16,
        may_compile=limits.jit_step,
    )


def _expected(known: Known, likeness: Likeness, first: Variant) -> Known:
    """What is known of this network, or else of a similar one."""
    similar = Known() if first in known.timings else read_similar(likeness, first)
    return similar if similar.timings else known


def settled_before(task: Task, plan: Plan, check: Check, *, start_step: int = 0) -> SettledPlan:
    """The network made as a plan says that was settled earlier; its batches from a step on.

    Where the images lie is not taken from the plan: today's memory decides.
    """
    trainable = make_trainable(task, Variant(plan.precision, plan.xla), check)
    plan = msgspec.structs.replace(plan, pipeline=task.place)
    return SettledPlan(plan, trainable, training_batches(task, trainable, start_step=start_step))


def _is_worth_it(task: Task) -> bool:
    """False for runs so short that 2% of them are nothing."""
    analysis = analyse(task.project.graph, all_layers(), recipe=task.project.recipe)
    prediction = predict_run(analysis, task.project.recipe, None, speeds=read_speeds())
    images = task.sizes.total_steps * task.sizes.batch_size
    return images / max(prediction.images_per_second, 1e-9) > _WORTH_S


def _measured(task: Task, found: _Found, *, on_progress: OnProgress, check: Check) -> SettledPlan:
    """Settles the plan by benchmarking what is not known yet beside the first variant."""
    first = make_trainable(task, found.variants[0], check)
    start_state = first.read_state()
    batches = training_batches(task, first)
    known, spent_s = _race(task, found, first, batches, on_progress=on_progress, check=check)
    first.restore_state(start_state)
    recipe, timings = task.project.recipe, known.timings
    variant = best_variant(found.variants, timings, steps=task.sizes.total_steps)
    words = plan_words(variant, timings, recipe, source="measured", spent_s=spent_s)
    plan = _plan(task, variant, timings, words)
    if variant == found.variants[0]:
        return SettledPlan(plan, first, batches)
    return settled_before(task, plan, check)


def _race(
    task: Task,
    found: _Found,
    first: Trainable,
    batches: Any,
    *,
    on_progress: OnProgress,
    check: Check,
) -> tuple[Known, float]:
    """Benchmarks the unknown variants against the first, made already; keeps and returns what is
    known then, and the seconds it took. The first network is trained by it.
    """
    variants, steps = found.variants, task.sizes.total_steps
    sample = batches.take(_SAMPLE_BATCHES).cache().repeat()

    def start(variant: Variant) -> _Runner:
        trainable = first if variant == variants[0] else make_trainable(task, variant, check)
        return _Runner(trainable, sample, task.project.recipe.peak_rate)

    racing = (variants[0], *found.known.to_measure(variants, steps))
    what = "Benchmarking" if len(racing) > 1 else "Building"  # one alone is compared with nothing

    def report(variant: Variant, fraction: float) -> None:
        check()
        on_progress("measuring", f"{what} {variant.words}", fraction)

    def keep(result: SearchResult) -> None:
        keep_known(found.key, found.known.with_search(result), likeness=found.likeness)

    result = search(racing, start, steps=steps, on_progress=report, on_result=keep)
    keep(result)
    return found.known.with_search(result), result.spent_s


class _Runner:
    """Trains a network on a few batches, again and again, to see how long a step takes. Put its
    state back afterwards.
    """

    def __init__(self, trainable: Trainable, sample: Any, rate: float) -> None:
        began = time.monotonic()
        self._loop = trainable.loop
        self._rate = rate
        self._iterator = self._loop.distribute(sample)
        self._steps = 1
        waited_s = self._run().input_s
        self.start_s = time.monotonic() - began - waited_s

    def step_s(self) -> float:
        """Seconds of one step, over about a tenth of a second of steps."""
        results = self._run()
        seconds = (results.seconds - results.input_s) / self._steps
        self._steps = max(1, min(int(_TURN_S / max(seconds, 1e-6)), MAX_STEPS))
        return seconds

    def _run(self) -> StepResults:
        rates = [self._rate] * self._steps
        return self._loop.train(self._iterator, self._steps, rates=rates)


def _plan(task: Task, variant: Variant, timings: Mapping[Variant, Timing], words: str) -> Plan:
    recipe = task.project.recipe
    gain = gain_of(variant, timings)
    calls = recipe.steps_per_call
    if calls is None and variant in timings:
        calls = steps_per_call(timings[variant].step_s, task.limits.call_s)
    defaults = TrainingRecipe()
    return Plan(
        precision=variant.precision,
        xla=variant.xla,
        steps_per_call=calls,
        pipeline=task.place,
        gain=None if gain is None else round(gain, 2),
        words=words,
        pinned=[pin for pin in _PINS if getattr(recipe, pin) != getattr(defaults, pin)],
        threads=recipe.threads or 0,
    )


# compiled ------------------------------------------------------------------------------------

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
