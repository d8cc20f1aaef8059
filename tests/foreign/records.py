"""TFRecord files as people publish and keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.foreign.judged import Case, Written, pixels
from tests.written_records import write_records
from workbench.pictures.png import png_bytes

Record = dict[str, Any]

NAMES = ("cat", "dog", "fox")
POLISH = ("łaba", "pies", "żaba")
DIGITS = ("0", "1", "2")
_EACH = 9


def cases() -> Iterator[Case]:
    """All record files."""
    for image in ("image", "image/encoded", "image_raw", "img", "jpeg", "bytes", "X"):
        for label in ("label", "image/class/label", "class", "target", "y", "category", "species"):
            yield _case(f"{image}, {label}", image, {label: "number"}, DIGITS)
    for label in ("label", "class_name", "image/class/text", "name", "breed"):
        yield _case(f"text {label}", "image", {label: "text"}, NAMES)
    for label in ("one_hot", "label", "one_hot_class"):
        yield _case(f"one-hot {label}", "image", {label: "hot"}, DIGITS)
    yield _case("text and number", "image", {"class": "number", "label": "text"}, NAMES)
    yield _case("text, number, height", "image", {"text": "text", "label": "number"}, NAMES)
    yield _case("running number", "image", {"id": "running", "label": "number"}, DIGITS)
    yield _case("only a running number", "image", {"label": "running"}, DIGITS)
    yield _case("from 1", "image", {"label": "one"}, ("1", "2", "3"))
    yield _case("Central European bytes", "image", {"label": "cp1250"}, POLISH)
    yield _case("text that some lack", "image", {"text": "some", "label": "number"}, DIGITS)
    yield _case("one or two labels", "image", {"label": "several"}, DIGITS)
    yield _case("several labels", "image", {"label": "pairs"}, DIGITS)
    yield _case("two spellings", "image", {"label": "case"}, ("Cat", "cat", "dog"))
    yield _case("a class 255", "image", {"label": "filler"}, ("0", "1", "255"))
    yield _case("a class None", "image", {"label": "none"}, ("cat", "dog", "None"))
    yield _case("no label at all", "image", {"height": "height"}, DIGITS)
    for files in (("train.tfrec", "test.tfrec"), ("flowers-train.tfrecord", "flowers-test.tfrecord"),
                  ("train-00000-of-00001", "validation-00000-of-00001"),
                  ("training_1.tfrec", "testing_1.tfrec"),
                  ("ds-trn.tfrec", "ds-holdout.tfrec"), ("test21-train.tfrec", "test21-test.tfrec"),
                  ("mnist_test_train.tfrec", "mnist_test_test.tfrec"),
                  ("train/00.tfrec", "test/00.tfrec"), ("a-training-b.tfrec", "a-inference.tfrec"),
                  ("trainval.tfrec", "testdev.tfrec")):  # fmt: skip
        yield _parts(f"files {files}", files, is_labeled=True)
    for name in ("split", "image/split", "subset", "is_test", "is_train", "phase"):
        yield _split(name)
    yield _case("names of numbers", "image", {"image/object/class/label": "number",
                "image/object/class/text": "text"}, NAMES)  # fmt: skip
    yield _case("synset", "image", {"label": "number", "synset": "text"}, NAMES)
    yield _case("another label", "image", {"label_noisy": "shifted", "label": "number"}, DIGITS)
    yield _case("coarse, fine", "image", {"coarse_label": "half", "fine_label": "number"}, DIGITS)
    yield _case("float", "image", {"label": "float"}, DIGITS)
    yield _parts("an unlabeled part", ("train.tfrec", "test.tfrec"), is_labeled=False)


def _record(image: str, labels: Mapping[str, str], label: int, number: int, part: str) -> Record:
    values = {
        "number": label,
        "text": NAMES[label].encode(),
        "hot": np.eye(3)[label].tolist(),
        "running": number,
        "shifted": (label + number // 3) % 3,
        "half": label // 2,
        "float": float(label),
        "one": label + 1,
        "height": 12,
        "cp1250": POLISH[label].encode("cp1250"),
        "some": NAMES[label].encode() if label else b"",
        "several": [label, 2] if number == 4 else label,
        "pairs": [label, (label + 1) % 3],
        "case": (b"Cat", b"cat", b"dog")[label],
        "filler": (0, 1, 255)[label],
        "none": (b"cat", b"dog", b"None")[label],
    }
    record: Record = {name: values[kind] for name, kind in labels.items()}
    return {image: png_bytes(pixels(part, label, number)), **record}


def _case(name: str, image: str, labels: Mapping[str, str], names: tuple[str, ...]) -> Case:
    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        folder.mkdir(parents=True)
        written = Written(folder, names)
        records = []
        for number in range(_EACH):
            written.images.add(("train", number % 3, number))
            records.append(_record(image, labels, number % 3, number, "train"))
        write_records(folder / "data.tfrecord", records)
        return "tfrecord", {"path": str(folder / "data.tfrecord")}, written

    return Case("records", name, write)


def _parts(name: str, files: tuple[str, str], *, is_labeled: bool) -> Case:
    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        folder.mkdir(parents=True)
        written = Written(folder, DIGITS)
        second = "validation" if "validation" in files[1] else "test"
        for part, file in zip(("train", second), files, strict=True):
            has_label = is_labeled or part == "train"
            labels = {"label": "number"} if has_label else {"id": "running"}
            numbers = range(_EACH)
            records = [_record("image", labels, number % 3, number, part) for number in numbers]
            write_records(folder / file, records)
            if has_label:
                written.images |= {(part, number % 3, number) for number in numbers}
            else:
                written.unused += _EACH
        return "tfrecord", {"path": str(folder)}, written

    return Case("records", name, write)


def _split(feature: str) -> Case:
    """One file with a feature that says the part."""

    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        written = Written(folder, DIGITS)
        records = []
        for part, number in ((p, n) for p in ("train", "test") for n in range(_EACH)):
            word: object = int(feature == f"is_{part}") if "is_" in feature else part.encode()
            label = number % 3
            records.append({**_record("image", {"label": "number"}, label, number, part),
                            feature: word})  # fmt: skip
            written.images.add((part, label, number))
        write_records(folder / "data.tfrecord", records)
        return "tfrecord", {"path": str(folder / "data.tfrecord")}, written

    return Case("records", f"a feature {feature}", write)
