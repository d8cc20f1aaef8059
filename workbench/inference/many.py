"""Classifying folders of any size: images decoded ahead in threads, classified in batches.

Rows are sent and written as they come, so memory does not grow with the number of images. The
command line calls this in its own process, the window in a worker.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np

from workbench.core.calibration import TrueClasses
from workbench.core.evaluation.confusion import Confusion
from workbench.core.format import count, path_text, plain_name
from workbench.core.outside_text import KnownNames
from workbench.core.specs import Shape
from workbench.downloads.download import Progress
from workbench.downloads.web_picture import read_web_picture
from workbench.errors import DatasetError, DownloadError, PictureError, WorkbenchError
from workbench.inference.runner import Runner, class_scores, ranked
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.folders import each_picture
from workbench.pictures.listed.given import table_and_settings
from workbench.pictures.listed.table import ListedLabels
from workbench.pictures.thumbnails import decode_reduced
from workbench.protocol.bases import Answer
from workbench.protocol.classify import (
    Agreement,
    Classified,
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)
from workbench.protocol.wire import error_parts
from workbench.runs.export.classified_table import ClassifiedTable, TableOf
from workbench.runs.export.tables import ClassifiedColumns
from workbench.runs.model_card import ModelCard, weights_of

# agreement -----------------------------------------------------------------------------------
# Counts how the answers compare with the true classes, while they come.


class AgreementCounter:
    """Counts by class; see `TrueClasses`.

    Attributes:
        classes: Those of the model.
    """

    def __init__(self, class_names: Sequence[str]) -> None:
        self.classes = TrueClasses(class_names)
        self._names = class_names
        self._numbers = {name: number for number, name in enumerate(class_names)}
        self._cells: list[tuple[int, int]] = []
        self._num_foreign = self._num_unlabeled = self._num_unknown = 0

    def add(self, answer: Classified) -> None:
        """Counts an answer; an image that could not be read counts nowhere."""
        if answer.error is not None:
            return
        truth = self.classes.named(answer.truth)
        if not answer.truth:
            self._num_unlabeled += 1
        elif not truth:
            self._num_foreign += 1
        elif answer.unknown:
            self._num_unknown += 1
        else:
            self._cells.append((self._numbers[truth], self._numbers[answer.label]))

    def result(self) -> Agreement:
        """What was counted."""
        cells = np.array(self._cells, np.int64).reshape(-1, 2)
        confusion = Confusion.of_images(cells[:, 0], cells[:, 1], len(self._names))
        num_right, num_all = int(confusion.right.sum()), confusion.total
        return Agreement(
            num_right=num_right,
            num_wrong=num_all - num_right,
            num_foreign=self._num_foreign,
            num_unlabeled=self._num_unlabeled,
            num_unknown=self._num_unknown,
            accuracy=num_right / num_all if num_all else None,
            per_class=class_scores(confusion, self._names),
        )


# listing -------------------------------------------------------------------------------------
# The images of a request, one after the other: nothing is held in memory but a folder's names.


@dataclass(frozen=True)
class Listed:
    """An image to classify.

    Attributes:
        path: Its file, or its web address.
        name: What it is called in the table and on screen.
        truth: Its true class, "" where that is not known.
        error: Why it cannot be read, where that is known already.
        is_address: It is at a web address.
    """

    path: str
    name: str
    truth: str = ""
    error: DatasetError | None = None
    is_address: bool = False


def each_image(
    request: ClassifyMany, class_names: Collection[str], labels: ListedLabels | None = None
) -> Iterator[Listed]:
    """All images of a request, in order; a folder that cannot be listed is one with an error.
    `labels` go before the names of class folders.

    Raises:
        DatasetError: one of the sources is missing or cannot be listed.
    """
    known = KnownNames(class_names) if request.has_class_folders else None
    for source in request.sources:
        if not source.is_address and Path(source.path).is_dir():
            images = _of_folder(source.path, known)
        else:
            images = iter([_of_file(source)])
        for image in images:
            listed = labels.of(image.path) if labels is not None else ""
            yield replace(image, truth=plain_name(listed)) if listed else image


def listed_labels(request: ClassifyMany, class_names: Collection[str]) -> ListedLabels | None:
    """The true classes that a table has; None without one. Raises DatasetError, ParamError."""
    if not request.truth:
        return None
    folders = [source.path for source in request.sources if Path(source.path).is_dir()]
    path, given = table_and_settings(request.truth)
    return ListedLabels(path, folders, given, class_names)


def _of_file(source: ImageSource) -> Listed:
    name = source.name or source.path
    return Listed(source.path, name, source.label, is_address=source.is_address)


def _of_folder(folder: str, known: KnownNames | None) -> Iterator[Listed]:
    unlisted: list[DatasetError] = []
    for path in each_picture(folder, is_deep=True, on_unlisted=unlisted.append):
        yield from _named(unlisted)
        truth = class_of_path(os.path.relpath(path, folder), known) if known is not None else ""
        yield Listed(path, path, truth)
    yield from _named(unlisted)


def _named(unlisted: list[DatasetError]) -> Iterator[Listed]:
    """The folders that could not be listed since the last image."""
    while unlisted:
        error = unlisted.pop(0)
        yield Listed(error.where, error.where, error=error)


def class_of_path(path: str, known: KnownNames) -> str:
    """The class by the folders that an image is in: the innermost one that is named like a class
    of the model, else the outermost one; "" for an image in no folder.

    Args:
        path: Relative to the folder that is classified.
        known: The classes of the model.
    """
    # As the classes of a data set are named after its folders.
    folders = [plain_name(each) for each in Path(path).parts[:-1]]
    named = (each for each in reversed(folders) if known.find(each))
    return next(named, folders[0] if folders else "")


def count_images(request: ClassifyMany) -> int:
    """How many images there are, as far as that can be said."""
    return sum(1 for _ in each_image(request, ()))


# decoding ------------------------------------------------------------------------------------
# Images decoded in threads, some batches ahead of the model.

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

BATCH = 32
"""Always filled up: the same image then gives the same numbers, whatever is beside it."""

_AHEAD = 2
"""Batches that are being decoded while one is classified."""

Size = tuple[int, int]


@dataclass(frozen=True)
class Batch:
    """A batch of images, in order.

    Attributes:
        images: At most `BATCH` of them.
        pixels: uint8 (BATCH, height, width, channels); anything where there is no image, or one
            that cannot be read.
        results: (height, width) of each image in its file; or why it cannot be read.
    """

    images: list[Listed]
    pixels: Pixels
    results: list[Size | WorkbenchError]

    @property
    def readable(self) -> list[int]:
        """The places of the images that could be read."""
        return [at for at, result in enumerate(self.results) if isinstance(result, tuple)]


def decoded_batches(
    images: Iterator[Listed], shape: Shape, fit: str, ctx: Progress, value_range: str = ""
) -> Iterator[Batch]:
    """Decodes images as training does, and brings them to `shape` (height, width, channels).

    Args:
        images: In order; they are listed as they are needed.
        shape: (height, width, channels) of the model's input.
        fit: A key of fits.FITS.
        ctx: Where downloads are reported; its check for each batch may raise to stop.
        value_range: Black and white of images of more than 8 bits; "" by the numbers of each.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="decode") as pool:
        decode = partial(_decode, _Wanted(shape, fit, value_range), ctx)
        begin = partial(_begin, pool, images, decode, shape)
        waiting: deque[_Begun] = deque()
        try:
            while len(waiting) <= _AHEAD and (begun := begin()):
                waiting.append(begun)
            while waiting:
                ctx.check_cancelled()
                first = waiting.popleft()
                results = [future.result() for future in first.futures]
                if begun := begin():
                    waiting.append(begun)
                yield Batch(first.images, first.pixels, results)
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _Wanted:
    """How images are decoded and fitted."""

    shape: Shape
    fit: str
    value_range: str


