"""The runs on this computer: their list, the selected one, the ones shown beside it.
QtCore only; folders are read and written in other threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.client.run_follower import RunFollower, saves_weights
from workbench.client.trainer_control import TrainerControl
from workbench.errors import WorkbenchError
from workbench.protocol.events import EpochFinished, PhaseChanged, RunEvent
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder
from workbench.runs.home import is_own, runs_home
from workbench.runs.library.index import RunSummary, index_problem, list_runs
from workbench.runs.library.projects import OpenProject, default_models, keep_place
from workbench.runs.library.summary import with_epochs
from workbench.runs.library.trash import TrashedRun, restore_path, trash_run, trashed_runs
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import may_reattach, reap, reattach
from workbench.runs.state.outcome import RunOutcome
from workbench.runs.state.queue import start_next
from workbench.runs.store.notes import CardText, RunNotes, change_notes, write_words
from workbench.runs.trust import addresses_of, is_known, place_of

# run jobs ------------------------------------------------------------------------------------
# What the library of runs does in background threads. Qt-free.

_AGAIN_S = 60.0


class AwayRuns:
    """Reconnects to runs that go on elsewhere without a run mirror here, each at most once a
    minute: a run mirror that ends at once would do so again. Only to addresses that the user has
    agreed to connect to (`runs.trust`), as are those of all runs started here.
    """

    def __init__(self) -> None:
        self._tried: dict[Path, float] = {}

    def attach(self, runs: Iterable[RunSummary]) -> WorkbenchError | None:
        """Starts a run mirror for each run that is due; returns why one could not be started."""
        problem: WorkbenchError | None = None
        now = time.monotonic()
        for summary in runs:
            if summary.outcome != "away":
                continue
            if now - self._tried.get(summary.path, -_AGAIN_S) < _AGAIN_S:
                continue
            self._tried[summary.path] = now
            run = RunFolder(summary.path)
            try:
                if _may_attach(run):
                    reattach(run)
            except WorkbenchError as error:
                if not run.is_alive():  # else another process has started it
                    problem = error
        return problem


def _may_attach(run: RunFolder) -> bool:
    """Whether it may be connected to automatically: a run folder may come from elsewhere."""
    place = place_of(run)
    # Where there is no address to connect to, a trainer would be started here instead.
    is_far = bool(addresses_of(place)) and is_remote(run.project().target)
    return is_far and is_own(run.path) and is_known(place) and may_reattach(run)


def list_and_start_next(
    home: Path, away: AwayRuns
) -> tuple[list[RunSummary], WorkbenchError | None]:
    """The list, after reconnecting runs elsewhere and starting the next of the queue; why not."""
    runs = list_runs(home)
    problem = away.attach(runs) or index_problem(home)
    is_free = not any(run.outcome in ("running", "silent") and not run.on for run in runs)
    if not (is_free and any(run.queue_place for run in runs)):
        return runs, problem
    try:
        start_next(home)
    except WorkbenchError as error:
        return runs, error
    return list_runs(home), problem


# run library ---------------------------------------------------------------------------------

REFRESH_INTERVAL_MS = 3_000
IDLE_INTERVAL_MS = 15_000
"""The list is read this often while nothing trains: another window may start a run."""

LIVE = ("running", "silent", "away")
"""Outcomes of runs that train, here or elsewhere."""

SHOWN_INTERVAL_MS = 1_000
"""Least time between signals that runs shown beside the current one have grown."""


class RunLibrary(TrainerControl):
    """All runs of a home folder (the user's where none is named), newest first.

    Attributes:
        home: The folder that the runs are in.
        runs: The list as it was last read.
        project: The project whose runs come first; None while none is open, and all are alike.
        current: Follower of the selected run, or None.
        shown: Paths of the runs whose curves are shown beside the current one's.

    Signals:
        runs_changed: `runs` is another list.
        current_changed: `current` is another follower, or None.
        project_changed: `project` is another one, or has another name or file.
        shown_changed: `shown` is another set, or one of its histories is read or has grown.
        run_started: Path of a run whose trainer was just started here.
        run_queued: Path of a run that waits for its turn now.
        outcome_changed: Path of a followed run whose outcome is another than before.
        run_ended: Path of a followed run that has just ended, and its RunOutcome.
        weights_saved: Path of a followed run that has saved other weights to classify with.
        run_deleted, run_restored: Path of a run that was moved to the trash; and back from it.
    """

    runs_changed = Signal()
    current_changed = Signal()
    project_changed = Signal()
    shown_changed = Signal()
    run_started = Signal(str)
    run_queued = Signal(str)
    outcome_changed = Signal(str)
    run_ended = Signal(str, object)
    weights_saved = Signal(str)
    run_deleted = Signal(str)
    run_restored = Signal(str)

    def __init__(self, home: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(home or runs_home(), parent)
        self.runs: list[RunSummary] = []
        self.project: OpenProject | None = None
        self.current: RunFollower | None = None
        self.shown: set[Path] = set()
        self._followers: dict[Path, RunFollower] = {}
        self._running: set[Path] = set()
        self._is_listing = False
        self._list_problem = ""
        self._is_stale = False
        self._queue_problem = ""
        self._picked: Path | None = None
        self._away = AwayRuns()
        self._timer = QTimer(self, interval=REFRESH_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)
        self._shown_timer = QTimer(self, singleShot=True, interval=SHOWN_INTERVAL_MS)
        self._shown_timer.timeout.connect(self.shown_changed)

    # the list ----------------------------------------------------------------------------

    def open(self) -> None:
        """Reads the list, follows the runs that still train, and keeps the list fresh."""
        self.refresh()
        self._timer.start()

    def close(self) -> None:
        """Stops following. Trainers go on: they are processes of their own."""
        self._timer.stop()
        self._shown_timer.stop()
        for follower in self._followers.values():
            follower.close()
        self._followers.clear()
        super().close()

    def refresh(self) -> None:
        """Reads the list again; emits `runs_changed` when it differs.

        Where nothing trains any more, the next waiting run is started: its turn may have
        come with the death of a trainer that could not see to it.
        """
        if self._is_listing:
            self._is_stale = True
            return
        self._is_listing, self._is_stale = True, False
        home, away = self.home, self._away
        self._background.run(
            lambda: list_and_start_next(home, away), self._on_listed, self._on_list_failed
        )

    def _on_listed(self, found: tuple[list[RunSummary], WorkbenchError | None]) -> None:
        self._is_listing, self._list_problem = False, ""
        runs, problem = [self._as_followed(run) for run in found[0]], found[1]
        self._report_queue_problem(problem)
        running = [run for run in runs if run.outcome in LIVE]
        is_idle = not running and not any(run.queue_place for run in runs)
        self._timer.setInterval(IDLE_INTERVAL_MS if is_idle else REFRESH_INTERVAL_MS)
        for summary in running:
            self._follow(summary.path).go_on()
        is_other, self.runs = runs != self.runs, runs
        if self.current is None:
            self._select_own()
        if is_other:
            self.runs_changed.emit()
        if self._is_stale:
            self.refresh()

    def _report_queue_problem(self, problem: WorkbenchError | None) -> None:
        words = str(problem) if problem is not None else ""
        if problem is not None and words != self._queue_problem:  # once, not every 3 s
            self.failed.emit(problem)
        self._queue_problem = words

    def _on_list_failed(self, error: WorkbenchError) -> None:
        self._is_listing = False
        if str(error) != self._list_problem:  # not again each time that the list is read
            self._list_problem = str(error)
            self.failed.emit(error)

    def _on_timeout(self) -> None:
        reap()
        self.refresh()

    def summary(self, path: Path | None) -> RunSummary | None:
        """The list's line of a run."""
        return next((summary for summary in self.runs if summary.path == path), None)

    @property
    def has_own_model(self) -> bool:
        """A run of the open project can classify."""
        return any(run.has_model and self.is_own(run) for run in self.runs)

    def default_model(self) -> RunSummary | None:
        """The newest run of the open project that classifies where none was chosen."""
        own = [run for run in self.runs if self.is_own(run)]
        return next(iter(default_models(own)), None)

    def current_model(self) -> RunSummary | None:
        """The current run, where it can classify, and was chosen by the user or may answer unless
        another is chosen.
        """
        run = self.summary(self.current.run.path) if self.current is not None else None
        if run is None or not run.has_model:
            return None
        return run if run.path == self._picked or run in default_models(self.runs) else None

    # the project -------------------------------------------------------------------------

    def set_project(self, project: OpenProject | None) -> None:
        """Makes a project the open one; where it is another, its newest run the current one."""
        before, self.project = self.project, project
        if project == before:
            return
        if project is None or before is None or project.id != before.id:
            current = self.summary(self.current.run.path) if self.current is not None else None
            if current is None or not self.is_own(current):
                self._select_own()
            if before is not None:
                self._show_none_beside()
        self.project_changed.emit()

    def keep_place(self, project_id: str, path: str) -> None:
        """Keeps where a project's file is, for its runs."""
        self._change(lambda: keep_place(self.home, project_id, path))

    def is_own(self, run: RunSummary) -> bool:
        """Whether a run is of the open project; all are, while none is open."""
        return self.project is None or self.project.owns(run)

    def _select_own(self) -> None:
        """Selects the project's run that trains, else its newest; none where it has none."""
        own = [run for run in self.runs if self.is_own(run)]
        live = [run for run in own if run.outcome in LIVE]
        self.select(next((run.path for run in [*live, *own]), None))

    @property
    def is_training(self) -> bool:
        """Whether this computer trains any run of the list."""
        return any(run.outcome in ("running", "silent") and not run.on for run in self.runs)

    @property
    def held_up_by(self) -> RunSummary | None:
        """The run that is trained and saved, whose calibration or test holds the queue up."""
        runs = self.runs if self.num_waiting else []
        return next((run for run in runs if run.after and not run.on), None)

    @property
    def num_waiting(self) -> int:
        """How many runs wait for their turn."""
        return sum(run.queue_place > 0 for run in self.runs)

    # following ---------------------------------------------------------------------------

    def select(self, path: Path | str | None, *, by_user: bool = False) -> None:
        """Makes a run the current one, which may have been chosen by the user; None shows none."""
        wanted = Path(path) if path is not None else None
        self._picked = wanted if by_user else self._picked
        before = self.current
        if before is not None and before.run.path == wanted:
            return
        self.current = self._follow(wanted) if wanted is not None else None
        if before is not None:
            self._forget_unless_needed(before)
        self.current_changed.emit()

    def follower(self, path: Path) -> RunFollower | None:
        """The follower of a run that is followed."""
        return self._followers.get(path)

    def toggle_shown(self, path: Path | str) -> None:
        """Shows a run's curves beside the current one's, or no longer; `shown_changed` comes at
        once and again when its history is read.
        """
        path = Path(path)
        if path in self.shown:
            self.shown.discard(path)
            follower = self._followers.get(path)
            if follower is not None:
                self._forget_unless_needed(follower)
        else:
            self.shown.add(path)
            self._follow(path)
        self.shown_changed.emit()

    def _show_none_beside(self) -> None:
        """What was compared in one project is no comparison in another."""
        paths, self.shown = self.shown, set()
        for path in paths:
            if (follower := self._followers.get(path)) is not None:
                self._forget_unless_needed(follower)
        if paths:
            self.shown_changed.emit()

    def shown_histories(self) -> dict[Path, MetricHistory]:
        """The histories of the shown runs that have been read; only to be looked at."""
        followers = {path: self._followers.get(path) for path in sorted(self.shown)}
        return {
            path: follower.history
            for path, follower in followers.items()
            if follower is not None and follower.is_loaded
        }

    def _follow(self, path: Path) -> RunFollower:
        follower = self._followers.get(path)
        if follower is None:
            follower = RunFollower(RunFolder(path), self)
            self._followers[path] = follower
            follower.outcome_changed.connect(
                lambda outcome, follower=follower: self._on_outcome_changed(follower, outcome)
            )
            follower.loaded.connect(lambda: self._on_shown_read(path))
            follower.events_arrived.connect(lambda _events: self._on_shown_grew(path))
            follower.events_arrived.connect(lambda events: self._on_events(path, events))
            follower.start()
        return follower

    def _on_events(self, path: Path, events: list[RunEvent]) -> None:
        """The list has the figures of an epoch at once with the header and the plots."""
        if any(map(saves_weights, events)):
            self.weights_saved.emit(str(path))
        follower = self._followers.get(path)
        if follower is None:
            return
        if not any(isinstance(event, EpochFinished | PhaseChanged) for event in events):
            return
        runs = [self._as_followed(run) for run in self.runs]
        is_other, self.runs = runs != self.runs, runs
        if is_other:
            self.runs_changed.emit()

    def _as_followed(self, run: RunSummary) -> RunSummary:
        """A run's line; its epochs by its follower, where that has read more of the log."""
        follower = self._followers.get(run.path)
        if follower is None or not follower.is_loaded or run.outcome not in LIVE:
            return run
        return with_epochs(run, follower.history)

    def _on_shown_read(self, path: Path) -> None:
        if path in self.shown:
            self.shown_changed.emit()

    def _on_shown_grew(self, path: Path) -> None:
        if path in self.shown and not self._shown_timer.isActive():
            self._shown_timer.start()

    def _forget_unless_needed(self, follower: RunFollower) -> None:
        path = follower.run.path
        is_needed = follower is self.current or path in self.shown or path in self._running
        # One that is being read would have to be waited for.
        if follower.is_loaded and not is_needed and self._followers.pop(path, None) is not None:
            follower.close()
            follower.deleteLater()

    def _on_outcome_changed(self, follower: RunFollower, outcome: RunOutcome) -> None:
        self._take_outcome(follower, outcome)
        self.outcome_changed.emit(str(follower.run.path))

    def _take_outcome(self, follower: RunFollower, outcome: RunOutcome) -> None:
        path = follower.run.path
        if outcome.kind == "waiting":
            self.refresh()
            self._forget_unless_needed(follower)
            return
        if not outcome.is_over:
            self._running.add(path)
            self.refresh()
            return
        self._forget_asked(path)
        if path in self._running:
            self._running.discard(path)
            self.refresh()
            self.run_ended.emit(str(path), outcome)
        self._forget_unless_needed(follower)

    # starting and stopping ---------------------------------------------------------------

    def _on_started(self, path: Path) -> None:
        self._running.add(path)
        self.select(path)
        self._follow(path).go_on()
        self.refresh()
        self.run_started.emit(str(path))

    def _on_queued(self, path: Path) -> None:
        follower = self._followers.get(path)
        if follower is not None:
            follower.go_on()
        self.refresh()
        self.run_queued.emit(str(path))

    def stop(self, path: Path | str | None = None) -> None:
        """Requests a stop of a run (the current one), with `stop_offered` when it still runs after
        a while; its weights are kept. A queued one leaves the queue, and the list where it never
        began.
        """
        wanted = self._path(path)
        summary = self.summary(wanted)
        if summary is not None and summary.queue_place:
            self._cancel(summary.path)
        elif wanted is not None:
            self._ask(wanted, is_pause=False)

    def pause(self, path: Path | str | None = None) -> None:
        """Requests that a run (the current one) keeps a checkpoint and ends: see `resume`."""
        wanted = self._path(path)
        if wanted is not None:
            self._ask(wanted, is_pause=True)

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
        self._end_trainer(path, started.pid if started is not None else 0, is_hard=is_hard)

    def _path(self, path: Path | str | None) -> Path | None:
        if path is not None:
            return Path(path)
        return self.current.run.path if self.current is not None else None

    # notes and deleting ------------------------------------------------------------------

    def rename(self, path: Path, title: str) -> None:
        """Gives a run other words; its folder keeps its name."""
        self._change(lambda: change_notes(RunFolder(path), title=title))

    def set_notes(self, path: Path, notes: RunNotes) -> None:
        """Saves title, tags and text of a run's notes."""
        self._change(lambda: write_words(RunFolder(path), notes))

    def set_card(self, path: Path, card: CardText) -> None:
        """Saves what people wrote into a run's model card."""
        self._change(lambda: change_notes(RunFolder(path), card=card))

    def delete(self, path: Path) -> None:
        """Moves a run that has ended to the trash."""
        self._change(lambda: trash_run(RunFolder(path)), lambda: self._on_deleted(path))

    def restore(self, path: Path) -> None:
        """Puts a run back from the trash."""
        self._change(lambda: restore_path(path), lambda: self._on_restored(path))

    def look_in_trash(self, then: Callable[[list[TrashedRun]], None]) -> None:
        """Reads in another thread which deleted runs can be put back."""
        home = self.home
        self._background.run(lambda: trashed_runs(home), then, self.failed.emit)

    def _on_restored(self, path: Path) -> None:
        self.refresh()
        self.run_restored.emit(str(path))

    def _on_deleted(self, path: Path) -> None:
        if path in self.shown:
            self.toggle_shown(path)
        if self.current is not None and self.current.run.path == path:
            self.select(None)
        self.refresh()
        self.run_deleted.emit(str(path))
