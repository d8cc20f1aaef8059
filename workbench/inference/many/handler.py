"""ClassifyMany: folders of images to rows, sent and written as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from workbench.core.format import count, path_text
from workbench.errors import PictureError, WorkbenchError
from workbench.inference.answers import ranked
from workbench.inference.many.agreement import AgreementCounter
from workbench.inference.many.decoding import Batch, decoded_batches
from workbench.inference.many.listing import Listed, count_images, each_image, listed_labels
from workbench.inference.runner import Runner
from workbench.inference.task import Task
from workbench.protocol.classify import Classified
from workbench.protocol.classify_many import ClassifiedRows, ClassifyMany, ManyClassified
from workbench.protocol.wire import error_parts
from workbench.runs.export.classified_table import ClassifiedTable, TableOf
from workbench.runs.export.image_tables import ClassifiedColumns
from workbench.runs.model_card import ModelCard, weights_of

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
