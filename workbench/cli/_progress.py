"""A run told to people in a terminal: progress bars where there is one, lines elsewhere."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from workbench.cli._output import printable, tell
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.event_text import checkpoint_words, resumed_words, time_words


class RunTeller:
    """Shows a run's events; use as a context manager around following it."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None
        self._phase = ""
        self._told: set[str] = set()
        self._checkpoint_problem = ""
        self._spent: TimeSpent | None = None
        self._epochs = 0
        self._steps_per_epoch = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._progress.stop()

    def show(self, event: RunEvent) -> None:
        """Tells one event."""
        if isinstance(event, RunStarted):
            self._started(event)
        elif isinstance(event, PhaseChanged):
            self._describe(event.text)
        elif isinstance(event, DataReady):
            self._data_ready(event)
        elif isinstance(event, Batch):
            self._batch(event)
        elif isinstance(event, EpochFinished):
            self._say(epoch_sentence(event, self._epochs))
        elif isinstance(event, LogLine):
            self._say(event.text)
        elif isinstance(event, TimeSpent):
            self._spent = event
        elif isinstance(event, CheckpointKept):
            self._checkpoint(event)
        elif isinstance(event, RunFinished):
            self._finished(event)

    def _started(self, event: RunStarted) -> None:
        self._epochs = event.epochs
        for words in (resumed_words(event), event.plan.words):
            if words:
                self._say(f"{words}.")
        self._say(f"Run folder: {event.run}")

    def _checkpoint(self, event: CheckpointKept) -> None:
        """Checkpoints are kept all the time: only trouble is told, once, and its end."""
        problem = event.problem.what if event.problem is not None else ""
        if problem != self._checkpoint_problem:
            self._checkpoint_problem = problem
            words = checkpoint_words(event)
            self._say(f"{words[:1].upper()}{words[1:]}")

    def _finished(self, event: RunFinished) -> None:
        if self._spent is not None and time_words(self._spent):
            self._say(f"Time: {time_words(self._spent)}. {self._spent.advice}".rstrip())
        self._say(finish_sentence(event))

    def _say(self, text: str) -> None:
        if self._console.is_terminal:
            self._console.print(printable(text), soft_wrap=True)
        else:
            tell(text)

    def _describe(self, text: str) -> None:
        if text == self._phase:
            return
        self._phase = text
        if self._task is None:
            self._task = self._progress.add_task(printable(text), total=None, words="")
        else:
            self._progress.update(self._task, description=printable(text))
        if not self._console.is_terminal and text not in self._told:
            self._told.add(text)  # a phase can come back for a moment: news only once
            tell(text)

    def _data_ready(self, event: DataReady) -> None:
        self._steps_per_epoch = event.steps_per_epoch
        self._say(
            f"{event.num_train:,} training, {event.num_validation:,} validation and "
            f"{event.num_test:,} test images, {len(event.class_names)} classes."
        )
        for path, reason in event.bad_files[:10]:
            self._say(f"Skipped {path}: {reason}")
        if len(event.bad_files) > 10:
            self._say(f"... and {len(event.bad_files) - 10:,} more images skipped.")

    def _batch(self, event: Batch) -> None:
        if self._task is None:
            return
        loss = "NaN" if event.loss is None else f"{event.loss:.4f}"
        self._progress.update(
            self._task,
            total=self._epochs * self._steps_per_epoch,
            completed=event.step,
            words=f"loss {loss} · {event.images_per_second:,.0f} images/s",
        )


def epoch_sentence(event: EpochFinished, epochs: int) -> str:
    """One epoch in a line."""
    parts = [f"Epoch {event.epoch} of {epochs}:"]
    for title, value, form in (
        ("loss", event.loss, ".4f"),
        ("accuracy", event.accuracy, ".1%"),
        ("validation loss", event.val_loss, ".4f"),
        ("validation accuracy", event.val_accuracy, ".1%"),
    ):
        if value is not None:
            parts.append(f"{title} {value:{form}}")
    parts.append(f"in {event.seconds:.1f} s, {event.images_per_second:,.0f} images/s")
    return " ".join(parts)


def finish_sentence(event: RunFinished) -> str:
    """How a run ended."""
    if event.error is not None:
        return " ".join(filter(None, (event.error.what, event.error.fix)))
    epochs = "1 epoch" if event.epochs_done == 1 else f"{event.epochs_done} epochs"
    outcome = "paused" if event.is_paused else event.outcome
    words = f"The run {outcome} after {epochs}, {event.seconds:.0f} s."
    if event.test is not None and event.test.accuracy is not None:
        words += f" Test accuracy {event.test.accuracy:.1%}."
    return words