@dataclass(frozen=True)
class _Begun:
    """A batch that is being decoded."""

    images: list[Listed]
    pixels: Pixels
    futures: list[Future[Size | WorkbenchError]]


def _begin(
    pool: ThreadPoolExecutor,
    images: Iterator[Listed],
    decode: Callable[[Listed, Pixels], Size | WorkbenchError],
    shape: Shape,
) -> _Begun | None:
    """Begins the next batch; None where no images are left."""
    chunk = list(islice(images, BATCH))
    pixels = np.zeros((BATCH, *shape), np.uint8)
    pairs = zip(chunk, pixels, strict=False)
    futures = [pool.submit(decode, image, place) for image, place in pairs]
    return _Begun(chunk, pixels, futures) if chunk else None


def _decode(wanted: _Wanted, ctx: Progress, image: Listed, place: Pixels) -> Size | WorkbenchError:
    """Writes an image's pixels to their place; its size in its file, or why it cannot be read."""
    if image.error is not None:
        return image.error
    try:
        file = read_web_picture(image.path, ctx) if image.is_address else image.path
        side = side_to_decode(wanted.shape)
        decoded = decode_reduced(file, side, where=image.path, value_range=wanted.value_range)
        place[:] = fit_picture(decoded.pixels, wanted.shape, fit=wanted.fit)
    except (PictureError, DownloadError) as error:
        return error
    return decoded.full_size


