"""Sweep: a series of runs over values of training settings and of layers, repeated with seeds.

All combinations of the values (a grid), or some at random from lists and ranges (Bergstra and
Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012). The split stays, as in a
cross-validation: all runs are validated on the same images.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from workbench.core.format import within_sentence
from workbench.core.network.graph import Node
from workbench.core.params import BoolParam, ChoiceParam, FloatParam, IntParam, Param, SizeParam
from workbench.core.projects.project import HERE, Choice, Project
from workbench.core.projects.texts import PlugIns, with_assignments
from workbench.core.specs import LayerSpec, Role
from workbench.core.training.recipe import RECIPE_PARAMS, SPLIT_KEYS
from workbench.datasets import all_datasets
from workbench.errors import ParamError, UsageError, WorkbenchError
from workbench.layers import all_layers
from workbench.runs.folder import SweepPoint
from workbench.runs.library.series import MAX_RUNS, PlannedRun, default_warm_up, plan_key
from workbench.runs.naming import value_words
from workbench.targets import all_targets

# sweep axes ----------------------------------------------------------------------------------
# What a sweep compares: the settings of a project that can be swept, and the values they take.

FIXED_KEYS = (*SPLIT_KEYS, "data", "target", "title", "fine_tune_from", "train_from")
"""What stays the same in a sweep: with other images, accuracies could not be compared."""

MAX_STEPS = 50
"""Values of one range."""

_RANGE = re.compile(r"\s*([-+.\deE]+?)\s*\.\.\s*([-+.\deE]+)\s*(?:/\s*(\d+)\s*(log)?\s*)?")
_KINDS = (IntParam, FloatParam, BoolParam, ChoiceParam, SizeParam)


@dataclass(frozen=True)
class Axis:
    """One setting and the values it takes.

    Attributes:
        key: As `workbench set` names it: learning_rate, conv2d_1.filters.
        values: As typed; () for a range.
        span: Lower and upper end of a range; None for a list.
        steps: Values of the range, ends included; 0 to draw from it: evenly in the logarithm where
            both ends are above 0, evenly else.
        is_log: Whether the steps are even in the logarithm.
    """

    key: str
    values: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    steps: int = 0
    is_log: bool = False

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Parses KEY=V1,V2,..., KEY=LOW..HIGH, KEY=LOW..HIGH/N, with N steps, or
        KEY=LOW..HIGH/Nlog, with N steps on a logarithmic scale; raises UsageError.
        """
        key, sign, listed = (part.strip() for part in text.partition("="))
        values = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
        if not (sign and key and values):
            raise UsageError(
                "Invalid values of a setting.",
                received=text,
                expected="KEY=V1,V2,... or KEY=LOW..HIGH, for example learning_rate=0.001,0.01",
            )
        found = _RANGE.fullmatch(listed)
        if found is None:
            return cls(key, values)
        low, high, steps, log = found.groups()
        return cls(key, (), _span(text, low, high, steps, log), int(steps or 0), bool(log))

    @property
    def is_fixed(self) -> bool:
        """One value: a change of the project rather than something to compare."""
        return self.span is None and len(self.values) == 1

    @property
    def is_drawn(self) -> bool:
        """Whether its values can only be drawn: a range without steps."""
        return self.span is not None and not self.steps

    def text(self) -> str:
        """The axis as it is typed, which `parse` reads."""
        if self.span is None:
            return f"{self.key}={','.join(self.values)}"
        steps = f"/{self.steps}{'log' * self.is_log}" if self.steps else ""
        return f"{self.key}={self.span[0]:g}..{self.span[1]:g}{steps}"

    def listed(self, *, is_int: bool) -> tuple[str, ...]:
        """Its values: as typed, or the steps of its range; () where they are drawn.

        Args:
            is_int: Whether the setting takes whole numbers alone.
        """
        if self.span is None:
            return self.values
        low, high = self.span
        parts = [number / max(1, self.steps - 1) for number in range(self.steps)]
        if self.is_log:
            found = [low * (high / low) ** part for part in parts]
        else:
            found = [low + (high - low) * part for part in parts]
        return tuple(dict.fromkeys(_text(value, self.span, is_int=is_int) for value in found))

    def ends(self, *, is_int: bool) -> tuple[str, ...]:
        """The values that are to be allowed for all to be: a range is checked at its ends."""
        return self.values or tuple(_end_text(each, is_int=is_int) for each in self.span or ())

    def draw(self, numbers: random.Random, *, is_int: bool) -> str:
        """A value at random."""
        if self.span is None or self.steps:
            return numbers.choice(self.listed(is_int=is_int))
        low, high = self.span
        value = numbers.uniform(low, high)
        if low > 0:
            value = math.exp(numbers.uniform(math.log(low), math.log(high)))
        return _text(value, self.span, is_int=is_int)


