"""Data sets whose meaning is in decisions: edits, tables, ranges, depths; each with its known truth.

An exported program has to train on the same images with the same labels as a run of the project.
"""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.worker.conftest import chain
from workbench.core.network.graph import Graph
from workbench.core.projects.data_edits import CONTENT_DIGITS, DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets

NAMES = ("aster", "rose", "tulip 9", "tulip 10")
PER_CLASS = 20
SIZE = (14, 12)
"""Width and height of a picture; the network takes 12 x 12."""

RECIPE = {
    "epochs": 1,
    "batch_size": 16,
    "precision": "float32",
    "xla": "off",
    "validation": "split",
}

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Known:
    """A project, and what is known of its images by the way they were made.

    Attributes:
        project: Of a small network.
        classes: Images by class, of all parts together.
        counts: Training, validation and test images; None where a share decides.
        moved: Parts that single files must be in, by name; empty for none.
        arrays: The very pixels of all images, in any order; None where they are in files.
        pictures: Files to classify; none where the images are in no files.
    """

    project: Project
    classes: Mapping[str, int]
    counts: tuple[int, int, int] | None = None
    arrays: Pixels | None = None
    pictures: tuple[Path, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)


def renamed(place: Path) -> Known:
    """A class has another name in the project."""
    return _edited(place, DataEdits(classes={"rose": "Rose, wild"}), {"Rose, wild": 20, "rose": 0})


def merged(place: Path) -> Known:
    """Two classes are one, and another is left out."""
    edits = DataEdits(classes={"tulip 9": "tulip", "tulip 10": "tulip", "rose": ""})
    return _edited(place, edits, {"tulip": 40, "tulip 9": 0, "tulip 10": 0, "rose": 0})


def relabeled(place: Path) -> Known:
    """Seven images belong to another class."""
    files = sorted(photos(place / "data")["rose"])[:7]
    edits = DataEdits(labels={content(file): "aster" for file in files})
    return _edited(place, edits, {"aster": 27, "rose": 13})


def left_out(place: Path) -> Known:
    """Six images are not used, and of five copies of one image one."""
    found = photos(place / "data")
    for number in range(4):
        shutil.copy(found["aster"][-1], found["aster"][-1].with_name(f"copy {number}.png"))
    once = frozenset({content(found["aster"][-1])})
    edits = DataEdits(left_out=frozenset(map(content, found["tulip 9"][:6])), once=once)
    return _edited(place, edits, {"tulip 9": 14})


def moved(place: Path) -> Known:
    """Images are put into parts."""
    found = photos(place / "data")
    parts = dict.fromkeys(found["aster"][:3], "test")
    parts |= dict.fromkeys(found["rose"][:4], "validation")
    parts |= dict.fromkeys(found["tulip 9"][:5], "train")
    known = _edited(place, DataEdits(parts={content(file): to for file, to in parts.items()}), {})
    return replace(known, moved={str(file): to for file, to in parts.items()})


def csv_split(place: Path) -> Known:
    """A table says which images train, validate and test."""
    found, parts = photos(place / "data"), ["train"] * 13 + ["val"] * 3 + ["test"] * 4
    rows = [
        {"filename": file.relative_to(place), "label": name, "split": part}
        for name, files in found.items()
        for file, part in zip(files, parts, strict=True)
    ]
    _table(place / "flowers.csv", rows, encoding="utf-8", delimiter=",")
    return _known(place, Choice("csv", {"path": str(place / "flowers.csv")}), counts=(52, 12, 16))


def csv_excel(place: Path) -> Known:
    """A table as Excel writes it in Germany: semicolons, a byte order mark, umlauts."""
    found = photos(place / "data", names=("Löwenzahn", "Rose", "Gänseblümchen"))
    rows = [
        {"Bild": file.relative_to(place), "label": name}
        for name, files in found.items()
        for file in files
    ]
    rows = [{"path": row["Bild"], "label": row["label"]} for row in rows]
    _table(place / "blumen.csv", rows, encoding="utf-8-sig", delimiter=";")
    return _known(place, Choice("csv", {"path": str(place / "blumen.csv")}), names=found)


