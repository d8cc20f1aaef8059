"""Which problem has a card, and which layers the problems name: their cards show their names, or
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


@dataclass(frozen=True)
class Mentions:
    """Ids of layers that problems name.

    Attributes:
        named: In any message, or on a button of the problems that are shown.
        marked: By the problem that is looked at.
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
        """Of all problems of a graph; `shown` and `looked_at` are texts with those of buttons."""
        texts = " ".join([*(problem.message for problem in problems), *shown])
        return cls(named_in(texts, graph), named_in(looked_at, graph))


def problem_to_show(
    analysis: Analysis, shown: Folding, cards: Collection[str], selected: Sequence[str]
) -> Problem | None:
    """The worst problem of the one selected card, else the first of those on `cards` that stops
    training: the same as in the status line and at the head of each list.
    """
    own = problems_of(analysis, shown.layers_of(selected)) if len(selected) == 1 else ()
    if own and own[0].severity != "hint":
        return own[0]
    on_cards = (p for p in analysis.errors if p.node and shown.shown_id(p.node) in cards)
    return next(on_cards, None)
