"""What an explanation says, in words for people who have not met heat maps before. Qt-free."""

from __future__ import annotations

from workbench.core.format import duration, share
from workbench.protocol.trained.explain import Explained, Method

METHODS: tuple[tuple[Method, str, str], ...] = (
    ("gradcam", "Grad-CAM", "Where the last convolutions find evidence for the class"),
    ("gradients", "Gradients", "The pixels that would change the score of the class most"),
    ("occlusion", "Occlusion", "How far the probability falls where a patch covers the picture"),
)
"""Key, title and tooltip of each method."""

ALIKE, PARTLY_ALIKE = 0.7, 0.4
"""Rank correlations from which on two maps look alike, or a little: a map of 7 × 7 places, as of
many networks, correlates by up to 0.4 with unrelated ones."""


def title_of(method: Method) -> str:
    """The name of a method."""
    return next(title for key, title, _ in METHODS if key == method)


def facts_of(answer: Explained) -> str:
    """What is shown: method, class, layers, time."""
    where = f" at {', '.join(answer.layers)}" if answer.method == "gradcam" else ""
    took = duration(answer.milliseconds / 1000)
    name = f"“{answer.class_name}” ({share(answer.probability)})"
    return f"{title_of(answer.method)}{where} for {name}, {took}"


def check_words(correlation: float | None) -> str:
    """What the comparison with random weights says of a map.

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
