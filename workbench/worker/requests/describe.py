"""DescribeData and PickTestPictures: what a source holds, for people to look at."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import path_text, plural
from workbench.core.specs import ArrayPart, DatasetSpec, FilePart, LoadedData, Part
from workbench.core.training.split import TEST, TRAIN, VALIDATION, random_order
from workbench.datasets import sampled_shapes
from workbench.errors import PictureError
from workbench.pictures.edited import changes_note, edited
from workbench.pictures.header_size import typical_size, usual_channels
from workbench.pictures.png import write_png
from workbench.pictures.thumbnails import WrittenThumbnail, decode_picture, write_thumbnails
from workbench.protocol.describe_data import (
    ClassDescription,
    DataDescription,
    DescribeData,
    Looked,
    OwnClass,
    Thumbnail,
)
from workbench.protocol.trained.evaluate import PickTestPictures, TestPicture, TestPictures
from workbench.worker.foreign.foreign_weights import read_any_card
from workbench.worker.input.sources import (
    find_source,
    load_unedited,
    match_classes,
    run_test_part,
)
from workbench.worker.requests.count_split import next_run, split_counts
from workbench.worker.requests.session import Job

MAX_BAD_FILE_BYTES = 400_000
"""How much of an answer may name unreadable files; those beyond are counted."""

THUMBNAIL_SIZE = 96
_IMBALANCE = 4
"""Times the images of the smallest class that the largest has, from which on it is noted."""

_STEP = 64

Counts = np.ndarray[Any, np.dtype[np.int64]]
BadFiles = list[tuple[str, str]]


def describe_data(job: Job, request: DescribeData) -> DataDescription:
    """Counts per class, unreadable files, thumbnails; DatasetError where nothing can be loaded."""
    spec, _ = find_source(request.source, request.params)
    project = next_run(request)
    own = load_unedited(job, request.source, request.params)
    is_complete = not request.is_quick or request.looked is not None or not _has_files(own)
    # By order, nothing is read of the files; what was only listed is not divided by content.
    recipe = project.recipe if is_complete else project.recipe.with_values(split="order")
    is_divided = is_complete or recipe == project.recipe
    loaded = edited(own, project.edits, job, recipe)
    looked = _look(job, spec, loaded, request)
    bad_files = [*loaded.bad_files, *looked.bad_files]
    bad = {path for path, _ in bad_files}
    counts, split_notes = split_counts(loaded, bad, recipe, job)
    train, validation, test = given = _given(loaded, counts)
    imbalance = _imbalance(loaded.class_names, counts.sum(axis=1))
    notes = [*loaded.notes, *changes_note(loaded, bad), *split_notes, *imbalance]
    named = _fitting(bad_files, notes)
    thumbs = _thumbnails(job, loaded, request.thumbnails_per_class)
    return DataDescription(
        id=job.id,
        title=spec.title,
        classes=_classes(loaded, counts if is_divided else counts[:, :0], given, thumbs),
        own_classes=_own_classes(own),
        num_train=int(train.sum()),
        num_test=int(test.sum()),
        num_validation=int(validation.sum()),
        is_test_split_off=not len(loaded.test or ()),
        shape=looked.shape,
        typical_size=looked.typical_size,
        num_channels=looked.num_channels,
        bad_files=named,
        needed_parts=sorted({looked.parts[path] for path in bad & looked.parts.keys()}),
        notes=notes,
        inferences=list(loaded.inferences),
        is_complete=is_complete,
        looked=_as_text(looked) if is_complete and len(named) == len(bad_files) else None,
    )


def _has_files(loaded: LoadedData) -> bool:
    return any(isinstance(part, FilePart) for part in loaded.parts)


def _look(job: Job, spec: DatasetSpec, loaded: LoadedData, request: DescribeData) -> Looked:
    """What is known of the images: by decoding all, from an earlier look, or by their headers."""
    if (known := request.looked) is not None:
        files = (part.paths for part in loaded.parts if isinstance(part, FilePart))
        paths = {path_text(path): path for of_part in files for path in of_part}
        bad_files = [(paths[text], words) for text, words in known.bad_files if text in paths]
        parts = {paths[text]: part for text, part in known.parts.items() if text in paths}
        return msgspec.structs.replace(known, bad_files=bad_files, parts=parts)
    if request.is_quick and isinstance(loaded.train, FilePart):
        shapes = sampled_shapes(loaded)
        return Looked(
            bad_files=[],
            shape=list(spec.shape or ()),
            typical_size=_typical(loaded, [shape[:2] for shape in shapes]),
            num_channels=usual_channels(shapes),
        )
    unreadable, sizes = _look_at_files(job, loaded)
    shape = _shape(spec, loaded, sizes)
    return Looked(
        bad_files=[(path, found.reason) for path, found in unreadable],
        parts={path: found.part for path, found in unreadable if found.part},
        shape=list(shape),
        typical_size=_typical(loaded, sizes),
        num_channels=shape[2] if len(shape) == 3 else usual_channels(sampled_shapes(loaded)),
    )


def _as_text(looked: Looked) -> Looked:
    bad_files = [(path_text(path), words) for path, words in looked.bad_files]
    parts = {path_text(path): part for path, part in looked.parts.items()}
    return msgspec.structs.replace(looked, bad_files=bad_files, parts=parts)


def _classes(
    loaded: LoadedData,
    counts: Counts,
    given: tuple[Counts, Counts, Counts],
    thumbnails: list[list[Thumbnail]],
) -> list[ClassDescription]:
    train, validation, test = given
    return [
        ClassDescription(
            name=name,
            num_train=int(train[label]),
            num_test=int(test[label]),
            num_validation=int(validation[label]),
            split=counts[label].tolist(),
            thumbnails=thumbnails[label],
        )
        for label, name in enumerate(loaded.class_names)
    ]


def _own_classes(own: LoadedData) -> list[OwnClass]:
    labels = np.concatenate([np.asarray(part.labels, np.int64) for part in own.parts])
    counts = np.bincount(labels, minlength=len(own.class_names))
    pairs = zip(own.class_names, counts.tolist(), strict=True)
    return [OwnClass(name=name, num_images=number) for name, number in pairs]


def _given(loaded: LoadedData, counts: Counts) -> tuple[Counts, Counts, Counts]:
    """Training, validation and test images of each class: what is split off for validation counts
    as training images.
    """
    train, validation, test = counts[:, TRAIN], counts[:, VALIDATION], counts[:, TEST]
    if loaded.validation is None or not len(loaded.validation):
        return train + validation, 0 * validation, test
    return train, validation, test


def _imbalance(names: Sequence[str], sizes: Counts) -> list[str]:
    """A sentence where some classes have many times the images of others."""
    filled = [(int(size), name) for size, name in zip(sizes, names, strict=True) if size]
    if len(filled) < 2 or max(filled)[0] < _IMBALANCE * min(filled)[0]:
        return []
    (few, rare), (many, common) = min(filled), max(filled)
    words = (
        f'The classes are imbalanced: "{common}" has {plural(many, "image")}, "{rare}" has '
        f"{few:,}. More images of the rare classes help most; balanced class weights help too."
    )
    return [words]


def pick_test_pictures(job: Job, request: PickTestPictures) -> TestPictures:
    """Writes test images of a model's data set, as the model gets them, as PNG files."""
    card = read_any_card(Path(request.model))
    part, names = run_test_part(job, card)
    labels = match_classes(part.y, names, card.class_names)
    chosen = [index for index in request.indices if 0 <= index < len(part)]
    if not request.indices:
        order = random_order(np.arange(len(part)), request.seed)
        chosen = [int(index) for index in order[: max(0, request.count)]]
    folder = Path(tempfile.mkdtemp(prefix="test-", dir=job.folder))
    pictures = []
    for index in chosen:
        path = folder / f"{index:06d}.png"
        write_png(path, np.asarray(part.x[index]))
        label = card.class_names[labels[index]]
        pictures.append(TestPicture(index=index, path=str(path), label=label))
    return TestPictures(id=job.id, pictures=pictures, total=len(part))


