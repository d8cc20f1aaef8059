"""Why a run failed, in words: what TensorFlow, NumPy and the system raise, translated."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from typing import TypeVar

from workbench.errors import OutOfMemoryError, RunError, TpuError, WorkbenchError
from workbench.hardware.tpu_faults import Fault, fault_of
from workbench.protocol import wire
from workbench.protocol.bases import ErrorParts

_MAX_TEXT = 600
_OUT_OF_MEMORY = ("ResourceExhaustedError", "MemoryError", "_ArrayMemoryError")
_OUT_OF_MEMORY_WORDS = ("Operation received an exception:Status: 1,", "std::bad_alloc")
"""oneDNN's code for it, within TensorFlow's AbortedError; and C++'s."""


_READING_FAULTS: list[Exception] = []
"""What a thread of the input pipeline raised last while it read an image: TensorFlow turns that
into an error of its own that holds only the text."""

_Result = TypeVar("_Result")


def noting_faults(read: Callable[[], _Result]) -> _Result:
    """Calls `read` and keeps what it raises."""
    try:
        return read()
    except Exception as error:
        _READING_FAULTS[:] = [error]
        raise


class DivergedError(RunError):
    """The loss or the weights stopped being numbers.

    The step where `what` was seen counts from 1; half a sentence, or "", names where it was
    `found` to come from.
    """

    def __init__(self, what: str, step: int, learning_rate: float, found: str) -> None:
        more = f"; {found}" if found else ""
        super().__init__(
            f"Training diverged: {what} at step {step:,}{more}.",
            where=f"step {step:,}",
            received="NaN or infinity",
            expected="a finite loss",
            fix=f"Lower the learning rate (now {learning_rate:g}), or add a Rescaling or "
            "BatchNormalization layer after the input.",
        )


def is_out_of_memory(error: BaseException) -> bool:
    """True for what Python, NumPy, TensorFlow, oneDNN and C++ raise where memory runs out."""
    is_named = type(error).__name__ in _OUT_OF_MEMORY
    return is_named or any(words in str(error) for words in _OUT_OF_MEMORY_WORDS)


def error_parts(error: BaseException, *, batch_size: int = 0) -> ErrorParts:
    """An exception as the last event of a run holds it; a smaller batch size than that of the run
    is suggested when the memory ran out.
    """
    if isinstance(error, WorkbenchError):
        return wire.error_parts(error)
    fault = _READING_FAULTS[-1] if _READING_FAULTS else None
    if fault is not None and type(error).__module__.startswith("tensorflow."):
        return error_parts(fault, batch_size=batch_size)
    found = fault_of(f"{type(error).__name__}: {error}")
    if found is not None:
        return _of_tpu(found, error, batch_size)
    if is_out_of_memory(error):
        return _out_of_memory(error, batch_size)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ErrorParts(
            what="The disk is full.",
            where=str(error.filename or "the run folder"),
            received=error.strerror or "",
            fix="Free some space and resume the run.",
        )
    return ErrorParts(
        what=f"Unexpected error in the training process: {type(error).__name__}.",
        where=_where(error),
        received=_first_lines(str(error)),
        fix="The run log has the details.",
    )


def _of_tpu(found: Fault, error: BaseException, batch_size: int) -> ErrorParts:
    smaller = ""
    if found.suggests_smaller_batch and batch_size > 1:
        smaller = f"Use a batch size of {batch_size // 2:,} instead of {batch_size:,}. "
    return ErrorParts(
        what=found.words,
        where=_where(error),
        received=_first_lines(str(error)),
        fix=smaller + found.fix,
        kind=TpuError.__name__,
    )


def _out_of_memory(error: BaseException, batch_size: int) -> ErrorParts:
    smaller = max(1, batch_size // 2)
    fix = f"Use a batch size of {smaller:,} instead of {batch_size:,}, " if batch_size > 1 else ""
    return ErrorParts(
        what="Not enough memory on this computer for this training.",
        where="training",
        received=_first_lines(str(error)),
        expected="a model and a batch size that fit into memory",
        fix=f"{fix}{'or' if fix else 'Use'} a smaller model or smaller images.",
        kind=OutOfMemoryError.__name__,
    )


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "workbench" in frame.filename]
    return f"{ours[-1].name}, line {ours[-1].lineno}" if ours else ""


def _first_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:4])[:_MAX_TEXT]
