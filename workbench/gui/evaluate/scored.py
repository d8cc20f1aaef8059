"""The images of the evaluation that is shown: what was predicted for each, and what is edited."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from workbench.core.format import count, plural, share
from workbench.core.projects.data_edits import DataEdits, changed_images, read_edits
from workbench.core.projects.project import Choice, Project
from workbench.errors import WorkbenchError
from workbench.gui.common.confusion_matrix import ANY
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.images.grid import Badge, GridRows, Index
from workbench.gui.images.sample_dialog import ImageSource, Sample
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.describe_data import ImagePlace, Thumbnail
from workbench.runs.folder import RunFolder
from workbench.runs.library.compare_images import (
    ComparedImages,
    ImageScores,
    compare_images,
    scores_of,
)
from workbench.runs.moved_data import data_now
from workbench.runs.naming import source_words
from workbench.runs.store.evaluation import KeptEvaluation, read_image_scores
from workbench.runs.store.image_scores import Numbers, ScoredImages, image_scores_path

# chosen --------------------------------------------------------------------------------------
# Choice of the images of an evaluation that are shown. Qt-free.


@dataclass(frozen=True)
class OtherRun:
    """A run that the one shown is compared with: its folder, its name, what it has predicted."""

    path: Path
    title: str
    found: ComparedImages

    @property
    def num_relabeled(self) -> int:
        """Images whose actual class is another one there."""
        return int(self.found.is_relabeled.sum())


@dataclass(frozen=True)
class Chosen:
    """A choice of images.

    Attributes:
        actual, predicted: Numbers of classes; ANY for all.
        is_wrong: Those alone that were predicted as another class.
        change: Those alone that are right here and wrong in the other run ("gained"), or the
            reverse ("lost"), or whose actual class is another one there ("relabeled").
        name: Words for a choice by something else than classes, such as a slice; "" otherwise.
        only: Numbers of the images to choose from; None for all.
    """

    actual: int = ANY
    predicted: int = ANY
    is_wrong: bool = False
    change: Literal["", "gained", "lost", "relabeled"] = ""
    name: str = ""
    only: Numbers | None = field(default=None, compare=False)

    def numbers(self, images: ScoredImages, other: OtherRun | None = None) -> Numbers:
        """The chosen images, the largest loss first."""
        found = images.worst_first
        if self.only is not None:
            is_one = np.zeros(len(images), bool)
            is_one[self.only] = True
            found = found[is_one[found]]
        if self.actual != ANY:
            found = found[images.actual[found] == self.actual]
        if self.predicted != ANY:
            found = found[images.predicted[found] == self.predicted]
        if self.is_wrong:
            found = found[images.actual[found] != images.predicted[found]]
        if self.change and other is not None:
            marks = {
                "gained": other.found.is_gained,
                "lost": other.found.is_lost,
                "relabeled": other.found.is_relabeled,
            }
            found = found[marks[self.change][found]]
        return np.asarray(found, np.int64)

    def words(self, names: Sequence[str]) -> str:
        """The choice in words."""
        if self.name:
            return self.name
        if self.change == "relabeled":
            return "Labeled differently there"
        if self.change:
            here, there = ("Right", "wrong") if self.change == "gained" else ("Wrong", "right")
            return f"{here} here, {there} there"
        actual = f"actual {names[self.actual]}" if self.actual != ANY else ""
        predicted = f"predicted {names[self.predicted]}" if self.predicted != ANY else ""
        if not actual and not predicted:
            return "Wrong predictions" if self.is_wrong else "Top losses"
        words = ", ".join(filter(None, (actual, predicted)))
        return words[:1].upper() + words[1:]


WRONG, TOP_LOSSES = Chosen(is_wrong=True), Chosen()
GAINED, LOST = Chosen(change="gained"), Chosen(change="lost")
RELABELED = Chosen(change="relabeled")


# scored --------------------------------------------------------------------------------------

_AGAIN = "the scores are those from before. Train again for those with the edits."
NOT_KEPT = "What was predicted for each image was not kept. Evaluate again to see the images."


@dataclass(frozen=True)
class ImagesOfRun:
    """Images with what was predicted for each, and which data set they are of.

    Attributes:
        kept: The evaluation that they are of; None for those of a map.
        images: What was predicted for each; None where that was not kept.
        source: The data set with the edits of that time.
        class_names: In the order of the model's outputs.
        num_missing: Images whose files are not there any more.
    """

    kept: KeptEvaluation | None
    images: ScoredImages | None
    source: ImageSource
    class_names: list[str]
    num_missing: int = 0


@dataclass(frozen=True)
class PickedImages:
    """Images that were picked elsewhere than in the evaluation that is shown.

    Attributes:
        found: Where they are among.
        numbers: Which of those, in the order in which they are shown.
        words: What they are, in words.
    """

    found: ImagesOfRun
    numbers: Numbers
    words: str


def read_images(run: RunFolder, kept: KeptEvaluation) -> ImagesOfRun:
    """Reads them; looks for each file once. Raises RunFolderError."""
    card, images = run.model_card(), read_image_scores(run, kept)
    dataset: Mapping[str, Any] = card.dataset
    edits = dataset.get("edits", {})
    now = data_now(Choice(str(dataset.get("key", "")), dataset.get("params", {})))
    source = ImageSource(now.key, now.params, edits)
    if kept.source:
        classes = edits.get("classes")
        other = data_now(Choice(kept.source, kept.params))
        source = ImageSource(other.key, other.params, {"classes": classes} if classes else {})
    missing = num_missing(images) if images is not None else 0
    return ImagesOfRun(kept, images, source, card.class_names, missing)


def num_missing(images: ScoredImages) -> int:
    """Images whose files are not there any more; what takes long is done here, not where they are
    shown.
    """
    _ = images.worst_first
    if not len(images.lengths):
        return 0
    return sum(not os.path.exists(images.file(at)) for at in range(len(images)))  # noqa: PTH110 - many


class ScoredState(QObject):
    """Reads the images of the evaluation that is shown.

    Signals:
        changed(): Other images, or it is known why there are none.
        chosen_changed(): Others of them are to be shown.
        marked(): Other images are edited.

    Attributes:
        found: The images; None while they are not known.
        problem: Why there are none; "" for nothing.
        chosen: Which of them are shown.
        picked: Images that are shown instead; None for none.
        others: Runs of the project that it can be compared with: folder and name.
        other: The one it is compared with; None for none.
    """

    changed = Signal()
    chosen_changed = Signal()
    marked = Signal()

    def __init__(self, state: EvaluateState) -> None:
        super().__init__(state)
        self._state = state
        self.document = state.context.document
        self.found: ImagesOfRun | None = None
        self.problem = ""
        self.chosen = WRONG
        self.picked: PickedImages | None = None
        self.others: list[tuple[Path, str]] = []
        self.other: OtherRun | None = None
        self._asked: tuple[Path, float] | None = None
        state.looked.connect(self._read)
        state.evaluated.connect(lambda _: self._read())
        state.images_wanted.connect(lambda actual, answer: self.choose(Chosen(actual, answer)))
        state.images_picked.connect(self.pick)
        state.slice_wanted.connect(self.choose)
        document = self.document
        for signal in (document.edits_changed, document.dataset_changed, document.project_replaced):
            signal.connect(self.marked)
        self.marked.connect(self._say_edited)
        self.changed.connect(self._say_edited)

    # which images there are ----------------------------------------------------------------

    @property
    def images(self) -> ScoredImages | None:
        """The images of the evaluation that is shown."""
        return self.found.images if self.found is not None else None

    @property
    def shown(self) -> ImagesOfRun | None:
        """The picked images, or else those of the evaluation."""
        return self.picked.found if self.picked is not None else self.found

    def _read(self) -> None:
        """Reads those of the evaluation that is shown, once its file is known."""
        latest, known, run = self._state.latest, self._state.known, self._state.run
        kept = known.evaluations.get(self._state.part) if known is not None else None
        if run is None or latest is None or kept is None or kept.result != latest.result:
            return
        asked = run, kept.created
        if asked == self._asked:
            return
        self._asked = asked

        def take(found: ImagesOfRun) -> None:
            if self._asked == asked:
                self._take(found, "" if found.images is not None else NOT_KEPT)

        def fail(error: WorkbenchError) -> None:
            if self._asked == asked:
                self._take(None, f"{error.what} {error.fix}".strip())

        self._state.background.run(lambda: read_images(RunFolder(run), kept), take, fail)
        self._look_for_others(run)

    def _take(self, found: ImagesOfRun | None, problem: str) -> None:
        before = self.found
        self.found, self.problem, self.other, self.picked = found, problem, None, None
        if _is_other(found, before) or self.chosen.change or self.chosen.name:
            self.chosen = WRONG
        images = found.images if found is not None else None
        if self.chosen == WRONG and images is not None and images.is_right.all():
            self.chosen = TOP_LOSSES
        self.changed.emit()
        self._state.images_read.emit(found)

    def choose(self, chosen: Chosen) -> None:
        """Shows other images."""
        self.chosen, self.picked = chosen, None
        self.chosen_changed.emit()

    def pick(self, picked: PickedImages) -> None:
        """Shows images of elsewhere until others are chosen."""
        self.picked = picked
        self.chosen_changed.emit()

    # beside another run --------------------------------------------------------------------

    def _look_for_others(self, run: Path) -> None:
        """Finds the runs of the project of which each image's prediction is kept."""
        library = self._state.context.library
        runs = [each for each in library.runs if each.has_model and library.is_own(each)]
        part = self._state.part

        def look() -> list[tuple[Path, str]]:
            with_scores = (
                each for each in runs if image_scores_path(RunFolder(each.path), part).is_file()
            )
            return [(each.path, each.label) for each in with_scores if each.path != run]

        def take(others: list[tuple[Path, str]]) -> None:
            self.others = others
            self.changed.emit()

        self._state.background.run(look, take, lambda _error: take([]))

    def compare(self, path: Path | None) -> None:
        """Shows what another run has predicted for the same images; None for no other."""
        found, images = self.found, self.images
        kept = found.kept if found is not None else None
        self.picked = None
        if path is None or kept is None or images is None:
            self.other, self.chosen = None, WRONG
            self.changed.emit()
            return
        title = next((name for other, name in self.others if other == path), path.name)
        here = ImageScores(images, kept.result.classes)

        def work() -> OtherRun | None:
            there = scores_of(RunFolder(path), kept.part)
            return OtherRun(path, title, compare_images(here, there)) if there else None

        def take(other: OtherRun | None) -> None:
            if self.found is found:
                self.other, self.chosen = other, LOST if other is not None else WRONG
                self.changed.emit()

        self._state.background.run(work, take, lambda _error: take(None))

    def source(self) -> ImageSource:
        """The data set that the images are of."""
        return self.shown.source if self.shown is not None else ImageSource()

    def subject(self) -> str:
        """The shown images in words: which, of which data, by which weights."""
        found = self.shown
        if found is None:
            return ""
        source, kept = found.source, found.kept
        data = source_words(Choice(source.key, dict(source.params)))
        # Another data set is named by the subject; the images of a map are of all parts.
        is_named = kept is not None and bool(kept.source)
        what = "" if is_named else data if kept is not None else f"Images of {data}"
        gone = found.num_missing
        moved = f"{plural(gone, 'image')} moved or removed since" if gone else ""
        of = self._state.subject if kept is not None else ""
        return " · ".join(filter(None, (what, of, moved)))

    # editing -------------------------------------------------------------------------------

    def reason(self) -> str:
        """Why the images cannot be edited; "" where they can."""
        found = self.shown
        if found is None or found.images is None:
            return self.problem or "There are no images yet."
        if found.num_missing == len(found.images):
            return "The images were moved or removed since, so they cannot be edited."
        if not self._is_of_project(found):
            data = source_words(Choice(found.source.key, dict(found.source.params)))
            return f"These images are of {data}, which is not the data set of the open project."
        return ""

    def edits(self) -> DataEdits:
        """What is edited of them in the open project; nothing where that has other images."""
        found = self.shown
        return DataEdits() if found is None else edits_of(found, self.document.project)

    def _say_edited(self) -> None:
        """Remarks on figures that are of labels and images which have been edited since."""
        found = self.found
        if found is None or found.images is None or not self._is_of_project(found):
            self._state.set_edited("")
            return
        before = read_edits(found.source.edits, lambda *_: None)
        changed = changed_images(before, self.document.project.edits)
        number = len(changed & found.images.contents) if changed else 0
        words = f"{plural(number, 'image')} edited since: {_AGAIN}"
        self._state.set_edited(words if number else "")

    def _is_of_project(self, found: ImagesOfRun) -> bool:
        return _is_same(found.source, ImageSource.of(self.document.project))

    def class_names(self) -> list[str]:
        """The classes of the project that an image can be put into."""
        found, classes = self.shown, self.document.project.edits.classes
        if found is None:
            return []
        own = [own_name(name, found.source.edits) for name in found.class_names]
        return [name for name in dict.fromkeys(classes.get(each, each) for each in own) if name]

    def own_class(self, name: str) -> str:
        """A class of the project as its data set names it."""
        return own_name(name, {"classes": self.document.project.edits.classes})