@dataclass(frozen=True)
class _Unreadable:
    """A file that is not decoded.

    Attributes:
        reason: Why, as half a sentence.
        part: Key of the part of Workbench that would decode it; "" for none.
    """

    reason: str
    part: str = ""


def _look_at_files(
    job: Job, loaded: LoadedData
) -> tuple[list[tuple[str, _Unreadable]], list[tuple[int, int]]]:
    """Decodes the source's files: which fail and why, and sizes (height, width) of the others."""
    parts = [part for part in loaded.parts if isinstance(part, FilePart)]
    paths = [path for part in parts for path in part.paths]
    unreadable: list[tuple[str, _Unreadable]] = []
    sizes: list[tuple[int, int]] = []
    for done, (path, found) in enumerate(_in_threads(_size_of, paths)):
        if done % _STEP == 0:
            job.check_cancelled()
            job.progress("Reading the images", done / len(paths))
        if isinstance(found, _Unreadable):
            unreadable.append((path, found))
        else:
            sizes.append(found)
    return unreadable, sizes


_Look = tuple[int, int] | _Unreadable
"""(height, width) of an image, or why it cannot be read."""

_MOST_KNOWN = 400_000
_known: dict[tuple[str, int, int], _Look] = {}
"""What was seen of files, by path, size and time of change: after an edit no file is decoded
again. Emptied when it is full, at about 100 MB."""


