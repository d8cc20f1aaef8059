"""A run in words: its state for the list, its phase for the header."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from workbench.client.run_library import RunLibrary
from workbench.core.format import count, local_time, plural
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.document.project_document import ProjectDocument
from workbench.gui.kit.dialogs import ask_choice
from workbench.runs.library.projects import OpenProject, full_name
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import ended_words
from workbench.runs.naming import SEPARATOR
from workbench.runs.state.outcome import RunOutcome

_SINGLE = str.maketrans("“”", "‘’")
_UNSAVED = "Weights held in memory, not saved"


def state_words(summary: RunSummary) -> str:
    """The second line of a run in the list."""
    if summary.verdict and summary.outcome in ("completed", "stopped"):
        return f"{summary.verdict} · {when(summary.created)}"
    match summary.outcome:
        case "running" | "silent" | "away":
            return _live_words(summary)
        case "waiting":
            return summary.words.rstrip(".")
        case "completed":
            return f"{plural(summary.epochs_done, 'epoch')} · {when(summary.created)}"
        case "stopped" | "paused":
            return _halted_words(summary)
    return f"{summary.state.capitalize()} · {summary.words}"


def _halted_words(summary: RunSummary) -> str:
    """A run that was stopped or paused."""
    has_begun = summary.seconds > 0
    within = summary.is_within
    words = ended_words(summary.outcome, summary.epochs_done, has_begun=has_begun, is_within=within)
    is_dated = summary.outcome == "stopped" and summary.epochs_done > 0
    return f"{words} · {when(summary.created)}" if is_dated else words


def quoted_name(run: RunSummary | None) -> str:
    """A run with its project, within a sentence; "the run" for one that is not listed yet."""
    return quoted(full_name(run)) if run is not None else "the run"


def elide_mode(name: str) -> Qt.TextElideMode:
    """Side at which the name of a run is shortened: one of settings at its end, which has what most
    runs have; a title is known by both its ends.
    """
    is_of_settings = name.count(SEPARATOR) > 1
    return Qt.TextElideMode.ElideRight if is_of_settings else Qt.TextElideMode.ElideMiddle


def quoted(name: str) -> str:
    """A name in quotes; those within it are single ones."""
    return f"“{name.translate(_SINGLE)}”"


def chip_words(run: RunSummary, history: MetricHistory | None) -> str:
    """A run that trains, for a window that shows another project: "Flowers: epoch 2 of 3"."""
    words = headline(history, None).words if history is not None else "training"
    return f"{run.project or run.label}: {words[:1].lower()}{words[1:]}"


def _live_words(summary: RunSummary) -> str:
    """A run that is not over, here or on another computer."""
    if summary.outcome == "away":
        return f"Not connected · training on {summary.on or 'another computer'}"
    if summary.is_unwritable:
        return "Its folder cannot be written · training continues"
    if summary.outcome == "silent":
        return (
            f"Connection to {summary.on} lost" if summary.on else "Not responding · process alive"
        )
    has_begun = summary.epochs_done > 0 or summary.seconds > 0
    if summary.epochs == 0 or not has_begun:
        return f"Starting on {summary.on}" if summary.on else "Starting"
    if summary.is_unsaved or summary.after or summary.epochs_done >= summary.epochs:
        saved = f"Weights saved · {summary.after or 'calibration and test'}"
        words = _UNSAVED if summary.is_unsaved else saved
        return f"{words} on {summary.on}" if summary.on else words
    epoch = summary.epochs_done + 1
    how_far = f"epoch {count(epoch)} of {count(summary.epochs)}"
    return f"{how_far.capitalize()} · on {summary.on}" if summary.on else f"Running · {how_far}"


def when(created: float) -> str:
    """A moment as people name it: the time today, else the day."""
    then, now = local_time(created), datetime.now().astimezone()
    if then is None:
        return "unknown"
    if then.date() == now.date():
        return then.strftime("today %H:%M")
    return then.strftime("%d %b %H:%M" if then.year == now.year else "%d %b %Y")


@dataclass(frozen=True)
class Headline:
    """What a run is doing or how it ended.

    Attributes:
        words: A few words.
        is_timed: A phase whose end is waited for: it is of interest how long it has taken so far.
    """

    words: str
    is_timed: bool = False


def headline(history: MetricHistory, outcome: RunOutcome | None) -> Headline:
    """What a run is doing or how it ended; as far as its events say where `outcome` is None."""
    if outcome is not None:
        if outcome.is_over:
            return Headline(_end_words(history, outcome))
        if outcome.kind == "waiting":
            return Headline(outcome.sentence().rstrip("."))
        if outcome.kind == "away":
            return Headline("Not connected")
        if outcome.is_far and outcome.kind == "silent":
            return Headline("Connection lost", is_timed=True)
        if history.started is None and outcome.reason and history.phase is None:
            return Headline(far_words(outcome)[0], is_timed=True)
    return _phase(history)


def far_words(outcome: RunOutcome) -> tuple[str, str]:
    """What is made ready on another computer: in a few words, and what there is more."""
    head, _, rest = outcome.reason.rstrip(".").partition(": ")
    return head, rest


def _phase(history: MetricHistory) -> Headline:
    started, phase = history.started, history.phase
    if started is not None and history.last_batch is not None and _is_training(history):
        return Headline(f"Epoch {count(history.progress.epoch)} of {count(started.epochs)}")
    words = "Starting the training process"
    if history.is_unsaved:
        words = _UNSAVED  # the banner says why
    elif phase is not None and phase.text:
        words = phase.text[:1].upper() + phase.text[1:]
    return Headline(words, is_timed=True)


def _end_words(history: MetricHistory, outcome: RunOutcome) -> str:
    if outcome.kind in ("completed", "stopped", "paused"):
        done = history.epochs[-1].epoch if history.epochs else 0
        has_begun = history.started is not None
        is_within = history.finished is not None and history.finished.ended_within
        return ended_words(outcome.kind, done, has_begun=has_begun, is_within=is_within)
    words = {"failed": "Training failed", "died": "Training crashed"}
    return words.get(outcome.kind, outcome.sentence())


def _is_training(history: MetricHistory) -> bool:
    return history.phase is None or history.phase.phase in ("training", "validating")


# project runs --------------------------------------------------------------------------------
# Reports the open project to the library of runs, and asks before another project's run is
# ended.


class ProjectRuns(QObject):
    """Follows a document: another project opened, begun, saved elsewhere."""

    def __init__(
        self, document: ProjectDocument, library: RunLibrary, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._library = library
        for news in (document.project_replaced, document.identity_changed, document.path_changed):
            news.connect(self._refresh)

    def _refresh(self) -> None:
        document = self._document
        if not document.project_id:  # a window that nothing was opened in yet
            self._library.set_project(None)
            return
        path = document.path
        if path is not None:
            self._library.keep_place(document.project_id, str(path))
        title = path.name.removesuffix(PROJECT_SUFFIX) if path is not None else ""
        where = str(path) if path is not None else ""
        self._library.set_project(OpenProject.of(document.project, where, title))


def may_end(library: RunLibrary, path: Path, window: QWidget, *, is_pause: bool = False) -> bool:
    """Whether a run may be ended: one of another project only when a person agrees to it by its
    name.
    """
    run = library.summary(path)
    if run is None or run.queue_place or library.is_own(run):
        return True
    verb, more = "Stop", "Its weights are saved after the current step."
    if is_pause:
        verb, more = "Pause", "A checkpoint is saved; the run can be resumed."
    words = f"This is a run of another project, not of the one that is open. {more}"
    choices = (f"{verb} this run", "Cancel")
    return ask_choice(window, f"{verb} {quoted_name(run)}?", words, choices, default=1) == 0
