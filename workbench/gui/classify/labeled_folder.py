"""A folder with folders of images, whose names are labels: to count how many are correct."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.core.format import count, plural, share
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.pictures.folders import list_folders, list_pictures


def labeled_images(folder: Path) -> list[tuple[str, str]]:
    """The images in the folders of a folder: (path, label), which is the name of its folder.

    Raises:
        DatasetError: a folder cannot be listed.
    """
    return [
        (str(path), inner.name)
        for inner in list_folders(folder)
        for path in list_pictures(inner, is_deep=True)
    ]


@dataclass
class Tally:
    """How many of the images of a labeled folder were classified correctly.

    Attributes:
        waiting: Images that have no prediction yet.
        num_right, num_wrong: Images whose prediction is their class, or another one.
        num_bad: Images that cannot be read.
        num_unknown: Images in folders that are no class of the model.
    """

    waiting: set[str]
    num_right: int = 0
    num_wrong: int = 0
    num_bad: int = 0
    num_unknown: int = 0

    def add(self, entry: ClassifiedPicture) -> None:
        """Counts a prediction that was waited for."""
        if entry.answer.file not in self.waiting:
            return
        self.waiting.remove(entry.answer.file)
        if entry.answer.error is not None:
            self.num_bad += 1
        elif entry.is_right is None:
            self.num_unknown += 1
        elif entry.is_right:
            self.num_right += 1
        else:
            self.num_wrong += 1

    def sentence(self) -> str:
        """How many are correct, as in: 43 of 60 correct (71.7%); 2 images cannot be read."""
        labeled = self.num_right + self.num_wrong
        parts = []
        if labeled:
            part = share(self.num_right / labeled)
            parts.append(f"{count(self.num_right)} of {count(labeled)} correct ({part})")
        if self.num_unknown:
            words = plural(self.num_unknown, "image")
            parts.append(f"{words} in folders that are no class of this model")
        if self.num_bad:
            parts.append(f"{plural(self.num_bad, 'image')} cannot be read")
        return "; ".join(parts) + "."
