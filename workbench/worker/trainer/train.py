"""`python -m workbench.worker train RUN_FOLDER`: one training, from request to last event.

Nothing heavy is imported here: the first events are written before TensorFlow is.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from workbench.errors import WorkbenchError
from workbench.processes.memory import resident_bytes
from workbench.protocol.events import Heartbeat, RunFinished
from workbench.runs.control import keep_control_room
from workbench.runs.environment import project_environment, refuse_unready
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventWriter
from workbench.runs.log.history import logged_verdict
from workbench.runs.log.pace import seconds_logged
from workbench.runs.start import joins_another
from workbench.runs.state.queue import start_next_after
from workbench.runs.store.checkpoint import (
    has_checkpoint,
    read_checkpoint,
    tidy_up,
)
from workbench.worker.checkpoints.training_state import TrainingJob, settle_checkpoints
from workbench.worker.cluster.chief import cluster_of
from workbench.worker.cluster.members import ClusterPeers, Peers
from workbench.worker.process.failure import DivergedError, error_parts
from workbench.worker.process.run_channel import EventLogger, StoppedError, StopSwitch
from workbench.worker.process.setup import SessionFolder, process_setup
from workbench.worker.trainer.tensorboard import tensorboard_listener

_HEARTBEAT_S = 2.0

_PATIENCE_S = 120.0
"""How long the last event waits for room on the disk; without it the run can be resumed."""

_SIGNALED_S = 2.0

if TYPE_CHECKING:
    from workbench.worker.trainer.training import Training


class HeartbeatThread:
    """Signs of life, with the memory held, from a thread of its own while it is entered; the
    first one comes at once.
    """

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._end.is_set():
            self._writer.write(Heartbeat(memory_bytes=resident_bytes()))
            self._end.wait(_HEARTBEAT_S)


def run_training(
    folder: str | Path, *, resume: bool = False, member: ClusterPeers | None = None
) -> int:
    """Trains what a run folder requests; everything is logged in its event log.

    Args:
        folder: The run's.
        resume: Go on from its checkpoint, if one was kept; else from the start.
        member: Membership, in a process that has joined another machine's training.

    Returns:
        0 when completed or stopped, else the exit code of the error.
    """
    run = RunFolder(Path(folder).absolute())
    starts_next = False
    try:
        run.request()
        starts_next = member is None or joins_another(run)
        with SessionFolder(), process_setup(run), EventWriter(run.events_path) as writer:
            exit_code = _train(run, writer, resume=resume, member=member)
    except WorkbenchError as error:
        # Without a request or a lock there is no log to write it to.
        sys.stderr.write(f"{error}\n")
        exit_code = error.exit_code
    if starts_next:
        start_next_after(run)  # now that the lock is free
    return exit_code


def _train(
    run: RunFolder, writer: EventWriter, *, resume: bool, member: ClusterPeers | None
) -> int:
    begun = time.monotonic()
    before_s = seconds_logged(run.events_path) if resume else 0.0
    events, stop = _event_logger(run, writer), member.stop if member else StopSwitch(run)
    peers = member or Peers()
    stop.listen_to_signals()
    training: Training | None = None
    error: BaseException | None = None
    try:
        events.phase("starting", "Resuming" if resume else "Starting")
        project = run.project()
        os.environ.update(project_environment(project))
        refuse_unready(project.target)  # TensorFlow might hang there, or end this process
        tidy_up(run)
        keep_control_room(run)
        job = TrainingJob(run, project, events, stop)
        if member is None:
            peers = cluster_of(job, partial(_give_up, run, events, begun - before_s))
        with HeartbeatThread(writer):
            peers.rendezvous(resume=resume)
            from workbench.worker.trainer.training import Training  # after the first events

            training = Training(
                job,
                # Not kept here: a large state would be held once more all the time.
                checkpoint=read_checkpoint(run) if resume else None,
                is_resumed=resume,
                begun=begun,
                before_s=before_s,
                peers=peers,
            )
            training.run()
    except StoppedError:
        pass
    except Exception as caught:  # noqa: BLE001 - the last event holds any of them
        error = peers.explained(caught)
        if not isinstance(caught, WorkbenchError):
            with contextlib.suppress(OSError):  # the disk of the printed log may be full
                traceback.print_exception(caught)
    peers.close(error)
    seconds = training.counters.seconds if training else before_s + time.monotonic() - begun
    finished = events.log(_finish(run, training, error, seconds, stop))
    # Who has sent a signal is about to kill what is still there.
    if (
        events.settle(_SIGNALED_S if stop.num_signals else _PATIENCE_S)
        and finished.outcome == "completed"
    ):
        settle_checkpoints(run, finished.epochs_done, is_chief=member is None)
    if error is None:
        return 0
    return error.exit_code if isinstance(error, WorkbenchError) else 4


def _give_up(run: RunFolder, events: EventLogger, begun: float, error: WorkbenchError) -> None:
    """Ends a trainer whose main thread waits in vain within a library."""
    events.log(_finish(run, None, error, time.monotonic() - begun))
    events.settle(_PATIENCE_S)
    os._exit(error.exit_code)


def _event_logger(run: RunFolder, writer: EventWriter) -> EventLogger:
    """The run's event logger, with the TensorBoard listener where one is enabled."""
    events = EventLogger(writer)
    listener = tensorboard_listener(run, partial(events.log_line, level="warning"))
    if listener is not None:
        events.listen(listener)
    return events


def _finish(
    run: RunFolder,
    training: Training | None,
    error: BaseException | None,
    seconds: float,
    stop: StopSwitch | None = None,
) -> RunFinished:
    is_pause = stop is not None and stop.is_pause
    is_completed = training is not None and training.is_completed
    outcome = "failed" if error else "completed" if is_completed else "stopped"
    batch_size = training.batch_size if training else 0
    # The same numbers would diverge again.
    is_worth_it = outcome != "completed" and not isinstance(error, DivergedError)
    return RunFinished(
        outcome=outcome,
        run=str(run.path),
        seconds=round(seconds, 3),
        epochs_done=training.counters.epochs_done if training else 0,
        test=training.test if training else None,
        kept=training.kept if training else None,
        is_within=training is not None and training.counters.steps_of_epoch > 0,
        verdict=logged_verdict(run.events_path),
        best=training.counters.best_epoch if training else None,
        error=error_parts(error, batch_size=batch_size) if error else None,
        can_resume=is_worth_it and (is_pause or has_checkpoint(run)),
        is_paused=outcome == "stopped" and is_pause,
        reason=stop.reason if stop is not None and outcome == "stopped" else "",
    )
