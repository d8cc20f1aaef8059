"""The messages of the data check: its request, its findings, small images of them."""

from __future__ import annotations

import msgspec

from workbench.core.data_check.findings import Finding, FoundImage
from workbench.protocol.bases import Answer, FinalAnswer, Request


class DataFindings(Answer, frozen=True, kw_only=True, tag="data_findings"):
    """A chunk of the findings of a data check, the worst rules first."""

    findings: list[Finding]


class RuleCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many findings a rule has; at most `listed` of them are sent."""

    rule: str
    total: int
    listed: int


class DataCheckReport(FinalAnswer, frozen=True, kw_only=True, tag="data_check_report"):
    """Answer to CheckData, after its findings.

    Attributes:
        counts: Counts of each rule that found something.
        num_images: How many images were checked, without those that cannot be read.
        seconds: How long it took.
        has_checked_labels: Whether label errors were looked for.
        notes: Sentences about what could not be checked.
    """

    counts: list[RuleCount]
    num_images: int
    seconds: float
    has_checked_labels: bool = False
    notes: list[str] = []


class CheckData(Request, frozen=True, kw_only=True, tag="check_data"):
    """Looks for what is wrong with the images of a project (file text). Answers: some DataFindings,
    then DataCheckReport.

    Attributes:
        labels: Also look for label errors, by the features of a backbone: most of the time.
    """

    final_answer = DataCheckReport
    partial_answers = (DataFindings,)

    project: str
    labels: bool = False


class FoundThumbnails(FinalAnswer, frozen=True, kw_only=True, tag="found_thumbnails"):
    """PNG files in the worker's session folder, in the order requested; "" for an image that cannot
    be read.
    """

    paths: list[str]


class ShowFound(Request, frozen=True, kw_only=True, tag="show_found"):
    """Writes images of findings as small PNG files.

    Attributes:
        source, params: As in DataRequest; edits do not matter to what an image is.
        images: Those to write.
        size: The longer side, in pixels.
    """

    final_answer = FoundThumbnails
    handler = "check_data"

    source: str
    params: dict[str, object]
    images: list[FoundImage]
    size: int = 96
