"""What a check finds: a problem at a node, in words, with fixes that can be applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal, cast

from workbench.core.network.graph import Graph

Severity = Literal["error", "unfinished", "warning", "hint"]

SEVERITIES: tuple[Severity, ...] = ("error", "unfinished", "warning", "hint")
"""Worst first."""

SEVERITY_WORDS: Mapping[Severity, str] = {
    **{severity: severity for severity in SEVERITIES},
    "unfinished": "not finished",
}
"""Severity -> word that people read."""


ANOTHER_SOURCE = "*"
"""In place of a parameter's key: another data set is chosen."""


@dataclass(frozen=True)
class Fix:
    """One way to fix a problem.

    Attributes:
        key: Stable name, e.g. "insert_flatten".
        title: Words of its button, e.g. "Insert Flatten".
        apply: Graph -> fixed graph.
        recipe: Values of the recipe to change; empty for a fix of the graph.
        data_param: Key of the data set's parameter that is chosen in a dialog, ANOTHER_SOURCE
            where another data set is chosen; "" for all other fixes.
        backbone: Key of the pretrained network whose weights are downloaded, once that was
            confirmed; "" for all other fixes.
        order: Place among the fixes that help, also where a later one leaves less to do: -1 first,
            1 last.
        command: The command that does what is asked for, where `is_asked`.
    """

    key: str
    title: str
    apply: Callable[[Graph], Graph] = field(compare=False, repr=False)
    recipe: Mapping[str, Any] = field(default_factory=dict, compare=False)
    data_param: str = ""
    backbone: str = ""
    order: int = field(default=0, compare=False)
    command: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether it needs an answer first, in a dialog: applied to the project it does nothing."""
        return bool(self.data_param or self.backbone)


Offers = Iterable[Fix] | Callable[[], Iterable[Fix]]
"""Fixes that may help, best first, or what finds them on request."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A finding about one node, or about the whole project where `node` is None.

    Attributes:
        node: Node id.
        severity: "error" and "unfinished" stop training: an error is wrong as it is, an
            unfinished network becomes right by going on. "warning" and "hint" do not stop it.
        title: Short heading, e.g. "Dense needs a flat input".
        message: The reason in words, naming the nodes on both sides.
        offers: What may fix it.
        step: What is to be done next where the network is not finished, as words after "Not
            finished:", e.g. "add an Input".
        is_next: Only what the network's end lacks as yet: its makers know that they are not done.
        choose: Picks those of the offered fixes that help: one more is tried in each step, whose
            value is None until all are chosen. Without it all are taken as they are.
    """

    node: str | None
    severity: Severity
    title: str
    message: str
    offers: Offers = field(default=(), repr=False)
    step: str = ""
    is_next: bool = False
    choose: Callable[[Problem, Iterable[Fix]], Iterator[tuple[Fix, ...] | None]] | None = field(
        default=None, repr=False
    )

    @property
    def stops_training(self) -> bool:
        """Whether nothing can be trained before it is fixed."""
        return self.severity in {"error", "unfinished"}

    @property
    def place(self) -> tuple[str | None, str]:
        """Node and title: the same while an edit elsewhere only changes its message."""
        return self.node, self.title

    @property
    def level(self) -> Literal["error", "warning", "hint"]:
        """Its severity for programs, where what is not finished is an error."""
        return "error" if self.severity == "unfinished" else self.severity

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes that help, best first. They are tried on first use."""
        return next(found for found in self.search() if found is not None)

    @property
    def known_fixes(self) -> tuple[Fix, ...] | None:
        """The fixes that help; None while they are not tried."""
        return vars(self).get("fixes")

    def search(self) -> Iterator[tuple[Fix, ...] | None]:
        """Finds the fixes: tries one in each step, which takes as long as one check of the
        project. The last step gives those that help, and they are known then.
        """
        offered = self.offers() if callable(self.offers) else self.offers
        for found in [tuple(offered)] if self.choose is None else self.choose(self, offered):
            if found is not None:
                vars(self)["fixes"] = found
            yield found

    def text_with(self, fixes: Iterable[Fix]) -> str:
        """All its words, with those of the buttons of some fixes."""
        return " ".join([self.title, self.message, *(fix.title for fix in fixes)])

    def __eq__(self, other: object) -> bool:
        """Whether it reads the same; no fixes are tried for that."""
        return self._words == other._words if isinstance(other, Problem) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._words)

    @property
    def _words(self) -> tuple[str | None, str, str, str, str]:
        return self.node, self.severity, self.title, self.message, self.step


def with_fixes_of_all(problems: Sequence[Problem]) -> list[Problem]:
    """Problems of which several are of one kind, and begin with the same fix each of a layer of its
    own, offer it for all of them, too.
    """
    alike: dict[tuple[str, str], list[Fix]] = {}
    for problem in problems:
        if (fix := _first_fix(problem)) is not None:
            alike.setdefault((problem.title, fix.title), []).append(fix)
    return [_with_all(problem, alike) for problem in problems]


def _first_fix(problem: Problem) -> Fix | None:
    """The first fix that is offered for a layer, where that is known without trying."""
    offers = problem.offers if isinstance(problem.offers, tuple) else ()
    fix = offers[0] if offers and problem.node is not None else None
    return None if fix is None or fix.is_asked or fix.recipe else fix


def _with_all(problem: Problem, alike: Mapping[tuple[str, str], list[Fix]]) -> Problem:
    fix = _first_fix(problem)
    same = [] if fix is None else alike[problem.title, fix.title]
    if fix is None or len(same) < 2:
        return problem
    whole = Fix(
        f"{fix.key}_all",
        f"{fix.title} in all {len(same):,} of them",
        lambda graph: reduce(lambda done, each: each.apply(done), same, graph),
        order=1,
    )
    return replace(problem, offers=(*cast("tuple[Fix, ...]", problem.offers), whole))


def recipe_problem(severity: Severity, title: str, message: str, *fixes: Fix) -> Problem:
    """A finding about the recipe, not about a node."""
    return Problem(None, severity, title, message, fixes)


def recipe_fix(title: str, **values: Any) -> Fix:
    """A fix that sets values of the recipe."""
    return Fix("_".join(["set", *values]), title, lambda graph: graph, values)
