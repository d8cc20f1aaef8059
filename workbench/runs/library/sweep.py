"""Sweep: a series of runs over values of training settings and of layers, repeated with seeds.

All combinations of the values (a grid), or some at random from lists and ranges (Bergstra and
Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012). The split stays, as in a
cross-validation: all runs are validated on the same images.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from workbench.core.projects.assign import PlugIns, with_assignments
from workbench.core.projects.project import HERE, Choice, Project
from workbench.datasets import all_datasets
from workbench.errors import UsageError, WorkbenchError
from workbench.layers import all_layers
from workbench.runs.library.median_stopping import default_warm_up
from workbench.runs.library.series import MAX_RUNS, PlannedRun, plan_key
from workbench.runs.library.sweep_axes import FIXED_KEYS, Axis
from workbench.runs.naming import value_words
from workbench.runs.request import SweepPoint
from workbench.targets import all_targets

_TRIES_EACH = 50
"""Draws for one more combination that is not there yet, before the values are exhausted."""

_REFUSED = {"seed": "Use --seeds: each combination is trained with as many.",
            "target": "Use --target, as often as there are targets."}  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """One combination of the axes' values.

    Attributes:
        number: From 1.
        values: By key, as typed.
        project: With these values.
        label: The values in words.
    """

    number: int
    values: dict[str, str]
    project: Project
    label: str


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep is made of.

    Attributes:
        project: What is trained; the values of the axes take the place of its own.
        axes: What differs.
        num_random: Combinations to draw; 0 for all there are, which needs lists.
        draw_seed: Seed of the draw: the same seed gives the same combinations.
        seeds: With how many seeds of weights and order each combination is trained.
        targets: Where, in turns; () for the project's own.
        is_stopping: Whether hopeless runs are stopped (`median_stopping`).
        warm_up: Epochs before one may be; 0 for a quarter of all.
        skipped: Numbers of combinations that are left out.
    """

    project: Project
    axes: tuple[Axis, ...]
    num_random: int = 0
    draw_seed: int = 0
    seeds: int = 1
    targets: tuple[Choice, ...] = ()
    is_stopping: bool = True
    warm_up: int = 0
    skipped: frozenset[int] = field(default_factory=frozenset)

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """All combinations, also those that are skipped.

        Raises:
            UsageError: values that are not allowed, all of them; none or too many combinations.
        """
        self._refuse_wrong()
        found = [self._combination(n, v) for n, v in enumerate(self._texts(), 1)]
        return tuple(found)

    @property
    def num_runs(self) -> int:
        """Runs in all; raises as `combinations`."""
        return (len(self.combinations) - len(self.skipped)) * self.seeds

    def runs(self) -> list[PlannedRun]:
        """The runs: all combinations with the first seed, then with the second, ..."""
        recipe = self.project.recipe
        split_seed = recipe.seed if recipe.split_seed is None else recipe.split_seed
        kept = [each for each in self.combinations if each.number not in self.skipped]
        found: list[PlannedRun] = []
        for seed in range(recipe.seed, recipe.seed + self.seeds):
            for each in kept:
                own = each.project.recipe.with_values(seed=seed, split_seed=split_seed)
                target = self.targets[len(found) % len(self.targets)] if self.targets else None
                project = replace(each.project, recipe=own, target=target or self.project.target)
                words = f", seed {seed}" if self.seeds > 1 else ""
                point = SweepPoint(
                    place=len(found) + 1,
                    combination=each.number,
                    values=each.values,
                    warm_up=(self.warm_up or default_warm_up(own.epochs)) * self.is_stopping,
                )
                found.append(PlannedRun(f"{each.label}{words}", project, point))
        return found

    def key(self) -> str:
        """The same for the same sweep, wherever it is trained and whatever is skipped."""
        own = replace(self.project, target=HERE)
        draw = (self.num_random, self.draw_seed) if self.num_random else ()
        return plan_key(own, "sweep", [axis.text() for axis in self.axes], draw, self.seeds)

    # combinations ------------------------------------------------------------------------

    def _refuse_wrong(self) -> None:
        """Raises UsageError with all that is wrong with the axes."""
        wrong = list(_wrong_axes(self.axes))
        if not self.num_random and any(axis.is_drawn for axis in self.axes):
            wrong.append(
                "A range LOW..HIGH needs a number of random combinations, or of steps: LOW..HIGH/N."
            )
        for axis in self.axes:
            for text in axis.ends(is_int=self._is_int(axis)):
                try:
                    self._with({axis.key: text})
                except WorkbenchError as error:
                    wrong.append(str(error))
        size = 1 if self.num_random else math.prod(map(len, map(self._listed, self.axes)))
        num_runs = max(size, self.num_random) * self.seeds
        if not wrong and not (self.seeds >= 1 and 2 <= num_runs <= MAX_RUNS):
            wrong.append(f"A sweep has 2 to {MAX_RUNS} runs, not {num_runs:,}.")
        if wrong:
            raise UsageError(" ".join(dict.fromkeys(wrong)))

    def _texts(self) -> Iterable[dict[str, str]]:
        keys = [axis.key for axis in self.axes]
        if not self.num_random:
            for values in product(*map(self._listed, self.axes)):
                yield dict(zip(keys, values, strict=True))
            return
        numbers = random.Random(self.draw_seed)  # noqa: S311 - no secret
        seen: dict[tuple[str, ...], None] = {}
        for _ in range(self.num_random * _TRIES_EACH):
            if len(seen) == self.num_random:
                break
            drawn = [a.draw(numbers, is_int=self._is_int(a)) for a in self.axes]
            seen.setdefault(tuple(drawn))
        for drawn_values in seen:
            yield dict(zip(keys, drawn_values, strict=True))

    def _listed(self, axis: Axis) -> tuple[str, ...]:
        return axis.listed(is_int=self._is_int(axis))

    def _is_int(self, axis: Axis) -> bool:
        """Whether a setting takes whole numbers alone."""
        if axis.span is None:
            return False
        try:
            self._with({axis.key: f"{math.ceil(axis.span[0]) + 0.5}"})
        except WorkbenchError:
            return True
        return False

    def _combination(self, number: int, values: dict[str, str]) -> Combination:
        project = self._with(values)
        return Combination(number, values, project, value_words(project, values))

    def _with(self, values: dict[str, str]) -> Project:
        return with_values(self.project, values)


