"""Images that carry their class in their pixels, and the verdict on a data set read from them.

Each image has one color: red is its class, green its number, blue its part. So what a source gives
is compared with what was written, whatever names, tables or archives lie between.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from tests.contexts import PlainContext
from workbench.core.params import defaults
from workbench.core.specs import FilePart, LoadedData, parts_of
from workbench.datasets import all_datasets
from workbench.errors import WorkbenchError

Outcome = Literal["right", "noted", "changeable", "refused", "silently wrong"]
"""Right; right with a doubt that is shown; wrong, but a shown doubt offers what is right; refused."""

SIDE = 12
_CLASS_STEP, _NUMBER_STEP = 9, 4
_PARTS = {"train": 0, "test": 100, "validation": 200}
_NAMES = {0: "train", 1: "test", 2: "validation"}

Image_ = tuple[str, int, int]
"""Part, class and number of an image, as it was written."""


def pixels(part: str, label: int, number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """uint8 (SIDE, SIDE, 3) of one color."""
    color = (20 + _CLASS_STEP * label, 10 + _NUMBER_STEP * number, 20 + _PARTS[part])
    return np.full((SIDE, SIDE, 3), color, np.uint8)


def identity(image: np.ndarray[Any, Any]) -> Image_:
    """What `pixels` was called with, also after JPEG."""
    red, green, blue = (float(each) for each in np.median(image.reshape(-1, 3), axis=0))
    part = _NAMES.get(round((blue - 20) / 100), "?")
    return part, round((red - 20) / _CLASS_STEP), round((green - 10) / _NUMBER_STEP)


@dataclass
class Written:
    """A foreign data set while it is written, and the truth about it.

    Attributes:
        root: The folder that it is written into.
        names: Name of each class, by number.
        images: The images that belong to a class.
        unused: Images that belong to none, or to no part: not used, but mentioned.
    """

    root: Path
    names: tuple[str, ...]
    images: set[Image_] = field(default_factory=set)
    unused: int = 0

    def image(self, path: str | Path, label: int, number: int, part: str = "train") -> Path:
        """Writes an image of a class; a relative path is below the root."""
        self.images.add((part, label, number))
        return self._write(path, pixels(part, label, number))

    def loose(self, path: str, number: int = 0) -> None:
        """Writes an image that belongs to no class."""
        self.unused += 1
        self._write(path, pixels("train", 25, number))

    def _write(self, path: str | Path, values: np.ndarray[Any, Any]) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        lossless = {".png", ".bmp", ".webp"} & {place.suffix.lower()}
        kind = {".bmp": "BMP", ".webp": "WEBP"}.get(place.suffix.lower(), "PNG")
        kind = kind if lossless or place.suffix.lower() not in {".jpg", ".jpeg"} else "JPEG"
        options = {"quality": 100, "subsampling": 0} if kind == "JPEG" else {}
        options = {"lossless": True} if kind == "WEBP" else options
        Image.fromarray(values).save(place, kind, **options)
        return place


@dataclass(frozen=True)
class Case:
    """One foreign data set.

    Attributes:
        kind: Row of the printed table.
        name: What is special about it.
        write: Writes it; returns the key of the source and the parameter values.
    """

    kind: str
    name: str
    write: Callable[[Path], tuple[str, Mapping[str, Any], Written]]


@dataclass(frozen=True)
class Verdict:
    """What became of a case, and the reason in words."""

    outcome: Outcome
    words: str = ""


def judge(case: Case, folder: Path) -> Verdict:
    """Writes a case, loads it, and compares it with the truth."""
    key, params, written = case.write(folder / "data")
    loaded = _load(key, params, folder / "cache")
    if isinstance(loaded, WorkbenchError):
        return Verdict("refused", str(loaded.what))
    wrong = difference(loaded, written)
    doubts = [each for each in loaded.inferences if each.is_doubtful]
    if not wrong:
        return Verdict("noted" if doubts else "right", "; ".join(each.what for each in doubts))
    for doubt in doubts:
        for option in doubt.options:
            again = _load(key, {**params, doubt.param: option.value}, folder / "cache")
            if isinstance(again, LoadedData) and not difference(again, written):
                return Verdict("changeable", f"{doubt.what}: {option.title}")
    return Verdict("silently wrong", f"{wrong}; {' '.join(loaded.sentences)}"[:600])


def _load(key: str, params: Mapping[str, Any], cache: Path) -> LoadedData | WorkbenchError:
    spec = all_datasets()[key]
    try:
        return spec.load(PlainContext(cache), {**defaults(spec.params), **params})
    except WorkbenchError as error:
        return error


def difference(loaded: LoadedData, written: Written) -> str:
    """What was read otherwise than it was written; "" for nothing.

    A published validation part counts as the test part where there is no other, as the product
    holds images out itself then.
    """
    found = {name: list(_identities(part)) for name, part in parts_of(loaded)}
    numbers: dict[int, set[int]] = defaultdict(set)
    read: set[Image_] = set()
    has_test = any(part == "test" for part, _, _ in written.images)
    for name, images in found.items():
        for label, (part, own, number) in images:
            numbers[label].add(own)
            meant = "test" if part == "validation" and not has_test and name == "test" else part
            read.add((part, own, number))
            if meant != name and part in {each for each, _, _ in written.images}:
                return f"image {(part, own, number)} is in the part {name}"
    if sum(map(len, found.values())) != len(read):
        return "an image is there twice"
    if read != written.images:
        missing, more = written.images - read, read - written.images
        return f"{len(missing)} images missing, {len(more)} too many"
    for label, own in numbers.items():
        name = loaded.class_names[label]
        if len(own) != 1 or _normal(name) != _normal(written.names[min(own)]):
            return f"class “{name}” holds {[written.names[each] for each in sorted(own)]}"
    said = (*loaded.sentences, *(reason for _, reason in loaded.bad_files))
    return "unused images are not mentioned" if written.unused and not said else ""


def _identities(part: Any) -> Iterator[tuple[int, Image_]]:
    for number, label in enumerate(np.asarray(part.labels).tolist()):
        if isinstance(part, FilePart):
            with Image.open(part.paths[number]) as image:
                yield label, identity(np.asarray(image.convert("RGB"), np.float64))
        else:
            yield label, identity(np.asarray(part.pictures[number], np.float64))


def _normal(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def of_kind(kind: str, cases: Iterator[Case]) -> Iterator[Case]:
    """The cases with a kind."""
    for case in cases:
        yield replace(case, kind=kind)
