"""Why a trainer ended without an event: its crash file, output, memory; and what would help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.storage.file_tail import tail_lines, without_noise
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.hardware.tpu_faults import fault_of
from workbench.host.memory import memory_limit
from workbench.protocol.events import Heartbeat, RunStarted
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import first_of
from workbench.runs.start import RESUMED_MARK
from workbench.targets.this_computer import computes_bfloat16

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
