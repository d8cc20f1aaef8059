"""float32 or bfloat16: chosen by what the processor computes in hardware."""

from __future__ import annotations

import os
from dataclasses import dataclass

from workbench.core.recipe import TrainingRecipe
from workbench.targets.this_computer import cpu_flags, has_bfloat16_units

HIDE_BFLOAT16 = "WORKBENCH_HIDE_BFLOAT16"
"""Environment variable: "1" lets this processor pass for one without bfloat16 units."""


@dataclass(frozen=True)
class PrecisionChoice:
    """The precision of a run, "float32" or "bfloat16", and why, in words."""

    precision: str
    words: str


def computes_bfloat16(flags: frozenset[str] | None = None) -> bool:
    """True when bfloat16 is computed in hardware here, and is not hidden.

    Args:
        flags: The processor's features; this computer's where None.
    """
    if os.environ.get(HIDE_BFLOAT16, "").strip() not in {"", "0"}:
        return False
    return has_bfloat16_units(cpu_flags() if flags is None else flags)


def choose_precision(
    recipe: TrainingRecipe, flags: frozenset[str] | None = None
) -> PrecisionChoice:
    """The precision that a recipe means on this processor.

    Args:
        recipe: Its `precision` is auto, float32 or bfloat16.
        flags: The processor's features; this computer's where None.
    """
    has_units = computes_bfloat16(flags)
    if recipe.precision == "auto":
        if has_units:
            return PrecisionChoice("bfloat16", "bfloat16, because this processor has units for it")
        return PrecisionChoice("float32", "float32, because this processor has no bfloat16 units")
    words = f"{recipe.precision}, as the recipe says"
    if recipe.precision == "bfloat16" and not has_units:
        words += " (slow here: this processor has no units for it)"
    return PrecisionChoice(recipe.precision, words)
