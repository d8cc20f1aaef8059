"""Fixes are tried before they are offered: applied to the value, and what is left is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from workbench.core.checks.fixes import REMOVE, remove_fix
from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import WorkbenchError

MOST_OFFERED = 4

Left = tuple[int, int]
"""(problems that stop training, all problems) that are left after a fix."""


class Trial:
    """Tries the fixes of the problems that were found in a graph and a recipe.

    Args:
        graph, recipe: Where the problems were found.
        problems: All of them.
        find: The problems of another graph and recipe.
    """

    def __init__(
        self,
        graph: Graph,
        recipe: TrainingRecipe,
        problems: Sequence[Problem],
        find: Callable[[Graph, TrainingRecipe], Sequence[Problem]],
    ) -> None:
        self._graph, self._recipe = graph, recipe
        self._problems = problems
        self._find = find

    def choose(self, problem: Problem, offered: Iterable[Fix]) -> Iterator[tuple[Fix, ...] | None]:
        """Tries a fix in each step, then gives the first few that help: those that leave least
        come first, and removing a layer comes last. Where nothing else stops a layer from
        preventing training, its removal is one, if that leaves fewer problems.
        """
        found: dict[Fix, Left] = {}
        for fix in offered:
            left = None if fix in found else self._problems_after(problem, fix)
            if left is not None:
                found[fix] = left
            if len(found) == MOST_OFFERED:
                break
            yield None
        if not found and problem.stops_training and problem.node is not None:
            removal = remove_fix(problem.node, self._graph.nodes[problem.node].name)
            left = self._problems_after(problem, removal)
            if left is not None and left[1] < len(_counted(self._problems, problem)):
                found[removal] = left
        yield tuple(sorted(found, key=lambda fix: (fix.key == REMOVE, fix.order, found[fix])))

    def _problems_after(self, problem: Problem, fix: Fix) -> Left | None:
        """The problems that are left after a fix; None for one that fails, changes nothing, makes
        more problems than there were, or as many with this one still among them.
        """
        try:
            graph, recipe = fix.apply(self._graph), self._recipe.with_values(**fix.recipe)
        except WorkbenchError:
            return None
        if (graph, recipe) == (self._graph, self._recipe):
            return None
        before = _counted(self._problems, problem)
        after = _counted(self._find(graph, recipe), problem)
        if len(after) > len(before):
            return None
        if len(after) == len(before) and _is_among(problem, after):
            return None
        return sum(other.stops_training for other in after), len(after)


def _counted(problems: Sequence[Problem], fixed: Problem) -> list[Problem]:
    """The problems that count when one is fixed: a hint outweighs nothing that is worse."""
    return [each for each in problems if each.severity != "hint" or fixed.severity == "hint"]


def _is_among(problem: Problem, problems: Iterable[Problem]) -> bool:
    return any(other.place == problem.place for other in problems)
