"""Whether an answer is "unknown", and the reason in words."""

from __future__ import annotations

from workbench.core.format import share

UNKNOWN = "Unknown"
FAR = "unlike the training images"


def unknown_reason(
    probability: float,
    *,
    least: float | None,
    distance: float | None = None,
    limit: float | None = None,
) -> str:
    """Why an answer is "unknown"; "" where it is not.

    Args:
        probability: Probability of the most probable class, calibrated where the model is.
        least: Least probability of an answer; None for any.
        distance: Distance of the image from the training images; None where it is not computed.
        limit: Highest distance; None for any.
    """
    if distance is not None and limit is not None and not distance <= limit:
        return FAR
    if least is not None and not probability >= least:
        # Rounded, 69.96% would be "70.0% < 70.0%".
        decimals = 1 if share(probability) != share(least) else 4
        words = f"{share(probability, decimals)} < {share(least, decimals)}"
        return f"not confident enough ({words})"
    return ""


def unknown_words(reason: str) -> str:
    """The answer in words: "Unknown: unlike the training images"."""
    return f"{UNKNOWN}: {reason}"
