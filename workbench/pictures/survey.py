"""Reading a data set for the data check: every image once, in threads.

The result is columns of facts (`Survey`); the rules of the data check read these and no image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, Protocol, cast

import numpy as np
from PIL import Image

from workbench.core.data_check.findings import Survey, Tones, tones_of
from workbench.core.data_check.similar import SIDE, Looks
from workbench.core.specs import ArrayPart, FilePart, LoadContext, LoadedData, Part, Shape
from workbench.core.specs.dataset import edited_classes
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION
from workbench.errors import PictureError
from workbench.pictures.contents import STEP, contents_of, in_steps
from workbench.pictures.divide import basis_of, divide
from workbench.pictures.fit import fit_picture
from workbench.pictures.rows import JoinedRows
from workbench.pictures.thumbnails import Decoded, decode_reduced

# unread --------------------------------------------------------------------------------------
# What of an image file is not read: all frames or pages but the first, channels beyond color.

Unread = Literal["", "frames", "pages", "channels"]
"""What a file has more of than is read; "" for nothing."""

_SEVERAL: dict[str, Unread] = {
    "GIF": "frames", "WEBP": "frames", "PNG": "frames", "AVIF": "frames", "TIFF": "pages",
}  # fmt: skip
"""Formats with several images in a file."""

_BITS = 258
"""The TIFF tag with the bits of each channel."""


def unread_of(path: str, kind: str) -> Unread:
    """What of an image file is not read, by its header.

    Args:
        path: The file.
        kind: What it is, by Pillow's name.
    """
    if kind not in _SEVERAL:
        return ""
    try:
        with open_foreign(path) as file, Image.open(file, formats=(kind,)) as image:
            if getattr(image, "is_animated", False):
                return _SEVERAL[kind]
            return "channels" if _has_more_channels(image) else ""
    except (OSError, EOFError, ValueError, TypeError, LookupError, SyntaxError):
        return ""  # damage behind the first image, which can be read


def _has_more_channels(image: Any) -> bool:
    tags = getattr(image, "tag_v2", {})
    return len(tags.get(_BITS, ())) > len(image.getbands())


# examine -------------------------------------------------------------------------------------
# Reads every image of a part once and notes what the data check needs to know of it.

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_DECODE_SIDE = 2 * SIDE
"""Both sides of a decoded photo are at least this long: it is averaged down from there."""

_WORDS = "Checking the images"
_MODES = {1: "L", 3: "RGB"}


@dataclass(frozen=True)
class Examined:
    """What is known of each image of a part, in columns; see `core.data_check.findings.Survey`."""

    reasons: dict[int, str]
    formats: list[str]
    modes: list[str]
    unread: list[Unread]
    turned: np.ndarray[Any, np.dtype[np.bool_]]
    sizes: Numbers
    looks: Looks
    tones: Tones

    @classmethod
    def joined(cls, several: Sequence[Examined], starts: Sequence[int]) -> Examined:
        """Concatenates results of several parts; `starts` are the numbers of their first rows."""
        return cls(
            {
                start + place: reason
                for start, each in zip(starts, several, strict=False)
                for place, reason in each.reasons.items()
            },
            [name for each in several for name in each.formats],
            [mode for each in several for mode in each.modes],
            [what for each in several for what in each.unread],
            np.concatenate([each.turned for each in several]),
            np.concatenate([each.sizes for each in several]),
            Looks.joined([each.looks for each in several]),
            Tones.joined([each.tones for each in several]),
        )


@dataclass(frozen=True)
class Wanted:
    """Images that are needed larger, while they are decoded.

    Attributes:
        shape: To which they are fitted.
        take: Called in the thread of `examine` with places in the part, and the images there,
            uint8 (n, *shape): the readable ones of one step.
    """

    shape: Shape
    take: Callable[[Numbers, Pixels], None]


@dataclass(frozen=True)
class _Seen:
    """One image: why it cannot be read, or what it is."""

    reason: str = ""
    facts: Decoded | None = None
    unread: Unread = ""
    small: Pixels | None = None
    tones: tuple[int, int, int] = (0, 0, 0)
    fitted: Pixels | None = None


def examine(part: Part, ctx: LoadContext, wanted: Wanted | None = None) -> Examined:
    """Decodes the images of a part in threads, a step at a time."""
    count = len(part)
    found = Examined(
        {},
        [""] * count,
        [""] * count,
        [""] * count,
        np.zeros(count, np.bool_),
        np.zeros((count, 2), np.int64),
        Looks.empty(count),
        Tones.empty(count),
    )
    shape = None if wanted is None else wanted.shape

    def step(places: slice) -> list[_Seen]:
        seen = []
        for place in range(count)[places]:
            ctx.check_cancelled()  # a step of large photos takes many seconds
            seen.append(_look(part, place, shape))
        return seen

    every = in_steps(step, count, ctx, _WORDS)
    for start in range(0, count, STEP):
        _note(found, start, list(islice(every, STEP)), wanted)
    return found


def _look(part: Part, place: int, shape: Shape | None) -> _Seen:
    try:
        decoded = _decoded(part, place, max(shape[:2]) if shape else _DECODE_SIDE)
        fitted = fit_picture(decoded.pixels, shape) if shape else None
    except PictureError as error:
        what = error.what.rstrip(".")
        return _Seen(f"{what}: {error.received}" if error.received else error.what)
    facts = decoded._replace(pixels=np.zeros((0, 0, 3), np.uint8))  # the pixels go
    image = _image(decoded.pixels)
    counts = np.array(image.histogram(), np.int64).reshape(-1, 256)
    unread = unread_of(part.paths[place], facts.format) if isinstance(part, FilePart) else ""
    return _Seen("", facts, unread, _small(image), tones_of(counts), fitted)


def _decoded(part: Part, place: int, side: int) -> Decoded:
    if isinstance(part, FilePart):
        return decode_reduced(part.paths[place], side, value_range=part.value_range)
    pixels = np.asarray(part.pictures[place : place + 1])[0]
    return Decoded(pixels, (pixels.shape[0], pixels.shape[1]), "", _MODES[pixels.shape[2]])


def _image(pixels: Pixels) -> Image.Image:
    is_gray = pixels.shape[2] == 1
    return Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if is_gray else pixels))


def _small(image: Image.Image) -> Pixels:
    small = image.resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small.convert("RGB"), np.uint8)


def _note(found: Examined, start: int, seen: list[_Seen], wanted: Wanted | None) -> None:
    """Puts what one step has found into the columns."""
    good: list[int] = []
    for place, each in enumerate(seen, start):
        if each.facts is None:
            found.reasons[place] = each.reason
            continue
        good.append(place)
        found.formats[place], found.modes[place] = each.facts.format, each.facts.mode
        found.unread[place] = each.unread
        found.turned[place] = each.facts.is_turned
        found.tones.put(place, (*each.tones, round(1000 * each.facts.cut)))
        found.sizes[place] = each.facts.full_size[::-1]
    if not good:
        return
    rows = np.array(good)
    found.looks.put(rows, Looks.of(np.stack([s.small for s in seen if s.small is not None])))
    if wanted is not None:
        wanted.take(rows, np.stack([s.fitted for s in seen if s.fitted is not None]))


# survey --------------------------------------------------------------------------------------
# Reads a data set for the data check: every image once, each part of the source.

Floats = np.ndarray[Any, np.dtype[np.float32]]


class FeatureMaker(Protocol):
    """Computes the features of images."""

    @property
    def shape(self) -> Shape:
        """(height, width, channels) of the images that it takes."""

    @property
    def num_features(self) -> int:
        """Numbers for each image."""

    def of(self, images: Pixels) -> Floats:
        """uint8 (n, *shape) -> (n, num_features), for a step of `pictures.contents` at most."""


def survey_of(
    loaded: LoadedData,
    classes: Mapping[str, str],
    recipe: TrainingRecipe,
    ctx: LoadContext,
    features: FeatureMaker | None = None,
) -> Survey:
    """What is known of each image of a data set.

    Args:
        loaded: As the source gives it, without edits.
        classes: How classes are renamed, merged or left out (`DataEdits.classes`).
        recipe: Says how the images are split.
        ctx: Progress is reported to it.
        features: Computes the features of the images, in the same pass; None for none.
    """
    known = edited_classes(loaded.class_names, classes)
    numbers = np.array(known.numbers, np.int64)
    used = _used_parts(loaded, recipe, numbers)
    train = contents_of(loaded.train, ctx)
    others = [contents_of(each.part, ctx) for each in used[1:]]
    examined, values = _examined(used, ctx, features)
    source_labels = np.concatenate([each.part.labels for each in used]).astype(np.int64)
    origins = np.concatenate([np.full(len(each.part), each.origin) for each in used])
    basis = replace(basis_of(loaded, recipe, classes, ctx), contents=train)
    return Survey(
        class_names=known.names,
        source_names=loaded.class_names,
        files=[file for each in used for file in _files(each.part)],
        origins=origins,
        indices=np.concatenate([each.places for each in used]),
        labels=numbers[source_labels],
        source_labels=source_labels,
        parts=_parts(replace(loaded, basis=basis), used, origins, recipe, ctx),
        contents=np.concatenate([train[used[0].places], *others]),
        **vars(examined),
        features=values,
        inferences=loaded.inferences,
        bad_files=loaded.bad_files,
    )


def _examined(
    used: Sequence[_Used], ctx: LoadContext, features: FeatureMaker | None
) -> tuple[Examined, Floats | None]:
    """What is known of the images of all parts, and the features of all where they are wanted."""
    sizes = [len(each.part) for each in used]
    values = None
    if features is not None:
        values = np.zeros((sum(sizes), features.num_features), np.float32)
    starts = np.cumsum([0, *sizes]).tolist()
    examined = [
        examine(each.part, ctx, _wanted(features, values, start))
        for each, start in zip(used, starts, strict=False)
    ]
    return Examined.joined(examined, starts), values


def _wanted(features: FeatureMaker | None, values: Floats | None, start: int) -> Wanted | None:
    """Has the features of a part put into the rows from `start` on."""
    if features is None or values is None:
        return None

    def take(rows: Numbers, images: Pixels) -> None:
        values[start + rows] = features.of(images)

    return Wanted(features.shape, take)


@dataclass(frozen=True)
class _Used:
    """The images of a part of the source that training uses.

    Attributes:
        origin: TRAIN, VALIDATION or TEST.
        part: Those images.
        places: Their places in the part of the source.
    """

    origin: int
    part: Part
    places: Numbers


def _used_parts(loaded: LoadedData, recipe: TrainingRecipe, numbers: Numbers) -> list[_Used]:
    """Parts with the images of the classes that are used; a validation part only where it
    validates.
    """
    validation = loaded.validation if recipe.validation == "split" else None
    given = ((TRAIN, loaded.train), (TEST, loaded.test), (VALIDATION, validation))
    return [_used(origin, part, numbers) for origin, part in given if part is not None]


def _used(origin: int, part: Part, numbers: Numbers) -> _Used:
    labels = np.asarray(part.labels, np.int64)
    places = np.flatnonzero(numbers[labels] >= 0)
    if len(places) == len(part):
        return _Used(origin, part, places)
    if isinstance(part, FilePart):
        paths = tuple(part.paths[place] for place in places.tolist())
        return _Used(origin, replace(part, paths=paths, labels=labels[places]), places)
    rows = JoinedRows([part.pictures], places)
    return _Used(origin, ArrayPart(cast("Any", rows), labels[places]), places)


def _parts(
    loaded: LoadedData,
    used: Sequence[_Used],
    origins: Numbers,
    recipe: TrainingRecipe,
    ctx: LoadContext,
) -> Numbers:
    """The part that training puts each image into."""
    divided = divide(
        loaded,
        recipe,
        ctx,
        chosen=used[0].places,
        has_test=TEST in origins,
        has_validation=VALIDATION in origins,
    )
    parts = origins.copy()
    parts[: len(used[0].places)] = divided.parts
    return parts


def _files(part: Part) -> list[str]:
    return list(part.paths) if isinstance(part, FilePart) else [""] * len(part)
