"""The execution plan: how THIS network is trained HERE, measured before the first epoch.

Nothing of the measuring stays behind: the network that was measured is put back to its start
bit for bit, so a measured run and an unmeasured one of the same plan are the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.core.checks.analysis import analyse
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.protocol.events import Plan
from workbench.runs.state.throughput import predict_run, read_speeds
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.execution.ahead import benchmark_ahead
from workbench.worker.execution.autotune import SearchResult, search
from workbench.worker.execution.plan_cache import (
    Known,
    Likeness,
    keep_known,
    plan_key,
    read_known,
)
from workbench.worker.execution.plan_text import plan_words
from workbench.worker.execution.similar import likeness_of, read_similar
from workbench.worker.step.trainable import Task, Trainable, make_trainable, training_batches
from workbench.worker.step.training_loop import MAX_STEPS, StepResults, steps_per_call
from workbench.worker.step.variants import Timing, Variant, best_variant, gain_of, possible_variants

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
