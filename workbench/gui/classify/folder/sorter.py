"""Copies or moves the images of a classified folder into class folders, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.core.format import count, plural
from workbench.errors import WorkbenchError
from workbench.gui.kit.dialogs import ask_choice, ask_folder, ask_save_path, show_notice
from workbench.pictures.sorting import (
    Plan,
    Sorted,
    Undo,
    Undone,
    carry_out,
    make_plan,
    read_undo,
    undo,
)
from workbench.pictures.sorting.words import (
    foreign_words,
    kept_words,
    plan_words,
    sorted_words,
    undo_question,
    undone_words,
)
from workbench.runs.export.classified_table import save_classified
from workbench.runs.trust import undo_key

# table saver ---------------------------------------------------------------------------------
# Saves the predictions of a folder as a table, in a thread.

TABLES = "CSV table (*.csv);;Parquet table (*.parquet)"


class TableSaver(QObject):
    """Asks for a name, then writes the table.

    Args:
        widget: What the dialog is in front of.

    Signals:
        said(str): How it ended, in words.
        failed(WorkbenchError): It was not saved.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._background = Background(self, max_threads=1)

    def close(self) -> None:
        """Waits for what is being written."""
        self._background.close()

    def ask(self, rows: Path, name: str) -> None:
        """Lets the user choose a file for the rows of a CSV file; `name` is proposed."""
        chosen, _ = ask_save_path(
            self._widget, "Save as table", name, TABLES, kind="table", is_format_by_name=True
        )
        if chosen:
            path = Path(chosen)
            self._background.run(
                partial(save_classified, rows, path),
                lambda _done: self.said.emit(f"Saved as {path.name}."),
                self._on_failed,
            )

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)


# sorter --------------------------------------------------------------------------------------

Answers = Callable[[], list[tuple[str, str]]]

_COPY, _MOVE = 0, 1
_MOST_LINES = 12
_REPORT_EVERY = 32


class FolderSorter(QObject):
    """Plans, asks, sorts and takes back.

    Args:
        widget: What the questions are in front of.

    Signals:
        progressed(str): What is being done.
        said(str): How it ended, in words.
        failed(WorkbenchError): It ended early.
        busy_changed(bool): Whether something is being done, that `cancel` stops.
        relocated(dict): Where images are from now on, by the path they had.
        undo_changed(bool): Whether the latest sorting can be taken back.
    """

    progressed = Signal(str)
    said = Signal(str)
    failed = Signal(object)
    busy_changed = Signal(bool)
    relocated = Signal(object)
    undo_changed = Signal(bool)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._background = Background(self, max_threads=1)
        self._stop = Event()
        self._undo_file: Path | None = None
        self.is_busy = False

    def close(self) -> None:
        """Stops soon what is being done, and waits for that."""
        self._stop.set()
        self._background.close()

    def cancel(self) -> None:
        """Stops soon; what was done until then can be taken back."""
        self._stop.set()

    def forget(self) -> None:
        """Other images are shown: the undo file stays, its button does not."""
        self._set_undo(None)

    def ask(self, answers: Answers, model: str) -> None:
        """Lets the user choose a folder, then shows what would be done.

        Args:
            answers: Called in the thread: file and class of each image.
            model: Title of the model that has predicted the classes.
        """
        into = ask_folder(self._widget, "Sort into class folders", kind="pictures")
        if into and not self.is_busy:
            self._do("Planning", lambda: self._plan(answers, Path(into), model), self._on_planned)

    def ask_undo(self) -> None:
        """Asks whether the latest sorting is to be taken back."""
        path = self._undo_file
        if path is not None and not self.is_busy:
            self._do(
                "Reading the undo file",
                lambda: read_undo(path, sealer=undo_key),
                self._on_undo_read,
            )

    # steps -------------------------------------------------------------------------------

    def _plan(self, answers: Answers, into: Path, model: str) -> tuple[Plan, str]:
        plan = make_plan(answers(), into, check=self._check)
        return plan, plan_words(plan, model)

    def _on_planned(self, planned: tuple[Plan, str]) -> None:
        plan, words = planned
        if not plan.placements:
            show_notice(self._widget, "No image would be copied or moved.", words)
            return
        number = plural(len(plan.placements), "image")
        what = f"Sort {number} into {plan.into.name}?"
        choice = ask_choice(self._widget, what, words, ("Copy", "Move", "Cancel"))
        if choice in {_COPY, _MOVE}:
            is_move = choice == _MOVE
            doing = "Moving" if is_move else "Copying"
            work = lambda: self._sort(plan, is_move=is_move)  # noqa: E731
            self._do(doing, work, lambda done: self._on_sorted(plan, done, is_move=is_move))

    def _sort(self, plan: Plan, *, is_move: bool) -> Sorted:
        words = f"{'Moving' if is_move else 'Copying'} {{}} of {count(len(plan.placements))} images"
        return carry_out(plan, is_move=is_move, sealer=undo_key, progress=self._reporter(words))

    def _on_sorted(self, plan: Plan, done: Sorted, *, is_move: bool) -> None:
        self._set_undo(done.undo_file)
        if is_move:
            self.relocated.emit(done.moved)
        if done.error is not None:
            self.failed.emit(done.error)
            return
        self.said.emit(sorted_words(done, is_move=is_move, into=plan.into.name))

    def _on_undo_read(self, what: Undo) -> None:
        verb = "Put back" if what.is_move else "Delete"
        more = foreign_words(what) or "What was changed since stays where it is."
        if ask_choice(self._widget, undo_question(what), more, (verb, "Cancel")) == 0:
            doing = "Putting back image" if what.is_move else "Deleting copy"
            work = lambda: undo(what, progress=self._reporter(doing + " {}"))  # noqa: E731
            self._do(doing, work, lambda done: self._on_undone(what, done))

    def _on_undone(self, what: Undo, done: Undone) -> None:
        if done.is_complete:
            self._set_undo(None)
        self.said.emit(undone_words(what, done))
        if what.is_move:
            self.relocated.emit(done.moved)
        if done.kept:
            lines = [f"{Path(file).name}: {reason}" for file, reason in done.kept[:_MOST_LINES]]
            show_notice(self._widget, kept_words(what, done), "\n".join(lines))

    # the thread --------------------------------------------------------------------------

    def _do(self, words: str, work: Callable[[], object], done: Callable[..., None]) -> None:
        self._stop.clear()
        self._set_busy(is_busy=True)
        self.progressed.emit(words)

        def end(result: object) -> None:
            self._set_busy(is_busy=False)
            self.said.emit("")
            done(result)

        self._background.run(work, end, self._on_failed)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._set_busy(is_busy=False)
        self.failed.emit(error)

    def _reporter(self, words: str) -> Callable[[int], bool]:
        """Reports in the thread; whether to go on."""

        def report(number: int) -> bool:
            if number % _REPORT_EVERY == 0:
                self.progressed.emit(words.format(count(number)))
            return not self._stop.is_set()

        return report

    def _check(self) -> None:
        if self._stop.is_set():
            raise WorkbenchError("Canceled.")

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        self.busy_changed.emit(is_busy)

    def _set_undo(self, path: Path | None) -> None:
        self._undo_file = path
        self.undo_changed.emit(path is not None)
