"""CheckData and ShowFound: what is wrong with the images of a project, and what they look like."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from workbench.backbones import all_backbones
from workbench.core.data_check.findings import DataCheckSpec, Finding, FoundImage, Survey
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import ArrayPart, FilePart, LoadedData, Part
from workbench.data_checks import all_data_checks
from workbench.errors import PictureError
from workbench.pictures.png import write_png
from workbench.pictures.survey import FeatureMaker, survey_of
from workbench.pictures.thumbnails import part_picture, thumbnail
from workbench.protocol.data_check import (
    CheckData,
    DataCheckReport,
    DataFindings,
    FoundThumbnails,
    RuleCount,
    ShowFound,
)
from workbench.runs.state.preparing import with_remembered_split
from workbench.worker.input.sources import load_data, load_source
from workbench.worker.requests.session import Job

MAX_LISTED = 1_000
"""Findings of one rule that are sent; those beyond are counted."""

MOST_THOROUGH = 1_000
"""Images whose features are those of the larger backbone, which takes ten times as long as the
smaller one: of 5% wrong labels among 400 photos it ranks 91% in the first tenth, not 85%."""

MAX_FINDING_BYTES = 100_000
_ANSWER_BYTES = 300_000
"""Findings are sent in answers of about this length: a window shows the first ones sooner."""

_SHARPNESS = 3
"""A thumbnail is made from an image at least this many times as large."""


def check_data(job: Job, request: CheckData) -> DataCheckReport:
    """Looks at every image once, then asks each rule.

    Raises:
        DatasetError: the source cannot be loaded at all.
    """
    began = time.monotonic()
    project = with_remembered_split(parse_project(request.project, "the project"))
    edits = DataEdits(split=project.edits.split)
    loaded = load_data(job, replace(project, edits=edits))
    features = _features(job, _num_images(loaded)) if request.labels else None
    survey = survey_of(loaded, project.edits.classes, project.recipe, job, features)
    counts: list[RuleCount] = []
    notes: list[str] = []
    for rule in all_data_checks().values():
        if rule.needs_features and survey.features is None:
            continue
        job.check_cancelled()
        job.progress(f"Looking for: {rule.title.lower()}")
        if (found := _send_findings(job, rule, survey)).total:
            counts.append(found)
        notes += rule.notes(survey)
    return DataCheckReport(
        id=job.id,
        counts=counts,
        num_images=len(survey.readable),
        seconds=time.monotonic() - began,
        has_checked_labels=survey.features is not None,
        notes=notes,
    )


def _num_images(loaded: LoadedData) -> int:
    return sum(len(part) for part in loaded.parts)


def _features(job: Job, num_images: int) -> FeatureMaker:
    """Features by a backbone that needs no download: of few images the most features, of many those
    that are computed quickest.
    """
    job.keras()
    from workbench.worker.model.inference_form import BackboneFeatures

    bundled = [spec for spec in all_backbones().values() if spec.is_bundled]
    is_few = num_images <= MOST_THOROUGH
    spec = max(bundled, key=lambda each: each.num_features) if is_few else bundled[0]
    job.progress(f"Loading {spec.title}")
    return BackboneFeatures(spec)


def _send_findings(job: Job, rule: DataCheckSpec, survey: Survey) -> RuleCount:
    """Sends what a rule finds, as far as it fits."""
    found = iter(rule.find(survey))
    listed = 0
    waiting: list[Finding] = []
    size = 0
    for finding in map(_fitting, islice(found, MAX_LISTED)):
        length = len(msgspec.json.encode(finding))
        if size + length > _ANSWER_BYTES:
            job.send(DataFindings(id=job.id, findings=waiting))
            waiting, size = [], 0
        waiting.append(finding)
        listed, size = listed + 1, size + length
    if waiting:
        job.send(DataFindings(id=job.id, findings=waiting))
    return RuleCount(rule=rule.key, total=listed + sum(1 for _ in found), listed=listed)


def _fitting(finding: Finding) -> Finding:
    """A finding with as many images as fit into an answer; the others are counted."""
    while len(msgspec.json.encode(finding)) > MAX_FINDING_BYTES and len(finding.images) > 2:
        finding = replace(finding, images=finding.images[: len(finding.images) // 2])
    return finding


def show_found(job: Job, request: ShowFound) -> FoundThumbnails:
    """Writes the images that can be read.

    Raises:
        DatasetError: the source cannot be loaded any more.
    """
    folder = Path(tempfile.mkdtemp(prefix="found-", dir=job.folder))
    return FoundThumbnails(id=job.id, paths=list(_thumbnails(job, request, folder)))


def _thumbnails(job: Job, request: ShowFound, folder: Path) -> Iterator[str]:
    loaded: LoadedData | None = None
    for number, image in enumerate(request.images):
        job.check_cancelled()
        if not image.file and loaded is None:
            loaded = load_source(job, request.source, request.params, DataEdits())
        try:
            pixels = part_picture(*_place_of(image, loaded), side=_SHARPNESS * request.size)
        except (PictureError, IndexError):
            yield ""
            continue
        path = folder / f"{number}.png"
        write_png(path, thumbnail(pixels, request.size))
        yield str(path)


def _place_of(image: FoundImage, loaded: LoadedData | None) -> tuple[Part, int]:
    """The part that an image is in, and its place there."""
    if image.file or loaded is None:
        return FilePart((image.file,), np.zeros(1, np.int64)), 0
    part: Part | None = getattr(loaded, image.origin)
    if not isinstance(part, ArrayPart) or not 0 <= image.index < len(part):
        raise IndexError(image.index)
    return part, image.index
