"""The whole preflight, level by level; each reports its findings at once.

What needs TensorFlow or the compiler is handed in: this module only decides what to ask next.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.problems import Problem
from workbench.core.format import memory_text
from workbench.core.params import IntParam
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import ChildDiedError, DeadlineError, TpuError
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.compile_answers import (
    COMPILE_S,
    Compiled,
    CompilerAnswer,
    Rejected,
    TooLarge,
    estimate_of,
    largest_buffers,
)
from workbench.preflight.lowered import Lowered, Lowering, Unchecked, problem_of
from workbench.preflight.report import Findings, memory_words
from workbench.preflight.rules import batch_fix, batch_words, check_rules, per_core_batch
from workbench.protocol.preflight import (
    LEVELS,
    Level,
    LevelState,
    Memory,
    PreflightReport,
    SweepPoint,
)

SWEEP = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Batches of a sweep for each core."""

_POINT_S = 240.0
"""Processor time for a batch of a sweep: one of many has less time than the requested one."""

_MOST_FAILURES = 2  # in a row, until a sweep is ended

_LARGEST_BATCH = next(
    param.maximum
    for param in RECIPE_PARAMS
    if param.key == "batch_size" and isinstance(param, IntParam)
)
_NEARLY = 0.97  # of the best speed is as good: a smaller batch learns more in an epoch

Lower = Callable[[Sequence[int]], Generator[tuple[int, Lowering], None, None]]
"""Per-core batches -> (batch, the step in StableHLO, or why not), in turn."""


class Compiler(Protocol):
    """The TPU compiler; see `compile_answers.CompilerCall`."""

    def compile(self, text: str, chip: ChipChoice, *, deadline_s: float) -> CompilerAnswer:
        """What becomes of a step in StableHLO on one core."""


Compilers = Callable[[], contextlib.AbstractContextManager[Compiler]]


class Listener(Protocol):
    """Receives the progress."""

    def stage(self, level: Level, state: LevelState, words: str, found: Findings) -> None:
        """A level has begun, or has ended with these findings."""

    def point(self, point: SweepPoint) -> None:
        """A batch of the sweep is known."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What to examine.

    Attributes:
        project: What would be trained; its recipe holds the global batch.
        layers: The layer types.
        chip: On which TPU.
        level: How deep to look.
        facts: What is known of the images.
        is_sweep: Try batches from small to large too.
        no_compiler: Why the compiler cannot be called here; "" where it can.
    """

    project: Project
    layers: Registry[LayerSpec]
    chip: ChipChoice
    level: Level = "compiler"
    facts: DatasetFacts | None = None
    is_sweep: bool = False
    no_compiler: str = ""

    @property
    def per_core(self) -> int:
        """Images per step of each core."""
        return per_core_batch(self.project.recipe.batch_size, self.chip)


def memory_of(answer: Compiled | TooLarge, chip: ChipChoice) -> Memory:
    """Needs and has of one core; has by the compiler's own words where it says them."""
    if isinstance(answer, TooLarge):
        return Memory(needs_bytes=answer.needs_bytes, has_bytes=answer.has_bytes)
    has = chip.generation.hbm_bytes
    # It fits: our sum of what lies there must not say otherwise.
    return Memory(needs_bytes=min(answer.needs_bytes, has), has_bytes=has)


def _count_words(problems: Sequence[Problem]) -> str:
    """Such as "1 warning, 2 hints"; "No problems found" for none."""
    counts = Counter(problem.severity for problem in problems)
    found = [(counts[severity], severity) for severity in ("warning", "hint")]
    words = [f"{n:,} {severity}{'s' * (n != 1)}" for n, severity in found if n]
    return ", ".join(words) or "No problems found"


def best_of(points: Sequence[SweepPoint]) -> int:
    """The smallest batch for each core that is nearly as fast as the fastest; 0 for none."""
    speeds = {
        point.per_core_batch: point.estimate.images_per_second
        for point in points
        if point.estimate is not None
    }
    if not speeds:
        return 0
    return min(size for size, speed in speeds.items() if speed >= _NEARLY * max(speeds.values()))


