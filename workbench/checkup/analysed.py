"""A project's check on its data and its target, without a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.backbones import backbone_keys, missing_weights, pretrained_layer
from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.format import plural, rough_duration
from workbench.core.projects.project import Project
from workbench.core.projects.texts import limits_of
from workbench.datasets import facts_of, glance_at, missing_data_of
from workbench.layers import all_layers
from workbench.runs.library.sweep import Combination, SweepPlan
from workbench.runs.moved_data import data_now
from workbench.runs.state.preparing import data_mark, predict_run, read_speeds
from workbench.targets import all_targets


def analysed(project: Project, dataset: DatasetFacts | None = None) -> Analysis:
    """What is known of a project, on its data, a `dataset` that is looked at where None is given,
    and on its target.
    """
    project = replace(project, dataset=data_now(project.dataset))
    return analyse(
        project.graph,
        all_layers(),
        recipe=project.recipe,
        dataset=dataset or glance_at(project),
        limits=limits_of(project.target, all_targets()),
        missing=(*missing_data_of(project), *missing_weights(backbone_keys(project.graph))),
        pretrained=pretrained_layer,
    )


# sweep check ---------------------------------------------------------------------------------
# The check of a sweep before its runs are made: what cannot be trained, how long it takes.


@dataclass(frozen=True)
class Impossible:
    """A combination that cannot be trained.

    Attributes:
        combination: Which.
        reason: Why, in sentences.
    """

    combination: Combination
    reason: str


@dataclass(frozen=True)
class CheckedSweep:
    """A plan that was checked.

    Attributes:
        plan: All of it.
        impossible: Combinations that cannot be trained.
        seconds: What all runs of the others take here, one after the other and to their ends; None
            where it cannot be estimated.
    """

    plan: SweepPlan
    impossible: tuple[Impossible, ...]
    seconds: float | None

    @cached_property
    def possible(self) -> SweepPlan:
        """The plan without the combinations that cannot be trained."""
        skipped = frozenset(each.combination.number for each in self.impossible)
        return replace(self.plan, skipped=skipped)

    @property
    def has_runs(self) -> bool:
        """Whether something can be trained."""
        return len(self.impossible) < len(self.plan.combinations)

    def words(self) -> str:
        """The figures in words: "12 runs of 6 combinations, about 4 min"."""
        plan = self.possible
        kept = len(plan.combinations) - len(plan.skipped)
        words = f"{plural(plan.num_runs, 'run')} of {plural(kept, 'combination')}"
        return words if self.seconds is None else f"{words}, about {rough_duration(self.seconds)}"

    def impossible_words(self) -> str:
        """The impossible combinations, a line for each reason; "" for none."""
        if not self.impossible:
            return ""
        reasons: dict[str, list[str]] = {}
        for each in self.impossible:
            reasons.setdefault(each.reason, []).append(each.combination.label)
        of = plural(len(self.plan.combinations), "combination")
        head = f"{len(self.impossible):,} of {of} cannot be trained."
        return "\n".join([head, *(_line(names, why) for why, names in reasons.items())])


def _line(names: Sequence[str], reason: str) -> str:
    return f"{'; '.join(names)}: {reason}"


def check_sweep(plan: SweepPlan, go_on: Callable[[], None] = lambda: None) -> CheckedSweep:
    """Checks the network of each combination.

    Args:
        plan: The sweep.
        go_on: Called before each combination; what it raises ends the check.

    Raises:
        UsageError: values that are not allowed.
    """
    glance, facts, speeds = glance_at(plan.project), facts_of(plan.project), read_speeds()
    impossible: list[Impossible] = []
    seconds: list[float | None] = []
    for each in plan.combinations:
        go_on()
        analysis = analysed(each.project, glance)
        if analysis.errors:
            words = (f"{error.title}: {error.message}" for error in analysis.errors)
            impossible.append(Impossible(each, " ".join(words)))
        else:
            data = data_mark(each.project.dataset)
            found = predict_run(analysis, each.project.recipe, facts, speeds=speeds, data=data)
            seconds.append(found.total_s)
    known = [each for each in seconds if each is not None]
    total = sum(known) * plan.seeds if known and len(known) == len(seconds) else None
    return CheckedSweep(plan, tuple(impossible), total)
