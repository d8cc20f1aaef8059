"""`python -m workbench.worker train RUN_FOLDER`: one training, from request to last event.

Nothing heavy is imported here: the first events are written before TensorFlow is.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.params import check_all
from workbench.core.project import Project
from workbench.errors import WorkbenchError
from workbench.protocol.events import Plan, RunFinished, RunStarted
from workbench.runs.event_log import EventWriter
from workbench.runs.folder import RunFolder
from workbench.runs.start import target_environment
from workbench.targets import all_targets
from workbench.worker.failure import error_parts
from workbench.worker.heartbeat import Pulse
from workbench.worker.precision import choose_precision
from workbench.worker.progress import Teller
from workbench.worker.stop import StoppedError, StopSwitch
from workbench.worker.surroundings import surroundings
from workbench.worker.versions import versions

if TYPE_CHECKING:
    from workbench.worker.training import Training


def run_training(folder: str | Path) -> int:
    """Trains what a run folder asks for; everything is told in its event log.

    Returns:
        0 when completed or stopped, else the exit code of the error.
    """
    run = RunFolder(Path(folder).absolute())
    try:
        run.request()
        with surroundings(run), EventWriter(run.events_path) as writer:
            return _train(run, writer)
    except WorkbenchError as error:
        # Without a request or a lock there is no log to tell it in.
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _train(run: RunFolder, writer: EventWriter) -> int:
    teller, stop = Teller(writer), StopSwitch(run)
    stop.listen_to_signals()
    started = time.monotonic()
    training: Training | None = None
    error: BaseException | None = None
    try:
        project = run.request().to_project()
        _tell_start(run, project, teller)
        os.environ.update(target_environment(project.target))
        with Pulse(writer):
            from workbench.worker.training import Training  # after the first events

            training = Training(run, project, teller, stop)
            training.run()
    except StoppedError:
        pass
    except Exception as caught:  # noqa: BLE001 - the last event tells any of them
        error = caught
        if not isinstance(caught, WorkbenchError):
            traceback.print_exception(caught)
    finished = _finish(run, training, error, time.monotonic() - started)
    teller.tell(finished)
    if error is None:
        return 0
    return error.exit_code if isinstance(error, WorkbenchError) else 4


def _finish(
    run: RunFolder, training: Training | None, error: BaseException | None, seconds: float
) -> RunFinished:
    is_completed = training is not None and training.is_completed
    outcome = "failed" if error else "completed" if is_completed else "stopped"
    batch_size = training.batch_size if training else 0
    return RunFinished(
        outcome=outcome,
        run=str(run.path),
        seconds=round(seconds, 3),
        epochs_done=training.epochs_done if training else 0,
        test=training.test if training else None,
        best=training.best if training else None,
        error=error_parts(error, batch_size=batch_size) if error else None,
    )


def _tell_start(run: RunFolder, project: Project, teller: Teller) -> None:
    recipe, choice = project.recipe, choose_precision(project.recipe)
    spec = all_targets().get(project.target.key)
    params, _ = check_all(spec.params, project.target.params) if spec else ({}, [])
    place = f"{spec.title}: {spec.describe(params)}. Computes in {choice.words}." if spec else ""
    teller.tell(
        RunStarted(
            run=str(run.path),
            target=project.target.key,
            replicas=spec.replicas(params) if spec else 1,
            precision=choice.precision,
            seed=recipe.seed,
            versions=versions(),
            plan=Plan(precision=choice.precision, words=place),
            epochs=recipe.epochs,
            batch_size=recipe.batch_size,
            pid=os.getpid(),
        )
    )
    teller.phase("starting", "Starting")
