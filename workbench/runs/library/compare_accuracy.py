"""Whether one of two runs is better by more than chance, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from workbench.core.evaluation.significance import (
    PairedTest,
    UnpairedTest,
    paired_test,
    unpaired_test,
)
from workbench.core.format import plural
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.library.compare_images import ComparedImages
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.scores import SET_IMAGES

_LEAST_P = 0.001


@dataclass(frozen=True)
class ComparedAccuracy:
    """Two accuracies and what a test says of their difference.

    Attributes:
        words: The result, a sentence.
        test: On the same images, or as if on different ones; None where neither is possible.
        part: Which images.
    """

    words: str
    test: PairedTest | UnpairedTest | None = None
    part: ImageSet = "test"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON values; the difference is that of the right run less the left."""
        found: dict[str, Any] = {"words": self.words, "part": self.part}
        if self.test is None:
            return found
        is_paired = isinstance(self.test, PairedTest)
        kind = "two_proportions"
        if isinstance(self.test, PairedTest):
            kind = "mcnemar_exact" if self.test.is_exact else "mcnemar_chi_square"
        figures = {"difference": self.test.difference, "significant": self.test.is_significant}
        return found | {"test": kind, "same_images": is_paired} | figures | asdict(self.test)


def compare_accuracy(
    left: RunSummary, right: RunSummary, images: ComparedImages | None, part: ImageSet
) -> ComparedAccuracy | None:
    """The test of two runs on the images that both were evaluated on with the same labels; None
    where there are none. `images` are those of the left run as the right one has predicted them.
    """
    if images is None:
        return None
    is_same = images.is_common & ~images.is_relabeled
    count = int(is_same.sum())
    if not count:
        return None
    # What the left run alone has right is lost to the right one.
    test = paired_test(count, int(images.is_lost.sum()), int(images.is_gained.sum()))
    one = SET_IMAGES[part].removesuffix("s")
    on = f"on {plural(count, one)}"
    if count < len(is_same):
        on = f"on the {plural(count, one)} that both were tested on with the same labels"
    return ComparedAccuracy(_words(left, right, test, on), test, part)


def compare_counts(
    left: RunSummary, right: RunSummary, counts: tuple[int, int], *, is_other: bool
) -> ComparedAccuracy | None:
    """The test of two test accuracies of which no image can be matched, on so many images each;
    None where one of them is not known.

    Args:
        left: The one run.
        right: The other one.
        counts: Their test images; 0 for an unknown number.
        is_other: Whether it is known that the images are others.
    """
    if left.test_accuracy is None or right.test_accuracy is None:
        return None
    if is_other:
        return ComparedAccuracy(
            "The test images differ: the accuracies cannot be tested against each other."
        )
    if not all(counts):
        return ComparedAccuracy(
            "How many images the runs were tested on is not known: the accuracies cannot be tested "
            "against each other."
        )
    numbers = (left.test_accuracy, right.test_accuracy)
    first, second = (round(x * count, 6) for x, count in zip(numbers, counts, strict=True))
    test = unpaired_test((first, second), counts)
    on = f"on {counts[0]:,} and {counts[1]:,} test images that were not matched one by one"
    return ComparedAccuracy(_words(left, right, test, on), test)


def _words(left: RunSummary, right: RunSummary, test: PairedTest | UnpairedTest, on: str) -> str:
    """The comparison as a sentence: "Run 3 is better by 2.9 points, 95% interval -3.1 to 9.0: not
    significant on 34 test images, p = 0.45".
    """
    p = f"p < {_LEAST_P:g}" if test.p_value < _LEAST_P else f"p = {test.p_value:.2g}"
    if not test.difference:
        return f"Both runs have the same accuracy {on}, {p}."
    is_right = test.difference > 0
    low, high = (test.low, test.high) if is_right else (-test.high, -test.low)
    name = run_words(right if is_right else left, left if is_right else right)
    sign = "" if test.is_significant else "not "
    return (
        f"{name} is better by {100 * abs(test.difference):.1f} points, 95% interval "
        f"{100 * low:.1f} to {100 * high:.1f}: {sign}significant {on}, {p}."
    )


def run_words(run: RunSummary, other: RunSummary) -> str:
    """A run in a sentence: "Run 3", or its title in quotes."""
    if run.own_title and run.own_title != other.own_title:
        return f"Run “{run.own_title}”"
    return f"Run {run.number}" if run.number and run.number != other.number else f"Run “{run.name}”"
