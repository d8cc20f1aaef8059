"""A plan in words: what was chosen, what it gains, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.training.recipe import TrainingRecipe
from workbench.targets.this_computer import computes_bfloat16, cpu_flags
from workbench.worker.step.variants import Timing, Way, gain_of


def plan_words(
    way: Way,
    timings: Mapping[Way, Timing],
    recipe: TrainingRecipe,
    *,
    source: str,
    spent_s: float = 0.0,
) -> str:
    """One or two sentences without a full stop at the end.

    Args:
        way: What was chosen.
        timings: What is measured.
        recipe: Its pins are named.
        source: "measured" now, "measured before", or "known" without measuring.
        spent_s: Seconds of measuring now.
    """
    gain = gain_of(way, timings)
    parts = [_way_words(way, recipe)]
    if gain is not None:
        parts[0] += f": {gain:.1f} x plain float32"
    if way in timings and len(timings) > 1:
        parts.append(f"measured in {spent_s:.1f} s" if source == "measured" else source)
        parts.extend(_losers(way, timings))
    elif len(parts) == 1 and recipe.precision == "auto" and way.precision == "bfloat16":
        parts.append("not compared with other ways: that would take too long for this run")
    if recipe.threads:
        parts.append(f"{_count(recipe.threads, 'thread')}, as the recipe says")
    return ", ".join(parts)


def _way_words(way: Way, recipe: TrainingRecipe) -> str:
    if recipe.precision != "auto":
        words = f"{way.precision}, as the recipe says"
        if way.precision == "bfloat16" and not computes_bfloat16():
            words += " (slow here: this CPU has no units for it)"
    elif way.precision == "bfloat16":
        words = f"bfloat16 on this CPU's {_units()}"
    elif computes_bfloat16():
        words = "float32"
    else:
        words = "float32: this CPU has no units for bfloat16"
    if way.xla:
        words += ", compiled by XLA" + (", as the recipe says" if recipe.xla == "on" else "")
    return words


def _units() -> str:
    return "matrix units" if "amx_bf16" in cpu_flags() else "bfloat16 units"


def _losers(way: Way, timings: Mapping[Way, Timing]) -> list[str]:
    """What was tried and not taken, apart from plain float32, which the gain names."""
    others = [other for other in timings if other != way and other.xla]
    return [
        f"with XLA {timings[other].step_s / max(timings[way].step_s, 1e-9):.1f} x as long"
        for other in others[:1]
        if timings[other].step_s >= timings[way].step_s
    ]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
