"""One line of the list of runs: a run's figures, from its request, notes and event log.

Of a run that has finished only the end of the log is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import PROJECT_SUFFIX, PROJECT_VERSION, parse_project
from workbench.core.storage.foreign_file import tail_bytes
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import ProjectFileError, WorkbenchError
from workbench.layers import all_layers
from workbench.protocol.events import EpochFinished, RunEvent, RunFinished
from workbench.runs.folder import RunFolder, RunRequest
from workbench.runs.link import read_link, read_remote
from workbench.runs.log.event_log import complete_lines, decode_line, left_out_words
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import saved_val_accuracy
from workbench.runs.naming import run_name, settings_words, source_words
from workbench.runs.state.outcome import UNDER_WAY, RunOutcome, outcome_of, outcome_words
from workbench.runs.state.queue import is_waiting, num_before, starts_by_itself, waiting_words
from workbench.runs.store.notes import read_notes
from workbench.runs.trust import place_words

SUMMARY_VERSION = 10

NETWORK = ("graph",)
REQUESTED = ("graph", "recipe", "dataset", "target")
"""Parts of a project, for `plain_key`."""

_TAIL_BYTES = 32 * 1024
_MOST = 2**53
"""The index has no room for numbers of hundreds of digits."""
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
        label: Its short name, by which all lists show it: "12 · lr 0.0003 · 32 epochs".
        own_title: The title that a person gave it; "" for none.
        number: Its number among the runs of its project, from 1; 0 for one without.
        project: Its project in words.
        project_id: The identity of its project; "" for a run of an earlier version.
        project_path: The file of its project; "" for one that was never saved.
        network_key, request_key: Equal for runs of the same network, of the same request.
        outcome: completed, stopped, paused, failed, died, running, silent, waiting or away.
        is_unwritable: It trains, and nothing can be written into its folder.
        words: The outcome as a sentence, and what the figures leave out of a very long log.
        verdict: What is wrong with how it has learned, in words; "" where nothing is.
        created: Seconds since the epoch.
        after: What goes on behind its last step, in words, while that is known; "" otherwise.
        is_unsaved: It holds its weights in memory: there is no room for them.
        epochs_done, epochs: Finished and planned.
        is_within: It ended within an epoch, some steps of which are done.
        best_val_accuracy: Validation accuracy of the best epoch, 0..1 where known.
        val_accuracy, test_accuracy: Accuracies of the weights that are saved, 0..1 where measured
            for them; while none are, the former of those that would be.
        keep: The recipe's value for the weights to save, "last" or "best".
        best_loss: Validation loss of the best epoch.
        learning_rate, batch_size: As requested; None where the request does not say.
        seconds: How long it has trained.
        images_per_second: Images per second in its last epoch.
        parameters: Numbers that the network learns and keeps.
        dataset: What it was trained on, in words.
        tags, note: What people wrote about it.
        has_model: Weights were kept: it can classify.
        can_resume: It is over, and can go on where it stopped.
        can_train_longer: It is completed, and more epochs can follow.
        can_move: It can go on at another target, this computer included.
        on: The other computer that it is or was trained by; "" for this one.
        is_readable: False where its files are damaged; `words` has the reason then.
        queue_place: 1 for the next of the waiting runs, 2, ...; 0 for one that does not wait.
        series: The cross-validation or sweep that it is of; "" for none.
        is_of_sweep: That is a sweep.
    """

    path: Path
    name: str
    title: str
    label: str = ""
    own_title: str = ""
    number: int = 0
    project: str = ""
    project_id: str = ""
    project_path: str = ""
    network_key: str = ""
    request_key: str = ""
    outcome: str
    is_unwritable: bool = False
    words: str
    verdict: str = ""
    created: float
    after: str = ""
    is_unsaved: bool = False
    epochs_done: int = 0
    epochs: int = 0
    is_within: bool = False
    best_val_accuracy: float | None = None
    val_accuracy: float | None = None
    test_accuracy: float | None = None
    keep: str = "last"
    best_loss: float | None = None
    learning_rate: float | None = None
    batch_size: int | None = None
    seconds: float = 0.0
    images_per_second: float | None = None
    parameters: int | None = None
    dataset: str = ""
    tags: list[str] = []
    note: str = ""
    has_model: bool = False
    can_resume: bool = False
    can_train_longer: bool = False
    can_move: bool = False
    on: str = ""
    queue_place: int = 0
    series: str = ""
    is_of_sweep: bool = False
    is_readable: bool = True

    @property
    def is_over(self) -> bool:
        """True when nothing more will come."""
        return self.outcome not in UNDER_WAY

    @property
    def state(self) -> str:
        """The outcome in a word or two for people, as "not responding"."""
        return "cannot save" if self.is_unwritable else outcome_words(self.outcome)


