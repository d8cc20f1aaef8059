"""How lists, learning rates and durations are written."""

from __future__ import annotations

from collections.abc import Sequence


def list_text(items: Sequence[str]) -> str:
    """Items of a list in a sentence: a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def rate_text(rate: float) -> str:
    """A learning rate as people write it: 0.003, 1e-06."""
    return f"{rate:.3g}"


def epochs_text(epochs: float) -> str:
    """Epochs in words: 3 epochs, 1 epoch, 0.03 epochs."""
    return "1 epoch" if epochs == 1 else f"{epochs:.3g} epochs"
