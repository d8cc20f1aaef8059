"""Preflight: will a project train on a TPU? The levels, each in a process with a deadline."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.datasets import facts_of
from workbench.hardware.tpu_chips import chip_choice
from workbench.layers import all_layers
from workbench.preflight.compile_answers import CompilerCall
from workbench.preflight.compiler_environment import CompilerEnvironment
from workbench.preflight.examine import Examination, Question
from workbench.preflight.lowered import Lowering
from workbench.preflight.report import Findings
from workbench.protocol.preflight import (
    Level,
    LevelState,
    Preflight,
    PreflightDone,
    PreflightPoint,
    PreflightStage,
    SweepPoint,
)
from workbench.worker.lowering.child import lower_within
from workbench.worker.requests.session import Job

LOWERING_S = 300.0
"""Deadline for lowering one batch; a large network needs ten seconds, on a busy computer more."""


def preflight(job: Job, request: Preflight) -> PreflightDone:
    """Checks level by level, and sends the result of each.

    Raises:
        WorkbenchError: no such TPU, the project cannot be read, or the request is canceled.
    """
    chip = chip_choice(request.tpu)
    project = parse_project(request.project, "the project")
    if request.batch:
        recipe = project.recipe.with_values(batch_size=request.batch)
        project = replace(project, recipe=recipe)
    facts = facts_of(project)
    environment = CompilerEnvironment()
    question = Question(
        project=project,
        layers=all_layers(),
        chip=chip,
        level=request.level,
        facts=facts,
        is_sweep=request.sweep,
        no_compiler=_no_compiler(environment),
    )
    examination = Examination(
        question,
        _Reporter(job),
        lower=partial(_lower, job, project, facts),
        compilers=partial(_compiler, job, environment),
    )
    return PreflightDone(id=job.id, report=examination.report())


def _no_compiler(environment: CompilerEnvironment) -> str:
    if words := environment.why_not():
        return words
    if environment.is_installed():
        return ""
    return (
        "The TPU compiler is not installed. Install it: in the window by Run > “Will it train on "
        "a TPU?”, in a terminal by `workbench compiler install`."
    )


def _lower(
    job: Job, project: Project, facts: DatasetFacts | None, batches: Sequence[int]
) -> Generator[tuple[int, Lowering], None, None]:
    # What a recipe leaves open is bfloat16 on a TPU, whatever this computer would use.
    precision = "float32" if project.recipe.precision == "float32" else "bfloat16"
    yield from lower_within(
        project,
        batches=batches,
        precision=precision,
        num_classes=(facts.num_classes or 0) if facts is not None else 0,
        deadline_s=LOWERING_S,
        check=job.check_cancelled,
    )


@contextmanager
def _compiler(job: Job, environment: CompilerEnvironment) -> Iterator[CompilerCall]:
    with (
        tempfile.TemporaryDirectory(dir=job.folder, prefix="compiler-") as folder,
        CompilerCall(environment.python, Path(folder), check=job.check_cancelled) as compiler,
    ):
        yield compiler


class _Reporter:
    """Sends the findings of an examination."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def stage(self, level: Level, state: LevelState, words: str, found: Findings) -> None:
        """Raises CancelledError when the request was canceled."""
        self._job.check_cancelled()
        self._job.send(
            PreflightStage(
                id=self._job.id,
                level=level,
                state=state,
                words=words,
                problems=found.reported(),
                memory=found.memory,
                estimate=found.estimate,
                largest=found.largest,
            )
        )

    def point(self, point: SweepPoint) -> None:
        self._job.send(PreflightPoint(id=self._job.id, point=point))
