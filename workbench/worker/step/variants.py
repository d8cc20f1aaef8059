"""Ways to run a training: which come into question, in which order, and which one wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.training.recipe import TrainingRecipe

_CLEARLY = 0.03
"""A way must save this share of the time to replace the expected one: less is noise."""


@dataclass(frozen=True)
class Way:
    """One way to run the steps.

    Attributes:
        precision: "float32" or "bfloat16".
        xla: The step is compiled by XLA.
    """

    precision: str
    xla: bool = False

    @property
    def words(self) -> str:
        """Its name for people."""
        return f"{self.precision} with XLA" if self.xla else self.precision


PLAIN = Way("float32")
"""What gains are measured against."""


@dataclass(frozen=True)
class Timing:
    """How fast a way is.

    Attributes:
        step_s: Seconds of a step.
        start_s: Seconds until the first step is over: tracing and compiling.
    """

    step_s: float
    start_s: float

    def run_s(self, steps: int) -> float:
        """Seconds of a whole run."""
        return self.start_s + steps * self.step_s


def possible_ways(
    recipe: TrainingRecipe, *, has_bfloat16: bool, may_compile: bool = True
) -> tuple[Way, ...]:
    """The ways that the recipe's pins and the target allow, the most promising first.

    XLA comes last: on processors its convolutions are
    often many times slower than oneDNN's, and compiling takes several seconds.

    Args:
        recipe: `precision` and `xla` may be pinned.
        has_bfloat16: The target computes bfloat16 in hardware.
        may_compile: XLA may compile the step there at our request.
    """
    if recipe.precision == "auto":
        precisions = ["bfloat16", "float32"] if has_bfloat16 else ["float32"]
    else:
        precisions = [recipe.precision]
    if not may_compile or recipe.xla == "off":
        compiling = [False]
    else:
        compiling = [True] if recipe.xla == "on" else [False, True]
    # Where bfloat16 has units, float32 is worth a look only as what gains are against.
    return tuple(
        Way(precision, xla)
        for xla in compiling
        for precision in (precisions if xla == compiling[0] else precisions[:1])
    )


def best_way(ways: Sequence[Way], timings: Mapping[Way, Timing], *, steps: int) -> Way:
    """The way with the shortest run of so many steps, compiling included; the first of `ways`
    unless another one saves clearly more than noise.
    """
    measured = [way for way in ways if way in timings]
    if not measured or measured[0] != ways[0]:
        return ways[0]
    best = min(measured, key=lambda way: timings[way].run_s(steps))
    limit = (1 - _CLEARLY) * timings[ways[0]].run_s(steps)
    return best if timings[best].run_s(steps) < limit else ways[0]


def gain_of(way: Way, timings: Mapping[Way, Timing]) -> float | None:
    """How many times faster than plain float32 a step is; None where that is not measured,
    or is the same thing.
    """
    if way == PLAIN or way not in timings or PLAIN not in timings:
        return None
    return timings[PLAIN].step_s / max(timings[way].step_s, 1e-9)