def _size_of(path: str) -> _Look:
    try:
        status = os.stat(path)  # noqa: PTH116 - a hundred thousand Paths are slow
    except (OSError, ValueError):
        return _decoded_size(path)
    mark = path, status.st_size, status.st_mtime_ns
    found = _known.get(mark)
    if found is None:
        found = _decoded_size(path)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[mark] = found
    return found


def _decoded_size(path: str) -> _Look:
    try:
        height, width = decode_picture(path).shape[:2]
    except PictureError as error:
        what, received = error.what, error.received
        reason = f"{what.rstrip('.')}: {received}" if received else what
        return _Unreadable(reason, error.part)
    return int(height), int(width)


def _in_threads(look: Callable[[str], _Look], paths: list[str]) -> Iterator[tuple[str, _Look]]:
    """Looks at some images at a time, so that a cancel takes effect and memory stays small."""
    waiting = iter(paths)
    with ThreadPoolExecutor() as pool:
        while batch := list(islice(waiting, _STEP)):
            yield from zip(batch, pool.map(look, batch), strict=True)


def _fitting(bad_files: BadFiles, notes: list[str]) -> BadFiles:
    """The first bad files that fit into an answer, with names that JSON can hold; a note counts
    the others.
    """
    named: BadFiles = []
    size = 0
    for path, reason in bad_files:
        shown = path_text(path)
        size += len(shown.encode()) + len(reason.encode()) + 8
        if size > MAX_BAD_FILE_BYTES:
            break
        named.append((shown, reason))
    if len(named) < len(bad_files):
        notes.append(f"{len(bad_files) - len(named):,} more files cannot be read.")
    return named


def _thumbnails(job: Job, loaded: LoadedData, per_class: int) -> list[list[Thumbnail]]:
    if per_class < 1:
        return [[] for _ in loaded.class_names]
    job.progress("Creating thumbnails")
    folder = tempfile.mkdtemp(prefix="thumbnails-", dir=job.folder)
    count = len(loaded.class_names)
    size, part = THUMBNAIL_SIZE, loaded.train
    written = write_thumbnails(part, count, folder, per_class=per_class, size=size)
    return [[_message(part, each) for each in of_class] for of_class in written]


def _message(part: Part, written: WrittenThumbnail) -> Thumbnail:
    file = part.paths[written.index] if isinstance(part, FilePart) else ""
    height, width = written.full_size
    return Thumbnail(
        path=written.path,
        index=written.index,
        file=file if file.isprintable() else "",
        width=width,
        height=height,
    )


def _shape(spec: DatasetSpec, loaded: LoadedData, sizes: list[tuple[int, int]]) -> tuple[int, ...]:
    """The one shape of all images; empty where they differ in size."""
    if spec.shape is not None:
        return spec.shape
    if isinstance(loaded.train, ArrayPart):
        return tuple(loaded.train.pictures.shape[1:])
    if len(set(sizes)) != 1:
        return ()
    return (*sizes[0], usual_channels(sampled_shapes(loaded)))


def _typical(loaded: LoadedData, sizes: list[tuple[int, int]]) -> list[int]:
    """The most common [height, width], or the median where hardly any two are alike."""
    if isinstance(loaded.train, ArrayPart):
        return [int(length) for length in loaded.train.pictures.shape[1:3]]
    return list(typical_size(sizes))