def own_name(name: str, edits: Mapping[str, Any]) -> str:
    """A class as the data set names it: the first one that was renamed to this name."""
    classes: Mapping[str, str] = edits.get("classes", {})
    return next((own for own, now in classes.items() if now == name), name)


def _is_same(left: ImageSource, right: ImageSource) -> bool:
    """Whether two are the same data set, whatever is edited; its values may be from a file."""
    return _plain(left) == _plain(right)


def _plain(source: ImageSource) -> str:
    return json.dumps([source.key, dict(source.params)], sort_keys=True, default=str)


def edits_of(found: ImagesOfRun, project: Project) -> DataEdits:
    """What is edited of images in a project; nothing where that has others, or all are gone."""
    is_there = found.images is not None and found.num_missing < len(found.images)
    return (
        project.edits
        if is_there and _is_same(found.source, ImageSource.of(project))
        else DataEdits()
    )


def edited_words(edits: DataEdits, images: list[str]) -> str:
    """How many of some images are edited, by their contents; "" for none."""
    edited = {*edits.labels, *edits.left_out, *edits.parts}
    number = len(edited.intersection(images))
    return f"{count(number)} edited" if number else ""


def _is_other(found: ImagesOfRun | None, before: ImagesOfRun | None) -> bool:
    """Whether the images are of other classes or another part of the split: a choice made among the
    earlier ones says nothing of them.
    """
    now, then = (
        (each.class_names, each.kept and each.kept.part) if each is not None else None
        for each in (found, before)
    )
    return now != then


# image rows ----------------------------------------------------------------------------------
# Images of an evaluation as rows of a grid: what was predicted, what is right, what is edited.

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
