"""Folders of images as people publish and keep them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.foreign.judged import Case, Written

Write = tuple[str, Mapping[str, Any], Written]
Fill = Callable[[Written], None]

NAMES: Mapping[str, tuple[str, ...]] = {
    "words": ("cat", "dog", "fox"),
    "numbers": ("1", "2", "10"),
    "digits": ("0", "1"),
    "umlauts": ("Gänseblümchen", "Löwenzahn"),
    "numbered": ("001.Black_footed_Albatross", "002.Laysan_Albatross", "010.Red_winged_Blackbird"),
    "synsets": ("n02085620-Chihuahua", "n02085782-Japanese_spaniel"),
    "spaces": ("golden retriever", "siamese cat"),
    "capitals": ("Apple", "banana", "Cherry"),
    "plants": ("Tomato___healthy", "Tomato___Leaf_Mold"),
    "chinese": ("玫瑰", "蒲公英"),
}

PARTS: tuple[tuple[str, ...], ...] = (
    ("train", "test"),
    ("train", "test", "val"),
    ("train", "test", "valid"),
    ("train", "test", "validation"),
    ("Train", "Test"),
    ("TRAIN", "TEST", "VAL"),
    ("training", "testing"),
    ("Training", "Test"),
    ("training_set", "test_set"),
    ("train_set", "test_set", "val_set"),
    ("trainset", "testset"),
    ("train_images", "test_images"),
    ("images_train", "images_test"),
    ("train_data", "test_data", "val_data"),
    ("train set", "test set"),
    ("01_train", "02_test"),
    ("flowers_train", "flowers_test"),
    ("flowers-train", "flowers-test", "flowers-val"),
    ("train", "test", "dev"),
    ("train", "holdout"),
    ("train", "eval"),
    ("Train", "Testing"),
    ("data_train", "data_test"),
    ("TrainData", "TestData"),
)
"""Training, test and validation folders."""

_PART = ("train", "test", "validation")
_EACH = 4


def cases() -> Iterator[Case]:
    """All folder layouts."""
    for key, names in NAMES.items():
        for around in ("", "dataset", "archive/images", "data/data"):
            yield _case(f"{key} below “{around}”", names, partial(classes, around=around))
    yield _case("masks beside their images", NAMES["words"], _masks)
    for folders in PARTS:
        for key in ("words", "umlauts", "numbers"):
            yield _case(f"parts {folders}, {key}", NAMES[key], partial(parts, folders=folders))
        yield _case(
            f"parts {folders} in a folder",
            NAMES["words"],
            partial(parts, folders=folders, around="x"),
        )
        yield _case(
            f"parts {folders} in themselves",
            NAMES["words"],
            partial(parts, folders=folders, inner="yes"),
        )
        yield _case(
            f"parts {folders} in each class", NAMES["words"], partial(_inside, folders=folders)
        )
    for name, fill in _SPECIAL.items():
        yield _case(name, NAMES["words"], fill)


def _masks(written: Written) -> None:
    """Class folders whose images have masks beside them."""
    for label, name in enumerate(written.names):
        for number in range(_EACH):
            written.image(f"{name}/{name} ({number}).png", label, number)
            written.loose(f"{name}/{name} ({number})_mask.png", number)


def _case(name: str, names: tuple[str, ...], fill: Fill) -> Case:
    def write(folder: Path) -> Write:
        folder.mkdir(parents=True)
        written = Written(folder, names)
        fill(written)
        return "folder", {"path": str(folder)}, written

    return Case("folders", name, write)


def _put(
    written: Written, folder: str, label: int, part: str = "train", *, ending: str = "png"
) -> None:
    for number in range(_EACH):
        written.image(f"{folder}/{part[:2]}{label}{number}.{ending}", label, number, part)


def classes(written: Written, around: str = "") -> None:
    """A folder for each class."""
    for label, name in enumerate(written.names):
        _put(written, f"{around}/{name}" if around else name, label)


def parts(written: Written, folders: tuple[str, ...], around: str = "", inner: str = "") -> None:
    """The classes below a folder for each part."""
    for part, folder in zip(_PART, folders, strict=False):
        place = "/".join(filter(None, (around, folder, folder if inner else "")))
        for label, name in enumerate(written.names):
            _put(written, f"{place}/{name}", label, part)


def _inside(written: Written, folders: tuple[str, ...]) -> None:
    for part, folder in zip(_PART, folders, strict=False):
        for label, name in enumerate(written.names):
            _put(written, f"{name}/{folder}", label, part)


def _unlabeled(written: Written, folder: str) -> None:
    parts(written, ("train",))
    for number in range(5):
        written.loose(f"{folder}/{number}.png", number)


def _loose(written: Written, folder: str) -> None:
    classes(written)
    for number in range(5):
        written.loose(f"{folder}{number}.png", number)


def _third(written: Written) -> None:
    parts(written, ("seg_train", "seg_test"), inner="yes")
    for number in range(5):
        written.loose(f"seg_pred/seg_pred/{number}.png", number)


def _decomposed(written: Written) -> None:
    written.names = NAMES["umlauts"]
    for label, name in enumerate(written.names):
        _put(written, f"train/{name}", label)
        _put(written, f"test/{unicodedata.normalize('NFD', name)}", label, "test")


def _other_case(written: Written) -> None:
    for label, name in enumerate(written.names):
        _put(written, f"train/{name}", label)
        _put(written, f"test/{name.title()}", label, "test")


def _train_is_a_class(written: Written) -> None:
    written.names = ("car", "plane", "train")
    classes(written)


def _cities(written: Written) -> None:
    written.names = ("cats", "dogs")
    for at, city in enumerate(("berlin", "paris")):
        for label, name in enumerate(written.names):
            for number in range(_EACH):
                written.image(f"{city}/{name}/{number}.png", label, number + _EACH * at)


def _hierarchy(written: Written) -> None:
    written.names = ("cat", "dog", "rose")
    for label, folder in enumerate(("animals/cat", "animals/dog", "plants/rose")):
        _put(written, folder, label)


def _years(written: Written) -> None:
    for label, name in enumerate(written.names):
        for number in range(_EACH):
            written.image(f"{name}/{2020 + number % 2}/{number}.png", label, number)


def _in_images(written: Written) -> None:
    for label, name in enumerate(written.names):
        _put(written, f"{name}/images", label)


def _val_alone(written: Written) -> None:
    parts(written, ("train",))
    for label, name in enumerate(written.names):
        _put(written, f"valid/{name}", label, "validation")


def _missing_in_test(written: Written) -> None:
    parts(written, ("train",))
    for label, name in list(enumerate(written.names))[1:]:
        _put(written, f"test/{name}", label, "test")


def _noise(written: Written) -> None:
    classes(written)
    (written.root / "empty").mkdir()
    (written.root / "__MACOSX" / "cat").mkdir(parents=True)
    (written.root / "__MACOSX" / "cat" / "._a.jpg").write_bytes(b"\0\5\x16\7")
    (written.root / "cat" / "._tr00.png").write_bytes(b"\0\5\x16\7")
    (written.root / "cat" / "Thumbs.db").write_bytes(b"\xd0\xcf")
    (written.root / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (written.root / "README.txt").write_text("See the paper.")


def _dangling(written: Written) -> None:
    classes(written)
    (written.root / "cat" / "gone.png").symlink_to("/nowhere/at/all.png")
    (written.root / "wolf").symlink_to("/nowhere/folder")


def _flat(written: Written, pattern: str, folder: str = "") -> None:
    for label, name in enumerate(written.names):
        for number in range(_EACH):
            written.image(folder + pattern.format(name=name, number=number), label, number)


def _two_cases(written: Written) -> None:
    written.names = ("Rose", "rose", "tulip")
    classes(written)


def _one_level(written: Written) -> None:
    for label, name in enumerate(written.names):
        _put(written, f"{name}/{name}", label)


def _numbers_and_unlabeled(written: Written) -> None:
    _unlabeled(written, "test1")


def _endings(written: Written, ending: str) -> None:
    for label, name in enumerate(written.names):
        _put(written, name, label, ending=ending)


_SPECIAL: Mapping[str, Fill] = {
    "unlabeled test": partial(_unlabeled, folder="test"),
    "unlabeled test in a folder": partial(_unlabeled, folder="test/unknown"),
    "unlabeled test1": _numbers_and_unlabeled,
    "loose images": partial(_loose, folder=""),
    "three of a contest": _third,
    "test in NFD": _decomposed,
    "test in another case": _other_case,
    "train is a class": _train_is_a_class,
    "the same classes in two cities": _cities,
    "classes in groups": _hierarchy,
    "years in classes": _years,
    "images in each class": _in_images,
    "validation alone": _val_alone,
    "a class is missing in test": _missing_in_test,
    "files of systems": _noise,
    "dangling links": _dangling,
    "cat.0.jpg": partial(_flat, pattern="{name}.{number}.jpg"),
    "cat_0.png": partial(_flat, pattern="{name}_{number}.png"),
    "train/cat.0.jpg": partial(_flat, pattern="{name}.{number}.jpg", folder="train/"),
    "images/cat (1).png": partial(_flat, pattern="{name} ({number}).png", folder="images/"),
    "Rose and rose": _two_cases,
    "each class in itself": _one_level,
    "no ending": partial(_endings, ending="x"),
    "JPG": partial(_endings, ending="JPG"),
    "bmp": partial(_endings, ending="bmp"),
    "webp": partial(_endings, ending="webp"),
}
