"""Problems in words, each with its place and the buttons that fix it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.document.fix_finder import FixFinder
from workbench.gui.kit.buttons import WrappedButton, button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import ui_font
from workbench.gui.kit.widgets import Box

_ROLES = {"error": "problem", "unfinished": "notice", "warning": "notice", "hint": "hint"}
_MAX_FIXES = 3
MAX_SHOWN = 30
_BOXES_A_TURN = 3
"""About 5 ms, and as many as are seen at first in most places."""
_BOX_PX = 170
"""About the height of a box: room is kept for those that are still to come."""

_Key = tuple[str | None, str, int]


class ProblemBox(Box):
    """A box with title, reason and buttons.

    Attributes:
        problem: What it shows.
        fixes: All that may have a button: only the first few do.

    Signals:
        fix_chosen(Fix), chosen(Problem): What was clicked.
        hovered(Problem): The pointer is on it; None when it has left.
    """

    fix_chosen = Signal(object)
    chosen = Signal(object)
    hovered = Signal(object)

    def __init__(self, problem: Problem, fixes: tuple[Fix, ...], *, can_show: bool) -> None:
        super().__init__(_ROLES[problem.severity])
        self.problem, self.fixes = problem, fixes
        is_error = problem.severity == "error"
        title = plain_label(problem.title, role="bad" if is_error else "strong", wrap=True)
        title.setFont(ui_font(weight=600))
        self.column.addWidget(title)
        self.column.addWidget(plain_label(problem.message, wrap=True))
        buttons = [self._fix_button(place) for place in range(len(fixes[:_MAX_FIXES]))]
        if can_show and problem.node is not None:
            buttons.append(self._show_button())
        for each in buttons:
            self.column.addLayout(row(each, STRETCH))

    def _fix_button(self, place: int) -> QWidget:
        """The button of a fix: of the one that is there when it is pressed, which may do with other
        data what the first, of the same words, did.
        """
        result = WrappedButton(self.fixes[place].title)
        result.clicked.connect(lambda: self.fix_chosen.emit(self.fixes[place]))
        return result

    def _show_button(self) -> QWidget:
        result = button("Show", role="link")
        result.setAccessibleName(f"Show where: {self.problem.title}")
        result.clicked.connect(lambda: self.chosen.emit(self.problem))
        return result

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.hovered.emit(self.problem)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)


class ProblemList(QWidget):
    """A column of problem boxes. While it is shown it is filled from the top, a box as soon as
    its fixes are known, a few in each turn of the event loop.

    Args:
        finder: Finds the fixes; without one they are taken as the problems have them.

    Signals:
        fix_chosen(Fix), problem_chosen(Problem): What was clicked.
        problem_hovered(Problem): The pointer is on it; None when it has left.
        filled(): All boxes are there.
    """

    fix_chosen = Signal(object)
    problem_chosen = Signal(object)
    problem_hovered = Signal(object)
    filled = Signal()

    def __init__(self, finder: FixFinder | None = None, *, can_show: bool = True) -> None:
        super().__init__()
        self._finder = finder or FixFinder(self)
        self._can_show = can_show
        self._problems: dict[_Key, Problem] = {}
        self._boxes: dict[_Key, ProblemBox] = {}
        self._more = ""
        self._rest = plain_label(role="dim")
        self._column = column(self._rest, parent=self, spacing=8)
        self._has_turn = False
        self._finder.found.connect(self._fill)

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Shows these problems; the boxes of those that were there stay."""
        self._problems = _by_key(problems[:MAX_SHOWN])
        self._more = f"… and {len(problems) - MAX_SHOWN} more" if problems[MAX_SHOWN:] else ""
        kept = [key for key in self._problems if key in self._boxes]
        is_in_order = kept == [key for key in self._boxes if key in self._problems]
        for key in list(self._boxes):
            if key not in self._problems or not is_in_order:
                self._remove(key)
        self._keep_room()
        self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        """Adds a few boxes and goes on in another turn, or when more fixes are found."""
        if not self.isVisible():
            return
        missing, built = len(self._problems) - len(self._boxes), 0
        for place, (key, problem) in enumerate(self._problems.items()):
            fixes = self._finder.fixes_of(problem)
            if fixes is None:
                break
            if not self._has_box(key, problem, fixes):
                if built == _BOXES_A_TURN:
                    self._have_turn()
                    break
                self._put_box(place, key, problem, fixes)
                built += 1
            if problem.known_fixes is None:
                break
        self._keep_room()
        if missing and len(self._boxes) == len(self._problems):
            self.filled.emit()

    def _have_turn(self) -> None:
        if not self._has_turn:
            self._has_turn = True
            QTimer.singleShot(0, self, self._on_turn)

    def _on_turn(self) -> None:
        self._has_turn = False
        self._fill()

    def _has_box(self, key: _Key, problem: Problem, fixes: tuple[Fix, ...]) -> bool:
        box = self._boxes.get(key)
        if box is None or (box.problem, box.fixes) != (problem, fixes):
            return False
        box.problem, box.fixes = problem, fixes
        return True

    def _put_box(self, place: int, key: _Key, problem: Problem, fixes: tuple[Fix, ...]) -> None:
        """Adds the box of a problem behind those before it, or in the place of its last one."""
        self._remove(key)
        box = ProblemBox(problem, fixes, can_show=self._can_show)
        box.fix_chosen.connect(self.fix_chosen)
        box.chosen.connect(self.problem_chosen)
        box.hovered.connect(self.problem_hovered)
        self._column.insertWidget(place, box)
        box.show()  # now: until then a layout counts it as nothing
        self._boxes[key] = box
        self._boxes = {each: self._boxes[each] for each in self._problems if each in self._boxes}

    def _remove(self, key: _Key) -> None:
        if (box := self._boxes.pop(key, None)) is not None:
            self._column.removeWidget(box)
            box.hide()
            box.deleteLater()

    def _keep_room(self) -> None:
        """What is below the boxes stays where it will be, as far as that is known."""
        missing = len(self._problems) - len(self._boxes)
        self._rest.setMinimumHeight(missing * _BOX_PX)
        self._rest.setText("" if missing else self._more)
        self._rest.setVisible(bool(missing or self._more))


def _by_key(problems: Sequence[Problem]) -> dict[_Key, Problem]:
    """Problems by their place and title, counted where several have the same."""
    count: Counter[tuple[str | None, str]] = Counter()
    found: dict[_Key, Problem] = {}
    for problem in problems:
        found[*problem.place, count[problem.place]] = problem
        count[problem.place] += 1
    return found
