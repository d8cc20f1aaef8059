"""Proof of an export: it is read back by a process of its runtime and compared with the model."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import ExportReader
from workbench.errors import ChildDiedError, SaveError
from workbench.inference.runner import Labels, Pixels
from workbench.processes.child import Child, short_death
from workbench.processes.memory import available_memory

# comparison ----------------------------------------------------------------------------------
# How near the answers of an export are to the model's.

Values = np.ndarray[Any, np.dtype[Any]]
Places = np.ndarray[Any, np.dtype[np.int64]]

TOLERANCE = 1e-4
"""Largest difference of a float32 answer, absolute, or relative where answers are above 1.
TensorFlow's own difference, of one and eight images, is up to 5e-5."""

_NEAR = 0.1
"""A class of so little less probability is as good an answer, where numbers have 8 or 16 bits."""

_LEAST_AGREEMENT = 0.95
_MOST_MEAN = 0.1
"""What may be moved of an image's probability from class to class, in the mean of all images."""


@dataclass(frozen=True)
class Comparison:
    """Answers for the same images.

    Attributes:
        difference: The largest of a probability.
        agreement: Share of the images with the same most probable class.
        accuracy, model_accuracy: Shares of right classes; None without labels.
        reason: Why the answers do not agree; "" where they do.
    """

    difference: float
    agreement: float
    accuracy: float | None
    model_accuracy: float | None
    reason: str


def compare(
    expected: Values, found: Values, labels: Labels | None, *, is_exact: bool
) -> Comparison:
    """Compares probabilities (n, classes) for images with these labels (n,).

    Args:
        expected: The model's.
        found: The export's.
        labels: True classes where they are known.
        is_exact: As of ExportReader.
    """
    if found.shape != expected.shape or not np.isfinite(found).all():
        shape = f"answers of shape {found.shape}, not {expected.shape}"
        reason = shape if found.shape != expected.shape else "answers that are not finite"
        return Comparison(float("inf"), 0.0, None, None, reason)
    theirs, ours = found.argmax(axis=1), expected.argmax(axis=1)
    difference = float(np.abs(expected.astype(np.float64) - found).max())
    agreement = float((theirs == ours).mean())
    wrong = _inexact(expected, found) if is_exact else _coarse(expected, found)
    if labels is None:
        return Comparison(difference, agreement, None, None, wrong)
    accuracy, model_accuracy = float((theirs == labels).mean()), float((ours == labels).mean())
    return Comparison(difference, agreement, accuracy, model_accuracy, wrong)


def _inexact(expected: Values, found: Values) -> str:
    difference = float(np.abs(expected.astype(np.float64) - found).max())
    most = TOLERANCE * max(1.0, float(np.abs(expected).max()))
    return "" if difference <= most else f"a probability differs by {difference:.2g}"


def _coarse(expected: Values, found: Values) -> str:
    rows = np.arange(len(expected))
    lost = expected.max(axis=1) - expected[rows, found.argmax(axis=1)]
    share = float((lost <= _NEAR).mean())
    if share < _LEAST_AGREEMENT:
        return f"{1 - share:.0%} of the images get another class"
    moved = float(np.abs(expected.astype(np.float64) - found).sum(axis=1).mean() / 2)
    if moved > _MOST_MEAN:
        return f"probabilities differ by {moved:.0%} of an image in the mean"
    return ""


def worst_images(expected: Values, found: Values, count: int) -> Places:
    """Which images of some, at most so many, have answers (n, classes) that differ most."""
    if found.shape != expected.shape:
        return np.arange(min(count, len(expected)))
    gap = np.abs(expected.astype(np.float64) - found).max(axis=1)
    return np.argsort(-np.nan_to_num(gap, nan=np.inf), kind="stable")[:count]


def first_fault(
    expected: Mapping[str, Values], found: Mapping[str, Values], *, is_exact: bool
) -> str | None:
    """The first of some layers, by name in the order data flows, whose outputs differ by more than
    rounding; None where all are alike.
    """
    most = 1e-3 if is_exact else 0.25
    for name, ours in expected.items():
        theirs = found.get(name)
        if theirs is None or theirs.size != ours.size:
            return name
        size = float(np.sqrt(np.mean(np.square(ours, dtype=np.float64)))) + 1e-6
        gap = np.sqrt(np.mean(np.square(theirs.astype(np.float64).ravel() - ours.ravel())))
        if not gap <= most * size:
            return name
    return None


