"""What a rule of the coach answers, and what is made of it: values.

A change makes another project, so that undoing it is undoing an edit of the project; the run that
it was seen in is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.coach.record import RunRecord
from workbench.core.format import rate_text
from workbench.core.projects.project import Project
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe

_TITLES = {param.key: param for param in RECIPE_PARAMS}


@dataclass(frozen=True)
class Change:
    """What to try.

    Attributes:
        recipe: Values of the recipe by key.
        layers: Values of layers' parameters, by node and key.
    """

    recipe: Mapping[str, Any] = field(default_factory=dict)
    layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """What is to be looked at.

    Attributes:
        figures: (what, value) in words.
        curve: Key of the curve that shows it; "" where none does.
        first, last: Epochs, from 1, in which it shows; 0 where it shows in none.
        node: The layer that it is about; "" for none.
    """

    figures: tuple[tuple[str, str], ...] = ()
    curve: str = ""
    first: int = 0
    last: int = 0
    node: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a rule concludes from a run, in two sentences.

    Attributes:
        observation: What is there, a sentence.
        recommendation: What to do about it, a sentence.
        evidence: What shows it.
        change: What to try; None where it is no value of the project.
        verdict: The same in a line without a full stop, where it is a verdict on the run.
    """

    observation: str
    recommendation: str
    evidence: Evidence = field(default_factory=Evidence)
    change: Change | None = None
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class Advice(Diagnosis):
    """A diagnosis with the rule's key and its heading."""

    rule: str
    title: str


@dataclass(frozen=True, kw_only=True)
class CoachSpec:
    """A rule of the coach.

    Attributes:
        key: File name, and `rule` in JSON.
        title: Heading of what it finds.
        order: The gravest first.
        watches: What it looks for, as a few words in a list.
        gives_verdict: Its diagnosis is a verdict on the run, for lists and the end of a log.
        is_last_resort: It names no cause: reported only where no other rule finds anything.
        look: Its diagnosis of a run; None for nothing. Quick, and without side effects.
    """

    key: str
    title: str
    order: int
    watches: str
    gives_verdict: bool = False
    is_last_resort: bool = False
    look: Callable[[RunRecord], Diagnosis | None]

    def advice(self, record: RunRecord) -> Advice | None:
        """Its diagnosis of a run, with its heading."""
        seen = self.look(record)
        if seen is None:
            return None
        return Advice(rule=self.key, title=self.title, **vars(seen))


def advise(record: RunRecord, rules: Iterable[CoachSpec]) -> list[Advice]:
    """What the rules see in a run, the gravest first."""
    found = [(rule, advice) for rule in rules if (advice := rule.advice(record)) is not None]
    if any(not rule.is_last_resort for rule, _ in found):
        found = [(rule, advice) for rule, advice in found if not rule.is_last_resort]
    return [advice for _, advice in found]


def verdict_on(record: RunRecord, rules: Iterable[CoachSpec]) -> str:
    """The gravest verdict on a run, a line without a full stop; "" for none."""
    found = (rule.advice(record) for rule in rules if rule.gives_verdict)
    return next((advice.verdict for advice in found if advice is not None), "")


def with_change(project: Project, change: Change) -> Project:
    """The project with a change; layers that it does not have are left out.

    Raises:
        ParamError: a value does not fit.
    """
    graph = project.graph
    for node_id, values in change.layers.items():
        if node_id in graph.nodes:
            graph = graph.with_params(node_id, **values)
    return replace(project, graph=graph, recipe=project.recipe.with_values(**change.recipe))


def holds(project: Project, change: Change) -> bool:
    """Whether the project has all of a change already."""
    return with_change(project, change) == project


def change_words(change: Change, project: Project) -> list[str]:
    """What it changes in a project, a line each: "Learning rate: 0.1 → 0.01"."""
    lines = [
        _line(project.recipe, key, value)
        for key, value in change.recipe.items()
        if getattr(project.recipe, key) != value
    ]
    nodes = project.graph.nodes
    for node_id, values in change.layers.items():
        if node_id in nodes:
            lines += [f"{nodes[node_id].name}: {key} {value}" for key, value in values.items()]
    return lines


def _line(recipe: TrainingRecipe, key: str, value: Any) -> str:
    param = _TITLES[key]
    before, after = (
        rate_text(each) if isinstance(each, float) else param.show(each)
        for each in (getattr(recipe, key), value)
    )
    return f"{param.title}: {before} → {after}"
