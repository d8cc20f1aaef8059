"""The runs on this computer: their list, the one looked at, starting and stopping.
QtCore only; folders are read and written in other threads.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QFile, QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.run_follower import RunFollower
from workbench.client.stop_ladder import StopLadder, end_trainer
from workbench.core.project import Project
from workbench.core.save import save_bytes
from workbench.errors import RunError, WorkbenchError
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.index import RunSummary, list_runs
from workbench.runs.start import reap, start_trainer

REFRESH_INTERVAL_MS = 3_000
IDLE_INTERVAL_MS = 15_000
"""The list is read this often while nothing trains: another window may start a run."""


class RunLibrary(QObject):
    """All runs of a home folder, newest first.

    Attributes:
        runs: The list as it was last read.
        current: Follower of the selected run, or None.

    Signals:
        runs_changed: `runs` is another list.
        current_changed: `current` is another follower, or None.
        run_started: Path of a run whose trainer was just started.
        run_ended: Path of a followed run that has just ended, and its RunOutcome.
        stop_offered: Path of a run that was asked to stop and is still there: it can be
            ended with `terminate`, and after that with `kill`.
        failed: A WorkbenchError: what was asked could not be done.
    """

    runs_changed = Signal()
    current_changed = Signal()
    run_started = Signal(str)
    run_ended = Signal(str, object)
    stop_offered = Signal(str)
    failed = Signal(object)

    def __init__(self, home: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._home = home
        self.runs: list[RunSummary] = []
        self.current: RunFollower | None = None
        self.is_starting = False
        self._followers: dict[Path, RunFollower] = {}
        self._ladders: dict[Path, StopLadder] = {}
        self._pids: dict[Path, int] = {}
        self._living: set[Path] = set()
        self._background = Background(self)
        self._is_listing = False
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)

    # the list ----------------------------------------------------------------------------

    def open(self) -> None:
        """Reads the list, follows the runs that still train, and keeps the list fresh."""
        self.refresh()
        self._timer.start()

    def close(self) -> None:
        """Stops following. Trainers go on: they are processes of their own."""
        self._timer.stop()
        for ladder in self._ladders.values():
            ladder.close()
        for follower in self._followers.values():
            follower.close()
        self._followers.clear()
        self._background.close()

    def refresh(self) -> None:
        """Reads the list again; `runs_changed` tells when it differs."""
        if self._is_listing:
            return
        self._is_listing = True
        home = self._home
        self._background.run(lambda: list_runs(home), self._on_listed, self._on_list_failed)

    def _on_listed(self, runs: list[RunSummary]) -> None:
        self._is_listing = False
        is_idle = all(summary.is_over for summary in runs)
        self._timer.setInterval(IDLE_INTERVAL_MS if is_idle else REFRESH_INTERVAL_MS)
        for summary in runs:
            if not summary.is_over:
                self._follow(summary.path)
        if self.current is None and runs:
            living = [summary for summary in runs if not summary.is_over]
            self.select((living or runs)[0].path)
        if runs != self.runs:
            self.runs = runs
            self.runs_changed.emit()

    def _on_list_failed(self, error: WorkbenchError) -> None:
        self._is_listing = False
        self.failed.emit(error)

    def _on_timeout(self) -> None:
        reap()
        self.refresh()

    def summary(self, path: Path | None) -> RunSummary | None:
        """The list's line of a run."""
        return next((summary for summary in self.runs if summary.path == path), None)

    def latest_model(self) -> RunSummary | None:
        """The newest run that can classify."""
        return next((summary for summary in self.runs if summary.has_model), None)

    # following ---------------------------------------------------------------------------

    def select(self, path: Path | str | None) -> None:
        """Makes a run the current one; None shows none."""
        wanted = Path(path) if path is not None else None
        before = self.current
        if before is not None and before.run.path == wanted:
            return
        self.current = self._follow(wanted) if wanted is not None else None
        if before is not None and before.is_over:
            self._forget(before.run.path)
        self.current_changed.emit()

    def follower(self, path: Path) -> RunFollower | None:
        """The follower of a run that is followed."""
        return self._followers.get(path)

    def _follow(self, path: Path) -> RunFollower:
        follower = self._followers.get(path)
        if follower is None:
            follower = RunFollower(RunFolder(path), self)
            self._followers[path] = follower
            follower.outcome_changed.connect(
                lambda outcome, follower=follower: self._on_outcome_changed(follower, outcome)
            )
            follower.start()
        return follower

    def _forget(self, path: Path) -> None:
        follower = self._followers.pop(path, None)
        if follower is not None:
            follower.close()
            follower.deleteLater()

    def _on_outcome_changed(self, follower: RunFollower, outcome: object) -> None:
        path = follower.run.path
        if not follower.is_over:
            self._living.add(path)
            self.refresh()
            return
        ladder = self._ladders.pop(path, None)
        if ladder is not None:
            ladder.close()
        if self._pids.pop(path, None) is not None:
            reap()
        if path in self._living:
            self._living.discard(path)
            self.refresh()
            self.run_ended.emit(str(path), outcome)
        if follower is not self.current:
            self._forget(path)

    # starting and stopping ---------------------------------------------------------------

    def start_run(self, project: Project, *, title: str = "", project_path: str = "") -> None:
        """Makes a run of the project and starts its trainer, in another thread.

        `run_started` and `current_changed` follow, or `failed` with the reason.
        """
        if self.is_starting:
            return
        self.is_starting = True
        home = self._home

        def work() -> tuple[Path, int]:
            run = create_run(project, title=title, project_path=project_path, home=home)
            return run.path, start_trainer(run)

        self._background.run(work, self._on_started, self._on_start_failed)

    def _on_started(self, started: tuple[Path, int]) -> None:
        self.is_starting = False
        path, pid = started
        self._pids[path] = pid
        self._living.add(path)
        self.select(path)
        self.refresh()
        self.run_started.emit(str(path))

    def _on_start_failed(self, error: WorkbenchError) -> None:
        self.is_starting = False
        self.failed.emit(error)

    def stop(self, path: Path | str | None = None) -> None:
        """Asks a run (the current one) to stop; its weights are kept.

        `stop_offered` follows when the trainer is still there after a while.
        """
        wanted = self._path(path)
        if wanted is None or wanted in self._ladders:
            return
        ladder = StopLadder(RunFolder(wanted), self._background, self)
        ladder.terminate_offered.connect(lambda: self.stop_offered.emit(str(wanted)))
        ladder.failed.connect(self.failed)
        self._ladders[wanted] = ladder
        ladder.ask()

    def is_stopping(self, path: Path | None) -> bool:
        """Whether a run was asked to stop here."""
        return path in self._ladders

    def terminate(self, path: Path | str | None = None) -> None:
        """Ends a run's trainer; it may still save what it has."""
        self._end(self._path(path), is_hard=False)

    def kill(self, path: Path | str | None = None) -> None:
        """Ends a run's trainer at once; what it has not saved is lost."""
        self._end(self._path(path), is_hard=True)

    def _end(self, path: Path | None, *, is_hard: bool) -> None:
        if path is None:
            return
        follower = self._followers.get(path)
        started = follower.history.started if follower is not None else None
        pid = self._pids.get(path, 0) or (started.pid if started is not None else 0)
        error = end_trainer(RunFolder(path), pid, is_hard=is_hard)
        if error is not None:
            self.failed.emit(error)

    def _path(self, path: Path | str | None) -> Path | None:
        if path is not None:
            return Path(path)
        return self.current.run.path if self.current is not None else None

    # renaming and deleting ---------------------------------------------------------------

    def rename(self, path: Path, title: str) -> None:
        """Gives a run other words; its folder keeps its name."""

        def work() -> None:
            run = RunFolder(path)
            request = msgspec.structs.replace(run.request(), title=title.strip())
            save_bytes(run.request_path, msgspec.json.format(msgspec.json.encode(request)))
            run.summary_path.unlink(missing_ok=True)

        self._background.run(work, lambda _none: self.refresh(), self.failed.emit)

    def delete(self, path: Path) -> None:
        """Moves a run that has ended to the trash."""

        def work() -> None:
            if RunFolder(path).is_alive():
                raise RunError("A run that still trains cannot be deleted.", fix="Stop it first.")
            if not QFile.moveToTrash(str(path)):
                raise RunError(
                    "The run could not be moved to the trash.",
                    where=str(path),
                    fix="Delete its folder with the file manager.",
                )

        self._background.run(work, lambda _none: self._on_deleted(path), self.failed.emit)

    def _on_deleted(self, path: Path) -> None:
        if self.current is not None and self.current.run.path == path:
            self.current = None
            self._forget(path)
            self.current_changed.emit()
        self.refresh()
