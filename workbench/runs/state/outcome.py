"""How a run ended, or that it has not, with its text for people."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from workbench.core.format import local_time
from workbench.core.storage.foreign_file import tail_bytes, tail_lines, without_noise
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import OutOfMemoryError, RunFolderError, WorkbenchError, os_errors_as
from workbench.hardware.tpu_faults import fault_of
from workbench.host.memory import memory_limit
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import Batch, EpochFinished, Heartbeat, RunFinished, RunStarted
from workbench.runs.folder import RunFolder
from workbench.runs.link import Link, has_mirror, link_words, read_link, read_remote
from workbench.runs.log.event_log import LINE_LIMIT, decode_line, first_of
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import ended_words
from workbench.runs.start import RESUMED_MARK, log_bytes_at_start
from workbench.runs.state.queue import is_waiting, num_before, starts_by_itself, waiting_words
from workbench.runs.store.checkpoint import has_checkpoint, newest_state, path_of
from workbench.runs.trust import place_of, place_words
from workbench.targets.this_computer import computes_bfloat16

# crash diagnosis -----------------------------------------------------------------------------
# Why a trainer ended without an event: its crash file, output, memory; and what would help.

_MUCH_MEMORY = 0.6
_MEMORY_WORDS = ("std::bad_alloc", "MemoryError", "Cannot allocate memory")
_SIGNALS = {
    "Segmentation fault": "a segmentation fault in one of its libraries",
    "Aborted": "an abort in one of its libraries",
    "Bus error": "a bus error (memory fault)",
    "Illegal instruction": "an illegal instruction: a library does not support this CPU",
    "Floating-point exception": "an arithmetic fault in one of its libraries",
    "Floating point exception": "an arithmetic fault in one of its libraries",
}


@dataclass(frozen=True)
class Suggestion:
    """What would probably help a run that failed: recipe values to train once more with."""

    words: str
    changes: Mapping[str, object]


@dataclass(frozen=True)
class CrashDiagnosis:
    """The probable cause as a sentence, and what would help."""

    words: str
    suggestion: Suggestion | None = None


def cause_of_death(run: RunFolder, heartbeat: Heartbeat | None) -> CrashDiagnosis:
    """What ended a trainer that did not log it; `heartbeat` is its last one."""
    if not run.log_path.exists():
        return CrashDiagnosis("The training process was never started.")
    lines = last_life(run.log_tail(max_lines=40))
    if any(word in line for line in lines for word in _MEMORY_WORDS):
        words = "The training process ran out of memory."
        return CrashDiagnosis(words, suggestion_for(run))
    crash = "\n".join(tail_lines(run.crash_path, max_lines=400))
    for trace, words in _SIGNALS.items():
        if f"Fatal Python error: {trace}" in crash:
            # What a library printed before it ended the process.
            return _fault_or("\n".join(lines), f"The training process crashed with {words}.")
    if last_error := _last_error(lines):
        return _fault_or(last_error, f"The training process ended with an error: {last_error}")
    return _killed(run, heartbeat)


def _fault_or(text: str, otherwise: str) -> CrashDiagnosis:
    """The fault that a text names, if it is a known one."""
    found = fault_of(text)
    return CrashDiagnosis(f"{found.words} {found.fix}" if found else otherwise)


def suggestion_for(run: RunFolder) -> Suggestion | None:
    """What to change in a run's recipe when the memory was not enough for it."""
    try:
        recipe = run.request().to_project().recipe
    except WorkbenchError:
        return None
    started = first_of(run.events_path, RunStarted)
    # The batch of a run is smaller than its recipe's where images are few.
    return use_less(recipe, batch_size=started.batch_size if started is not None else 0)


