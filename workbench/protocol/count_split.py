"""Counting how a recipe divides the images of a data set: request and answer."""

from __future__ import annotations

from workbench.protocol.bases import Answer, SplitRequest


class CountSplit(SplitRequest, frozen=True, kw_only=True, tag="count_split"):
    """Counts the images of each part as training would divide them. Answer: SplitCounts.

    Attributes:
        bad_files: Files that are known to be unreadable.
    """

    bad_files: list[str] = []


class SplitCounts(Answer, frozen=True, kw_only=True, tag="split_counts"):
    """Answer to CountSplit.

    Attributes:
        classes: For each class how many images train, validate and test.
        notes: What is odd about the split, in sentences.
    """

    classes: list[list[int]]
    notes: list[str] = []
