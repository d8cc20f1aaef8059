"""What is known of every image of a data set, in columns: 100,000 images take some 50 MB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.data_check.findings import FoundImage
from workbench.core.data_check.judged_labels import JudgedLabels, judged_labels
from workbench.core.data_check.similar import Group, Looks, groups
from workbench.core.data_check.tones import Tones
from workbench.core.format import path_text
from workbench.core.projects.data_edits import PART_NAMES, PartName
from workbench.core.specs import Inference

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