def noise(count: int, shape: Sequence[int]) -> Pixels:
    """Images of noise of a shape (height, width, channels), the same each time."""
    return np.random.default_rng(8).integers(0, 256, (count, *shape), dtype=np.uint8)


def compare_answers(ours: Any, theirs: Any, pictures: Pixels, what: str, where: str) -> float:
    """The largest difference between the answers of two Keras models for some images.

    Raises:
        SaveError: in the words `what`, where it is too large.
    """
    x = pictures.astype(np.float32)
    expected = np.asarray(ours(x, training=False), np.float64)
    difference = float(np.abs(expected - np.asarray(theirs(x, training=False), np.float64)).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise SaveError(
            what,
            where=where,
            received=f"a difference of {difference:.2g}",
            expected=f"at most {TOLERANCE:g}",
            fix="Please report this with the project file.",
        )
    return difference


# reading -------------------------------------------------------------------------------------
# Reading an export back: the process of a runtime, and what it finds.
#
# The process (`ExportRuntime.child`) is sent one order as JSON on stdin:
#     {"script", "model", "images", "answers", "forbidden": [module], "memory", "batch",
#     "timed"}; paths, but for numbers. `images` is an .npy file, uint8 (n, height, width,
#     channels).
#     `answers` is a folder, in which it writes the outputs as NAME.npy each, and "probabilities",
#     before any temperature, where `timed` images are timed.
# It answers with one JSON line on stdout, {"milliseconds", "peak_bytes"}: of one image, the median;
# of the process. It may take `memory` bytes, and end where an export cannot be read: the last line
# that it prints is shown.

PROBABILITIES = "probabilities"
_NUM_TIMED = 20
_BATCH = 32
_DEADLINE_S = 3600.0
_MEMORY_SHARE = 0.9


@dataclass(frozen=True)
class Reading:
    """What an export has answered in its own runtime.

    Attributes:
        answers: Its outputs by name; with PROBABILITIES where images were timed.
        milliseconds: For one image.
        peak_bytes: Peak memory of the process.
    """

    answers: dict[str, Values]
    milliseconds: float
    peak_bytes: int


def memory_to_give() -> int:
    """Bytes that a process of an export may take."""
    return int(_MEMORY_SHARE * available_memory())


def read_back(
    reader: ExportReader,
    model: Path,
    images: Path,
    check: Callable[[], None],
    *,
    is_timed: bool = True,
) -> Reading:
    """Has a process answer images with an export.

    Args:
        reader: How the format is read.
        model: The export, in a folder with its script.
        images: A file of images (.npy), uint8 (n, height, width, channels).
        check: Called while it is waited for; may raise to stop.
        is_timed: Probabilities and times are wanted, beside the outputs.

    Raises:
        SaveError: it cannot be read back; caused by a ChildDiedError where the process crashed.
    """
    answers = Path(tempfile.mkdtemp(dir=images.parent, prefix="answers-"))
    order = {
        "script": str(model.with_name(reader.runtime.script)),
        "model": str(model),
        "images": str(images),
        "answers": str(answers),
        "forbidden": [] if reader.needs_tensorflow else ["tensorflow"],
        "memory": memory_to_give(),
        "batch": _BATCH,
        "timed": _NUM_TIMED if is_timed else 0,
    }
    found = _run(json.dumps(order).encode(), reader, check)
    files = sorted(answers.glob("*.npy"))
    return Reading({file.stem: np.load(file) for file in files}, **found)


def _run(order: bytes, reader: ExportReader, check: Callable[[], None]) -> dict[str, Any]:
    """What the process answers to an order."""
    program = Path(__file__).resolve().with_name(reader.runtime.child)
    command = [*reader.runtime.command(), str(program)]
    try:
        with Child(
            command, name="its runtime", order=order, check=check, counts_work=True
        ) as child:
            found: dict[str, Any] = json.loads(child.answer(deadline_s=_DEADLINE_S))
    except ChildDiedError as error:
        raise SaveError(
            "The export was not written: its own runtime cannot read it.",
            where=reader.runtime.name,
            received=short_death(error),
            fix="Choose another format.",
        ) from error
    return found
