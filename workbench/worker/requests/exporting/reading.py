"""Reading an export back: the process of a runtime, and what it finds.

The process (`ExportRuntime.child`) is sent one order as JSON on stdin:
    {"script", "model", "images", "answers", "forbidden": [module], "memory", "batch",
    "timed"}; paths, but for numbers. `images` is an .npy file, uint8 (n, height, width, channels).
    `answers` is a folder, in which it writes the outputs as NAME.npy each, and "probabilities",
    before any temperature, where `timed` images are timed.
It answers with one JSON line on stdout, {"milliseconds", "peak_bytes"}: of one image, the median;
of the process. It may take `memory` bytes, and end where an export cannot be read: the last line
that it prints is shown.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import ExportReader
from workbench.errors import ChildDiedError, SaveError
from workbench.processes.child import Child, short_death
from workbench.processes.memory import available_memory

Values = np.ndarray[Any, np.dtype[Any]]

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
