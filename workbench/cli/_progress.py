"""Progress of a run in a terminal: progress bars where there is one, lines elsewhere."""

from __future__ import annotations

from typing import Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from workbench.cli._output import console, print_line
from workbench.core.outside_text import one_line
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.pace import TimeLeft, left_words
from workbench.runs.log.texts import event_text


class RunPrinter:
    """Shows a run's events; use as a context manager around following it."""

    def __init__(self) -> None:
        self._console = console(is_result=False)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None
        self._phase = ""
        self._shown: set[str] = set()
        self._problem = ""
        self._spent: TimeSpent | None = None
        self._history = MetricHistory()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._progress.stop()

    def show(self, event: RunEvent) -> None:
        """Prints one event."""
        self._history.add(event)
        match event:
            case PhaseChanged():
                self._describe(event.text)
                self._phase_bar(event)
            case Batch():
                self._batch(event)
            case TimeSpent():
                self._spent = event
            case RunFinished() if self._spent is not None:
                self._say(event_text(self._spent))
        if self._is_shown(event):
            self._say(event_text(event, self._history.progress.epochs))
        if isinstance(event, RunStarted):
            self._say(f"Run folder: {event.run}")

    def _is_shown(self, event: RunEvent) -> bool:
        """Checkpoints are kept all the time: only trouble is printed, once, and its end."""
        if isinstance(event, CheckpointKept):
            before, self._problem = self._problem, event.problem.what if event.problem else ""
            return self._problem != before
        return not isinstance(event, PhaseChanged | TimeSpent)

    def _say(self, text: str) -> None:
        if not text:
            return
        if self._console.is_terminal:
            self._console.print(one_line(text), soft_wrap=True)
        else:
            print_line(text)

    def _describe(self, text: str) -> None:
        if text == self._phase:
            return
        self._phase = text
        if self._task is None:
            self._task = self._progress.add_task(one_line(text), total=None, words="")
        else:
            self._progress.update(self._task, description=one_line(text))
        step = text.partition(":")[0]  # without what counts on: "Preparing images: 16 of 1,797"
        if not self._console.is_terminal and step not in self._shown:
            self._shown.add(step)  # a phase can come back for a moment: printed only once
            print_line(step)

    def _phase_bar(self, event: PhaseChanged) -> None:
        """What is no part of an epoch has a bar of its own."""
        progress = self._history.phase_progress
        if self._task is None or progress is None:
            return
        left = progress.left_s
        words = [
            left_words(TimeLeft(left)) if left is not None else "",
            "Ctrl+C skips it" if event.can_skip else "",
        ]
        self._progress.update(
            self._task,
            total=1.0,
            completed=progress.fraction,
            words=" · ".join(filter(None, words)),
        )

    def _batch(self, event: Batch) -> None:
        if self._task is None:
            return
        progress = self._history.progress
        speed, left = progress.images_per_second, progress.left
        words = [
            f"loss {'NaN' if event.loss is None else f'{event.loss:.4f}'}",
            f"{speed:,.0f} images/s" if speed else "",
            left_words(left) if left is not None else "",
        ]
        self._progress.update(
            self._task,
            total=progress.total_steps,
            completed=event.step,
            words=" · ".join(filter(None, words)),
        )
