"""One classified picture as the window keeps it, and loading its previews."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from workbench.core.calibration.true_class import TrueClasses
from workbench.core.calibration.verdict import UNKNOWN
from workbench.core.format import share
from workbench.protocol.classify import Classified

MAX_PREVIEW_PX = 640


@dataclass(frozen=True)
class ClassifiedPicture:
    """An answer, what is known of its picture, and its previews in memory.

    Attributes:
        answer: The worker's answer.
        name: Words for the picture: its file name, or where it came from.
        model: Words for the run that classified it.
        truth: The label of the picture, "" when it has none; it may be no class of the model.
        picture, seen: The picture, and as the model gets it; null where unreadable.
    """

    answer: Classified
    name: str
    model: str
    truth: str
    picture: QImage
    seen: QImage

    @property
    def probability(self) -> float:
        """How sure the network is of its answer, 0..1."""
        return self.answer.scores[0].probability if self.answer.scores else 0.0

    @property
    def true_class(self) -> str:
        """The class of the model that the label names, whatever its case; "" for none."""
        if not self.truth:
            return ""
        return self._classes().named(self.truth)

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is the true class; None where it is neither right nor wrong."""
        answer = self.answer
        return self._classes().is_right(answer.label, self.truth, unknown=answer.unknown)

    def _classes(self) -> TrueClasses:
        return TrueClasses([score.name for score in self.answer.scores])

    def label_words(self) -> str:
        """What the label says of the answer; "" without one."""
        if not self.truth or self.answer.error is not None:
            return ""
        if self.answer.unknown and self.true_class:
            return f"label: {self.truth}"
        if self.is_right is None:
            return f"label: {self.truth}, not a class of this model"
        return f"{'Correct' if self.is_right else 'Wrong'} (label: {self.truth})"

    def words(self) -> str:
        """The answer in one line."""
        if self.answer.error is not None:
            return "cannot be read"
        if self.answer.unknown:
            return UNKNOWN
        return f"{self.answer.label} {share(self.probability)}"


def load_preview(path: str) -> QImage:
    """Reads a preview made by the worker, at most `MAX_PREVIEW_PX` large; null when empty."""
    if not path:
        return QImage()
    reader = QImageReader(path)
    size = reader.size()
    if max(size.width(), size.height()) > MAX_PREVIEW_PX:
        limit = QSize(MAX_PREVIEW_PX, MAX_PREVIEW_PX)
        reader.setScaledSize(size.scaled(limit, Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()


def picture_name(file: str) -> str:
    """The file's own name."""
    return Path(file).name or file
