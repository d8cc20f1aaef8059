"""The images of TFRecord files as files in the cache, with their labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import FilePart, LoadContext, LoadedData
from workbench.datasets._cached_files import cached_files, file_identity
from workbench.datasets._label_values import MAX_CLASSES
from workbench.datasets._records.example import BadExampleError, read_example
from workbench.datasets._records.features import Keys, find_keys, image_of, label_of
from workbench.datasets._records.frames import read_records
from workbench.errors import DatasetError
from workbench.pictures.folders import natural_key
from workbench.pictures.listed.names import PARTS
from workbench.pictures.portable.signatures import HEAD_BYTES, sniff

_SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "GIF": ".gif", "BMP": ".bmp", "WEBP": ".webp"}
_PER_FOLDER = 1000
_MOST_BAD = 1000  # records that are named; the others are counted
_CHECK_EVERY = 64


def load_records(ctx: LoadContext, files: Sequence[Path], given: Keys, where: str) -> LoadedData:
    """The images and labels of TFRecord files.

    Args:
        ctx: Names the cache folder.
        files: The files, in their order.
        given: Features that the user has chosen; "" for those that are found.
        where: How messages name the source.

    Raises:
        DatasetError: a file is damaged, or there are no images with labels.
    """
    digest = hashlib.sha256(repr((given, [path.name for path in files])).encode())
    for path in files:
        digest.update(file_identity(ctx, path).encode())
    unpacking = _Unpacking(ctx, files, given)
    folder, facts = cached_files(ctx, digest.hexdigest(), unpacking.fill, where=where)
    return _as_data(folder, facts, where)


def _as_data(folder: Path, facts: Mapping[str, Any], where: str) -> LoadedData:
    labels = {label for _, label in facts["images"]["train"]}
    everywhere = {label for part in facts["images"].values() for _, label in part}
    if not len(labels) >= 2 or len(everywhere) > MAX_CLASSES:
        raise DatasetError(
            "There are too many different labels."
            if len(everywhere) > MAX_CLASSES
            else "There are fewer than two classes.",
            where=where,
            received=f"{len(everywhere):,} different labels of “{facts['label']}” in "
            f"{len(facts['images']['train']):,} training images",
            expected=f"2 to {MAX_CLASSES:,} classes",
            fix="Choose another feature as the label.",
        )
    names = sorted(everywhere, key=lambda label: (natural_key(str(label)), str(label)))
    numbers = {name: number for number, name in enumerate(names)}
    parts = {
        part: FilePart(
            tuple(str(folder / name) for name, _ in images),
            np.array([numbers[label] for _, label in images], np.int64),
        )
        for part, images in facts["images"].items()
    }
    return LoadedData(
        class_names=tuple(map(str, names)),
        train=parts["train"],
        test=parts["test"] if len(parts["test"]) else None,
        validation=parts["validation"] if len(parts["validation"]) else None,
        bad_files=tuple((name, reason) for name, reason in facts["bad_files"]),
        notes=tuple(facts["notes"]),
    )


def part_of(path: Path, files: Sequence[Path]) -> str:
    """The part that a file's name or folder names, where several files name several parts."""
    found = {each: _named_part(each) for each in files}
    return found[path] if "train" in found.values() else "train"


def _named_part(path: Path) -> str:
    words = [*re.split(r"[\W_0-9]+", path.name.casefold()), path.parent.name.casefold()]
    return next((PARTS[word] for word in words if word and word in PARTS), "train")


@dataclass
class _Unpacking:
    """Writes the images of records into files."""

    ctx: LoadContext
    files: Sequence[Path]
    given: Keys
    images: dict[str, list[tuple[str, str | int]]] = field(
        default_factory=lambda: {"train": [], "test": [], "validation": []}
    )
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    num_bad: int = 0
    _keys: Keys | None = None

    def fill(self, folder: Path) -> Mapping[str, Any]:
        """Unpacks all files; returns what is known about them."""
        for number, path in enumerate(self.files):
            part = part_of(path, self.files)
            for record in read_records(path):
                if record.number % _CHECK_EVERY == 0:
                    self.ctx.check_cancelled()
                    at = (number + record.at) / len(self.files)
                    self.ctx.progress(f"Unpacking {path.name}", min(1.0, at))
                self._take(folder, part, path, record.number, record.data)
        if self._keys is None:
            raise DatasetError("The TFRecord files are empty.", where=str(self.files[0]))
        more = self.num_bad - len(self.bad_files)
        notes = [f"The image is the feature “{self._keys.image}”, the label “{self._keys.label}”."]
        notes += [f"{more:,} more records cannot be read."] if more else []
        return {
            "images": self.images,
            "label": self._keys.label,
            "notes": notes,
            "bad_files": self.bad_files,
        }

    def _take(self, folder: Path, part: str, path: Path, number: int, data: bytes) -> None:
        try:
            example = read_example(data)
            if self._keys is None:
                self._keys = find_keys(example, self.given)
            image = image_of(example, self._keys.image)
            label = label_of(example, self._keys.label)
        except BadExampleError as error:
            if self._keys is None:
                raise self._refused(path, data, error) from None
            self.num_bad += 1
            if len(self.bad_files) < _MOST_BAD:
                self.bad_files.append((f"{path.name}, record {number:,}", f"It has {error}."))
            return
        images = self.images[part]
        suffix = _SUFFIXES.get(sniff(image[:HEAD_BYTES]), "")
        name = f"{part}/{len(images) // _PER_FOLDER:05}/{len(images):08}{suffix}"
        if len(images) % _PER_FOLDER == 0:
            (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(image)
        images.append((name, label))

    def _refused(self, path: Path, data: bytes, error: BadExampleError) -> DatasetError:
        try:
            found = read_example(data).items()
        except BadExampleError:
            found = {}.items()
        listed = ", ".join(f"{name} ({feature.words()})" for name, feature in found)
        plain = "".join(c if c.isprintable() else "?" for c in listed)
        return DatasetError(
            f"The first record cannot be used: {error}.",
            where=str(path),
            received=plain[:400] or "bytes that are no tf.train.Example",
            expected="features with an encoded image and a label (text, a number or one-hot)",
            fix="Choose the features of the image and the label.",
        )
