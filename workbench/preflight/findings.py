"""What a preflight has found so far, and the report that becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from workbench.core.checks.problems import SEVERITIES, Problem
from workbench.core.network.graph import Graph
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.reported import report_problem
from workbench.preflight.rules import MEMORY_GUESS
from workbench.preflight.verdict import is_tight, verdict_words
from workbench.protocol.preflight import (
    LEVELS,
    Estimate,
    LargestBuffer,
    Level,
    Memory,
    PreflightReport,
    ReportProblem,
    SweepPoint,
)


@dataclass
class Findings:
    """Grows while the levels run.

    Attributes:
        graph: The network.
        chip: The TPU.
        per_core, batch: Images per step of each core, and as requested in all.
        level: The deepest that has come to an end.
        problems: Problems found by all levels so far.
        compiled: The compiler's result for the requested batch.
        largest, sweep: By the compiler.
        suggested_per_core: A batch to take instead, or 0.
    """

    graph: Graph
    chip: ChipChoice
    per_core: int
    batch: int
    level: Level = "rules"
    problems: list[Problem] = field(default_factory=list)
    compiled: SweepPoint | None = None
    largest: list[LargestBuffer] = field(default_factory=list)
    sweep: list[SweepPoint] = field(default_factory=list)
    suggested_per_core: int = 0

    def add(self, level: Level | Literal[""], problems: Sequence[Problem]) -> None:
        """Adds what a level has found; "" for one that has not come to an end."""
        if level:
            self.level = max(self.level, level, key=LEVELS.index)
        self.problems += problems
        if level == "compiler":  # exact, where ours was an estimate
            self.problems = [p for p in self.problems if p.title != MEMORY_GUESS]
        self.problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))

    @property
    def memory(self) -> Memory | None:
        """Memory that the requested batch needs and has."""
        return self.compiled.memory if self.compiled is not None else None

    @property
    def estimate(self) -> Estimate | None:
        """Estimated time of a step with the requested batch."""
        return self.compiled.estimate if self.compiled is not None else None

    @property
    def errors(self) -> list[Problem]:
        """The reasons not to train there."""
        return [problem for problem in self.problems if problem.stops_training]

    def reported(self) -> list[ReportProblem]:
        """The problems as they cross processes."""
        return [report_problem(problem, self.graph) for problem in self.problems]

    def report(self, seconds: float) -> PreflightReport:
        """All of it, with the verdict."""
        return PreflightReport(
            ok=not self.errors,
            tpu=self.chip.name,
            level=self.level,
            verdict=verdict_words(
                self.level,
                self.chip,
                per_core=self.per_core,
                memory=self.memory,
                errors=self.errors,
                suggested_per_core=self.suggested_per_core,
            ),
            per_core_batch=self.per_core,
            global_batch=self.batch,
            problems=self.reported(),
            memory=self.memory,
            estimate=self.estimate,
            largest=self.largest,
            sweep=self.sweep,
            suggested_batch=self.suggested_per_core * self.chip.cores,
            is_tight=self.memory is not None and is_tight(self.memory),
            seconds=round(seconds, 2),
        )
