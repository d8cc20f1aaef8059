"""MeasureRobustness: a run's test images with alterations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.alterations import suite
from workbench.core.projects.project import RobustnessTest
from workbench.errors import UsageError, WorkbenchError
from workbench.protocol.trained.robustness import MeasureRobustness, Robustness
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.evaluation import keep_robustness
from workbench.worker.input.sources import match_classes, run_test_part
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.evaluation import refuse_unknown, robustness_of


def measure_robustness(job: Job, request: MeasureRobustness) -> Robustness:
    """Measures a run on robustness tests; keeps the scores with it.

    Raises:
        UsageError: there is no test, no such alteration, or a strength out of its bounds.
        DatasetError: there are no test images, or their classes are not the model's.
    """
    run = RunFolder(Path(request.model))
    named = [RobustnessTest(test.name, test.strengths) for test in request.tests]
    tests = _suite() if request.is_suite else named or _own_tests(run)
    refuse_unknown(tests)
    runner = job.runner(request.model)
    part, names = run_test_part(job, runner.card)
    truth = match_classes(part.y, names, runner.card.class_names)

    def report(fraction: float) -> None:
        job.check_cancelled()
        job.progress("Measuring on altered test images", fraction)

    answer = robustness_of(
        runner,
        part.x,
        truth,
        tests,
        is_suite=request.is_suite,
        images=request.images,
        on_progress=report,
        request_id=job.id,
    )
    _keep(run, runner.card, answer)
    return answer


def _suite() -> list[RobustnessTest]:
    return [RobustnessTest(name, strengths) for name, strengths in suite().items()]


def _own_tests(run: RunFolder) -> Sequence[RobustnessTest]:
    """Robustness tests of the run's project as it was trained."""
    tests = run.project().robustness if run.request_path.is_file() else ()
    if tests:
        return tests
    raise UsageError(
        "The project of this run has no robustness test.",
        where=str(run.path),
        fix="Save one with What-if in the Classify view, or choose alterations: in the window in "
        "Evaluate, in a terminal by `workbench robustness RUN --suite` or `--alter KEY=STRENGTH`.",
    )


def _keep(run: RunFolder, card: ModelCard, answer: Robustness) -> None:
    """Keeps the scores with the run. Where that is not possible, the log has the reason."""
    if not run.request_path.is_file():  # an exported model
        return
    try:
        keep_robustness(run, answer, card.checksum)
    except WorkbenchError as error:
        sys.stderr.write(f"The robustness was not kept. {error}\n")
