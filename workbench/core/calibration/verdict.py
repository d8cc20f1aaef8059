"""Whether an answer is "unknown", and the reason in words."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.format import share
from workbench.core.outside_text import KnownNames

# true class ----------------------------------------------------------------------------------
# Whether an answer is right: one definition for tables, counts and marks.


class TrueClasses:
    """The classes of a model, by the labels of images, compared as in `core.outside_text`.

    Args:
        names: Those of the model.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._known = KnownNames(names)

    def named(self, label: str) -> str:
        """The class that a label names; "" where it is none of the model, or may be several."""
        return self._known.find(label)

    def is_right(self, answer: str, label: str, *, unknown: str) -> bool | None:
        """Whether an answer is the true class.

        Args:
            answer: The most probable class.
            label: That of the image; "" where it has none.
            unknown: Why the answer is "unknown"; "" where it is not.

        Returns:
            None where the answer is "unknown", and where the label names no class of the model.
        """
        true_class = self.named(label)
        return answer == true_class if true_class and not unknown else None


# verdict -------------------------------------------------------------------------------------

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
