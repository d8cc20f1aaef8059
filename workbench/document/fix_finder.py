"""Finds the fixes of problems in slices: trying one takes as long as a check of the whole project,
and the window must not wait for all of them. QtCore only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.checks.problems import Fix, Problem

_LAYERS_A_TURN = 300
"""About 3 ms: to try a fix is to look at each layer again."""
_EACH_TRY = 10
"""What a try takes besides, as that many layers."""


class FixFinder(QObject):
    """Tries some fixes in each turn of the event loop, for all that show them.

    In a small network they are there at once, in a large one within some turns. A list
    of many problems requests one after another, so that the others get their turn.

    Signals:
        found(Problem): All fixes of a problem that was requested have been tried.
    """

    found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cost = _EACH_TRY
        self._left = _LAYERS_A_TURN
        self._has_turn = False
        self._is_just_edited = False
        self._searches: dict[int, tuple[Problem, Iterator[object]]] = {}
        self._earlier: dict[tuple[str | None, str], tuple[Fix, ...]] = {}

    def begin(self, problems: Iterable[Problem], num_layers: int) -> None:
        """Drops what is still to be tried: these are the problems now, in so many layers."""
        self._searches.clear()
        self._cost = num_layers + _EACH_TRY
        self._left = _LAYERS_A_TURN
        self._is_just_edited = True
        places = {problem.place for problem in problems}
        self._earlier = {key: self._earlier[key] for key in self._earlier if key in places}

    def fixes_of(self, problem: Problem) -> tuple[Fix, ...] | None:
        """The fixes that help. While they are being tried, those that helped before the last
        edit, or None for a problem that was not there: `found` follows.
        """
        key = id(problem)
        is_awaited = key in self._searches
        if problem.known_fixes is None:
            self._searches.setdefault(key, (problem, problem.search()))
            self._try(key)
            self._have_turn()
        if problem.known_fixes is None:
            return self._earlier.get(problem.place)
        if not is_awaited:
            self._searches.pop(key, None)
        self._earlier[problem.place] = problem.known_fixes
        return problem.known_fixes

    def _try(self, key: int) -> None:
        problem, steps = self._searches[key]
        while problem.known_fixes is None and self._left >= self._cost:
            next(steps)
            self._left -= self._cost

    def _have_turn(self) -> None:
        if not self._has_turn:
            self._has_turn = True
            QTimer.singleShot(0, self, self._on_turn)

    def _on_turn(self) -> None:
        self._has_turn = False
        # The first turn after an edit repaints, which takes all of its time.
        self._left = 0 if self._is_just_edited else max(_LAYERS_A_TURN, self._cost)
        self._is_just_edited = False
        while self._searches and self._left >= self._cost:
            key = next(iter(self._searches))
            self._try(key)
            problem = self._searches[key][0]
            if problem.known_fixes is not None:
                del self._searches[key]
                self.found.emit(problem)
        if self._searches:
            self._have_turn()
