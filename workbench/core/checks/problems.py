"""What a check finds: a problem at a node, in words, with fixes that can be applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.core.network.graph import Graph

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Fix:
    """One way to fix a problem.

    Attributes:
        key: Stable name, e.g. "insert_flatten".
        title: Words of its button, e.g. "Insert Flatten".
        apply: Graph -> fixed graph.
        recipe: Values of the recipe to change; empty for a fix of the graph.
        choose: Key of the data set's parameter that the user is asked for; "" for a fix that
            needs no choice. Only the window applies such a fix.
    """

    key: str
    title: str
    apply: Callable[[Graph], Graph] = field(compare=False, repr=False)
    recipe: Mapping[str, Any] = field(default_factory=dict, compare=False)
    choose: str = ""


@dataclass(frozen=True)
class Problem:
    """A finding about one node, or about the whole project where `node` is None.

    Attributes:
        node: Node id.
        severity: "error" stops training; "warning" and "hint" do not.
        title: Short heading, e.g. "Dense needs a flat input".
        message: The reason in words, naming the nodes on both sides.
        fixes: Best first.
    """

    node: str | None
    severity: Severity
    title: str
    message: str
    fixes: tuple[Fix, ...] = ()


def recipe_problem(severity: Severity, title: str, message: str, *fixes: Fix) -> Problem:
    """A finding about the recipe, not about a node."""
    return Problem(None, severity, title, message, fixes)


def recipe_fix(title: str, **values: Any) -> Fix:
    """A fix that sets values of the recipe."""
    return Fix("_".join(["set", *values]), title, lambda graph: graph, values)
