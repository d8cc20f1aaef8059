"""Execution variants of a training: the candidates, their order, and which one wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.training.recipe import TrainingRecipe

_CLEARLY = 0.03
"""A way must save this share of the time to replace the expected one: less is noise."""


@dataclass(frozen=True)
class Variant:
    """One way to run the steps: in "float32" or "bfloat16", compiled by XLA or not."""

    precision: str
    xla: bool = False

    @property
    def words(self) -> str:
        """Its name for people."""
        return f"{self.precision} with XLA" if self.xla else self.precision


PLAIN = Variant("float32")
"""What gains are measured against."""


@dataclass(frozen=True)
class Timing:
    """Seconds of a step, and until the first step is over: tracing and compiling."""

    step_s: float
    start_s: float

    def run_s(self, steps: int) -> float:
        """Seconds of a whole run."""
        return self.start_s + steps * self.step_s


def possible_variants(
    recipe: TrainingRecipe, *, has_bfloat16: bool, may_compile: bool = True
) -> tuple[Variant, ...]:
    """The ways that the recipe's pins and the target allow, the most promising first.

    XLA comes last: on processors its convolutions are
    often many times slower than oneDNN's, and compiling needs several seconds. The target
    `has_bfloat16` in hardware; it `may_compile` the step by XLA at our request.
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
        Variant(precision, xla)
        for xla in compiling
        for precision in (precisions if xla == compiling[0] else precisions[:1])
    )


def best_variant(
    variants: Sequence[Variant], timings: Mapping[Variant, Timing], *, steps: int
) -> Variant:
    """The way with the shortest run of so many steps, compiling included; the first of `variants`
    unless another one saves clearly more than noise.
    """
    measured = [variant for variant in variants if variant in timings]
    if not measured or measured[0] != variants[0]:
        return variants[0]
    best = min(measured, key=lambda variant: timings[variant].run_s(steps))
    limit = (1 - _CLEARLY) * timings[variants[0]].run_s(steps)
    return best if timings[best].run_s(steps) < limit else variants[0]


def gain_of(variant: Variant, timings: Mapping[Variant, Timing]) -> float | None:
    """How many times faster than plain float32 a step is; None where that is not measured,
    or is the same thing.
    """
    if variant == PLAIN or variant not in timings or PLAIN not in timings:
        return None
    return timings[PLAIN].step_s / max(timings[variant].step_s, 1e-9)