def with_values(project: Project, values: dict[str, str]) -> Project:
    """A project with some values of a sweep; raises UsageError."""
    plug_ins = PlugIns(layers=all_layers(), datasets=all_datasets(), targets=all_targets())
    return with_assignments(project, [f"{key}={text}" for key, text in values.items()], plug_ins)


def with_trial(project: Project, trial: Project, values: dict[str, str]) -> Project:
    """A project that trains as a run of its sweep did: with its recipe, but for the division of the
    images and the seed, and with the values of its layers.

    Args:
        project: The project as it is now.
        trial: What the run trained.
        values: What differed between the runs, see `SweepPoint`.

    Raises:
        UsageError: the project no longer has such a layer.
    """
    recipe = trial.recipe.with_values(**project.recipe.split_values())
    layers = {key: text for key, text in values.items() if "." in key}
    return with_values(replace(project, recipe=recipe), layers)


def _wrong_axes(axes: Sequence[Axis]) -> Iterable[str]:
    if not axes:
        yield "There is nothing to compare: no setting has two values."
    keys = [axis.key for axis in axes]
    for key in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield f'"{key}" is there twice.'
    for key in dict.fromkeys(keys):
        if key in FIXED_KEYS or key.partition(".")[0] in ("data", "target"):
            reason = _REFUSED.get(key, "All runs of a sweep are validated on the same images.")
            yield f'"{key}" cannot be compared in a sweep. {reason}'