def summarise(run: RunFolder) -> RunSummary | None:
    """The figures of one run, from its files; None when the folder is no run. Never fails: one
    whose files have anything in them has a line with the reason, and the others have theirs.
    """
    try:
        run.request_path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unreadable(run, error.strerror or str(error))
    try:
        return _summary(run)
    except WorkbenchError as error:
        return _unreadable(run, f"{error.what} {error.received}".strip())
    except Exception as error:  # noqa: BLE001 - of files that may come from elsewhere
        return _unreadable(run, f"{type(error).__name__}: {error}")


def _unreadable(run: RunFolder, reason: str) -> RunSummary:
    try:
        created = run.path.stat().st_mtime
    except OSError:
        created = 0.0
    return RunSummary(
        path=run.path,
        name=run.name,
        title=run.name,
        label=run.name,
        outcome="failed",
        words=f"Cannot be read: {reason[:200]}",
        created=created,
        is_readable=False,
    )


def _summary(run: RunFolder) -> RunSummary:
    request = run.request()
    notes = read_notes(run)
    place = num_before(run) + 1 if is_waiting(run) else 0
    history = summary_history(run.events_path)
    outcome = _waiting(run, place) if place else outcome_of(run, history)
    finished, started = history.finished, history.started
    # One that names its best epoch needs no other.
    is_whole = finished is not None and finished.best is not None
    left_out = "" if is_whole else left_out_words(run.events_path)
    return RunSummary(
        path=run.path,
        name=run.name,
        title=notes.title or request.title,
        own_title=notes.title,
        **_of_request(request, notes.title),
        outcome=outcome.kind,
        is_unwritable=outcome.is_unwritable,
        words=" ".join(filter(None, (outcome.sentence(), left_out))),
        verdict=finished.verdict if finished is not None else "",
        epochs=started.epochs if started is not None else _planned_epochs(request),
        test_accuracy=finished.test.accuracy if finished and finished.test else None,
        seconds=history.elapsed_s,
        **_of_epochs(history, _keep(request)),
        parameters=_parameters(msgspec.json.encode(request.project.get("graph"))),
        dataset=dataset_words(request.project.get("dataset")),
        tags=notes.tags,
        note=notes.text,
        has_model=run.has_model(),
        can_resume=outcome.can_resume,
        can_train_longer=outcome.can_train_longer,
        can_move=outcome.can_move,
        on=_host_of(run),
        queue_place=place,
    )


def with_epochs(run: RunSummary, history: MetricHistory) -> RunSummary:
    """A run with the figures of these epochs and what follows them, which may be more than was
    logged when it was listed.
    """
    return msgspec.structs.replace(run, **_of_epochs(history, run.keep))


def _of_epochs(history: MetricHistory, keep: str) -> dict[str, Any]:
    """What an epoch, or what follows the last one, may change."""
    finished, best = history.finished, history.best
    phase = history.phase.text if history.phase and history.is_after_training else ""
    last = history.epochs[-1] if history.epochs else None
    return {
        "after": phase[:1].lower() + phase[1:],
        "is_unsaved": history.is_unsaved,
        "epochs_done": finished.epochs_done if finished else last.epoch if last else 0,
        "is_within": finished is not None and finished.ended_within,
        "best_val_accuracy": best.val_accuracy if best else None,
        "val_accuracy": saved_val_accuracy(
            finished.kept if finished is not None else None, keep, best, last
        ),
        "keep": keep,
        "best_loss": best.val_loss if best else None,
        "images_per_second": last.images_per_second if last is not None else None,
    }


