"""Images and labels for a request: of any source, or the test part that a run keeps."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.core.checks.data import MissingData, absent_data
from workbench.core.format import plain_name
from workbench.core.outside_text import matched
from workbench.core.params import check_all
from workbench.core.projects.data_edits import PART_NAMES, DataEdits, PartName, read_edits
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import (
    DatasetSpec,
    FilePart,
    Inference,
    LoadContext,
    LoadedData,
    Option,
    Part,
    parts_of,
)
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.training.recipe import TrainingRecipe, recipe_from
from workbench.core.training.split import TEST, TRAIN
from workbench.datasets import all_datasets
from workbench.errors import DataNotFoundError, DatasetError
from workbench.pictures.dataset_bundle import unpacked
from workbench.pictures.edited import edited
from workbench.pictures.portable.decoding import ImageError, deep_values, read_file
from workbench.pictures.portable.ranges import (
    EACH,
    Evidence,
    Range,
    evidence_of,
    infer,
    range_words,
    read_range,
    stretched,
)
from workbench.pictures.prepare import (
    PreparedData,
    PreparedPart,
    prepare,
    prepare_part,
    prepare_test,
)
from workbench.runs.home import parcels_home
from workbench.runs.model_card import ModelCard
from workbench.runs.moved_data import params_now
from workbench.runs.trust import check_known

# part classes --------------------------------------------------------------------------------
# Parts of a data set with images of one class only: their labels may be placeholders.

_LEAST = 3  # images of a part: fewer may be of one class by chance


def with_part_doubts(loaded: LoadedData) -> LoadedData:
    """The data with a doubt for each part of one class, where the others have more."""
    occurring = {name: np.unique(part.labels) for name, part in parts_of(loaded)}
    if max(map(len, occurring.values()), default=0) < 2:
        return loaded
    sizes = {name: len(part) for name, part in parts_of(loaded)}
    few = [name for name, found in occurring.items() if len(found) == 1 and sizes[name] >= _LEAST]
    doubts = [
        Inference(
            "part_classes",
            f"The classes of the {name} part",
            f"“{plain_name(loaded.class_names[int(occurring[name][0])])}” alone",
            f"{sizes[name]:,} images, of one class of {len(loaded.class_names):,}",
            "Its labels may be placeholders, or the parts divide the classes.",
        )
        for name in few
    ]
    return replace(loaded, inferences=(*loaded.inferences, *doubts))


# value range ---------------------------------------------------------------------------------
# Which number is black and which is white in image files of more than 8 bits: one answer for all
# files of a data set, so that their brightness can be compared.

_HEADS = 400
"""Files whose first bytes are looked at."""

_HEAD_BYTES = 32
_DECODED = 32
"""Files that are decoded to see their numbers..."""

_DECODED_BYTES = 64 * 2**20
"""...but no more than so many bytes."""

_SHALLOW = (".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".avif", ".heic", ".ico", ".qoi", ".tga")
"""Formats of 8 bits: such names are not looked into."""

_WHOLE = Range(0, 65_535)
_NUMBERS = 20_000
"""Numbers of each image that are kept."""


def with_value_range(loaded: LoadedData, params: Mapping[str, Any], ctx: LoadContext) -> LoadedData:
    """The data set with the range of its files of more than 8 bits, given or inferred.

    Args:
        loaded: As the source gives it.
        params: Parameters of the source; its `range` is "auto", "each" or LOW-HIGH.
        ctx: Cancels the reading of files.
    """
    given = str(params.get("range", EACH))
    paths = [path for part in loaded.parts if isinstance(part, FilePart) for path in part.paths]
    if given == EACH or not paths:
        return loaded
    if read_range(given) is not None:
        found = Inference("value_range", _WHAT, range_words(given), is_told=True, param="range")
        return _with(loaded, given, (found,) if _evidence(_marks(paths), ctx) else ())
    known = _evidence(_marks(paths), ctx)
    if not known:
        return loaded
    text, inference = _inferred(known)
    return _with(loaded, text, (inference,))


_WHAT = "The value range of images of more than 8 bits"


def as_trained(loaded: LoadedData, value_range: str) -> LoadedData:
    """The data set with the range that a model was trained with, whatever its own is."""
    return _with(loaded, value_range, ())


def _with(loaded: LoadedData, text: str, found: tuple[Inference, ...]) -> LoadedData:
    def ranged(part: Part | None) -> Part | None:
        return replace(part, value_range=text) if isinstance(part, FilePart) else part

    train = ranged(loaded.train)
    assert train is not None  # noqa: S101 - for the type
    return replace(
        loaded,
        train=train,
        test=ranged(loaded.test),
        validation=ranged(loaded.validation),
        inferences=(*loaded.inferences, *found),
    )


def _marks(paths: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """A sample of the files that may have more than 8 bits, spread evenly: path, size and time of
    change.
    """
    named = [path for path in paths if not path.lower().endswith(_SHALLOW)]
    chosen = named[:: max(1, len(named) // _HEADS)]
    return tuple(mark for path in chosen if (mark := _mark(path)) is not None)


def _mark(path: str) -> tuple[str, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds of them
    except (OSError, ValueError):
        return None
    return path, status.st_size, status.st_mtime_ns


def _evidence(marks: tuple[tuple[str, int, int], ...], ctx: LoadContext) -> tuple[Evidence, ...]:
    ctx.check_cancelled()
    return _read_evidence(marks)


@lru_cache(maxsize=8)
def _read_evidence(marks: tuple[tuple[str, int, int], ...]) -> tuple[Evidence, ...]:
    """What is known of the numbers of some files: one for each type of numbers."""
    deep = [mark for mark in marks if _may_be_deep(mark[0])]
    found: dict[str, Evidence] = {}
    total = 0
    for path, size, _ in deep[:: max(1, len(deep) // _DECODED)]:
        total += size
        if total > _DECODED_BYTES and found:
            break
        for name, known in _of_file(path):
            found[name] = found[name].joined(known) if name in found else known
    return tuple(found.values())


def _may_be_deep(path: str) -> bool:
    """Whether a file may have more than 8 bits, by its first bytes."""
    try:
        with open_foreign(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    if head.startswith(b"\x89PNG"):
        return head[24:25] == b"\x10"  # bits of a number
    return head.startswith((b"II", b"MM", b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP"))


def _of_file(path: str) -> Iterator[tuple[str, Evidence]]:
    try:
        values = deep_values(read_file(path))
    except (OSError, ImageError):  # the check of the data names such files
        return
    if values is not None and values.size:
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        yield values.dtype.name, evidence_of(values, _NUMBERS)


def _inferred(known: Sequence[Evidence]) -> tuple[str, Inference]:
    """The range of all files, and how it was found; "" where each has the one of its format."""
    ranges = {_range_of(each).text: _range_of(each) for each in known}
    if len(ranges) > 1:
        texts = [range_words(text) for text in ranges]
        doubt = f"Their numbers have several ranges: {', '.join(texts)}."
        options = tuple(Option(text, range_words(text)) for text in ranges)
        return "", Inference(
            "value_range", _WHAT, "each by its own numbers", doubt=doubt, param="range",
            options=options,
        )  # fmt: skip
    (one,) = ranges.values()
    evidence = f"the numbers of the images looked at go from {_number(min(k.low for k in known))} "
    evidence += f"to {_number(max(k.high for k in known))}"
    others = [text for text in (*one.others, _WHOLE.text) if text != one.text]
    options = (
        *(Option(text, range_words(text)) for text in dict.fromkeys(others)),
        Option(EACH, "each by its own numbers"),
    )
    return one.text, Inference(
        "value_range", _WHAT, range_words(one.text), evidence, one.doubt, "range", options
    )


def _range_of(known: Evidence) -> Range:
    found = infer(known)
    if found is not None:
        return found
    wide = stretched(known)
    doubt = "No usual range fits: black is about the least number, white about the greatest."
    return Range(wide.low, wide.high, doubt)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


# sources -------------------------------------------------------------------------------------

_NO_GROUPS = TrainingRecipe()
_NOTED = 4  # classes that a note names


def find_source(key: str, params: Mapping[str, Any]) -> tuple[DatasetSpec, dict[str, Any]]:
    """A data set's spec and its checked parameters.

    Raises:
        DatasetError: no such source.
        ParamError: a parameter is out of its bounds.
    """
    datasets = all_datasets()
    spec = datasets.get(key)
    if spec is None:
        raise DatasetError(
            "Unknown data set.", received=key, expected="one of " + ", ".join(datasets)
        )
    checked, errors = check_all(spec.params, params)
    if errors:
        raise errors[0]
    return spec, checked


def fit_of(params: Mapping[str, Any]) -> str:
    """How a data set's parameters fit images to the network; cropped where they do
    not say.
    """
    return str(params.get("fit", "crop"))


def load_data(ctx: LoadContext, project: Project, parcel: str = "") -> LoadedData:
    """What a project trains on: as it was sent here by another computer, else from its source, with
    the user's edits and the recipe's groups (what was sent has them already).

    The sha256 of what was sent is `parcel`, "" for nothing.

    Raises:
        DatasetError: it cannot be loaded.
        ParamError: a parameter is out of its bounds.
        UnknownPlaceError: it is at an address that the user has not confirmed.
    """
    if not parcel:
        dataset, recipe = project.dataset, project.recipe
        return load_source(ctx, dataset.key, dataset.params, project.edits, recipe)
    if not re.fullmatch(r"[0-9a-f]{64}", parcel):
        raise DatasetError(
            "The data set of the run is invalid.", where="parcel", received=parcel[:100]
        )
    return replace(unpacked(parcels_home() / parcel), marks=project.edits.split)


def load_source(
    ctx: LoadContext,
    key: str,
    params: Mapping[str, Any],
    edits: DataEdits,
    recipe: TrainingRecipe = _NO_GROUPS,
) -> LoadedData:
    """Loads a source with edits and groups, not yet decoded; see `find_source` and `edited` for
    errors.
    """
    return edited(load_unedited(ctx, key, params), edits, ctx, recipe)


def load_unedited(ctx: LoadContext, key: str, params: Mapping[str, Any]) -> LoadedData:
    """Loads a source as it is, from where its files are now; see `find_source` for errors.

    Raises:
        DataNotFoundError: there is nothing where they should be.
    """
    spec, chosen = find_source(key, params)
    check_known(Choice(key, chosen))
    checked = params_now(spec.params, chosen)
    ctx.progress(f"Loading {spec.name_of(checked)}")
    try:
        source = spec.load(ctx, checked)
    except DatasetError as error:
        raise _as_not_found(error, spec, checked) from error
    return with_value_range(with_part_doubts(source), checked, ctx)


def _as_not_found(error: DatasetError, spec: DatasetSpec, now: Mapping[str, Any]) -> DatasetError:
    """The error of a source; as DataNotFoundError where nothing is at a path of it."""
    absent = [each for each in absent_data(spec, now) if isinstance(each, MissingData)]
    if not absent:
        return error
    path = absent[0].path
    quoted = shlex.quote(path)
    return DataNotFoundError(
        error.what,
        where=path,
        received=error.received,
        expected=error.expected,
        fix="If it was moved or renamed, choose its new place, and the runs trained on it use it "
        "again: in the window by the button “Find the folder…” (or file), in a terminal by "
        f"`workbench data moved {quoted} NEW`.",
    )


def edits_of(plain: Any) -> DataEdits:
    """The edits in a request or a model card.

    Raises:
        DatasetError: they are damaged.
    """
    wrong: list[tuple[str, str]] = []
    edits = read_edits(plain, lambda where, _, expected: wrong.append((where, expected)))
    if wrong:
        raise DatasetError(
            "The edits of the data are damaged.", where=wrong[0][0], expected=wrong[0][1]
        )
    return edits


def run_test_part(ctx: LoadContext, card: ModelCard) -> tuple[PreparedPart, tuple[str, ...]]:
    """The test images of a run, the very ones its training has kept apart.

    Returns:
        Images fitted to the network, with labels; and the source's class names.

    Raises:
        DatasetError: the data set is gone or has no test images.
    """
    loaded, recipe = _run_source(ctx, card)
    part = prepare_test(loaded, shape=tuple(card.input_shape), fit=card.fit, recipe=recipe, ctx=ctx)
    if part is None:
        raise DatasetError(
            "There are no test images.",
            where=card.dataset_title or str(card.dataset["key"]),
            fix="Choose a data set to evaluate on, or train with a larger test split.",
        )
    return part, loaded.class_names


def run_part(
    ctx: LoadContext, card: ModelCard, name: PartName
) -> tuple[PreparedPart, tuple[str, ...]]:
    """One part of a run's own split, as `run_test_part`.

    Raises:
        DatasetError: the data set is gone or has no such images.
    """
    if name == "test":
        return run_test_part(ctx, card)
    train, validation = run_parts(ctx, card)
    part = train if name == "train" else validation
    if part is None:
        raise DatasetError(
            "The run has no validation images.",
            where=card.dataset_title or str(card.dataset["key"]),
            fix="Evaluate on the test images, or train with a validation split.",
        )
    return part, tuple(card.class_names)


def run_parts(ctx: LoadContext, card: ModelCard) -> tuple[PreparedPart, PreparedPart | None]:
    """The training and validation images of a run as its training has divided them, labeled by the
    model's classes; errors as `run_test_part`.
    """
    data = run_data(ctx, card)
    return data.train, data.validation


def run_data(ctx: LoadContext, card: ModelCard) -> PreparedData:
    """All images of a run as its training has divided them, labeled by the model's classes; errors
    as `run_test_part`.
    """
    loaded, recipe = _run_source(ctx, card)
    data = prepare(loaded, shape=tuple(card.input_shape), fit=card.fit, recipe=recipe, ctx=ctx)

    def labeled(part: PreparedPart) -> PreparedPart:
        labels = match_classes(part.y, loaded.class_names, card.class_names)
        return replace(part, y=labels)

    test = data.test and labeled(data.test)
    validation = data.validation and labeled(data.validation)
    return replace(
        data,
        train=labeled(data.train),
        validation=test if data.validation is data.test else validation,
        test=test,
    )


def _run_source(ctx: LoadContext, card: ModelCard) -> tuple[LoadedData, TrainingRecipe]:
    """The data set of a run with its edits, not yet decoded, and the recipe that divides it."""
    key, params = str(card.dataset.get("key", "")), card.dataset.get("params", {})
    if not key:
        raise DatasetError(
            "The data set of this model is unknown.",
            fix="Choose a data set to evaluate on.",
        )
    edits, (recipe, _) = edits_of(card.dataset.get("edits", {})), recipe_from(card.recipe)
    loaded = as_trained(load_source(ctx, key, params, edits, recipe), card.value_range)
    refuse_other_classes(loaded.class_names, card.class_names)
    return loaded, recipe


def other_part(
    ctx: LoadContext, card: ModelCard, key: str, params: Mapping[str, Any]
) -> tuple[PreparedPart, tuple[str, ...]]:
    """The test part of another source; all its images where it has no test part. Its classes are
    renamed and merged as those that the model was trained on.
    """
    classes = edits_of(card.dataset.get("edits", {})).classes
    source = load_source(_OfOneClass(ctx), key, params, DataEdits(classes=classes))
    loaded = as_trained(source, card.value_range)
    refuse_other_classes(loaded.class_names, card.class_names)
    part, name = loaded.train, PART_NAMES[TRAIN]
    if loaded.test is not None and len(loaded.test):
        part, name = loaded.test, PART_NAMES[TEST]
    prepared = prepare_part(part, name, shape=tuple(card.input_shape), fit=card.fit, ctx=ctx)
    if not len(prepared):
        raise DatasetError("None of the images can be read.", where=key)
    return prepared, loaded.class_names


class _OfOneClass:
    """A LoadContext for images of a model that exists: they may be of one class."""

    least_classes = 1

    def __init__(self, ctx: LoadContext) -> None:
        self._ctx = ctx

    @property
    def cache_folder(self) -> str:
        return self._ctx.cache_folder

    def progress(self, text: str, fraction: float | None = None) -> None:
        self._ctx.progress(text, fraction)

    def check_cancelled(self) -> None:
        self._ctx.check_cancelled()

    def keras(self) -> Any:
        return self._ctx.keras()


def refuse_other_classes(names: Sequence[str], card_names: Sequence[str]) -> None:
    """Raises DatasetError, as `match_classes`, before any image is decoded."""
    match_classes(np.empty(0, np.int64), names, card_names)


def match_classes(
    labels: np.ndarray[Any, np.dtype[np.int64]], names: Sequence[str], card_names: Sequence[str]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Labels of a source, by its class names, as labels of a model, by the model's.

    The order may differ, and the source may lack classes; names are compared as in
    `core.outside_text`. A source without names of its
    own (0, 1, 2, ...) is taken by position when it has as many classes as the model.

    Raises:
        DatasetError: a class of the source is none of the model's.
    """
    places = {name: label for label, name in enumerate(card_names)}
    found = matched(names, card_names)
    unknown = found.unknown
    if not unknown:
        matching = np.array([places[found.names[name]] for name in names], np.int64)
        return np.asarray(matching[labels])
    if _are_by_position(names, card_names):
        return labels
    raise DatasetError(
        "The data set has classes that the model does not have.",
        received=", ".join(f"“{name}”" for name in unknown[:10]),
        expected="classes among " + ", ".join(f"“{name}”" for name in card_names[:20]),
        fix="Use the model's class names. In a folder, they are the names of the class folders.",
    )


def match_notes(names: Sequence[str], card_names: Sequence[str]) -> list[str]:
    """Sentences on the classes of a source that `match_classes` matches although their names differ
    in more than their form.
    """
    found = matched(names, card_names)
    if found.unknown and _are_by_position(names, card_names):
        pairs = [f"“{name}” as “{meant}”" for name, meant in zip(names, card_names, strict=True)]
        more = ", …" if len(pairs) > _NOTED else ""
        return [f"Classes are matched by their position: {', '.join(pairs[:_NOTED])}{more}."]
    return list(found.notes)


def _are_by_position(names: Sequence[str], card_names: Sequence[str]) -> bool:
    is_numbered = all(map(_is_number, names)) or all(map(_is_number, card_names))
    return is_numbered and len(names) == len(card_names)


def _is_number(name: str) -> bool:
    return name.casefold().removeprefix("class").strip().isdecimal()
