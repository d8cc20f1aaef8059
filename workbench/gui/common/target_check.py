"""Whether the project's place to train is ready: checked when it is chosen, and before each run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal

from workbench.core.projects.project import Choice
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.runs.environment import refuse_unready
from workbench.runs.places import check_known

Answer = Callable[[WorkbenchError | None], None]


class TargetCheck(QObject):
    """Runs a target's probe in another thread, and keeps its last result. Of a target with an
    address that has not been confirmed, that is the result: nothing is probed.

    Threads of its own instead of a pool: a driver may take seconds to answer, and closing
    the window must not wait for that.

    Signals:
        changed: `problem` is another than before.
        answered: Number of a question, and its answer; from another thread.
    """

    changed = Signal()
    answered = Signal(int, object)

    def __init__(self, document: ProjectDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._last = 0
        self._waiting: dict[int, tuple[Choice, Answer | None]] = {}
        self._asked: Choice | None = None
        self.problem: WorkbenchError | None = None
        self.answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)
        document.target_changed.connect(self._on_target)
        document.project_replaced.connect(self._on_target)

    def ask(self, on_answer: Answer | None = None) -> None:
        """Looks at the project's place as it is now.

        Args:
            on_answer: Called with what is wrong with it; None for nothing.
        """
        choice = self._document.project.target
        self._last += 1
        self._waiting[self._last] = (choice, on_answer)
        number = self._last

        def look() -> None:
            problem = _problem_of(choice)
            with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
                self.answered.emit(number, problem)

        threading.Thread(target=look, name="target check", daemon=True).start()

    def close(self) -> None:
        """Drops all waiting answers."""
        self._waiting.clear()

    def _on_target(self) -> None:
        choice = self._document.project.target
        if choice == self._asked:
            return
        self._asked = choice
        self._set(None)  # what was said of another place counts no more
        self.ask()

    def _on_answered(self, number: int, problem: WorkbenchError | None) -> None:
        choice, on_answer = self._waiting.pop(number, (None, None))
        if choice is None:
            return
        if choice == self._document.project.target and number == self._last:
            self._set(problem)
        if on_answer is not None:
            on_answer(problem)

    def _set(self, problem: WorkbenchError | None) -> None:
        if str(problem) != str(self.problem):
            self.problem = problem
            self.changed.emit()


def _problem_of(choice: Choice) -> WorkbenchError | None:
    try:
        check_known(choice)
        refuse_unready(choice)
    except WorkbenchError as error:
        return error
    except OSError as error:
        return WorkbenchError(
            "The target could not be checked.", received=error.strerror or str(error)
        )
    return None
