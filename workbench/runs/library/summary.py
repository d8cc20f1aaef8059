"""One line of the list of runs: a run's figures, from its request, notes and event log.

Of a run that has finished only the end of the log is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.checks.analysis import analyse
from workbench.core.projects.migrations import PROJECT_VERSION
from workbench.core.projects.project_file import parse_project
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import ProjectFileError, RunFolderError
from workbench.layers import all_layers
from workbench.protocol.events import EpochFinished, RunEvent, RunFinished
from workbench.runs.folder import RunFolder, RunRequest, tail_bytes
from workbench.runs.link import read_link, read_remote
from workbench.runs.log.event_log import decode_line
from workbench.runs.log.history import MetricHistory
from workbench.runs.state.outcome import UNDER_WAY, RunOutcome, outcome_of
from workbench.runs.state.queue import is_waiting, num_before, waiting_words
from workbench.runs.store.notes import read_notes

SUMMARY_VERSION = 3

_TAIL_BYTES = 32 * 1024
_STARTED, _EPOCH, _FINISHED = (
    f'{{"event":"{tag}"'.encode() for tag in ("run_started", "epoch_finished", "run_finished")
)
_SUMMARY_TAGS = (_STARTED, _EPOCH, _FINISHED)


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of runs.

    Attributes:
        path: The run folder.
        name: Its last part.
        title: Words for people: of the notes, else those it was started with.
        outcome: completed, stopped, paused, failed, died, running, silent, waiting or away.
        words: The outcome as a sentence.
        created: Seconds since the epoch.
        epochs_done, epochs: Finished and planned.
        best_val_accuracy, test_accuracy: 0..1 where known.
        best_loss: Validation loss of the best epoch.
        seconds: How long it has trained.
        images_per_second: Images per second in its last epoch.
        parameters: Numbers that the network learns and keeps.
        dataset: What it was trained on, in words.
        tags, note: What people wrote about it.
        has_model: Weights were kept: it can classify.
        can_resume: It is over, and can go on where it stopped.
        can_move: It can go on at another target, this computer included.
        on: The other computer that it is or was trained by; "" for this one.
        queue_place: 1 for the next of the waiting runs, 2, ...; 0 for one that does not wait.
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
    best_loss: float | None = None
    seconds: float = 0.0
    images_per_second: float | None = None
    parameters: int | None = None
    dataset: str = ""
    tags: list[str] = []
    note: str = ""
    has_model: bool = False
    can_resume: bool = False
    can_move: bool = False
    on: str = ""
    queue_place: int = 0

    @property
    def is_over(self) -> bool:
        """True when nothing more will come."""
        return self.outcome not in UNDER_WAY


def summarise(run: RunFolder) -> RunSummary | None:
    """The figures of one run, from its files; None when the folder is not a readable run."""
    try:
        request = run.request()
    except RunFolderError:
        return None
    notes = read_notes(run)
    place = num_before(run) + 1 if is_waiting(run) else 0
    history = _summary_history(run.events_path)
    outcome = RunOutcome("waiting", waiting_words(place - 1)) if place else outcome_of(run, history)
    finished, started = history.finished, history.started
    best = history.best
    last = history.epochs[-1] if history.epochs else None
    return RunSummary(
        path=run.path,
        name=run.name,
        title=notes.title or request.title,
        outcome=outcome.kind,
        words=outcome.sentence(),
        created=request.created,
        epochs_done=finished.epochs_done if finished is not None else len(history.epochs),
        epochs=started.epochs if started is not None else _planned_epochs(request),
        best_val_accuracy=best.val_accuracy if best else None,
        test_accuracy=finished.test.accuracy if finished and finished.test else None,
        best_loss=best.val_loss if best else None,
        seconds=history.elapsed_s,
        images_per_second=last.images_per_second if last is not None else None,
        parameters=_parameters(msgspec.json.encode(request.project.get("graph"))),
        dataset=dataset_words(request.project.get("dataset")),
        tags=notes.tags,
        note=notes.text,
        has_model=run.has_model(),
        can_resume=outcome.can_resume,
        can_move=outcome.can_move,
        on=_host_of(run),
        queue_place=place,
    )


def _host_of(run: RunFolder) -> str:
    """The computer that trains it: known from the link before it has arrived there."""
    link = read_link(run)
    if link is None:
        return ""
    remote = read_remote(run)
    return remote.host if remote is not None else link.host or "another computer"


def _summary_history(path: Path) -> MetricHistory:
    """What the figures are made of: all epochs, or of a finished run the last one."""
    history = MetricHistory()
    history.add_all(_end_of_finished(path) or _summary_events(path))
    return history


def _end_of_finished(path: Path) -> list[RunEvent]:
    """The last epoch and the finish of a log that ends with one; [] otherwise, and where the finish
    does not name the best of its epochs.
    """
    tail = tail_bytes(path, _TAIL_BYTES)
    start = tail.rfind(b"\n", 0, -1) + 1
    finished = decode_line(tail[start:-1]) if tail.startswith(_FINISHED, start) else None
    if not isinstance(finished, RunFinished) or not tail.endswith(b"\n"):
        return []
    if finished.best is None and finished.epochs_done:
        return []
    start = tail.rfind(b"\n" + _EPOCH) + 1
    epoch = decode_line(tail[start : tail.find(b"\n", start)]) if start else None
    return [epoch, finished] if isinstance(epoch, EpochFinished) else [finished]


def _summary_events(path: Path) -> Iterator[RunEvent]:
    """The events of a whole log that a summary uses, without decoding the batches between them;
    and the last one, of any kind: a trainer that logs anything has gone on after a finish.
    """
    last = b""
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # still being written
                last = line
                if line.startswith(_SUMMARY_TAGS) and (event := decode_line(line)) is not None:
                    yield event
    except OSError:
        return
    if not last.startswith(_SUMMARY_TAGS) and (event := decode_line(last)) is not None:
        yield event


def _planned_epochs(request: RunRequest) -> int:
    recipe = request.project.get("recipe")
    epochs = recipe.get("epochs", 0) if isinstance(recipe, dict) else 0
    return epochs if isinstance(epochs, int) else 0


def dataset_words(choice: Any) -> str:
    """“CIFAR-10”, “Image folder: flowers”, of {"key", "params"} as in a project file."""
    if not isinstance(choice, dict) or not isinstance(choice.get("key"), str):
        return ""
    key, params = choice["key"], choice.get("params")
    spec = all_datasets().get(key)
    if spec is None:
        return str(key)
    value = params.get(spec.source_param) if isinstance(params, dict) else None
    return f"{spec.title}: {Path(value).name}" if isinstance(value, str) and value else spec.title


@lru_cache(maxsize=512)
def _parameters(graph: bytes) -> int | None:
    """Parameters of a graph as JSON; None where it is no network. Many runs share one."""
    plain = {"format": "workbench-project", "version": PROJECT_VERSION}
    text = msgspec.json.encode({**plain, "graph": msgspec.Raw(graph)}).decode()
    try:
        project = parse_project(text, "request.json")
    except ProjectFileError:
        return None
    found = analyse(project.graph, all_layers(), recipe=TrainingRecipe())
    return found.costs.parameters.total