# task ----------------------------------------------------------------------------------------
# What a request is done with: answers and progress go out, a cancel comes in.


class Task(Protocol):
    """One request while it is done.

    Attributes:
        id: Id of the request; its answers have it too.
    """

    id: int

    def send(self, answer: Answer, /) -> None:
        """Sends an answer that is not the last."""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done, and how much of it is, 0..1."""

    def check_cancelled(self) -> None:
        """Raises where the request has been canceled."""

    def runner(self, model: str) -> Runner:
        """The model at a path, as it classifies."""


# handler -------------------------------------------------------------------------------------
# ClassifyMany: folders of images to rows, sent and written as they come.

_SCORES_PER_MESSAGE = 2_000
"""A message has a largest length: rows with the scores of many classes are sent in several."""


def classify_many(task: Task, request: ClassifyMany) -> ManyClassified:
    """Classifies all images of a request; a bad one never stops the others.

    Raises:
        DatasetError: a folder is missing or cannot be listed, or the table of true classes cannot
            be read.
        PictureError: there are no images.
        UsageError, SaveError: the table cannot be written; see `ClassifiedTable`.
    """
    runner = task.runner(request.model)
    with _table(request, runner.card) or nullcontext() as table:
        return _Classification(task, request, runner, table).run()


def _table(request: ClassifyMany, card: ModelCard) -> ClassifiedTable | None:
    if not request.table:
        return None
    has_truth = bool(request.truth) or request.has_class_folders
    has_truth = has_truth or any(source.label for source in request.sources)
    columns = ClassifiedColumns.of(card.class_names, has_truth=has_truth)
    what = TableOf(
        model=f"{card.checksum} {card.fit} {card.input_shape} {card.calibration}",
        sources=request.sources,
        header=columns.header(),
    )
    return ClassifiedTable(Path(request.table), columns, what, starts_over=request.starts_over)


class _Classification:
    """One such request being done."""

    def __init__(
        self, task: Task, request: ClassifyMany, runner: Runner, table: ClassifiedTable | None
    ) -> None:
        self._task = task
        self._request = request
        self._runner = runner
        self._table = table
        self._num_done = self._num_bad = 0
        self._total: int | None = None
        self._labels = listed_labels(request, runner.card.class_names)
        self._agreement = AgreementCounter(runner.card.class_names)

    def run(self) -> ManyClassified:
        threading.Thread(target=self._count, name="count images", daemon=True).start()
        num_earlier = self._take_earlier()
        began = time.monotonic()
        card = self._runner.card
        images = self._images()
        shape = tuple(card.input_shape)
        for batch in decoded_batches(images, shape, card.fit, self._task, card.value_range):
            self._take(self._classified(batch))
        if not self._num_done:
            raise PictureError(
                "No images to classify.",
                where=", ".join(path_text(source.path) for source in self._request.sources)[:400],
                received="no image files in the folder or its subfolders",
            )
        if self._table is not None:
            self._table.finish(self._wait)
        return ManyClassified(
            id=self._task.id,
            num_images=self._num_done,
            num_bad=self._num_bad,
            num_earlier=num_earlier,
            seconds=time.monotonic() - began,
            table=self._request.table,
            blind=self._runner.calibration.blind_words,
            agreement=self._agreement.result() if self._has_truth() else None,
            reading=list(self._labels.sentences) if self._labels is not None else [],
        )

    def _has_truth(self) -> bool:
        request = self._request
        return bool(request.truth) or request.has_class_folders

    def _count(self) -> None:
        """Counts the images, for the progress: known some time after the first."""
        try:
            self._total = count_images(self._request)
        except WorkbenchError:
            return  # the classification itself reports it

    def _take_earlier(self) -> int:
        """What an unfinished table has already."""
        if self._table is None:
            return 0
        rows: list[Classified] = []
        for answer in self._table.earlier():
            self._task.check_cancelled()
            self._count_answer(answer)
            rows.append(self._shortened(answer))
            if len(rows) * len(rows[-1].scores) >= _SCORES_PER_MESSAGE:
                self._send(rows, is_earlier=True)
                rows = []
        self._send(rows, is_earlier=True)
        return self._num_done

    def _images(self) -> Iterator[Listed]:
        table = self._table
        for image in each_image(self._request, self._runner.card.class_names, self._labels):
            if table is None or not table.take_earlier(path_text(image.name)):
                yield image

    def _classified(self, batch: Batch) -> list[Classified]:
        """The answers to a batch, with the scores of all classes."""
        card = self._runner.card
        began = time.perf_counter()
        found = self._runner.answer(batch.pixels) if batch.readable else None
        milliseconds = 1000 * (time.perf_counter() - began) / max(1, len(batch.readable))
        answers = []
        for at, (image, result) in enumerate(zip(batch.images, batch.results, strict=True)):
            answer = Classified(id=self._task.id, file=path_text(image.name), truth=image.truth)
            if isinstance(result, WorkbenchError) or found is None:
                assert isinstance(result, WorkbenchError)  # noqa: S101 - for the type
                answers.append(msgspec.structs.replace(answer, error=error_parts(result)))
                continue
            scores = ranked(found.probabilities[at], card.class_names, 0)
            known = msgspec.structs.replace(
                answer,
                label=scores[0].name,
                unknown=self._runner.unknown(found, at),
                scores=scores,
                milliseconds=round(milliseconds, 3),
                width=result[1],
                height=result[0],
                input_shape=list(card.input_shape),
                weights=weights_of(card),
            )
            answers.append(known)
        return answers

    def _take(self, answers: Sequence[Classified]) -> None:
        """Writes, counts and sends the answers to a batch."""
        if self._table is not None:
            self._table.append(answers, self._wait)
        for answer in answers:
            self._count_answer(answer)
        rows = [self._shortened(answer) for answer in answers]
        most = max(len(row.scores) for row in rows)
        step = max(1, _SCORES_PER_MESSAGE // max(1, most))
        for start in range(0, len(rows), step):
            self._send(rows[start : start + step])
        total = self._total
        of = f" of {count(total)}" if total is not None else ""
        fraction = self._num_done / total if total else None
        self._task.progress(f"Classifying: {count(self._num_done)}{of} images", fraction)

    def _count_answer(self, answer: Classified) -> None:
        self._num_done += 1
        self._num_bad += answer.error is not None
        self._agreement.add(answer)

    def _shortened(self, answer: Classified) -> Classified:
        scores = answer.scores[: self._request.top or None]
        is_right = None
        if answer.error is None and answer.truth:
            classes = self._agreement.classes
            is_right = classes.is_right(answer.label, answer.truth, unknown=answer.unknown)
        return msgspec.structs.replace(answer, scores=scores, is_right=is_right)

    def _send(self, rows: list[Classified], *, is_earlier: bool = False) -> None:
        if rows:
            self._task.send(ClassifiedRows(id=self._task.id, rows=rows, is_earlier=is_earlier))

    def _wait(self, words: str) -> None:
        """Reports a wait for room on the disk; raises where the request is canceled."""
        self._task.check_cancelled()
        self._task.progress(words)