def _of_request(request: RunRequest, own_title: str) -> dict[str, Any]:
    """What never changes of a run, but for its name, and whose it is."""
    return {
        "label": _label(request, own_title),
        "number": request.number,
        "project": _project_words(request),
        "project_id": request.project_id,
        "project_path": request.project_path,
        "network_key": plain_key(request.project, NETWORK),
        "request_key": plain_key(request.project, REQUESTED),
        "created": request.created,
        "learning_rate": _recipe_number(request, "learning_rate"),
        "batch_size": _recipe_number(request, "batch_size"),
        "series": request.series,
        "is_of_sweep": request.point is not None,
    }


def plain_key(project: Mapping[str, Any], parts: Sequence[str]) -> str:
    """A text that is equal for projects, as JSON values, whose `parts` are."""
    text = msgspec.json.encode([project.get(part) for part in parts], order="deterministic")
    return hashlib.sha256(text).hexdigest()[:16]


def _project_words(request: RunRequest) -> str:
    """A project as people call it: its file, else its title."""
    title = request.project.get("title")
    name = Path(request.project_path).name.removesuffix(PROJECT_SUFFIX)
    return name or (title if isinstance(title, str) else "") or request.title


def _label(request: RunRequest, own_title: str) -> str:
    """The short name of a run; one of an earlier version has no number, but its title."""
    words = [request.label] if request.label else _settings(request)
    if request.initial is not None:
        words = [f"from {request.initial.run}", *words]
    if not (request.number or request.label or own_title) and request.title:
        words = [request.title, *words]
    return run_name(request.number, own_title, words)


def _settings(request: RunRequest) -> list[str]:
    try:
        return settings_words(request.to_project(), request.differs, request.network)
    except ProjectFileError:
        return []


def _waiting(run: RunFolder, place: int) -> RunOutcome:
    words = waiting_words(place - 1, starts_by_itself=starts_by_itself(run))
    return RunOutcome("waiting", words)


def _host_of(run: RunFolder) -> str:
    """The computer that trains it: known from the link before it has arrived there."""
    link = read_link(run)
    if link is None:
        return ""
    remote = read_remote(run)
    if remote is None:
        return link.host or "another computer"
    return place_words(remote.choice()) or remote.host


def summary_history(path: Path) -> MetricHistory:
    """What the figures are made of: all epochs, or of a finished run the last one."""
    history = MetricHistory()
    history.add_all(_end_of_finished(path) or summary_events(path))
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


def summary_events(path: Path) -> Iterator[RunEvent]:
    """The events of a whole log that a summary uses, without decoding the batches between them;
    and the last one, of any kind: a trainer that logs anything has gone on after a finish.
    """
    last = b""
    for line in complete_lines(path):
        last = line
        if line.startswith(_SUMMARY_TAGS) and (event := decode_line(line)) is not None:
            yield event
    if not last.startswith(_SUMMARY_TAGS) and (event := decode_line(last)) is not None:
        yield event


def _planned_epochs(request: RunRequest) -> int:
    return int(_recipe_number(request, "epochs") or 0)


def _recipe_number(request: RunRequest, key: str) -> float | None:
    """A number of the requested recipe; None where it has none, or one out of bounds."""
    recipe = request.project.get("recipe")
    value = recipe.get(key) if isinstance(recipe, dict) else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if abs(value) <= _MOST else None


def _keep(request: RunRequest) -> str:
    recipe = request.project.get("recipe")
    return "best" if isinstance(recipe, dict) and recipe.get("keep") == "best" else "last"


def dataset_words(choice: Any) -> str:
    """The data set in words, as of `source_words`, from {"key", "params"} of a project file."""
    if not isinstance(choice, dict) or not isinstance(choice.get("key"), str):
        return ""
    params = choice.get("params")
    return source_words(Choice(choice["key"], params if isinstance(params, dict) else {}))


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
