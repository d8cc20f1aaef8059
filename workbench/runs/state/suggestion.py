"""What to change in a recipe when the memory was not enough for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.core.training.recipe import TrainingRecipe
from workbench.targets.this_computer import computes_bfloat16


@dataclass(frozen=True)
class Suggestion:
    """What would probably help a run that failed: recipe values to train once more with."""

    words: str
    changes: Mapping[str, object]


def use_less(recipe: TrainingRecipe, *, batch_size: int = 0) -> Suggestion | None:
    """What needs less memory than a recipe with its batch size (or `batch_size`); None where there
    is nothing left to lower.
    """
    batch_size = batch_size or recipe.batch_size
    changes: dict[str, object] = {}
    words = []
    if batch_size > 1:
        changes["batch_size"] = _half(batch_size)
        words.append(f"batch {changes['batch_size']:,}")
    if recipe.precision == "float32" and computes_bfloat16():
        changes["precision"] = "bfloat16"
        words.append("bfloat16")
    return Suggestion("Retry with " + " and ".join(words), changes) if changes else None


def _half(batch_size: int) -> int:
    """The power of two below, but at least a half: 100 -> 64, 128 -> 64."""
    return max(1, 1 << (batch_size - 1).bit_length() - 1)
