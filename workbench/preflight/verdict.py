"""The report in words: what was found, for which TPU, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.checks.problems import Problem
from workbench.core.format import memory_text
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.rules import batch_words
from workbench.protocol.preflight import ESTIMATE_WORDS, HONESTY, Level, Memory

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
