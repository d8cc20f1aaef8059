"""A plan in words: what was chosen, what it gains, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.training.recipe import TrainingRecipe
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.step.variants import Timing, Variant, gain_of


def plan_words(
    variant: Variant,
    timings: Mapping[Variant, Timing],
    recipe: TrainingRecipe,
    *,
    source: str,
    spent_s: float = 0.0,
) -> str:
    """Such as "bfloat16, 2.6× faster than float32 (benchmarked in 4.4 s)" for the chosen variant;
    the recipe's pins are named. The timings come from a source: "measured" now, in `spent_s`
    seconds, "measured before", on a "similar" network, or "known" without measuring.
    """
    gain = gain_of(variant, timings)
    parts = [_way_words(variant, recipe)]
    if gain is not None:
        parts.append(f"{gain:.1f}× faster than float32")
    if variant in timings and len(timings) > 1:
        parts.extend(_losers(variant, timings))
        when = {"measured": f"in {spent_s:.1f} s", "similar": "on a similar network"}
        parts[-1] += f" (benchmarked {when.get(source, 'earlier')})"
    elif len(parts) == 1 and recipe.precision == "auto" and variant.precision == "bfloat16":
        parts.append("not benchmarked: the run is too short")
    if recipe.threads:
        parts.append(f"{_count(recipe.threads, 'thread')} (pinned)")
    return ", ".join(parts)


def _way_words(variant: Variant, recipe: TrainingRecipe) -> str:
    if recipe.precision != "auto":
        words = f"{variant.precision} (pinned)"
        if variant.precision == "bfloat16" and not computes_bfloat16():
            words += ", slow: not native on this CPU"
    elif variant.precision == "bfloat16":
        words = "bfloat16 (native on this CPU)"
    elif computes_bfloat16():
        words = "float32"
    else:
        words = "float32 (no native bfloat16 on this CPU)"
    if variant.xla:
        words += ", XLA" + (" (pinned)" if recipe.xla == "on" else "")
    return words


def _losers(variant: Variant, timings: Mapping[Variant, Timing]) -> list[str]:
    """What was tried and not taken, apart from plain float32, which the gain names."""
    others = [other for other in timings if other != variant and other.xla]
    return [
        f"XLA {timings[other].step_s / max(timings[variant].step_s, 1e-9):.1f}× slower"
        for other in others[:1]
        if timings[other].step_s >= timings[variant].step_s
    ]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
