"""Findings of a preflight, the report that becomes of them, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.core.checks.fixes import move_behind_input_fix
from workbench.core.checks.problems import SEVERITIES, Fix, Problem
from workbench.core.format import memory_text
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_node
from workbench.hardware.tpu_chips import ChipChoice
from workbench.layers import all_layers
from workbench.preflight.rules import MEMORY_GUESS, batch_words
from workbench.protocol.preflight import (
    ESTIMATE_WORDS,
    HONESTY,
    LEVELS,
    Estimate,
    LargestBuffer,
    Level,
    Memory,
    PreflightReport,
    ReportFix,
    ReportProblem,
    SweepPoint,
)

# reported ------------------------------------------------------------------------------------
# Problems and fixes across processes: a fix is a function, and a report is data.

_MOVE = "move_behind_input"


def report_problem(problem: Problem, graph: Graph) -> ReportProblem:
    """A finding as the report carries it.

    Args:
        problem: What was found.
        graph: The network it was found in.
    """
    return ReportProblem(
        node=problem.node,
        severity=problem.level,
        title=problem.title,
        message=problem.message,
        fixes=[
            ReportFix(
                key=fix.key,
                title=fix.title,
                recipe=dict(fix.recipe),
                params=_set_params(fix, problem.node, graph),
            )
            for fix in problem.fixes
        ],
    )


def fixes_of(problem: ReportProblem, graph: Graph) -> tuple[Fix, ...]:
    """The fixes of a reported problem that can be applied: those that set values, and the move
    behind Input. For others, which are of the check of every project, ask that check.
    """
    made = (_fix(fix, problem.node, graph) for fix in problem.fixes)
    return tuple(fix for fix in made if fix is not None)


def _fix(fix: ReportFix, node: str | None, graph: Graph) -> Fix | None:
    if fix.recipe:
        return Fix(fix.key, fix.title, lambda graph: graph, fix.recipe)
    if node is None or node not in graph.nodes:
        return None
    if fix.params:
        return Fix(fix.key, fix.title, lambda graph: _with_params(graph, node, fix.params))
    start = input_node(graph, all_layers())
    if fix.key == _MOVE and start is not None:
        return move_behind_input_fix(node, start.id, graph.nodes[node].name)
    return None


def _with_params(graph: Graph, node: str, params: Mapping[str, Any]) -> Graph:
    return graph.with_params(node, **params) if node in graph.nodes else graph


def _set_params(fix: Fix, node_id: str | None, graph: Graph) -> dict[str, Any]:
    """What a fix sets at its node, where it does nothing else."""
    if node_id is None or node_id not in graph.nodes:
        return {}
    fixed = fix.apply(graph)
    if fixed.edges != graph.edges or fixed.nodes.keys() != graph.nodes.keys():
        return {}
    old, new = graph.nodes[node_id], fixed.nodes[node_id]
    if new.kind != old.kind or new.name != old.name:
        return {}
    return {key: value for key, value in new.params.items() if old.params.get(key) != value}


# verdict -------------------------------------------------------------------------------------
# The report in words: what was found, for which TPU, and what that is worth.

TIGHT = 0.85
"""Part of a core's memory above which little is left for prefetched batches and validation."""


def memory_words(memory: Memory) -> str:
    """Needs of has, "236 MB of 16.9 GB": of one core's memory."""
    return f"{memory_text(memory.needs_bytes)} of {memory_text(memory.has_bytes)}"


def is_tight(memory: Memory) -> bool:
    """Whether the memory suffices and leaves little."""
    return TIGHT * memory.has_bytes < memory.needs_bytes <= memory.has_bytes


def verdict_words(
    level: Level,
    chip: ChipChoice,
    *,
    per_core: int,
    memory: Memory | None,
    errors: Sequence[Problem],
    suggested_per_core: int,
) -> str:
    """One or two sentences, and what they are worth.

    Args:
        level: The deepest that ran.
        chip: The TPU.
        per_core: The requested batch.
        memory: By the compiler, if it was called.
        errors: Reasons not to train there.
        suggested_per_core: A batch to take instead, or 0.
    """
    honesty = HONESTY[level][:1].upper() + HONESTY[level][1:]
    batch = f"a batch of {batch_words(per_core, chip)}"
    better = suggested_per_core if suggested_per_core != per_core else 0
    suggested = f"a batch of {batch_words(better, chip)}" if better else ""
    if memory is not None and memory.needs_bytes > memory.has_bytes:
        finding = _too_large(chip, batch, memory, suggested)
    elif errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        title = errors[0].title[:1].lower() + errors[0].title[1:]
        finding = f"Will not train on {chip.words}: {title}{more}."
    elif memory is not None:
        finding = _fits(chip, batch, memory, suggested)
    elif level == "rules":
        finding = f"No rule rules out training on {chip.words} with {batch}."
    else:
        finding = f"Can be lowered for {chip.words} with {batch}. Compiling and memory not checked."
    return f"{finding} {honesty}."


def _too_large(chip: ChipChoice, batch: str, memory: Memory, suggested: str) -> str:
    words = (
        f"Does not fit: {batch} needs {memory_text(memory.needs_bytes)} per core, and "
        f"{chip.words} has {memory_text(memory.has_bytes)} per core."
    )
    smaller = suggested[:1].upper() + suggested[1:] or "No smaller batch"
    return f"{words} {smaller} fits."


def _fits(chip: ChipChoice, batch: str, memory: Memory, suggested: str) -> str:
    words = f"Fits on {chip.words}: {memory_words(memory)} per core with {batch}."
    if is_tight(memory):
        words += " That is tight: prefetched batches and validation need memory too."
    if suggested:
        words += f" According to the {ESTIMATE_WORDS}, {suggested} is about as fast or faster."
    return words


# findings ------------------------------------------------------------------------------------
# What a preflight has found so far, and the report that becomes of it.


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
