"""The problem that has a card, and the layers that problems name: their cards show their names, or
are marked. Qt-free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.problems import Problem
from workbench.core.network.folding import Folding
from workbench.core.network.graph import Graph
from workbench.core.network.text import named_in
from workbench.gui.design.canvas.node_facts import problems_of

Place = tuple[str | None, str]
"""Identifies a problem: id of its node, None for one of no single node, and its title."""


@dataclass(frozen=True)
class Mentions:
    """Ids of layers that problems name.

    Attributes:
        named: Layers named in any message, or on a button of the problems that are shown.
        marked: Layers named by the problem that is looked at.
    """

    named: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        graph: Graph,
        problems: Iterable[Problem],
        shown: Iterable[str],
        looked_at: str,
    ) -> Mentions:
        """Finds the layers of a graph that texts name.

        Args:
            graph: The network.
            problems: All its problems.
            shown: Texts of the problems that are shown, with those of their buttons.
            looked_at: Text of the problem that is looked at, with those of its buttons.
        """
        texts = " ".join([*(problem.message for problem in problems), *shown])
        return cls(named_in(texts, graph), named_in(looked_at, graph))


@dataclass
class Attention:
    """Which remarks people want to see.

    Attributes:
        opened: The problem, by its place, whose card was asked for, by pointing at its layer or by
            Train.
        closed: Those that there were when the card was closed.
    """

    opened: Place | None = None
    closed: frozenset[Place] = frozenset()

    def begin(self) -> None:
        """Forgets the problem whose card was asked for, as there is another network."""
        self.opened = None

    def open(self, problem: Problem) -> None:
        """Asks for the card of a problem."""
        self.opened = problem.place

    def close(self, problems: Iterable[Problem]) -> None:
        """Keeps the cards of these problems closed until one is asked for."""
        self.opened, self.closed = None, frozenset(problem.place for problem in problems)

    def problem_to_show(
        self, analysis: Analysis, shown: Folding, cards: Collection[str], selected: Sequence[str]
    ) -> Problem | None:
        """The problem that was asked for; else the worst one of the one selected card, else the
        first of those on `cards` that stops training: the same as in the status line and at the
        head of each list. What is only missing at the network's end has to be asked for.
        """
        on_cards = [p for p in analysis.problems if p.node and shown.shown_id(p.node) in cards]
        asked = [problem for problem in on_cards if problem.place == self.opened]
        own = problems_of(analysis, shown.layers_of(selected)) if len(selected) == 1 else ()
        others = [*(p for p in own[:1] if p.severity != "hint")]
        others += (problem for problem in on_cards if problem.stops_training)
        wanted = (p for p in others if not p.is_next and p.place not in self.closed)
        return asked[0] if asked else next(wanted, None)
