"""Images of an evaluation as rows of a grid: what was predicted, what is right, what is edited."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Qt

from workbench.core.format import count, share
from workbench.core.projects.data_edits import DataEdits
from workbench.gui.evaluate.chosen import OtherRun
from workbench.gui.evaluate.scored import ImagesOfRun
from workbench.gui.images.rows import Badge, GridRows, Index
from workbench.gui.images.sample_dialog import Sample
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.browsing import ImagePlace
from workbench.protocol.describe_data import Thumbnail
from workbench.runs.store.image_scores import Numbers, ScoredImages

_RIGHT, _WRONG = Badge("check", "good"), Badge("close", "bad")
_RELABELED, _LEFT_OUT, _MOVED = (Badge(name, "accent") for name in ("rename", "delete", "train"))


def edit_words(edits: DataEdits, content: str) -> str:
    """What is edited of the image with this id; "" for nothing."""
    if content in edits.left_out:
        return "left out"
    if content in edits.labels:
        own = edits.labels[content]
        return f"now {edits.classes.get(own, own)}"
    part = edits.parts.get(content)
    return f"moved to {'training' if part == 'train' else part}" if part else ""


class ScoredRows(GridRows):
    """Three lines for each image: the prediction with its probability, the actual class or the
    edit, and the loss, or what another run has predicted.
    """

    num_lines = 3

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._found: ImagesOfRun | None = None
        self._edits = DataEdits()
        self._numbers: Numbers = np.zeros(0, np.int64)
        self._other: OtherRun | None = None

    def show_numbers(
        self, found: ImagesOfRun | None, numbers: Numbers, other: OtherRun | None = None
    ) -> None:
        """Shows these images, in this order; beside what another run has predicted."""
        self.beginResetModel()
        self._found, self._numbers, self._other = found, numbers, other
        self.endResetModel()

    def set_edits(self, edits: DataEdits) -> None:
        """Marks what is edited."""
        self._edits = edits
        if len(self._numbers):
            self.dataChanged.emit(self.index(0), self.index(len(self._numbers) - 1))

    @property
    def images(self) -> ScoredImages:
        """All images of the evaluation; there are some."""
        assert self._found is not None  # noqa: S101 - rows are of images
        assert self._found.images is not None  # noqa: S101
        return self._found.images

    def number(self, row: int) -> int:
        """The number of the image in a row."""
        return int(self._numbers[row])

    def content(self, row: int) -> str:
        """The id of the image in a row."""
        return self.images.content_of(self.number(row))

    def place(self, row: int) -> ImagePlace:
        return self.images.place(self.number(row))

    def file(self, row: int) -> str:
        file = self.images.file(self.number(row))
        return file if file.isprintable() else ""  # no Unicode: found by its place

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._numbers)

    # in words ------------------------------------------------------------------------------

    def _class(self, label: int) -> str:
        names = self._found.class_names if self._found is not None else []
        return names[label] if label < len(names) else f"output {label + 1}"

    def predicted_words(self, row: int) -> str:
        """The predicted class with its probability."""
        number = self.number(row)
        label = int(self.images.predicted[number])
        return f"{self._class(label)} {share(float(self.images.probability[number]))}"

    def actual(self, row: int) -> str:
        """The actual class."""
        return self._class(int(self.images.actual[self.number(row)]))

    def actual_words(self, row: int) -> str:
        """The actual class, and that in the other run if it is another one there."""
        number, other = self.number(row), self._other
        if other is None or not other.found.is_relabeled[number]:
            return self.actual(row)
        return f"{self.actual(row)}, there {self._other_class(int(other.found.actual[number]))}"

    def edit_words(self, row: int) -> str:
        """What is edited of the image in the open project; "" for nothing."""
        return edit_words(self._edits, self.content(row))

    def loss_words(self, row: int) -> str:
        """The loss."""
        return f"loss {float(self.images.loss[self.number(row)]):.2f}"

    def other_words(self, row: int) -> str:
        """What the other run has predicted; "" where there is none, or not for this image."""
        number, other = self.number(row), self._other
        if other is None or not other.found.is_common[number]:
            return ""
        name = self._other_class(int(other.found.predicted[number]))
        return f"other: {name} {share(float(other.found.probability[number]))}"

    def _other_class(self, label: int) -> str:
        return self._class(label) if label >= 0 else "a class not here"

    def lines(self, row: int) -> tuple[str, ...]:
        actual = f"actual {self.actual_words(row)}"
        last = self.other_words(row) or self.loss_words(row)
        return self.predicted_words(row), self.edit_words(row) or actual, last

    def badges(self, row: int) -> tuple[Badge, ...]:
        number, content, edits = self.number(row), self.content(row), self._edits
        is_right = self.images.actual[number] == self.images.predicted[number]
        edited = (
            (edits.labels, _RELABELED),
            (edits.left_out, _LEFT_OUT),
            (edits.parts, _MOVED),
        )
        marks = (badge for where, badge in edited if content in where)
        if content in edits.labels:  # its prediction was held against the class it had
            return tuple(marks)
        return (*marks, _RIGHT if is_right else _WRONG)

    def words(self, row: int) -> str:
        """All that is known of an image."""
        file, place = self.images.file(self.number(row)), self.place(row)
        tag = self._edits.tags.get(self.content(row), "")
        return "\n".join(
            filter(
                None,
                (
                    f"Predicted {self.predicted_words(row)}",
                    f"Actual {self.actual_words(row)}",
                    self.loss_words(row),
                    self.other_words(row),
                    self.edit_words(row),
                    f"Tag {tag}" if tag else "",
                    file or f"image {count(place.index + 1)} of the {place.part} part",
                ),
            )
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.predicted_words(index.row())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.words(index.row()).replace("\n", ", ")
        return plain_tip(self.words(index.row())) if role == Qt.ItemDataRole.ToolTipRole else None

    def sample(self, row: int) -> Sample:
        place = self.place(row)
        thumbnail = Thumbnail(
            path="", part=place.part, index=place.index, file=self.file(row), width=0, height=0
        )
        edit = self.edit_words(row)
        facts = " · ".join(filter(None, (f"actual {self.actual(row)}", self.loss_words(row), edit)))
        return Sample(f"Predicted {self.predicted_words(row)}", thumbnail, facts)