def _span(
    text: str, low_text: str, high_text: str, steps: str | None, log: str | None
) -> tuple[float, float]:
    try:
        low, high = float(low_text), float(high_text)
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError("Invalid range.", received=text, expected="LOW..HIGH, as 1e-4..1e-1")
    if steps is not None and not 2 <= int(steps) <= MAX_STEPS:
        raise UsageError(
            "Invalid number of steps of a range.",
            received=text,
            expected=f"LOW..HIGH/N with N from 2 to {MAX_STEPS}",
        )
    if log and low <= 0:
        raise UsageError(
            "A range is even in the logarithm only where both ends are above 0.",
            received=text,
            fix="Leave out “log”.",
        )
    return low, high


def _text(value: float, span: tuple[float, float], *, is_int: bool) -> str:
    if is_int:
        return str(round(value))
    # Three figures say as much as a sweep can resolve, and names stay short.
    text = f"{value:.3g}"
    return text if span[0] <= float(text) <= span[1] else repr(value)


def _end_text(end: float, *, is_int: bool) -> str:
    return str(round(end)) if is_int else f"{end:g}"


@dataclass(frozen=True)
class Sweepable:
    """A setting of a project that can be swept.

    Attributes:
        key: As `workbench set` names it.
        group: "Training", "Widths", or the name of its layer.
        title: In words, within its group.
        param: What it may be.
        value: What it is.
    """

    key: str
    group: str
    title: str
    param: Param
    value: Any

    @property
    def words(self) -> str:
        """In words, with the name of its layer."""
        is_own = self.group in (TRAINING, WIDTHS)
        return self.title if is_own else f"{self.group} {within_sentence(self.title)}"

    @property
    def is_number(self) -> bool:
        """Whether it has ranges."""
        return isinstance(self.param, IntParam | FloatParam)

    def suggested(self) -> tuple[str, ...]:
        """Values around the present one, as typed, to begin with."""
        param, value = self.param, self.value
        if isinstance(param, ChoiceParam):
            return param.choices
        if isinstance(param, BoolParam):
            return ("no", "yes")
        if isinstance(param, SizeParam):
            near = [tuple(max(1, each + step) for each in value) for step in (0, 2)]
            return tuple(dict.fromkeys("x".join(map(str, size)) for size in near))
        if isinstance(param, IntParam):
            found: list[float] = [value // 2, value, value * 2] if value else [0, 1, 2]
        else:
            small = isinstance(param, FloatParam) and param.maximum <= 1 and bool(value)
            around = [value - 0.1, value, value + 0.1] if small else [value / 3, value, value * 3]
            found = around if value else [0.0, 0.1, 0.2]
        texts = dict.fromkeys(f"{each:.1g}" if each != value else f"{each:g}" for each in found)
        if isinstance(param, IntParam):
            texts = dict.fromkeys(str(int(each)) for each in found)
        return tuple(text for text in texts if _is_allowed(param, float(text)))


TRAINING, WIDTHS = "Training", "Widths"


def _is_allowed(param: Param, value: float) -> bool:
    try:
        param.check(value)
    except ParamError:
        return False
    return True


def sweepable(project: Project) -> tuple[Sweepable, ...]:
    """The settings of a project that can be swept: those of training that change something, the
    widths of its layers, then what else its layers have.
    """
    recipe = project.recipe
    found = [
        Sweepable(param.key, TRAINING, param.title, param, getattr(recipe, param.key))
        for param in RECIPE_PARAMS
        if param.key not in FIXED_KEYS and isinstance(param, _KINDS) and recipe.is_used(param.key)
    ]
    layers = [
        (node, spec)
        for node in project.graph.nodes.values()
        if (spec := all_layers().get(node.kind)) is not None and spec.role is not Role.INPUT
    ]
    wide = {node.id for node, spec in layers if spec.width}
    for node, spec in layers:
        if node.id in wide and not node.pretrained:
            found += _widths(node, spec, is_last=not wide & project.graph.descendants(node.id))
    found += [each for node, spec in layers for each in _others(node, spec)]
    return tuple(each for each in found if each.value is not None)


def _widths(node: Node, spec: LayerSpec, *, is_last: bool) -> Iterator[Sweepable]:
    """None of the last layer: that is the number of classes."""
    if not is_last:
        param = next(param for param in spec.params if param.key == spec.width)
        title = f"{node.name} {param.title.lower()}"
        value = node.params.get(param.key, param.default)
        yield Sweepable(f"{node.name}.{param.key}", WIDTHS, title, param, value)


def _others(node: Node, spec: LayerSpec) -> Iterator[Sweepable]:
    for param in spec.params:
        if param.key != spec.width and isinstance(param, _KINDS) and not node.pretrained:
            value = node.params.get(param.key, param.default)
            yield Sweepable(f"{node.name}.{param.key}", node.name, param.title, param, value)


# sweep ---------------------------------------------------------------------------------------

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
        is_stopping: Whether hopeless runs are stopped (`series`).
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
