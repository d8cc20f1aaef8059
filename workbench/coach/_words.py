"""What several rules share: a change of the learning rate, figures and spans in words, whether
pixels are scaled.
"""

from __future__ import annotations

from workbench.core.coach import Change, RunRecord
from workbench.core.format import count, rate_text
from workbench.layers import all_layers

NOT_SCALED = "pixels, 0 to 255, are not scaled"
SCALE = "Insert Rescaling (1/255) behind the input, or train "
"""What to do about it, with "at a tenth of the learning rate" behind it."""

_HIGHEST_RATE = 100.0


def rate_change(record: RunRecord, factor: float) -> Change | None:
    """The recipe's learning rate times a factor; None where the recipe is not known."""
    if record.recipe is None:
        return None
    rate = min(record.recipe.learning_rate * factor, _HIGHEST_RATE)
    return Change(recipe={"learning_rate": float(f"{rate:.2g}")})


def is_scaled(record: RunRecord) -> bool:
    """Whether a layer changes the range of values; True where the network is not known."""
    if record.graph is None:
        return True
    specs = (all_layers().get(node.kind) for node in record.graph.nodes.values())
    return any(spec is None or spec.range_of is not None for spec in specs)


def rate_words(record: RunRecord) -> str:
    """The recipe's learning rate; "–" where it is not known."""
    return "–" if record.recipe is None else rate_text(record.recipe.learning_rate)


def epochs_words(first: int, last: int) -> str:
    """A span of epochs: "epochs 3 to 8"."""
    return f"epoch {count(first)}" if first == last else f"epochs {count(first)} to {count(last)}"