class Examination:
    """Answers one question; `report` is called once.

    Args:
        question: What to examine.
        listener: Receives the progress.
        lower: Lowers steps here.
        compilers: Starts the compiler.
    """

    def __init__(
        self, question: Question, listener: Listener, *, lower: Lower, compilers: Compilers
    ) -> None:
        self._question = question
        self._listener = listener
        self._lower = lower
        self._compilers = compilers
        project = question.project
        self._found = Findings(
            project.graph, question.chip, question.per_core, project.recipe.batch_size
        )

    def report(self) -> PreflightReport:
        """Examines as deeply as requested and possible.

        Raises:
            WorkbenchError: the request was canceled, or a part of ours is broken.
        """
        began = time.monotonic()
        text = self._rules() and self._lowering()
        if text:
            self._compiling(text)
        return self._found.report(time.monotonic() - began)

    def _report(self, level: Level, state: LevelState, words: str) -> None:
        self._listener.stage(level, state, words, self._found)

    def _wants(self, level: Level) -> bool:
        return LEVELS.index(self._question.level) >= LEVELS.index(level)

    # rules -------------------------------------------------------------------------------

    def _rules(self) -> bool:
        question = self._question
        self._report("rules", "running", "Checking the rules")
        problems = list(
            check_rules(question.project, question.layers, question.chip, facts=question.facts)
        )
        self._found.add("rules", problems)
        if self._found.errors:
            self._report("rules", "refused", self._found.errors[0].message)
            return False
        self._report("rules", "passed", _count_words(problems))
        return True

    # lowering ----------------------------------------------------------------------------

    def _lowering(self) -> str:
        """The step's text, "" where there is none."""
        if not self._wants("lowering"):
            return ""
        self._report("lowering", "running", "Lowering the training step with XLA")
        with contextlib.closing(self._lower([self._question.per_core])) as steps:
            _, answer = next(steps)
        if isinstance(answer, Lowered):
            self._found.add("lowering", [])
            self._report("lowering", "passed", f"Every operation compiles ({answer.seconds:.1f} s)")
            return answer.text
        question = self._question
        problem = problem_of(answer, question.project.graph, question.layers)
        if isinstance(answer, Unchecked):
            self._found.add("rules", [problem])
            self._report("lowering", "unfinished", problem.message)
        else:
            self._found.add("lowering", [problem])
            self._report("lowering", "refused", problem.message)
        return ""

    # the compiler ------------------------------------------------------------------------

    def _compiling(self, text: str) -> None:
        if not self._wants("compiler"):
            return
        if self._question.no_compiler:
            self._report("compiler", "skipped", self._question.no_compiler)
            return
        batch = batch_words(self._question.per_core, self._question.chip)
        self._report("compiler", "running", f"Compiling with a batch of {batch}")
        try:
            with self._compilers() as compiler:
                answer = compiler.compile(text, self._question.chip, deadline_s=COMPILE_S)
                is_answered = self._judge(compiler, answer)
                if is_answered and self._question.is_sweep:
                    self._sweep(compiler)
        except (DeadlineError, ChildDiedError, TpuError) as error:
            title = "No result from the compiler"
            self._found.add("", [Problem(None, "warning", title, str(error))])
            self._report("compiler", "unfinished", str(error))

    def _judge(self, compiler: Compiler, answer: CompilerAnswer) -> bool:
        """What the answer for the requested batch means; False where it is none about memory."""
        if isinstance(answer, Rejected):
            title = "Rejected by the TPU compiler"
            self._found.add("compiler", [Problem(None, "error", title, answer.words)])
            self._report("compiler", "refused", answer.words)
            return False
        question = self._question
        point = self._found.compiled = self._answered(question.per_core, answer)
        analysis = analyse(question.project.graph, question.layers, recipe=question.project.recipe)
        self._found.largest = largest_buffers(
            answer.largest, question.project.graph, question.layers, analysis.shapes
        )
        if isinstance(answer, Compiled) and point.memory is not None:
            self._found.add("compiler", [])
            self._report("compiler", "passed", f"Fits: {memory_words(point.memory)} per core")
        else:
            self._refuse(answer, self._halved(compiler))
        return True

    def _refuse(self, answer: Compiled | TooLarge, fits: int) -> None:
        chip = self._question.chip
        memory = memory_of(answer, chip)
        words = (
            f"A batch of {batch_words(self._question.per_core, chip)} needs "
            f"{memory_text(memory.needs_bytes)} per core; a core has "
            f"{memory_text(memory.has_bytes)}."
        )
        fixes = (batch_fix(fits, chip),) if fits else ()
        title = "Does not fit into TPU memory"
        self._found.suggested_per_core = fits
        self._found.add("compiler", [Problem(None, "error", title, words, fixes)])
        self._report("compiler", "refused", words)

    def _halved(self, compiler: Compiler) -> int:
        """The first that fits of half the batch, a quarter, ...; 0 where none does."""
        per_core, chip = self._question.per_core, self._question.chip
        sizes = [per_core >> halvings for halvings in range(1, per_core.bit_length())]
        if not sizes:
            return 0
        with contextlib.closing(self._lower(sizes)) as steps:
            for size, lowering in steps:
                self._report("compiler", "running", f"Too large; trying {batch_words(size, chip)}")
                if not isinstance(lowering, Lowered):
                    return 0
                answer = compiler.compile(lowering.text, chip, deadline_s=COMPILE_S)
                if isinstance(answer, Compiled):
                    return size
        return 0

    def _sweep(self, compiler: Compiler) -> None:
        question, asked = self._question, self._found.compiled
        fitting = (size for size in SWEEP if size * question.chip.cores <= _LARGEST_BATCH)
        sizes = sorted({*fitting, question.per_core})
        with contextlib.closing(
            self._lower([size for size in sizes if size != question.per_core])
        ) as steps:
            failures = 0
            for size in sizes:
                self._report("compiler", "running", f"Trying {batch_words(size, question.chip)}")
                is_known = size == question.per_core and asked is not None
                point = asked if is_known and asked else self._point(compiler, *next(steps))
                self._found.sweep.append(point)
                self._listener.point(point)
                failures = failures + 1 if point.problem else 0
                if (point.memory is not None and point.problem) or failures == _MOST_FAILURES:
                    break  # larger ones need still more
        # Where none of them fits, a smaller one than all that were tried may have been found.
        best = best_of(self._found.sweep)
        self._found.suggested_per_core = best or self._found.suggested_per_core
        count = sum(point.estimate is not None for point in self._found.sweep)
        state: LevelState = "refused" if self._found.errors else "passed"
        self._report("compiler", state, f"{count:,} of these batches fit")

    def _point(self, compiler: Compiler, size: int, lowering: Lowering) -> SweepPoint:
        if not isinstance(lowering, Lowered):
            return self._unanswered(size, lowering.words)
        try:
            answer = compiler.compile(lowering.text, self._question.chip, deadline_s=_POINT_S)
        except (DeadlineError, ChildDiedError) as error:
            return self._unanswered(size, error.what)
        return self._answered(size, answer)

    def _answered(self, size: int, answer: CompilerAnswer) -> SweepPoint:
        chip = self._question.chip
        if isinstance(answer, Rejected):
            return self._unanswered(size, answer.words)
        estimate = estimate_of(answer, chip, size) if isinstance(answer, Compiled) else None
        return SweepPoint(
            per_core_batch=size,
            global_batch=size * chip.cores,
            memory=memory_of(answer, chip),
            estimate=estimate,
            problem="does not fit" if estimate is None else "",
        )

    def _unanswered(self, size: int, words: str) -> SweepPoint:
        total = size * self._question.chip.cores
        return SweepPoint(per_core_batch=size, global_batch=total, problem=words)
