"""The pictures of a run as one file, made by a worker: a source may need Keras to load."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from workbench.errors import DatasetError, RunError
from workbench.protocol.worker_command import worker_command, worker_environment
from workbench.runs.folder import RunFolder

_TELL_S = 0.5

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Parcel:
    """A packed data set on this computer."""

    sha: str
    path: Path
    size: int


_made: dict[Path, Parcel] = {}
"""What this process has packed, by the run's folder: a line that is cut while they are sent asks
again, and packing may take longer than such a line stands."""


def make_parcel(run: RunFolder, tell: Tell) -> Parcel:
    """Packs what a run trains on, once in a process; the same pictures give the same file.

    Args:
        run: The run.
        tell: Called with words and a fraction (negative: unknown).

    Raises:
        DatasetError: the pictures cannot be loaded.
        RunError: the worker ended without an answer.
    """
    known = _made.get(run.path)
    if known is not None and known.path.is_file():
        return known
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            worker_command("pack", str(run.path)),
            env=worker_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            answer = _answer(child, tell)
            child.wait()
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if answer is None:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
            raise RunError(
                "The pictures could not be packed for the other computer.",
                where=str(run.path),
                received=errors.read().decode("utf-8", "replace")[-1000:],
            )
    _made[run.path] = answer
    return answer


def _answer(child: subprocess.Popen[bytes], tell: Tell) -> Parcel | None:
    lines: queue.Queue[bytes | None] = queue.Queue()
    reader = threading.Thread(target=_read, args=(child.stdout, lines), daemon=True)
    reader.start()
    words, fraction = "Loading the pictures", -1.0
    while True:
        # Again also while it is silent: whoever is told looks whether it shall stop.
        tell(words, fraction)
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_TELL_S)
            if line is None:
                return None
            said = msgspec.json.decode(line, type=dict[str, Any])
            if "error" in said:
                raise DatasetError(**said["error"])
            if "parcel" in said:
                return Parcel(said["parcel"], Path(said["path"]), said["bytes"])
            known = said.get("fraction")
            words, fraction = said["progress"], -1.0 if known is None else known


def _read(output: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with output:
        for line in output:
            lines.put(line)
    lines.put(None)
