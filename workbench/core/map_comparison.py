"""What the comparison of a heat map with that of random weights says, for window and terminal."""

from __future__ import annotations

ALIKE, PARTLY_ALIKE = 0.7, 0.4
"""Rank correlations from which on two maps look alike, or a little: a map of 7 × 7 places, as of
many networks, correlates by up to 0.4 with unrelated ones."""


def comparison_words(correlation: float | None) -> str:
    """What it means for the map.

    Args:
        correlation: Spearman's rank correlation of both maps; None where one is the same
            everywhere.
    """
    if correlation is None:
        return "One of the maps is the same everywhere: they cannot be compared."
    figure = f"rank correlation {correlation:.2f}; 1 is the same map, 0 is unrelated"
    if correlation >= ALIKE:
        return (
            f"The maps are alike ({figure}): this map shows the picture, as its edges, more than "
            "what was learned. Rely on another method."
        )
    if correlation >= PARTLY_ALIKE:
        return (
            f"The maps are partly alike ({figure}): some of this map would be there without any "
            "training."
        )
    return f"The maps differ ({figure}): this map comes from what the network has learned."
