"""The images of TFRecord files as files in the cache, with their labels."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from workbench.core.format import plain_name, plural
from workbench.core.outside_text import altered, normal, unique
from workbench.core.params import Params
from workbench.core.specs import FilePart, Inference, LoadContext, LoadedData
from workbench.datasets._cached_files import cached_files, file_identity
from workbench.datasets._class_parts import class_order, with_look_alikes
from workbench.datasets._labels.texts import (
    Label,
    LabelSettings,
    SaidParts,
    decode_labels,
    missing_labels,
    said_parts,
    untrained,
)
from workbench.datasets._labels.values import MAX_CLASSES
from workbench.datasets._records.features import (
    FoundKeys,
    Keys,
    NoLabelError,
    SeveralLabelsError,
    Surveyed,
    find_keys,
    image_of,
    label_of,
)
from workbench.datasets._records.frames import BadExampleError, Feature, read_example, read_records
from workbench.datasets._records.parts import PARTS, cell_of, file_parts
from workbench.errors import DatasetError
from workbench.pictures.folders import natural_key
from workbench.pictures.listed.given import NONE
from workbench.pictures.portable.signatures import HEAD_BYTES, sniff

_SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "GIF": ".gif", "BMP": ".bmp", "WEBP": ".webp"}
_PER_FOLDER = 1000
_MOST_BAD = 1000  # records that are named; the others are counted
_CHECK_EVERY = 64
_HEAD = max(HEAD_BYTES, 1024)
_LAYOUT = 4  # raised when what is kept of the records changes
_SURVEYED_FILES, _SURVEYED_RECORDS = 16, 64
_MISSING = -1
"""The label of records without one, in test parts of TensorFlow Datasets."""
_MANY = 0.05  # of the records whose label is -1: it may be a class


def load_records(
    ctx: LoadContext, files: Sequence[Path], given: Keys, where: str, params: Params
) -> LoadedData:
    """The images and labels of TFRecord files.

    Args:
        ctx: Names the cache folder.
        files: The files, in their order.
        given: Features that the user has chosen; "" for those that are found.
        where: How messages name the source.
        params: How labels are read.

    Raises:
        DatasetError: a file is damaged, or there are no images with labels.
    """
    settings = LabelSettings.of(params)
    names = [path.name for path in files]
    parts = list(file_parts(files, given.split).of.values())
    digest = hashlib.sha256(repr((_LAYOUT, given, settings, names, parts)).encode())
    for path in files:
        digest.update(file_identity(ctx, path).encode())
    unpacking = _Unpacking(ctx, files, given, settings)
    folder, facts = cached_files(ctx, digest.hexdigest(), unpacking.fill, where=where)
    return _as_data(folder, facts, where, params)


def _as_data(folder: Path, facts: Mapping[str, Any], where: str, params: Params) -> LoadedData:
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
    names = sorted(everywhere, key=_order)
    numbers = {name: number for number, name in enumerate(names)}
    parts = {
        part: FilePart(
            tuple(str(folder / name) for name, _ in images),
            np.array([numbers[label] for _, label in images], np.int64),
        )
        for part, images in facts["images"].items()
    }
    shown = unique(list(map(str, names)))
    occurring = {part: set(each.labels.tolist()) for part, each in parts.items()}
    lost = untrained(occurring, shown)
    loaded = LoadedData(
        class_names=shown,
        train=parts["train"],
        test=parts["test"] if len(parts["test"]) else None,
        validation=parts["validation"] if len(parts["validation"]) else None,
        bad_files=tuple((name, reason) for name, reason in facts["bad_files"]),
        notes=(*facts["notes"], *altered(list(map(str, names)))),
        inferences=(*_inferences(facts), *lost, *class_order(shown)),
    )
    return with_look_alikes(loaded, shown, params)


def _order(label: Label) -> tuple[Any, ...]:
    """Numbers by their value, then text naturally sorted."""
    return (0, label) if isinstance(label, int) else (1, natural_key(label), label)


def _inferences(facts: Mapping[str, Any]) -> tuple[Inference, ...]:
    return msgspec.convert(facts["inferences"], tuple[Inference, ...])


class _Taken(NamedTuple):
    """A record whose image is a file now.

    Attributes:
        name: The file, from the folder of the images.
        label: Its label.
        part: Its part by the name of its file.
        cells: What the features hold that may say its part.
    """

    name: str
    label: bytes | int
    part: str
    cells: tuple[str, ...]


@dataclass
class _Unpacking:
    """Writes the images of records into files."""

    ctx: LoadContext
    files: Sequence[Path]
    given: Keys
    settings: LabelSettings
    images: list[_Taken] = field(default_factory=list)
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    num_bad: int = 0
    num_lacking: int = 0
    several: list[str] = field(default_factory=list)
    unlabeled: dict[Path, int] = field(default_factory=dict)
    found: FoundKeys | None = None

    def __post_init__(self) -> None:
        self.parts = file_parts(self.files, self.given.split)

    def fill(self, folder: Path) -> Mapping[str, Any]:
        """Unpacks all files; returns what is known about them."""
        self.found = found = self._survey()
        for number, path in enumerate(self.files):
            part = self.parts.of[path]
            for record in read_records(path):
                if record.number % _CHECK_EVERY == 0:
                    self.ctx.check_cancelled()
                    at = (number + record.at) / len(self.files)
                    self.ctx.progress(f"Unpacking {path.name}", min(1.0, at))
                if path in self.unlabeled:
                    self.unlabeled[path] += 1
                else:
                    self._take(folder, part, path, record.number, record.data)
        labels, inferences = self._labels(found.keys.label)
        split, images = self._divided(labels)
        by_file = (
            []
            if split.name
            else self.parts.inferences([path for path in self.files if path not in self.unlabeled])
        )
        inferences = [
            *found.inferences, *inferences, *self._lacking(), *by_file, *split.inferences
        ]  # fmt: skip
        return {
            "images": images,
            "label": found.keys.label,
            "notes": [*self._notes(), *found.unused(split.name)],
            "inferences": [asdict(each) for each in inferences],
            "bad_files": self.bad_files,
        }

    def _survey(self) -> FoundKeys:
        """The features, by the first records of some files; notes the files without labels.

        Raises:
            DatasetError: none of the records can be used.
        """
        examples: dict[Path, list[Surveyed]] = {}
        first: tuple[Path, bytes] | None = None
        is_looked_at = set(self.files[:: max(1, len(self.files) // _SURVEYED_FILES)])
        for path in self.files:
            count = _SURVEYED_RECORDS if path in is_looked_at else 1
            for record in islice(read_records(path), count):
                self.ctx.check_cancelled()
                first = first or (path, record.data)
                with contextlib.suppress(BadExampleError):
                    examples.setdefault(path, []).append(
                        Surveyed(
                            _slim(read_example(record.data)),
                            f"{record.number:,} of {path.name}",
                        )
                    )
        if first is None:
            raise DatasetError("The TFRecord files are empty.", where=str(self.files[0]))
        try:
            read_example(first[1])
            found = find_keys(self._of_training(examples), self.given)
        except BadExampleError as error:
            raise self._refused(*first, error) from None
        self._find_unlabeled(examples, found.keys)
        return found

    def _of_training(self, examples: Mapping[Path, list[Surveyed]]) -> list[Surveyed]:
        """Examples of the training part, by which features are found; all examples without that
        part.
        """
        chosen = [
            e for path, some in examples.items() if self.parts.of[path] == "train" for e in some
        ]
        return chosen or [each for some in examples.values() for each in some]

    def _find_unlabeled(self, examples: Mapping[Path, list[Surveyed]], keys: Keys) -> None:
        """Files none of whose first records has a label, while others have one."""
        without = [
            path for path, some in examples.items() if not any(_has_label(e, keys) for e in some)
        ]
        if len(without) < len(examples):
            self.unlabeled = dict.fromkeys(without, 0)

    def _take(self, folder: Path, part: str, path: Path, number: int, data: bytes) -> None:
        assert self.found is not None  # noqa: S101 - for the type
        keys = self.found.keys
        try:
            example = read_example(data)
            image = image_of(example, keys.image)
            label = label_of(example, keys)
        except BadExampleError as error:
            self._skip(f"{path.name}, record {number:,}", error)
            return
        count = len(self.images)
        suffix = _SUFFIXES.get(sniff(image[:HEAD_BYTES]), "")
        name = f"images/{count // _PER_FOLDER:05}/{count:08}{suffix}"
        if count % _PER_FOLDER == 0:
            (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(image)
        cells = (sys.intern(cell_of(example.get(key, Feature()))) for key in self.found.splits)
        self.images.append(_Taken(name, label, part, tuple(cells)))

    def _skip(self, name: str, error: BadExampleError) -> None:
        """Notes a record that is not used."""
        self.num_bad += 1
        if isinstance(error, SeveralLabelsError):
            self.several.append(name)
        elif isinstance(error, NoLabelError):
            self.num_lacking += 1
        if len(self.bad_files) < _MOST_BAD:
            self.bad_files.append((name, f"It has {error}."))

    def _notes(self) -> Iterator[str]:
        """What is not used."""
        more = self.num_bad - len(self.bad_files)
        if more:
            yield f"{more:,} more records cannot be read."
        if self.unlabeled:
            names = [path.name for path in self.unlabeled]
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
            number = sum(self.unlabeled.values())
            yield f"Records without labels, not used: {number:,} (all of {shown})."

    def _labels(self, feature: str) -> tuple[list[Label | None], list[Inference]]:
        """The label of each image as text or as a number; None where it is no class."""
        self._refuse_several(feature)
        where = str(self.files[0])
        counts = Counter(image.label for image in self.images)
        raw = [label for label in counts if isinstance(label, bytes)]
        texts, decoded = decode_labels(raw, self.settings, where) if raw else ({}, ())
        forms: dict[bytes | int, Label] = {
            label: normal(texts[label]) if isinstance(label, bytes) else label for label in counts
        }
        total: Counter[Label] = Counter()
        for label, count in counts.items():
            total[forms[label]] += count
        absent, missing = missing_labels(total, self.settings, noun="record", none={_MISSING})
        known = {each: None if form in absent else form for each, form in forms.items()}
        return [known[image.label] for image in self.images], [*decoded, *missing]

    def _divided(
        self, labels: Sequence[Label | None]
    ) -> tuple[SaidParts, dict[str, list[tuple[str, Label]]]]:
        """The feature with the part, and file and label of the images of each part."""
        assert self.found is not None  # noqa: S101 - for the type
        used = [(each, label) for each, label in zip(self.images, labels, strict=True)
                if label is not None]  # fmt: skip
        split = said_parts(
            {
                key: [image.cells[place] for image, _ in used]
                for place, key in enumerate(self.found.splits)
            },
            [image.part for image, _ in used],
            [str(label) for _, label in used],
            self.given.split if self.given.split != NONE else "",
            where=str(self.files[0]),
            noun="feature",
        )
        images: dict[str, list[tuple[str, Label]]] = {part: [] for part in PARTS}
        for (image, label), part in zip(used, split.parts, strict=True):
            images[part].append((image.name, label))
        return split, images

    def _refuse_several(self, feature: str) -> None:
        """Raises DatasetError where many records have several labels."""
        used = len(self.images)
        if len(self.several) > _MANY * used:
            raise DatasetError(
                "Records have several labels.",
                where=str(self.files[0]),
                received=f"{plural(len(self.several), 'record')} with several values of "
                f"“{plain_name(feature)}”; the first: {self.several[0]}",
                expected="one label for each record",
                fix="Classification with several labels an image is not supported. Choose another "
                "feature as the label.",
            )

    def _lacking(self) -> Iterator[Inference]:
        """Records that are not used because of their labels."""
        number = self.num_lacking + len(self.several)
        if number:
            some = f"{len(self.several):,} have several. " if self.several else ""
            doubt = f"{some}A class may be lost: see the records that cannot be used."
            evidence = f"{plural(number, 'record')}, not used"
            yield Inference("unlabeled", "Records without one label", "left out", evidence, doubt)

    def _refused(self, path: Path, data: bytes, error: BadExampleError) -> DatasetError:
        try:
            found = read_example(data).items()
        except BadExampleError:
            found = {}.items()
        listed = ", ".join(f"{name} ({feature.words()})" for name, feature in found)
        plain = "".join(c if c.isprintable() else "?" for c in listed)
        return DatasetError(
            f"The records cannot be used: {error}.",
            where=str(path),
            received=plain[:400] or "bytes that are no tf.train.Example",
            expected="features with an encoded image and a label (text, a number or one-hot)",
            fix="Choose the features of the image and the label: "
            f'"tfrecord:{path.name}?image=NAME&label=NAME".',
        )


def _slim(example: Mapping[str, Feature]) -> dict[str, Feature]:
    """An example whose images are cut to their heads, by which they are known."""
    return {
        name: replace(feature, texts=tuple(text[:_HEAD] for text in feature.texts))
        for name, feature in example.items()
    }


def _has_label(example: Mapping[str, Feature], keys: Keys) -> bool:
    """Whether a record has a label, or several, and not -1."""
    try:
        return label_of(example, keys) not in {_MISSING, b""}
    except SeveralLabelsError:
        return True
    except BadExampleError:
        return False