def last_life(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The printed lines of the last of several trainers of a run that may tell why it ended."""
    marks = [number for number, line in enumerate(lines) if line == RESUMED_MARK]
    return without_noise(lines[marks[-1] + 1 :] if marks else lines)


def _killed(run: RunFolder, heartbeat: Heartbeat | None) -> CrashDiagnosis:
    if heartbeat is None:
        return CrashDiagnosis("The training process was killed right after its start.")
    total = memory_limit()
    held = f"{heartbeat.memory_bytes / 1e9:.1f}"
    if total and heartbeat.memory_bytes > _MUCH_MEMORY * total:
        words = "The training process was killed, probably out of memory: it used"
        return CrashDiagnosis(f"{words} {held} of {total / 1e9:.1f} GB.", suggestion_for(run))
    words = "The training process ended unexpectedly (killed, or power loss). It used"
    return CrashDiagnosis(f"{words} {held} GB of memory.")


def _last_error(lines: tuple[str, ...]) -> str:
    """The line that Python prints below a traceback, if the log ends with one."""
    starts = [i for i, line in enumerate(lines) if line.startswith("Traceback (most recent")]
    behind = lines[starts[-1] :] if starts else ()
    error = re.compile(r"[A-Za-z_.]+(Error|Exception|Exit)")
    return next((line[:300] for line in behind if error.match(line)), "")


def use_less(recipe: TrainingRecipe, *, batch_size: int = 0) -> Suggestion | None:
    """Recipe values that need less memory (than `batch_size`, if given); None if there are none."""
    batch_size = batch_size or recipe.batch_size
    changes: dict[str, object] = {}
    words = []
    if batch_size > 1:
        changes["batch_size"] = _half(batch_size)
        words.append(f"batch {changes['batch_size']:,}")
    if recipe.precision == "float32" and computes_bfloat16():
        changes["precision"] = "bfloat16"
        words.append("bfloat16")
    return Suggestion("Retry with " + " and ".join(words), changes) if changes else None


def _half(batch_size: int) -> int:
    """The power of two below, but at least a half: 100 -> 64, 128 -> 64."""
    return max(1, 1 << (batch_size - 1).bit_length() - 1)


# remote status -------------------------------------------------------------------------------
# Status of a run that another computer trains, as far as it is known locally.


def mirror_words(link: Link) -> str:
    """The state of a active run mirror beyond the events it brings; "" while they come."""
    words = link_words(link)
    if link.state == "lost":
        return f"{words} Training continues there; no results are lost."
    return words


def is_away(run: RunFolder, finished: RunFinished | None, *, has_just_begun: bool) -> bool:
    """Whether a run with a free lock, whose run mirror has ended, may go on elsewhere all the same.

    Args:
        run: The run.
        finished: Its last event, if that was its end.
        has_just_begun: Nothing was logged since it was started or resumed.
    """
    if read_remote(run) is None or (finished is not None and not has_just_begun):
        return False
    link = read_link(run)
    return link is None or link.state != "ended"


def away_words(run: RunFolder, step: int | None) -> str:
    """Sentence with the place of a run without a connection, or how it was lost, at `step` if
    known.
    """
    link, remote = read_link(run), read_remote(run)
    host = "another computer"
    if remote is not None:  # the address itself: the other text may say anything
        host = place_words(remote.choice()) or remote.host
    if link is not None and link.state == "gone":
        return gone_words(run, link, step)
    if link is not None and link.state == "refused":
        return f"{link_words(link)} The run may still be training on {host}; {_kept_words(run)}"
    return f"Training on {host}; not connected."


def gone_words(run: RunFolder, link: Link, step: int | None) -> str:
    """How a run was lost, and from where it can go on."""
    who = link.device or link.host or "The other computer"
    where = "" if step is None else f" at step {step:,}"
    return f"{who} was lost{where}; {_kept_words(run)}"


def never_arrived_words(link: Link) -> str:
    """Why a run never began elsewhere."""
    if link.state == "refused":
        return link_words(link)
    return f"It was terminated before the run started on {link.host or 'the other computer'}."


def _kept_words(run: RunFolder) -> str:
    state = newest_state(run)
    if state is None:
        return "no checkpoint on this computer."
    return f"last checkpoint on this computer: step {state.step:,}."


# resume point --------------------------------------------------------------------------------
# The point at which a run would resume, in words.


def resume_words(run: RunFolder) -> str:
    """Sentence about the next resume: "Resume continues at epoch 391 of 400 (checkpoint 14:41).";
    the epoch is the one that is trained next. Of a run whose checkpoint is only read.
    """
    state = newest_state(run)
    if state is None:
        return "There is no checkpoint: Resume starts at epoch 1."
    epochs, made = _planned(run), ""
    with contextlib.suppress(OSError):  # it was removed meanwhile
        made = f" (checkpoint {_clock(path_of(run, state).stat().st_mtime)})"
    if epochs and state.epochs_done >= epochs:
        return f"All {epochs:,} epochs are trained: Resume calibrates and tests the weights{made}."
    where = f"epoch {state.epochs_done + 1:,}" + (f" of {epochs:,}" if epochs else "")
    within = f", step {state.step + 1:,}" if state.epoch_training_s else ""
    return f"Resume continues at {where}{within}{made}."


def _planned(run: RunFolder) -> int:
    """All epochs that the run plans; 0 where that cannot be read."""
    try:
        recipe = run.request().project.get("recipe")
    except RunFolderError:
        return 0
    value = recipe.get("epochs") if isinstance(recipe, dict) else None
    return value if isinstance(value, int) else 0


def _clock(moment: float) -> str:
    then = local_time(moment)
    if then is None:
        return "of an unknown time"
    is_today = then.date() == datetime.now().astimezone().date()
    return then.strftime("%H:%M" if is_today else "%d %b %Y %H:%M")


# outcome -------------------------------------------------------------------------------------

__all__ = ["UNDER_WAY", "OutcomeKind", "RunOutcome", "outcome_of"]

OutcomeKind = Literal[
    "completed", "stopped", "paused", "failed", "died", "running", "silent", "waiting", "away"
]

_WORDS = {
    "died": "crashed",
    "waiting": "queued",
    "silent": "not responding",
    "away": "not connected",
}

UNDER_WAY: tuple[OutcomeKind, ...] = ("running", "silent", "waiting", "away")
"""Kinds of a run of which more may come."""

SILENT_AFTER_S = 10.0
"""A heartbeat comes every 2 s; after this long without one the trainer is reported as silent."""

_START_S = 20.0
_UNWRITABLE_AFTER_S = 4.0
_NO_SPACE_BYTES = 64 * 1024


def outcome_words(kind: str) -> str:
    """The kind of an outcome for people: "crashed", "queued"; "died" and "waiting" in JSON."""
    return _WORDS.get(kind, kind)


@dataclass(frozen=True)
class RunOutcome:
    """The state of a run.

    Attributes:
        kind: completed, stopped, paused (stopped to be resumed), failed (it logged why), died
            (it did not), running, silent (its process is there but logs nothing), waiting
            (in the queue), or away (another computer trains it, or did when it was last
            seen, and there is no connection to it).
        reason: Why, as a sentence; empty where there is nothing to explain.
        error: The trainer's own words about a failure.
        log_tail: The last lines it printed, for a run that failed or died.
        suggestion: What to try, as a button says it; None where nothing is known to help.
        can_resume: The run is over, and a checkpoint is kept from which it can go on.
        resumes: From where it would go on, as a sentence; "" where it cannot.
        can_train_longer: It is completed, and its checkpoint is kept: more epochs can follow.
        can_move: It can go on elsewhere, this computer included: what it was trained by is
            gone or not connected, or it is over and can be resumed.
        is_far: It is another computer that trains it, and `reason` is the state of the connection
            to it.
        is_unwritable: Nothing can be written into its folder, also not its weights.
        place: The address that reconnecting connects to, of a run that is away.
    """

    kind: OutcomeKind
    reason: str = ""
    error: ErrorParts | None = None
    log_tail: tuple[str, ...] = ()
    suggestion: Suggestion | None = None
    can_resume: bool = False
    resumes: str = ""
    can_train_longer: bool = False
    can_move: bool = False
    is_far: bool = False
    is_unwritable: bool = False
    place: str = ""

    @property
    def is_over(self) -> bool:
        """True when nothing more will come."""
        return self.kind not in UNDER_WAY

    def sentence(self) -> str:
        """The outcome in words."""
        return (
            self.reason
            or {
                "completed": "Training completed.",
                "stopped": "Training stopped; the weights are saved.",
                "paused": "Training paused; it can be resumed.",
                "failed": "Training failed.",
                "died": "The training process crashed.",
                "running": "Training is running.",
                "silent": "The training process does not respond.",
                "waiting": "The run is queued.",
                "away": "Training on another computer; not connected.",
            }[self.kind]
        )

    def __str__(self) -> str:
        return self.kind


_STARTING = RunOutcome("running", "The training process is starting.")


def outcome_of(run: RunFolder, history: MetricHistory | None = None) -> RunOutcome:
    """The state of a run now, by its `history` where that is known, else by the end of its log.
    Raises RunFolderError where its folder cannot be read.
    """
    fix = "Make it readable: how far the run is can be shown then."
    with os_errors_as(RunFolderError, "The run folder cannot be read.", run.path, fix=fix):
        found = _outcome_of(run, history)
        return replace(found, resumes=resume_words(run)) if found.can_resume else found


def _outcome_of(run: RunFolder, history: MetricHistory | None) -> RunOutcome:
    is_alive = run.is_alive()  # checked before the log: what was written last is then seen
    if not is_alive and is_waiting(run):
        words = waiting_words(num_before(run), starts_by_itself=starts_by_itself(run))
        return RunOutcome("waiting", words)
    tail = None if history is not None and history.finished else _LogEnd.read(run.events_path)
    finished = (history.finished if history else None) or (tail.finished if tail else None)
    has_just_begun = _has_just_begun(run)
    if is_alive and (has_just_begun or finished is None):
        return _brought(run, history, tail) if has_mirror(run) else _running(run, tail)
    if is_away(run, finished, has_just_begun=has_just_begun):
        words = away_words(run, _last_step(history, tail))
        place = place_words(place_of(run))
        return RunOutcome("away", words, can_move=True, is_far=True, place=place)
    if finished is not None:
        logged = _outcome_in_log(run, finished)
        return replace(logged, can_move=logged.can_resume)
    return _STARTING if _is_about_to_start(run) else _ended(run, tail)


def finished_of(run: RunFolder) -> RunFinished | None:
    """The last event of a run, if that was its end."""
    return _LogEnd.read(run.events_path).finished


def _ended(run: RunFolder, tail: _LogEnd | None) -> RunOutcome:
    """The state of a run whose trainer ended without a final event."""
    if (link := read_link(run)) is not None and read_remote(run) is None:
        return _never_arrived(run, link)
    death = cause_of_death(run, tail.heartbeat if tail else None)
    return RunOutcome(
        "died",
        death.words,
        log_tail=last_life(run.log_tail(max_lines=20)),
        suggestion=death.suggestion,
        can_resume=_can_go_on(run),
        can_move=_can_go_on(run),
    )


def _never_arrived(run: RunFolder, link: Link) -> RunOutcome:
    """Outcome of a run that never began elsewhere: that of a trainer that failed before its first
    step.
    """
    return RunOutcome(
        "failed" if link.state == "refused" else "died",
        never_arrived_words(link),
        link.error,
        tail_lines(run.mirror_log_path, max_lines=20),
        can_resume=True,
        can_move=True,
    )


def _brought(run: RunFolder, history: MetricHistory | None, tail: _LogEnd | None) -> RunOutcome:
    """The state of a run whose run mirror is running."""
    link = read_link(run)
    if link is None or (link.state in ("attached", "ended") and not link.words):
        return _running(run)
    if link.state == "gone":
        words = gone_words(run, link, _last_step(history, tail))
        return RunOutcome("silent", words, can_move=True, is_far=True)
    kind: OutcomeKind = "silent" if link.state == "lost" else "running"
    return RunOutcome(kind, mirror_words(link), is_far=True)


def _last_step(history: MetricHistory | None, tail: _LogEnd | None) -> int | None:
    if history is not None:
        return history.last_batch.step if history.last_batch is not None else None
    return tail.step if tail is not None else None


def can_resume(run: RunFolder) -> bool:
    """True when a run is over, but not completed, and can go on from where it was."""
    return outcome_of(run).can_resume


def _can_go_on(run: RunFolder) -> bool:
    """From a checkpoint; or from the start, where no epoch is lost by that."""
    return has_checkpoint(run) or not run.has_model()


def _outcome_in_log(run: RunFolder, finished: RunFinished) -> RunOutcome:
    if finished.outcome == "completed":
        return RunOutcome("completed", can_train_longer=has_checkpoint(run))
    is_resumable = finished.can_resume and _can_go_on(run)
    if finished.outcome == "stopped" and finished.is_paused and is_resumable:
        within = finished.ended_within
        words = ended_words("paused", finished.epochs_done, is_within=within)
        words = f"{words}; it can be resumed."
        return RunOutcome("paused", words, can_resume=True)
    if finished.outcome == "stopped":
        is_empty = not finished.epochs_done and not run.has_model()
        words = "Training was stopped before the first checkpoint." if is_empty else finished.reason
        return RunOutcome("stopped", words, can_resume=is_resumable)
    error = finished.error
    return RunOutcome(
        "failed",
        error.words if error else "",
        error,
        last_life(run.log_tail(max_lines=20)),
        suggestion_for(run) if error and error.kind == OutOfMemoryError.__name__ else None,
        is_resumable,
    )


def _has_just_begun(run: RunFolder) -> bool:
    """True while a trainer has not logged anything yet: the log is as it was when it started."""
    try:
        return log_bytes_at_start(run) == run.events_path.stat().st_size
    except OSError:
        return False


def _running(run: RunFolder, tail: _LogEnd | None = None) -> RunOutcome:
    try:
        silence_s = time.time() - run.events_path.stat().st_mtime
    except OSError:
        return _STARTING
    if _has_just_begun(run):
        return _STARTING
    # A write that fails for lack of room has set the time of the file all the same.
    logged = tail.time if tail is not None else 0.0
    quiet_s = max(silence_s, time.time() - logged if logged else 0.0)
    if quiet_s > _UNWRITABLE_AFTER_S and (cause := _why_unwritable(run)):
        words = (
            f"The run folder cannot be written: {cause}. Training continues, and ends with its "
            "weights in memory until they can be saved."
        )
        return RunOutcome("silent", words, is_unwritable=True)
    if silence_s < SILENT_AFTER_S:
        return RunOutcome("running")
    return RunOutcome(
        "silent",
        f"The training process has not responded for {silence_s:,.0f} s but is still "
        "alive: it is suspended, or the computer was asleep or is very busy.",
    )


def _why_unwritable(run: RunFolder) -> str:
    """Why nothing can be written beside the log; "" where it can."""
    try:
        disk = os.statvfs(run.path)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    if disk.f_flag & os.ST_RDONLY:
        return "the disk is read-only"
    if disk.f_bavail * disk.f_frsize < _NO_SPACE_BYTES:
        return "the disk is full"
    return "" if os.access(run.path, os.W_OK) else "no write permission"


def _is_about_to_start(run: RunFolder) -> bool:
    """Between making the folder and starting the trainer there is a moment without a lock."""
    if run.lock_path.exists() or run.events_path.exists():
        return False
    try:
        age_s = time.time() - run.request_path.stat().st_mtime
    except OSError:
        return False
    return 0 <= age_s < _START_S


@dataclass(frozen=True)
class _LogEnd:
    """The last finish, heartbeat and step near the end of an event log, and its last time."""

    finished: RunFinished | None = None
    heartbeat: Heartbeat | None = None
    step: int | None = None
    time: float = 0.0

    @classmethod
    def read(cls, path: Path) -> _LogEnd:
        finished: RunFinished | None = None
        heartbeat: Heartbeat | None = None
        step: int | None = None
        logged = 0.0
        # What follows the last line end is still being written.
        for line in tail_bytes(path, 4 * LINE_LIMIT).split(b"\n")[:-1]:
            event = decode_line(line)
            if event is not None:
                # Whatever comes behind a finish is of a trainer that went on.
                finished = event if isinstance(event, RunFinished) else None
                logged = event.time
            if isinstance(event, Heartbeat):
                heartbeat = event
            elif isinstance(event, Batch | EpochFinished):
                step = event.step
        return cls(finished, heartbeat, step, logged)
