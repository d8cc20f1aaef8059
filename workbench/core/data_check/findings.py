"""What the data check finds, and what can be done about it: values.

An action makes new edits of a project, so that undoing it is undoing an edit of the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from workbench.core.data_check.label_scores import JudgedLabels, judged_labels
from workbench.core.data_check.similar import Group, Looks, groups
from workbench.core.format import path_text
from workbench.core.projects.data_edits import PART_NAMES, PartName
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import Inference

# tones ---------------------------------------------------------------------------------------
# How dark and how bright images are, and how many tones they have.

Column = np.ndarray[Any, np.dtype[np.int64]]

_FEW = 0.001
"""Share of the pixels of a channel that are passed over at either end: dust, hot pixels."""


@dataclass(frozen=True)
class Tones:
    """Tones of 0 to 255 of some images, in columns of int64 (n,).

    Attributes:
        dark, bright: The darkest and the brightest tone of any channel, but for one pixel in a
            thousand.
        levels: Different tones in the channel that has most of them.
        cut: Values beyond the value range, per mille.
    """

    dark: Column
    bright: Column
    levels: Column
    cut: Column

    @classmethod
    def empty(cls, count: int) -> Tones:
        """Room for some images."""
        return cls(*(np.zeros(count, np.int64) for _ in range(4)))

    @classmethod
    def joined(cls, several: Sequence[Tones]) -> Tones:
        """Concatenates several."""
        columns = zip(*(each.columns for each in several), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of the attributes."""
        return self.dark, self.bright, self.levels, self.cut

    def __getitem__(self, rows: Any) -> Tones:
        return Tones(*(column[rows] for column in self.columns))

    def put(self, row: int, values: tuple[int, int, int, int]) -> None:
        """Sets the values of one image."""
        for column, value in zip(self.columns, values, strict=True):
            column[row] = value


