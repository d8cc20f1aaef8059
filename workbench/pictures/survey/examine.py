"""Reads every image of a part once and notes what the data check needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.data_check.similar import SIDE, Looks
from workbench.core.data_check.tones import Tones, tones_of
from workbench.core.specs import FilePart, LoadContext, Part, Shape
from workbench.errors import PictureError
from workbench.pictures.decode import Decoded, decode_reduced
from workbench.pictures.fit import fit_picture
from workbench.pictures.steps import STEP, in_steps
from workbench.pictures.survey.unread import Unread, unread_of

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

_DECODE_SIDE = 2 * SIDE
"""Both sides of a decoded photo are at least this long: it is averaged down from there."""

_WORDS = "Checking the images"
_MODES = {1: "L", 3: "RGB"}


@dataclass(frozen=True)
class Examined:
    """What is known of each image of a part, in columns; see `core.data_check.survey.Survey`."""

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
