"""The columns of a table that are read, and how."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.specs import Inference
from workbench.pictures.listed.path_parts import PathParts


@dataclass(frozen=True)
class Chosen:
    """The columns that are read.

    Attributes:
        image: Place of the column with the files.
        folder: Place of the column with their folders, -1 for none.
        labels: Places of the columns with the label: one, or several of yes and no; none where the
            folder is the label.
        label_prefix: What the names of several begin with that is no part of the class.
        split: Place of the column with the part, -1 for none.
        flag: The part that a split column of yes and no means by yes; "" for a column of words.
        has_test: Whether a word of the split column is plainly the test part.
        part_columns: Places of columns with a mark for the images of a part, with the parts.
        paths: What in the paths names the part; None for nothing.
        unused: The titles of the other columns, with the reason where one is known.
        inferences: How they were found.
    """

    image: int
    folder: int = -1
    labels: tuple[int, ...] = ()
    label_prefix: str = ""
    split: int = -1
    flag: str = ""
    has_test: bool = False
    part_columns: tuple[tuple[int, str], ...] = ()
    paths: PathParts | None = None
    unused: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()