def npz_unit(place: Path) -> Known:
    """Real numbers from 0 to 1."""
    return _npz(place, lambda x: (x / 255).astype(np.float32))


def npz_signed(place: Path) -> Known:
    """Real numbers from -1 to 1, and labels that are words."""
    return _npz(place, lambda x: (x / 127.5 - 1).astype(np.float32), np.array(NAMES))


def npz_uint16(place: Path) -> Known:
    """16 bits, with a test part of its own."""
    x, y = arrays()
    path = place / "deep.npz"
    deep = x.astype(np.uint16) * 257
    np.savez(path, x_train=deep[:60], y_train=y[:60], x_test=deep[60:], y_test=y[60:])
    known = _known(place, Choice("npz", {"path": str(path)}), names=[str(n) for n in range(4)])
    return replace(known, arrays=x, counts=None)


def deep_files(place: Path) -> Known:
    """Gray PNG and TIFF files of 16 bits, for a network of gray images."""
    (x, y), files = arrays(), []
    for number, (pixels, label) in enumerate(zip(x, y, strict=True)):
        folder = place / "data" / NAMES[label]
        folder.mkdir(parents=True, exist_ok=True)
        gray = pixels[..., 0].astype(np.uint16) * 257
        files.append(folder / f"{number:02}.{('png', 'tif')[number % 2]}")
        Image.fromarray(gray).save(files[-1])
    choice = Choice("folder", {"path": str(place / "data")})
    return replace(_known(place, choice, channels=1), pictures=tuple(files))


def rotated(place: Path) -> Known:
    """A zip of JPEG files that are to be turned, of all eight orientations."""
    found = photos(place / "data", ending="jpg")
    shutil.make_archive(str(place / "flowers"), "zip", place, "data")
    known = _known(place, Choice("zip", {"path": str(place / "flowers.zip")}), names=found)
    return replace(known, pictures=tuple(file for files in found.values() for file in files))


def folds(place: Path) -> Known:
    """Cross-validation: the third of four folds validates."""
    known = _edited(place, DataEdits(classes={"rose": "Rosa"}), {"Rosa": 20, "rose": 0})
    recipe = known.project.recipe.with_values(folds=4, fold=3)
    return replace(known, project=replace(known.project, recipe=recipe))


def grouped(place: Path) -> Known:
    """The images of a folder within a class stay together; the test images validate."""
    for name in NAMES:
        for number, file in enumerate(photos(place / "data", names=(name,))[name]):
            folder = file.parent / f"plant {number % 5}"
            folder.mkdir(exist_ok=True)
            file.rename(folder / file.name)
    known = _known(place, Choice("folder", {"path": str(place / "data")}))
    recipe = known.project.recipe.with_values(group_by="subfolder", validation="test")
    pictures = tuple(sorted((place / "data").rglob("*.png")))
    return replace(known, project=replace(known.project, recipe=recipe), pictures=pictures)


def published(place: Path) -> Known:
    """A data set that Keras downloads, with a class renamed and one left out."""
    project = _project(Choice("fashion_mnist", {}), classes=9)
    nodes = dict(project.graph.nodes)
    nodes["n0"] = replace(nodes["n0"], params={"shape": (28, 28, 1)})
    graph = Graph.of(nodes.values(), project.graph.edges)
    edits = DataEdits(classes={"Bag": "Handbag", "Coat": ""})
    recipe = project.recipe.with_values(steps_per_epoch=4, validation_share=0.05)
    names = [name for name in all_datasets()["fashion_mnist"].class_names if name != "Coat"]
    classes = dict.fromkeys(("Handbag" if name == "Bag" else name for name in names), 7_000)
    return Known(replace(project, graph=graph, edits=edits, recipe=recipe), classes)


