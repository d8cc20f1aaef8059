"""A folder of photos with planted flaws, and whether a data check has found them all."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageOps

from workbench.core.data_check.findings import Finding

KINDS = ("unreadable", "wrong_extension", "leak", "copy")
"""What is planted; copies are exact or nearly so."""

_COPY_RULES = frozenset({"duplicate", "near_duplicate"})


@dataclass
class Planted:
    """What was planted where.

    Attributes:
        folder: Holds train and test, with a folder for each class.
        clean: Photos as they are, each once.
        groups: Kind -> files that belong together: one, or an original and its copy.
    """

    folder: Path
    clean: set[str] = field(default_factory=set)
    groups: dict[str, set[frozenset[str]]] = field(
        default_factory=lambda: {kind: set() for kind in KINDS}
    )


@dataclass(frozen=True)
class Outcome:
    """What a check made of what was planted.

    Attributes:
        found: Kind -> how many of the planted ones were found.
        missed: Those that were not.
        invented: Findings that name something else.
    """

    found: dict[str, int]
    missed: list[frozenset[str]]
    invented: list[Finding]


def plant(source: Path, folder: Path, *, each: int, clean: int, seed: int = 1) -> Planted:
    """Copies photos of class folders and plants `each` flaws of each kind among them."""
    photos = sorted(source.glob("*/*.jpg"))
    chosen = random.Random(seed).sample(photos, clean + 4 * each)
    planted, waiting = Planted(folder), iter(chosen)
    for number in range(clean):
        path = _put(next(waiting), folder / ("test" if number % 5 == 0 else "train"))
        planted.clean.add(str(path))
    for number in range(each):
        damaged = _put(next(waiting), folder / "train")
        damaged.write_bytes(_DAMAGES[number % len(_DAMAGES)](damaged.read_bytes()))
        planted.groups["unreadable"].add(frozenset({str(damaged)}))
        renamed = _put(next(waiting), folder / "train")
        renamed = _save_as(renamed, _FORMATS[number % len(_FORMATS)])
        planted.groups["wrong_extension"].add(frozenset({str(renamed)}))
        for kind, part in (("leak", "test"), ("copy", "train")):
            original = _put(next(waiting), folder / "train")
            copy = folder / part / original.parent.name / f"{original.stem}_copy.jpg"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(_COPIES[number % len(_COPIES)](original.read_bytes()))
            planted.groups[kind].add(frozenset({str(original), str(copy)}))
    return planted


def mislabel(
    source: Path, folder: Path, *, share: float, seed: int, most: int = 0
) -> tuple[set[str], int]:
    """Copies photos of class folders, some of them into a wrong one.

    Args:
        source: Holds a folder for each class.
        folder: Gets the same.
        share: Of all photos, how many get a wrong class.
        seed: Decides which.
        most: Photos of each class; 0 for all.

    Returns:
        The files in a wrong folder, and the number of all.
    """
    draw = random.Random(seed)
    names = sorted(path.name for path in source.iterdir() if path.is_dir())
    of_class = {name: sorted((source / name).glob("*.jpg")) for name in names}
    photos = [
        photo
        for files in of_class.values()
        for photo in (draw.sample(files, most) if most else files)
    ]
    chosen, wrong = set(draw.sample(photos, round(share * len(photos)))), set()
    for photo in photos:
        own = photo.parent.name
        label = draw.choice([name for name in names if name != own]) if photo in chosen else own
        path = folder / label / f"{own}_{photo.name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(photo.read_bytes())
        if photo in chosen:
            wrong.add(str(path))
    return wrong, len(photos)


def outcome(planted: Planted, findings: Sequence[Finding]) -> Outcome:
    """Compares findings with what was planted; hints about shapes are not looked at."""
    named: dict[str, set[frozenset[str]]] = {kind: set() for kind in KINDS}
    invented = []
    for finding in findings:
        kind = "copy" if finding.rule in _COPY_RULES else finding.rule
        if kind not in named:
            continue
        files = [image.file for image in finding.images]
        groups = [frozenset({file}) for file in files]
        groups = [frozenset(files)] if kind in {"leak", "copy"} else groups
        named[kind].update(groups)
        if not planted.groups[kind].issuperset(groups):
            invented.append(finding)
    missed = [group for kind in KINDS for group in planted.groups[kind] - named[kind]]
    found = {kind: len(planted.groups[kind] & named[kind]) for kind in KINDS}
    return Outcome(found, missed, invented)


def _put(photo: Path, folder: Path) -> Path:
    path = folder / photo.parent.name / photo.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(photo.read_bytes())
    return path


_DAMAGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: data[: len(data) // 2],
    lambda data: b"",
    lambda data: b"<!DOCTYPE html><html><body>404</body></html>",
    lambda data: bytes(len(data)),
    lambda data: b"\x00\x01" + data[2:],
    lambda data: data[: len(data) // 5],
)

_FORMATS = (("PNG", ".jpg"), ("WEBP", ".png"), ("JPEG", ".png"), ("BMP", ".jpg"))


def _save_as(path: Path, form: tuple[str, str]) -> Path:
    """Saves a photo in a format, with the extension of another; its new path."""
    kind, extension = form
    file = io.BytesIO()
    Image.open(path).save(file, kind)
    path.write_bytes(file.getvalue())
    return path.rename(path.with_suffix(extension))


def _encoded(image: Image.Image, form: str = "JPEG", **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def _half(data: bytes) -> bytes:
    image = _opened(data)
    return _encoded(image.resize((image.width // 2, image.height // 2)), quality=85)


_COPIES: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: data,
    lambda data: _encoded(_opened(data), quality=50),
    _half,
    lambda data: _encoded(ImageOps.mirror(_opened(data)), quality=85),
    lambda data: _encoded(_opened(data).point(lambda v: min(255, v + 10)), quality=85),
)
