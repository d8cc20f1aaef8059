"""What is found out of a project and a TPU before there is one: the messages about it. The report
is also the JSON of `workbench preflight`. Parts that did not run are None or empty.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from workbench.protocol.bases import Answer, FinalAnswer, Request

Level = Literal["rules", "lowering", "compiler"]
"""How deep the check went: our rules; XLA's lowering here; the TPU's own compiler."""

LEVELS: tuple[Level, ...] = ("rules", "lowering", "compiler")

LevelState = Literal["running", "passed", "refused", "skipped", "unfinished"]

HONESTY: dict[Level, str] = {
    "rules": "checked by rules only",
    "lowering": "lowered by XLA on this computer",
    "compiler": "compiled by Google's TPU compiler, not run on hardware",
}
"""What each level is worth, in the words that are shown beside its verdict."""

ESTIMATE_WORDS = "compiler estimate"
"""Shown beside every time and speed of a compiler's estimate."""


class ReportFix(msgspec.Struct, frozen=True, kw_only=True):
    """A way to fix a problem.

    Attributes:
        key: As `core.checks.problems.Fix` has it.
        title: Words of its button.
        recipe: Values of the recipe that it sets; empty for a change of the network.
        params: Values that it sets at the problem's node.
    """

    key: str
    title: str
    recipe: dict[str, Any] = {}
    params: dict[str, Any] = {}


class ReportProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem of the network, as `core.checks.problems.Problem`: what is wrong, at which node,
    and what would fix it.
    """

    node: str | None
    severity: Literal["error", "warning", "hint"]
    title: str
    message: str
    fixes: list[ReportFix] = []


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """High-bandwidth memory of one core in bytes: what the step needs, what there is."""

    needs_bytes: int
    has_bytes: int


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The compiler's estimate of a step; never measured on hardware.

    Attributes:
        step_ms: Milliseconds of one step on one core, without input and gradient exchange.
        images_per_second: Images per second, all cores together.
        bound: What the step waits for, its computing or its memory.
    """

    step_ms: float
    images_per_second: float
    bound: Literal["compute", "memory"]


class LargestBuffer(msgspec.Struct, frozen=True, kw_only=True):
    """One of the largest values that the compiled step holds, and the node it comes from."""

    bytes: int
    words: str
    node: str | None = None


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One batch of a sweep. `problem` is the reason why there is no estimate."""

    per_core_batch: int
    global_batch: int
    memory: Memory | None = None
    estimate: Estimate | None = None
    problem: str = ""


class PreflightReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to "will this project train on such a TPU?".

    Attributes:
        ok: No problem was found, as far as was checked.
        tpu: Its name, e.g. "v5e-8".
        level: The deepest level that ran.
        verdict: In words, with what the level is worth.
        per_core_batch, global_batch: Images per step; the first that was requested.
        problems: Errors first.
        memory: By the compiler, for one core.
        estimate: By the compiler.
        largest: The largest buffers, by the compiler.
        sweep: Batches from small to large.
        suggested_batch: Global batch to use instead, or 0: the next that fits where the
            requested one does not, the best of a sweep.
        is_tight: It fits, and leaves little memory for prefetched batches and validation.
        seconds: That all of it took.
    """

    ok: bool
    tpu: str
    level: Level
    verdict: str
    per_core_batch: int
    global_batch: int
    problems: list[ReportProblem] = []
    memory: Memory | None = None
    estimate: Estimate | None = None
    largest: list[LargestBuffer] = []
    sweep: list[SweepPoint] = []
    suggested_batch: int = 0
    is_tight: bool = False
    seconds: float = 0.0


class PreflightStage(Answer, frozen=True, kw_only=True, tag="preflight_stage"):
    """A level of a preflight has begun, or has ended; with all that is known by then."""

    level: Level
    state: LevelState
    words: str = ""
    problems: list[ReportProblem] = []
    memory: Memory | None = None
    estimate: Estimate | None = None
    largest: list[LargestBuffer] = []


class PreflightPoint(Answer, frozen=True, kw_only=True, tag="preflight_point"):
    """One batch of a preflight's sweep."""

    point: SweepPoint


class PreflightDone(FinalAnswer, frozen=True, kw_only=True, tag="preflight_done"):
    """Answer to Preflight."""

    report: PreflightReport


class Preflight(Request, frozen=True, kw_only=True, tag="preflight"):
    """Will a project train on a TPU? None is needed for the answer. Answers: some
    PreflightStage, with a sweep some PreflightPoint, then PreflightDone.

    Attributes:
        project: Project-file text.
        tpu: Name of a TPU, e.g. "v5e-8".
        batch: Global batch; 0 for the recipe's.
        level: How deep to look at most.
        sweep: Try batches from small to large too.
    """

    final_answer = PreflightDone
    partial_answers = (PreflightStage, PreflightPoint)

    project: str
    tpu: str
    batch: int = 0
    level: Level = "compiler"
    sweep: bool = False