CASES: tuple[Callable[[Path], Known], ...] = (
    renamed,
    merged,
    relabeled,
    left_out,
    moved,
    csv_split,
    csv_excel,
    npz_unit,
    npz_signed,
    npz_uint16,
    deep_files,
    rotated,
    folds,
    grouped,
    published,
)


def content(file: Path) -> str:
    """The id of a file by content, as edits name it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:CONTENT_DIGITS]


def arrays() -> tuple[Pixels, np.ndarray[Any, Any]]:
    """Images of 12 x 12 x 3 with every value from 0 to 255, and labels that can be learned."""
    random, labels = np.random.default_rng(7), np.arange(4 * PER_CLASS) % 4
    x = random.integers(0, 200, (len(labels), 12, 12, 3), dtype=np.uint8)
    x[np.arange(len(labels)), 3 * labels] += 55
    x[:, 0, 0, 0], x[:, 0, 1, 0] = 0, 255
    return x, labels


def photos(
    folder: Path, *, names: tuple[str, ...] = NAMES, ending: str = "png"
) -> dict[str, list[Path]]:
    """Writes images of each class, all different, JPEG with all orientations; the files."""
    found: dict[str, list[Path]] = {}
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
        random, found[name] = np.random.default_rng(seed), []
        color = random.integers(60, 200, 3)
        for number in range(PER_CLASS):
            noise = random.integers(-60, 56, (SIZE[1], SIZE[0], 3))
            image = Image.fromarray((noise + color).astype(np.uint8))
            exif = Image.Exif()
            exif[0x0112] = 1 + number % 8  # orientation
            path = folder / name / f"image {number}.{ending}"
            image.save(path, **({"exif": exif, "quality": 95} if ending == "jpg" else {}))
            found[name].append(path)
    return found


def _edited(place: Path, edits: DataEdits, changed: Mapping[str, int]) -> Known:
    """A folder of photos with edits, and how many images its classes have then."""
    if not (place / "data").exists():
        photos(place / "data")
    known = _known(place, Choice("folder", {"path": str(place / "data")}))
    classes = {name: n for name, n in {**known.classes, **changed}.items() if n}
    project = replace(_project(known.project.dataset, classes=len(classes)), edits=edits)
    pictures = tuple(sorted((place / "data").rglob("*.png")))
    return Known(project, classes, pictures=pictures)


def _known(
    place: Path,
    choice: Choice,
    *,
    names: Any = NAMES,
    channels: int = 3,
    counts: tuple[int, int, int] | None = None,
) -> Known:
    pictures = tuple(sorted((place / "data").rglob("*.*"))) if (place / "data").exists() else ()
    pictures = tuple(file for file in pictures if file.is_file())
    project = _project(choice, classes=len(list(names)), channels=channels)
    return Known(project, dict.fromkeys(names, PER_CLASS), counts, pictures=pictures)


def _project(choice: Choice, *, classes: int, channels: int = 3) -> Project:
    graph = chain(
        ("input", {"shape": (12, 12, channels)}),
        ("rescaling", {}),
        ("flatten", {}),
        ("dense", {"units": classes, "activation": "softmax"}),
    )
    recipe = TrainingRecipe().with_values(**RECIPE, test_share=0.2, validation_share=0.2)
    return Project(title="Flowers", graph=graph, recipe=recipe, dataset=choice)


def _npz(
    place: Path, change: Callable[[Pixels], Any], words: np.ndarray[Any, Any] | None = None
) -> Known:
    x, y = arrays()
    np.savez(place / "flowers.npz", x=change(x), y=y if words is None else words[y])
    names = [str(n) for n in range(4)] if words is None else NAMES
    known = _known(place, Choice("npz", {"path": str(place / "flowers.npz")}), names=names)
    return replace(known, arrays=x)


def _table(path: Path, rows: list[dict[str, Any]], *, encoding: str, delimiter: str) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def counted(names: list[str], *labels: np.ndarray[Any, Any]) -> dict[str, int]:
    """Images by class name over all parts."""
    return dict(Counter(names[label] for part in labels for label in part.tolist()))
