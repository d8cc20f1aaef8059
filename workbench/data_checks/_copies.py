"""What the rules about duplicates share: which copy is kept, as actions, and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from workbench.core.data_check.findings import MAX_IMAGES, Action, FoundImage, leave_out
from workbench.core.data_check.similar import Group
from workbench.core.data_check.survey import Survey
from workbench.core.format import count, list_text
from workbench.core.projects.data_edits import PART_NAMES, PartName
from workbench.core.training.split import TRAIN

_MAX_CHOICES = 6
"""Copies that have a button of their own."""


def is_leak(survey: Survey, group: Group) -> bool:
    """Whether copies are in several parts of the source."""
    return len({int(survey.origins[row]) for row in group.rows}) > 1


def separated(survey: Survey, group: Group) -> str:
    """The part, in words, that some copies are in while others train; "" where none is."""
    parts = {int(survey.parts[row]) for row in group.rows}
    if is_leak(survey, group) or TRAIN not in parts or len(parts) < 2:
        return ""
    return part_words(PART_NAMES[max(parts)])


def separated_words(held_out: str) -> str:
    """Why that matters, as a sentence behind others."""
    if not held_out:
        return ""
    return (
        f" The split puts them into training and {held_out}: what is measured on the {held_out} "
        "images is then better than on new images."
    )


def worst_first(survey: Survey, found: Iterable[Group]) -> list[Group]:
    """Copies in several classes first, then those that the split separates."""
    return sorted(
        found,
        key=lambda each: (num_labels(survey, each) == 1, not separated(survey, each), each.rows),
    )


def num_labels(survey: Survey, group: Group) -> int:
    """In how many classes the copies are."""
    return len({int(survey.labels[row]) for row in group.rows})


def names_of(images: Sequence[FoundImage]) -> str:
    """The first few by their file and class."""
    shown = [f"{short_name(image)} ({image.label})" for image in images[:3]]
    more = len(images) - len(shown)
    return list_text([*shown, f"{count(more)} more"] if more else shown)


def short_name(image: FoundImage) -> str:
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
    return f"“{short_name(image)}”"


def part_words(part: PartName) -> str:
    """A part for people."""
    return "training" if part == "train" else part


def leave_all_out(images: Sequence[FoundImage]) -> Action:
    """Uses none of the copies."""
    return leave_out(images, "Leave all out")


def move_all(images: Sequence[FoundImage], part: PartName) -> Action:
    """Brings all copies into one part."""
    contents = dict.fromkeys(image.content for image in images[:MAX_IMAGES])
    return Action(
        f"move_{part}", f"Move all to {part_words(part)}", parts=dict.fromkeys(contents, part)
    )
