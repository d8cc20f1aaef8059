"""What the dialogs of series share: a plan is queued, and the newest series looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.background import Background
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import button
from workbench.gui.kit.messages import ask_choice
from workbench.runs.environment import refuse_unready
from workbench.runs.library.series import Plan, begin_series
from workbench.runs.places import UnknownPlaceError, check_known, remember
from workbench.runs.state import queue

R = TypeVar("R")

_LOOK_MS = 1_000


class SeriesDialog(QDialog, Generic[R]):
    """A dialog of the series of one kind; R is what a look at one gives.

    Attributes:
        close_button: For the last line.
    """

    def __init__(
        self,
        context: WindowContext,
        title: str,
        size_px: tuple[int, int],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{title} — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*size_px)
        self._document, self._library = context.document, context.library
        self._background = Background(self, max_threads=2)
        self._series = ""
        self._looks = self._shown = 0  # the newest begun; the newest that counts
        self.close_button = button("Close")
        self.close_button.clicked.connect(self.reject)
        self._timer = QTimer(self, singleShot=True, interval=_LOOK_MS)  # several changes, one look
        self._timer.timeout.connect(self._look)
        self._library.runs_changed.connect(self._look_soon)
        self._document.identity_changed.connect(self._on_other_project)

    # what each dialog is -----------------------------------------------------------------

    def reader(self, series: str) -> Callable[[], tuple[str, R]]:
        """Reads, in another thread, a series, "" for the project's newest; returns which, "" for
        none, and what it has given.
        """
        raise NotImplementedError

    def show_found(self, found: R, *, is_first: bool) -> None:
        """Shows what a look has given; `is_first` where no series was shown before."""
        raise NotImplementedError

    def show_nothing(self) -> None:
        """Shows that there is no series, until a look has found one."""
        raise NotImplementedError

    def set_queuing(self, *, is_queuing: bool) -> None:
        """Sets whether runs are being queued: until then nothing else can be."""
        raise NotImplementedError

    def show_begun(self) -> None:
        """A series is in the queue."""
        raise NotImplementedError

    def show_failure(self, words: str) -> None:
        """Shows why nothing was queued."""
        raise NotImplementedError

    # beginning a series ------------------------------------------------------------------

    def begin(self, plan: Plan, *targets: Choice) -> None:
        """Queues the runs of a plan, on these targets, or on the project's own."""
        path, home = self._document.path, self._library.home
        title = path.name.removesuffix(PROJECT_SUFFIX) if path else plan.project.title
        self.set_queuing(is_queuing=True)

        def work() -> str:
            wanted = targets or (plan.project.target,)
            check_known(*wanted, plan.project.dataset)
            for target in wanted:
                refuse_unready(target)
            where = str(path) if path else ""
            series = begin_series(plan, title=title, project_path=where, home=home)
            queue.start_next(home)
            return series

        def fail(error: WorkbenchError) -> None:
            self._on_failed(error, lambda: self.begin(plan, *targets))

        self._background.run(work, self._on_begun, fail)

    def _on_begun(self, series: str) -> None:
        self._take_series(series)
        self.set_queuing(is_queuing=False)
        self.show_begun()
        self._library.refresh()
        self._look()

    def _on_failed(self, error: WorkbenchError, again: Callable[[], None]) -> None:
        self.set_queuing(is_queuing=False)
        self.show_failure(str(error))
        if not isinstance(error, UnknownPlaceError):
            return
        words = f"{error.fix} Nothing has been sent there so far."
        choices = (f"Connect to {error.where}", "Cancel")
        if ask_choice(self, error.what, words, choices, default=1) == 0:
            try:
                remember(*error.targets)
            except SaveError as unsaved:
                self.show_failure(str(unsaved))
                return
            again()

    # looking at it -----------------------------------------------------------------------

    def _on_other_project(self) -> None:
        self._take_series("")
        self.show_nothing()
        self._look()

    def _take_series(self, series: str) -> None:
        """Takes another series, "" for the project's newest; looks that are under way no longer
        count.
        """
        self._series, self._shown = series, self._looks

    def _look_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        """Reads the runs of the series in another thread."""
        self._looks += 1
        number = self._looks
        read = self.reader(self._series)
        self._background.run(read, lambda found: self._on_looked(number, *found))

    def _on_looked(self, number: int, series: str, found: R) -> None:
        if number <= self._shown:
            return  # two are under way at a time: an older one may end later
        self._shown = number
        is_first = not self._series and bool(series)
        self._series = series
        self.show_found(found, is_first=is_first)

    def done(self, result: int) -> None:
        """However it is closed: it is gone from the screen at once, and deleted once nothing reads
        or queues any more. The runs go on.
        """
        self._timer.stop()
        self.hide()
        self._background.close_soon(partial(super().done, result))
