"""Whether an answer is right: one definition for tables, counts and marks."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.class_names import KnownNames


class TrueClasses:
    """The classes of a model, by the labels of images, compared as in `core.class_names`.

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
