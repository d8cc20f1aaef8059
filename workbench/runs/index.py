"""The list of all runs, fast: a finished run's figures are cached beside it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.core.save import save_bytes
from workbench.errors import RunFolderError, SaveError
from workbench.protocol.events import EpochFinished, RunFinished, RunStarted
from workbench.runs.event_log import decode_line
from workbench.runs.folder import RunFolder
from workbench.runs.history import best_epoch
from workbench.runs.home import runs_home
from workbench.runs.outcome import outcome_of

_SUMMARY_VERSION = 1
_TAGS = tuple(
    f'"event":"{tag}"'.encode() for tag in ("run_started", "epoch_finished", "run_finished")
)


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of runs.

    Attributes:
        path: The run folder.
        name: Its last part.
        title: Words for people.
        outcome: completed, stopped, failed, died, running or silent.
        words: The outcome as a sentence.
        created: Seconds since the epoch.
        epochs_done, epochs: Finished and planned.
        best_val_accuracy, test_accuracy: 0..1 where known.
        has_model: Weights were kept: it can classify.
        log_bytes: Size of the event log these figures were read from.
    """

    path: Path
    name: str
    title: str
    outcome: str
    words: str
    created: float
    epochs_done: int = 0
    epochs: int = 0
    best_val_accuracy: float | None = None
    test_accuracy: float | None = None
    has_model: bool = False
    log_bytes: int = -1
    version: int = _SUMMARY_VERSION

    @property
    def is_over(self) -> bool:
        """True when nothing more will come."""
        return self.outcome not in ("running", "silent")


_decoder = msgspec.json.Decoder(RunSummary, dec_hook=lambda kind, value: kind(value))  # a Path


def list_runs(home: Path | None = None) -> list[RunSummary]:
    """All runs, newest first. Folders that are no runs are passed over."""
    home = home or runs_home()
    try:
        with os.scandir(home) as entries:
            folders = [RunFolder(Path(entry.path)) for entry in entries if entry.is_dir()]
    except OSError:
        return []
    summaries = (summarise(run) for run in folders)
    found = [summary for summary in summaries if summary is not None]
    return sorted(found, key=lambda summary: (summary.created, summary.name), reverse=True)


def summarise(run: RunFolder) -> RunSummary | None:
    """The figures of one run; None when the folder is not a readable run."""
    log_bytes = _size(run.events_path)
    cached = _cached(run, log_bytes)
    if cached is not None:
        return cached
    summary = _read(run, log_bytes)
    if summary is not None and summary.is_over and log_bytes == _size(run.events_path):
        # A read-only folder is listed all the same, only slower.
        with contextlib.suppress(SaveError):
            save_bytes(run.summary_path, msgspec.json.encode(summary, enc_hook=str))
    return summary


def _cached(run: RunFolder, log_bytes: int) -> RunSummary | None:
    try:
        summary = _decoder.decode(run.summary_path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # made anew
    if summary.log_bytes != log_bytes or summary.version != _SUMMARY_VERSION:
        return None
    # The folder may have been moved or renamed since.
    return msgspec.structs.replace(summary, path=run.path, name=run.name)


def _read(run: RunFolder, log_bytes: int) -> RunSummary | None:
    try:
        request = run.request()
    except RunFolderError:
        return None
    started: RunStarted | None = None
    finished: RunFinished | None = None
    epochs: list[EpochFinished] = []
    for line in _telling_lines(run.events_path):
        event = decode_line(line)
        if isinstance(event, RunStarted):
            started = event
        elif isinstance(event, EpochFinished):
            epochs.append(event)
        elif isinstance(event, RunFinished):
            finished = event
    outcome = outcome_of(run)
    best = best_epoch(epochs)
    return RunSummary(
        path=run.path,
        name=run.name,
        title=request.title,
        outcome=outcome.kind,
        words=outcome.sentence(),
        created=request.created,
        epochs_done=len(epochs),
        epochs=started.epochs if started else 0,
        best_val_accuracy=best.val_accuracy if best else None,
        test_accuracy=finished.test.accuracy if finished and finished.test else None,
        has_model=run.has_model(),
        log_bytes=log_bytes,
    )


def _telling_lines(path: Path) -> Iterator[bytes]:
    """The lines that the figures are made of, without decoding the batches between them."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n") and line.startswith(b"{") and _tag_of(line):
                    yield line
    except OSError:
        return


def _tag_of(line: bytes) -> bool:
    return any(tag in line[:200] for tag in _TAGS)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