def tones_of(counts: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[int, int, int]:
    """Darkest and brightest tone, and number of tones, of the counts of each tone in each channel,
    (channels, 256).
    """
    sums = counts.cumsum(axis=1)
    few = _FEW * sums[:, -1:]
    dark = (sums > few).argmax(axis=1).min()
    bright = (sums >= sums[:, -1:] - few).argmax(axis=1).max()
    return int(dark), int(bright), int((counts > 0).sum(axis=1).max())


# findings ------------------------------------------------------------------------------------

Severity = Literal["error", "warning", "hint"]
"""An error spoils what is measured, a warning costs accuracy, a hint is good to know."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
"""Worst first."""

State = Literal["open", "fixed", "kept"]

KEEP = "keep"
"""Key of the action after which a finding needs no change."""

MAX_IMAGES = 500
"""Images that a finding lists: more are counted."""

_KEY_DIGITS = 12


@dataclass(frozen=True)
class FoundImage:
    """An image that a finding is about.

    Attributes:
        content: Its id (`DataEdits`).
        file: Its path; "" where it is in no file of its own, or its name is no Unicode.
        origin: The part of the source that it is in; "train" where it has no parts.
        index: Its place in that part.
        label: Name of its class in the project.
        source_label: Name of its class in the source: edits name that.
        part: The part of the data set that training puts it into.
        width, height: In pixels, upright; 0 where it cannot be read.
    """

    content: str
    file: str
    origin: PartName
    index: int
    label: str
    source_label: str
    part: PartName
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Action:
    """One way to settle a finding. Contents are those of `DataEdits`.

    Attributes:
        key: Stable name within its finding, e.g. "leave_out".
        title: Words of its button.
        left_out: Contents that are no longer used.
        once: Contents of which one copy is used from now on.
        labels: Content -> name of the class that it belongs to instead.
        parts: Content -> the part that it belongs to instead.
        recipe: Values of the recipe to change.
        dataset: Parameters of the data set to change: another meaning of the data.
    """

    key: str
    title: str
    left_out: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, PartName] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelEvidence:
    """Why a label is doubted: what a classifier that was trained on the other images says.

    Attributes:
        given: Probability of the label that the image has.
        suggested_label: Name of the class that fits better.
        suggested: Probability of that class.
        nearest: Images with the most similar features, the most similar first.
    """

    given: float
    suggested_label: str
    suggested: float
    nearest: tuple[FoundImage, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something about the data that people should know.

    Attributes:
        key: The same as long as the images are the same, wherever their files are.
        rule: Key of the rule that found it.
        severity: How bad it is.
        title: Short heading.
        message: The reason, in sentences.
        images: Those it is about, at most MAX_IMAGES of them.
        num_images: How many there are.
        actions: What can be done, the best first; the last one keeps everything as it is, where
            that makes sense.
        score: For a ranking: higher is more certain; 0 where there is none. Of a label, the
            estimated probability that it is wrong.
        group: Heading of those of the rule that are likely to be settled together; "" for none.
        evidence: Why a label is doubted; None for other findings.
    """

    key: str
    rule: str
    severity: Severity
    title: str
    message: str
    images: tuple[FoundImage, ...] = ()
    num_images: int = 0
    actions: tuple[Action, ...] = ()
    score: float = 0.0
    group: str = ""
    evidence: LabelEvidence | None = None

    def action(self, key: str) -> Action | None:
        """The action with a key; None where it has none."""
        return next((each for each in self.actions if each.key == key), None)


def new_finding(
    rule: str,
    severity: Severity,
    title: str,
    message: str,
    *,
    images: Iterable[FoundImage] = (),
    actions: Iterable[Action] = (),
    score: float = 0.0,
    about: str = "",
    can_be_kept: bool = True,
) -> Finding:
    """A finding with its key, its images within the limit, and the action that keeps it.

    Args:
        rule: Key of the rule.
        severity: How bad it is.
        title: Short heading.
        message: The reason.
        images: All that it is about.
        actions: What can be done beside keeping it, the best first.
        score: For a ranking.
        about: What makes it another finding than others of the rule about the same images.
        can_be_kept: Images that are not used anyway cannot be kept.
    """
    found = tuple(images)
    texts = sorted({image.content for image in found})
    digest = hashlib.sha256("\n".join([rule, about, *texts]).encode()).hexdigest()
    return Finding(
        key=f"{rule}:{digest[:_KEY_DIGITS]}",
        rule=rule,
        severity=severity,
        title=title,
        message=message,
        images=found[:MAX_IMAGES],
        num_images=len(found),
        actions=(*actions, *([Action(KEEP, "Keep as it is")] if can_be_kept else [])),
        score=score,
    )


def leave_out(images: Iterable[FoundImage], title: str = "Leave out") -> Action:
    """Uses the listed images no longer."""
    contents = dict.fromkeys(image.content for image in images)
    return Action("leave_out", title, left_out=tuple(contents)[:MAX_IMAGES])


Settled = Iterable[tuple[Finding, Action]]
"""Findings, each with an action."""


def with_actions(project: Project, settled: Settled) -> Project:
    """The project after some actions, one after the other; recipe and data set change by those that
    have values of them.
    """
    edits = project.edits
    left_out, once, kept = set(edits.left_out), set(edits.once), set(edits.kept)
    labels, parts = dict(edits.labels), dict(edits.parts)
    recipe: dict[str, Any] = {}
    params: dict[str, Any] = dict(project.dataset.params)
    for finding, action in settled:
        if action.key == KEEP:
            kept.add(finding.key)
            continue
        kept.discard(finding.key)
        left_out.difference_update((*action.labels, *action.parts, *action.once))
        left_out.update(action.left_out)
        once.update(action.once)
        labels.update(action.labels)
        parts.update(action.parts)
        recipe.update(action.recipe)
        params.update(action.dataset)
    edits = replace(
        edits,
        left_out=frozenset(left_out),
        once=frozenset(once),
        labels=labels,
        parts=parts,
        kept=frozenset(kept),
    )
    dataset = Choice(project.dataset.key, params)
    recipe_after = project.recipe.with_values(**recipe)
    return replace(project, edits=edits, recipe=recipe_after, dataset=dataset)


def reopened(project: Project, finding: Finding) -> Project:
    """The project as if nothing had been done about a finding's images."""
    gone = {image.content for image in finding.images}
    edits = project.edits
    edits = replace(
        edits,
        left_out=edits.left_out - gone,
        once=edits.once - gone,
        labels={key: name for key, name in edits.labels.items() if key not in gone},
        parts={key: name for key, name in edits.parts.items() if key not in gone},
        kept=edits.kept - {finding.key},
    )
    return replace(project, edits=edits)


def state_of(finding: Finding, project: Project) -> State:
    """Whether a project has settled a finding: it has what one of the actions makes."""
    if finding.key in project.edits.kept:
        return "kept"
    is_fixed = any(_holds(project, action) for action in finding.actions if action.key != KEEP)
    return "fixed" if is_fixed else "open"


def _holds(project: Project, action: Action) -> bool:
    """Whether the action would change nothing any more."""
    edits = project.edits
    return (
        edits.left_out.issuperset(action.left_out)
        and (edits.once | edits.left_out).issuperset(action.once)
        and _settles(edits.labels, action.labels, edits.left_out)
        and _settles(edits.parts, action.parts, edits.left_out)
        and all(getattr(project.recipe, key) == value for key, value in action.recipe.items())
        and all(project.dataset.params.get(key) == value for key, value in action.dataset.items())
    )


def _settles(given: Mapping[str, str], wanted: Mapping[str, str], gone: frozenset[str]) -> bool:
    return all(given.get(key) == value or key in gone for key, value in wanted.items())


@dataclass(frozen=True)
class Tally:
    """How many findings there are, by state."""

    total: int
    fixed: int
    kept: int

    @property
    def open(self) -> int:
        """Number of findings that were neither fixed nor kept."""
        return self.total - self.fixed - self.kept

    @property
    def words(self) -> str:
        """In words, e.g. "12 findings, 3 fixed"."""
        parts = [f"{self.total:,} finding{'' if self.total == 1 else 's'}"]
        parts += [f"{self.fixed:,} fixed"] if self.fixed else []
        parts += [f"{self.kept:,} kept"] if self.kept else []
        return ", ".join(parts)


def tally(findings: Iterable[Finding], project: Project) -> Tally:
    """Counts findings by what a project has done about them."""
    states = [state_of(finding, project) for finding in findings]
    return Tally(len(states), states.count("fixed"), states.count("kept"))


# survey --------------------------------------------------------------------------------------
# What is known of every image of a data set, in columns: 100,000 images take some 50 MB.

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """Every image of a data set that its project uses, apart from what it changes about single
    images. Rows are images, those of one part of the source after those of another.

    Attributes:
        class_names: Name of each label.
        source_names: Name of each class of the source, which may be merged in the project.
        files: Path of each image; "" where it is in no file of its own.
        origins: (n,) the part of the source that each is in: TRAIN where it has no parts.
        indices: (n,) place of each image in its part of the source.
        labels: (n,) class of each image.
        source_labels: (n,) its class in the source.
        parts: (n,) the part that training puts it into: TRAIN, VALIDATION or TEST.
        contents: (n,) id of each image, dtype S.
        reasons: Row -> why the image cannot be read, in words.
        formats: What each file is, by Pillow's names; "" for none.
        modes: Pillow's mode of each image, e.g. "RGB", "L", "RGBA"; "" for none.
        unread: What of each file is not read: "frames" or "pages" after the first, "channels"
            beyond color; "" for nothing.
        turned: (n,) whether EXIF says that the pixels are to be turned.
        sizes: (n, 2) width and height in pixels, upright; 0 where it cannot be read.
        looks: What each looks like, to compare them.
        tones: How dark and how bright each is.
        features: (n, d) features of a backbone; None where no rule needs them.
        inferences: What the source inferred about the meaning of the data.
        bad_files: (path or line, reason in words) of what the source itself left out.
    """

    class_names: tuple[str, ...]
    source_names: tuple[str, ...]
    files: Sequence[str]
    origins: Numbers
    indices: Numbers
    labels: Numbers
    source_labels: Numbers
    parts: Numbers
    contents: np.ndarray[Any, np.dtype[np.bytes_]]
    reasons: Mapping[int, str]
    formats: Sequence[str]
    modes: Sequence[str]
    unread: Sequence[str]
    turned: Mask
    sizes: Numbers
    looks: Looks
    tones: Tones
    features: Floats | None = None
    inferences: tuple[Inference, ...] = ()
    bad_files: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def readable(self) -> Numbers:
        """The rows of images that can be read."""
        good = np.ones(len(self), np.bool_)
        good[list(self.reasons)] = False
        return np.flatnonzero(good)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Images that are the same, or nearly; each with at least two rows."""
        short_sides = self.sizes.min(axis=1) if len(self) else np.zeros(0, np.int64)
        return groups(self.contents, self.looks, self.readable, short_sides)

    @cached_property
    def judged(self) -> JudgedLabels | None:
        """What the features tell about the labels; None where there are no features."""
        if self.features is None:
            return None
        copies = np.arange(len(self))
        for group in self.groups:
            copies[list(group.rows)] = min(group.rows)
        return judged_labels(self.features, self.labels, self.readable, copies)

    def image(self, row: int) -> FoundImage:
        """A row as findings name it."""
        width, height = (int(side) for side in self.sizes[row])
        return FoundImage(
            content=self.contents[row].decode(),
            file=path_text(self.files[row]),
            origin=PART_NAMES[int(self.origins[row])],
            index=int(self.indices[row]),
            label=self.class_names[self.labels[row]],
            source_label=self.source_names[self.source_labels[row]],
            part=self.part(row),
            width=width,
            height=height,
        )

    def part(self, row: int) -> PartName:
        """Name of the part that training puts a row into."""
        return PART_NAMES[int(self.parts[row])]

    def source_name(self, label: int) -> str:
        """Name of a class in the source; of several that are merged, the most frequent."""
        of_class = self.source_labels[self.labels == label]
        return self.source_names[int(np.bincount(of_class).argmax())]

    def found(self, rows: Iterable[int]) -> list[FoundImage]:
        """The images of these rows, as findings name them."""
        return [self.image(int(row)) for row in rows]


# spec ----------------------------------------------------------------------------------------
# What a rule of the data check declares.


@dataclass(frozen=True, kw_only=True)
class DataCheckSpec:
    """One rule.

    Attributes:
        key: File name, and the `kind` of its findings in JSON, e.g. "near_duplicate".
        title: Heading of its findings, in the plural.
        order: Place among the rules: the worst first.
        needs_features: It compares features of a backbone, which take most of the time.
        find: Survey -> what the rule finds, the worst first. Called by a worker only.
        notes: Survey -> sentences about what was looked at, and what could not be.
    """

    key: str
    title: str
    order: int
    needs_features: bool = False
    find: Callable[[Survey], Iterable[Finding]]
    notes: Callable[[Survey], Iterable[str]] = lambda _survey: ()
