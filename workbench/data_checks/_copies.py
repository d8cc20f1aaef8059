"""What the rules about duplicates share: findings, which copy is kept, as actions, and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from workbench.core.data_check.findings import (
    MAX_IMAGES,
    Action,
    Finding,
    FoundImage,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.data_check.similar import Group
from workbench.core.format import count, list_text
from workbench.core.projects.data_edits import PART_NAMES, PartName
from workbench.core.training.split import TRAIN

_MAX_CHOICES = 6
"""Copies that have a button of their own."""


def is_leak(survey: Survey, group: Group) -> bool:
    """Whether copies are in several parts of the source."""
    return len({int(survey.origins[row]) for row in group.rows}) > 1


def copies_in_one_part(survey: Survey, *, are_exact: bool) -> Iterator[Group]:
    """Copies in one part of the source: those in several classes first, then those that the split
    separates.
    """
    found = (g for g in survey.groups if g.is_exact == are_exact and not is_leak(survey, g))
    yield from sorted(
        found, key=lambda g: (not is_conflict(survey, g), not _separated(survey, g), g.rows)
    )


def finding_of_copies(key: str, survey: Survey, group: Group, title: str, text: str) -> Finding:
    """What such copies are a reason for: which one to keep, and where the split separates them,
    to bring them together.
    """
    images, held_out = survey.found(group.rows), _separated(survey, group)
    has_conflict = is_conflict(survey, group)
    if held_out:
        text += (
            f" The split puts them into training and {held_out}: what is measured on the "
            f"{held_out} images is then better than on new images."
        )
    if held_out and not has_conflict:
        title += f", in training and {held_out}"
    return new_finding(
        key,
        "error" if has_conflict or held_out else "warning",
        title,
        f"{names_of(images)} {text}",
        images=images,
        actions=[
            *keep_one(images),
            *([leave_out(images, "Leave all out")] if has_conflict else []),
            *([move_to_training(images)] if held_out else []),
        ],
    )


def is_conflict(survey: Survey, group: Group) -> bool:
    """Whether copies are in several classes."""
    return num_labels(survey, group) > 1


def _separated(survey: Survey, group: Group) -> str:
    """The part, in words, that some copies are in while others train; "" where none is."""
    parts = {int(survey.parts[row]) for row in group.rows}
    if TRAIN not in parts or len(parts) < 2:
        return ""
    return part_words(PART_NAMES[max(parts)])


def num_labels(survey: Survey, group: Group) -> int:
    """Number of classes that the copies are in."""
    return len({int(survey.labels[row]) for row in group.rows})


def names_of(images: Sequence[FoundImage]) -> str:
    """The first few by their file and class."""
    shown = [f"{_short_name(image)} ({image.label})" for image in images[:3]]
    more = len(images) - len(shown)
    return list_text([*shown, f"{count(more)} more"] if more else shown)


def _short_name(image: FoundImage) -> str:
    """The name of its file, or its number where it is in none."""
    return PurePath(image.file).name if image.file else f"image {image.index + 1:,}"


def keep_one(images: Sequence[FoundImage], *, wanted: str = "") -> Iterator[Action]:
    """For each copy of which another would be different: use it and none of the others.

    Args:
        images: All copies.
        wanted: The part whose copies are offered first.
    """
    seen: set[tuple[str, str, str]] = set()
    listed = images[:MAX_IMAGES]
    for image in sorted(listed, key=lambda each: each.part != wanted):
        kind = image.content, image.label, image.part
        if kind in seen or len(seen) == _MAX_CHOICES:
            continue
        seen.add(kind)
        yield _keep(image, listed, f"keep_{len(seen)}")


def _keep(image: FoundImage, images: Sequence[FoundImage], key: str) -> Action:
    copies = [each for each in images if each.content == image.content]
    others = dict.fromkeys(each.content for each in images if each.content != image.content)
    content = image.content
    return Action(
        key,
        f"Use only {_difference(image, images)}",
        left_out=tuple(others),
        once=(content,) if len(copies) > 1 else (),
        labels={content: image.source_label} if len({each.label for each in copies}) > 1 else {},
        parts={content: image.part} if len({each.part for each in copies}) > 1 else {},
    )


def _difference(image: FoundImage, images: Sequence[FoundImage]) -> str:
    """Words by which people know this copy from the others."""
    for words, value in (
        (f"the one in “{image.label}”", "label"),
        (f"the {part_words(image.part)} image", "part"),
    ):
        if Counter(getattr(each, value) for each in images)[getattr(image, value)] == 1:
            return words
    if len({each.content for each in images}) == 1:
        same_label = len({each.label for each in images}) == 1
        return "one of them" if same_label else f"one, in “{image.label}”"
    return f"“{_short_name(image)}”"


def part_words(part: PartName) -> str:
    """A part for people."""
    return "training" if part == "train" else part


def move_to_training(images: Sequence[FoundImage]) -> Action:
    """Trains on all copies."""
    parts: dict[str, PartName] = {image.content: "train" for image in images[:MAX_IMAGES]}
    return Action("move_train", "Move all to training", parts=parts)
