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
    yield from _odd_cases()


def _odd_cases() -> Iterator[Case]:
    """Layouts that are usual enough, but that hold more than classes and parts."""
    words = NAMES["words"]
    for pattern in _JOINED:
        yield _case(f"class and part in one name: {pattern}", words, partial(_joined, form=pattern))
    for name in ("masks", "ground_truth", "heatmaps", "augmented", "thumbs"):
        for end in ("", "_m"):
            yield _case(f"{name}, flat, names and “{end}”", words, partial(_flat_aside, name, end))
    for name in ("rejected", "_deleted", "duplicates", "backup", "trash", "masks"):
        yield _case(f"{name} in each class", words, partial(_set_aside, name))
    for end in ("_heatmap", "_edge", "_overlay", "-contours"):
        yield _case(f"{end} beside", words, partial(_beside, end=end))
    for number in (1, 2):
        yield _case(f"groups with {number} covers", words, partial(_covers, number=number))
    yield _case("covers beside parts in each class", words, _cover_beside_parts)
    yield _case("sites around parts in classes", words, _sites)
    yield _case("images around parts in classes", words, partial(_inside, folders=_DEEP))
    yield _case("a hidden folder", words, partial(_loose, folder=".net/"))
    yield _case("public and private test", words, _two_tests)
    yield _case("rps-test-set", words, partial(parts, folders=("rps", "rps-test-set")))
    for name, fill in _CHOSEN.items():
        yield _case(f"chosen: {name}", words, fill, key="folders")


def _masks(written: Written) -> None:
    """Class folders whose images have masks beside them."""
    for label, name in enumerate(written.names):
        for number in range(_EACH):
            written.image(f"{name}/{name} ({number}).png", label, number)
            written.loose(f"{name}/{name} ({number})_mask.png", number)


def _joined(written: Written, form: str) -> None:
    for part in ("train", "test"):
        for label, name in enumerate(written.names):
            _put(written, form.format(name=name, part=part), label, part)


def _flat_aside(name: str, end: str, written: Written) -> None:
    """Masks and the like of all classes in one folder."""
    for label, class_name in enumerate(written.names):
        for number in range(_EACH):
            written.image(f"{class_name}/{class_name}{number}.png", label, number)
            written.loose(f"{name}/{class_name}{number}{end}.png", number)


def _set_aside(name: str, written: Written) -> None:
    classes(written)
    for class_name in written.names:
        written.loose(f"{class_name}/{name}/x.png", 1)


def _beside(written: Written, end: str) -> None:
    """Class folders whose images have others made of them beside them."""
    for label, name in enumerate(written.names):
        for number in range(_EACH):
            written.image(f"{name}/im{number}.png", label, number)
            written.loose(f"{name}/im{number}{end}.png", number)


def _covers(written: Written, number: int) -> None:
    """Groups of classes, some of which hold an image themselves."""
    written.names = ("cat", "dog", "oak", "rose")
    groups = ("animals", "animals", "plants", "plants")
    for label, (group, name) in enumerate(zip(groups, written.names, strict=True)):
        _put(written, f"{group}/{name}", label)
    for group in ("animals", "plants")[:number]:
        written.loose(f"{group}/cover.png")


def _cover_beside_parts(written: Written) -> None:
    _inside(written, ("train", "test"))
    for name in written.names:
        written.loose(f"{name}/cover.png")


def _sites(written: Written) -> None:
    for part in ("train", "test"):
        for label, name in enumerate(written.names):
            for number in range(_EACH):
                place = f"{name}/{('berlin', 'paris')[number % 2]}/{part}"
                written.image(f"{place}/{number}.png", label, number, part)


def _two_tests(written: Written) -> None:
    parts(written, ("train", "public_test"))
    for label, name in enumerate(written.names):
        written.image(f"private_test/{name}/9.png", label, 9, "test")


def _chosen_groups(written: Written) -> None:
    """One class is around two folders."""
    written.names = ("cat", "dog")
    for number, place in enumerate(("cat/small", "cat/large")):
        written.image(f"{place}/1.png", 0, number)
    _put(written, "dog", 1)


def _chosen_masks(written: Written) -> None:
    classes(written)
    written.loose(f"{written.names[0]}/masks/1.png", 1)


def _case(name: str, names: tuple[str, ...], fill: Fill, key: str = "folder") -> Case:
    def write(folder: Path) -> Write:
        folder.mkdir(parents=True)
        written = Written(folder, names)
        fill(written)
        chosen = tuple(str(each) for each in sorted(folder.iterdir()))
        return key, {"path": str(folder)} if key == "folder" else {"paths": chosen}, written

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


_JOINED = (
    "{name}_{part}",
    "{part}_{name}",
    "{name} ({part})",
    "{name}_{part}set",
    "data/{part}-{name}",
)
_DEEP = ("images/train", "images/test")
_CHOSEN: Mapping[str, Fill] = {
    "classes": classes,
    "train and test": partial(parts, folders=("train", "test")),
    "masks in one": _chosen_masks,
    "one around others": _chosen_groups,
}
"""Folders that are dropped on the window one by one."""

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
