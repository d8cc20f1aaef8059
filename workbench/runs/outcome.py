"""How a run ended, or that it has not: a value that prints itself for people."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.protocol.events import Heartbeat, RunFinished
from workbench.protocol.messages import ErrorParts
from workbench.runs.event_log import LINE_LIMIT, decode_line
from workbench.runs.folder import RunFolder, tail_lines
from workbench.runs.history import MetricHistory

OutcomeKind = Literal[
    "completed", "stopped", "paused", "failed", "died", "running", "silent", "waiting"
]

SILENT_AFTER_S = 10.0
"""A heartbeat comes every 2 s; after this long without one the trainer is told as silent."""

_START_S = 20.0
_MUCH_MEMORY = 0.6
_SIGNALS = {
    "Segmentation fault": "a fault inside one of its libraries (segmentation fault)",
    "Aborted": "one of its libraries aborted it",
    "Bus error": "a memory fault (bus error)",
    "Illegal instruction": "a library that this processor cannot run (illegal instruction)",
    "Floating-point exception": "an arithmetic fault inside one of its libraries",
    "Floating point exception": "an arithmetic fault inside one of its libraries",
}


@dataclass(frozen=True)
class Suggestion:
    """What would probably help a run that failed: recipe values to train once more with."""

    words: str
    changes: Mapping[str, object]


@dataclass(frozen=True)
class RunOutcome:
    """How a run stands.

    Attributes:
        kind: completed, stopped, paused (stopped to be resumed), failed (it told why), died
            (it did not), running, silent (its process is there but says nothing), or
            waiting (for its turn in the queue).
        reason: Why, as a sentence; empty where there is nothing to explain.
        error: The trainer's own words about a failure.
        log_tail: The last lines it printed, for a run that failed or died.
        suggestion: What to try, as a button says it; None where nothing is known to help.
        can_resume: The run is over, and a checkpoint is kept from which it can go on.
    """

    kind: OutcomeKind
    reason: str = ""
    error: ErrorParts | None = None
    log_tail: tuple[str, ...] = ()
    suggestion: Suggestion | None = None
    can_resume: bool = False

    @property
    def is_over(self) -> bool:
        """True when nothing more will come."""
        return self.kind not in ("running", "silent", "waiting")

    def sentence(self) -> str:
        """The outcome in words."""
        return (
            self.reason
            or {
                "completed": "Training is completed.",
                "stopped": "Training was stopped; the weights are kept.",
                "paused": "Training is paused.",
                "failed": "Training failed.",
                "died": "The trainer ended without a word.",
                "running": "Training is running.",
                "silent": "The trainer is silent.",
                "waiting": "The run waits for its turn.",
            }[self.kind]
        )

    def __str__(self) -> str:
        return self.kind


def outcome_of(run: RunFolder, history: MetricHistory | None = None) -> RunOutcome:
    """How a run stands now.

    Args:
        run: The run.
        history: What is known of it already; else the end of its log is read.
    """
    is_alive = run.is_alive()  # asked before the log: what was written last is then seen
    tail = None if history is not None and history.finished else _LogEnd.read(run.events_path)
    finished = (history.finished if history else None) or (tail.finished if tail else None)
    if finished is not None:
        return _told(run, finished)
    heartbeat = tail.heartbeat if tail else None
    if is_alive:
        return _living(run)
    if _is_about_to_start(run):
        return RunOutcome("running", "The trainer is starting.")
    return RunOutcome("died", _cause_of_death(run, heartbeat), log_tail=run.log_tail(max_lines=20))


def _told(run: RunFolder, finished: RunFinished) -> RunOutcome:
    if finished.outcome == "completed":
        return RunOutcome("completed")
    if finished.outcome == "stopped":
        return RunOutcome("stopped")
    error = finished.error
    words = " ".join(filter(None, (error.what, error.fix))) if error else ""
    return RunOutcome("failed", words, error, run.log_tail(max_lines=20))


def _living(run: RunFolder) -> RunOutcome:
    try:
        silence_s = time.time() - run.events_path.stat().st_mtime
    except OSError:
        return RunOutcome("running", "The trainer is starting.")
    if silence_s < SILENT_AFTER_S:
        return RunOutcome("running")
    return RunOutcome(
        "silent",
        f"The trainer has said nothing for {silence_s:,.0f} s, but its process is there: "
        "it is paused, or the computer was asleep or is very busy.",
    )


def _is_about_to_start(run: RunFolder) -> bool:
    """Between making the folder and starting the trainer there is a moment without a lock."""
    if run.lock_path.exists():
        return False
    try:
        age_s = time.time() - run.request_path.stat().st_mtime
    except OSError:
        return False
    return 0 <= age_s < _START_S


def _cause_of_death(run: RunFolder, heartbeat: Heartbeat | None) -> str:
    if not run.log_path.exists():
        return "The trainer was never started."
    crash = "\n".join(tail_lines(run.crash_path, max_lines=400))
    for trace, words in _SIGNALS.items():
        if f"Fatal Python error: {trace}" in crash:
            return f"The trainer was ended by {words}."
    last_error = _last_error(run.log_tail(max_lines=40))
    if last_error:
        return f"The trainer ended with an error: {last_error}"
    return _killed(heartbeat)


def _killed(heartbeat: Heartbeat | None) -> str:
    if heartbeat is None:
        return "The trainer was killed before it could say anything."
    held = f"it held {heartbeat.memory_bytes / 1e9:.1f} GB up to 2 s before"
    total = memory_limit()
    if total and heartbeat.memory_bytes > _MUCH_MEMORY * total:
        return f"The trainer was killed (probably out of memory: {held})."
    return f"The trainer was killed from outside, or the computer was switched off ({held})."


def _last_error(lines: tuple[str, ...]) -> str:
    """The line that Python prints below a traceback, if the log ends with one."""
    starts = [i for i, line in enumerate(lines) if line.startswith("Traceback (most recent")]
    if not starts:
        return ""
    found = [
        line for line in lines[starts[-1] :] if re.match(r"[A-Za-z_.]+(Error|Exception|Exit)", line)
    ]
    return found[0][:300] if found else ""


def memory_limit() -> int:
    """Bytes of memory that a process here can have: the computer's, or its container's."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


@dataclass(frozen=True)
class _LogEnd:
    """The last finish and the last heartbeat near the end of an event log."""

    finished: RunFinished | None = None
    heartbeat: Heartbeat | None = None

    @classmethod
    def read(cls, path: Path) -> _LogEnd:
        finished: RunFinished | None = None
        heartbeat: Heartbeat | None = None
        for line in _last_lines(path):
            event = decode_line(line)
            if isinstance(event, RunFinished):
                finished = event
            elif isinstance(event, Heartbeat):
                heartbeat = event
        return cls(finished, heartbeat)


def _last_lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4 * LINE_LIMIT))
            data = file.read()
    except OSError:
        return []
    # What follows the last line end is still being written.
    return data.split(b"\n")[:-1]
