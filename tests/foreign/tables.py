"""Tables of images as people publish and keep them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.foreign.judged import Case, Written

Columns = Mapping[str, Sequence[object]]
"""Cells of each column, in order."""

NAMES = ("cat", "dog", "fox")
_EACH = 5
_COUNT = _EACH * len(NAMES)
LABELS = tuple(NAMES[n % len(NAMES)] for n in range(_COUNT))
NUMBERS = tuple(n % len(NAMES) for n in range(_COUNT))
PARTS = tuple(("train", "train", "test")[n // len(NAMES) % 3] for n in range(_COUNT))


@dataclass(frozen=True)
class Form:
    """How a table is written.

    Attributes:
        delimiter: Between cells.
        encoding: Of the text.
        newline: Ends a row.
        before: Lines above the header.
        has_header: Whether the columns are named.
        is_quoted: Whether each cell is in quotes.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    before: tuple[str, ...] = ()
    has_header: bool = True
    is_quoted: bool = False


FORMS: Mapping[str, Form] = {
    "comma": Form(),
    "semicolon, BOM, CRLF": Form(";", "utf-8-sig", "\r\n"),
    "tab": Form("\t"),
    "UTF-16": Form(",", "utf-16"),
    "sep=;": Form(";", "utf-8-sig", "\r\n", ("sep=;",)),
    "comment": Form(",", before=("# made by a script, 2021",)),
    "quotes": Form(is_quoted=True),
    "no header": Form(has_header=False),
    "CR": Form(newline="\r"),
    "pipe": Form("|"),
}


def _paths(folder: str = "images/", ending: str = ".png") -> tuple[str, ...]:
    return tuple(f"{folder}img_{n:03}{ending}" for n in range(_COUNT))


@dataclass(frozen=True)
class Table:
    """A table and the images beside it.

    Attributes:
        columns: The columns, in order.
        files: Where the images are.
        parts: The part of each image.
        names: The classes.
        labels: The class of each image, by number.
        form: How it is written.
    """

    columns: Columns
    files: Sequence[str] = field(default_factory=_paths)
    parts: Sequence[str] = ("train",) * _COUNT
    names: tuple[str, ...] = NAMES
    labels: Sequence[int] = NUMBERS
    form: Form = Form()

    def write(self, folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        """Writes the table and the images."""
        written = Written(folder, self.names)
        for number, file in enumerate(self.files):
            written.image(file, self.labels[number], number, self.parts[number])
        rows = [list(self.columns)] if self.form.has_header else []
        rows += [list(row) for row in zip(*self.columns.values(), strict=True)]
        lines = [*self.form.before, *map(self._line, rows)]
        text = self.form.newline.join(lines) + self.form.newline
        path = folder / "list.csv"
        path.write_bytes(text.encode(self.form.encoding))
        return "csv", {"path": str(path)}, written

    def _line(self, row: Sequence[object]) -> str:
        cells = [str(cell).removeprefix("\0") for cell in row]
        cells = [f'"{each}"' if self._needs_quotes(each) else each for each in cells]
        return self.form.delimiter.join(cells)

    def _needs_quotes(self, cell: str) -> bool:
        return self.form.is_quoted or self.form.delimiter in cell or '"' in cell


_PATH_NAMES = ("path", "filename", "file", "image", "Image Path", "filepaths", "img_name", "image_id",
               "file_name", "X:FILENAME", "picture", "relative_path", "fname", "id_code")  # fmt: skip
_LABEL_NAMES = ("label", "labels", "class", "breed", "diagnosis", "dx", "Species", "category", "y",
                "class_name", "target", "variety", "condition", "plant disease", "Klasse", "tag")  # fmt: skip
_RUNNING = tuple(range(_COUNT))
_MORE: Mapping[str, Columns] = {
    "index in front": {"": _RUNNING},
    "named index": {"Unnamed: 0": _RUNNING},
    "id": {"id": tuple(1000 + 7 * n for n in range(_COUNT))},
    "fold": {"fold": tuple(n % 5 for n in range(_COUNT))},
    "width and height": {"width": (640,) * _COUNT, "height": tuple(480 + n for n in range(_COUNT))},
    "hash": {"md5": tuple(f"{n * 2654435761 % 2**32:08x}" for n in range(_COUNT))},
    "date": {"date": tuple(f"2021-03-{n + 1:02}" for n in range(_COUNT))},
    "class id": {"class id": NUMBERS},
    "url": {"url": tuple(f"https://example.org/{n}.jpg" for n in range(_COUNT))},
    "score": {"confidence": tuple(round(0.5 + n / 100, 2) for n in range(_COUNT))},
    "sex": {"sex": tuple("mf"[n % 2] for n in range(_COUNT))},
}


def cases() -> Iterator[Case]:
    """All tables."""
    for at, label in enumerate(_LABEL_NAMES):
        path = _PATH_NAMES[at % len(_PATH_NAMES)]
        yield _case(f"{path}, {label}", Table({path: _paths(), label: LABELS}))
        yield _case(f"{label}, {path}", Table({label: LABELS, path: _paths()}))
    for path in _PATH_NAMES:
        yield _case(f"{path}, label", Table({path: _paths(), "label": LABELS}))
    for name, form in FORMS.items():
        yield _case(name, Table({"path": _paths(), "label": LABELS}, form=form))
        indexed = {"": _RUNNING, "filename": _paths(), "breed": LABELS}
        yield _case(f"{name} with an index", Table(indexed, form=form))
        numbered = {"filename": _paths(), "class": NUMBERS}
        yield _case(f"{name} of numbers", Table(numbered, names=("0", "1", "2"), form=form))
    for name, more in _MORE.items():
        for label in ("label", "breed", "gesund oder krank"):
            first = {**more, "filename": _paths(), label: LABELS}
            last = {"filename": _paths(), label: LABELS, **more}
            between = {"filename": _paths(), **more, label: LABELS}
            for place, columns in (("first", first), ("last", last), ("between", between)):
                yield _case(f"{name} {place}, {label}", Table(columns))
    yield from _splits()
    yield from _ids()
    yield from _one_hot()
    yield from _odd()


def _case(name: str, table: Table) -> Case:
    return Case("tables", name, table.write)


def _splits() -> Iterator[Case]:
    spellings = (
        ("train", "test"), ("Train", "Test"), ("training", "testing"), ("TRAIN", "TEST"),
        ("trn", "tst"), ("Training", "PublicTest"), ("train", "holdout"), ("train", "evaluation"),
        ("train_set", "test_set"), ("learn", "test"),
    )  # fmt: skip
    for column in ("split", "set", "Usage", "subset", "data set", "partition", "phase"):
        for train, test in spellings if column == "split" else spellings[:3]:
            words = tuple(train if part == "train" else test for part in PARTS)
            columns = {"path": _paths(), "label": LABELS, column: words}
            yield _case(f"{column}: {train}, {test}", Table(columns, parts=PARTS))
    for column in ("is_train", "is_test", "test"):
        is_one = "train" if column == "is_train" else "test"
        words = tuple(int(part == is_one) for part in PARTS)
        columns = {"path": _paths(), "label": LABELS, column: words}
        yield _case(f"{column} 0 and 1", Table(columns, parts=PARTS))


def _ids() -> Iterator[Case]:
    ids = tuple(f"img_{n:03}" for n in range(_COUNT))
    for column in ("id", "image_id", "id_code", "image"):
        for label in ("label", "breed", "diagnosis"):
            columns = {column: ids, label: LABELS}
            yield _case(f"{column} without ending, {label}", Table(columns))
    numbers = tuple(range(1, _COUNT + 1))
    files = tuple(f"train/{n}.jpg" for n in numbers)
    yield _case("numbers name the files", Table({"id": numbers, "label": LABELS}, files=files))
    windows = tuple(each.replace("/", "\\") for each in _paths())
    yield _case("backslashes", Table({"path": windows, "label": LABELS}))
    absolute = tuple(f"C:\\data\\{each}" for each in windows)
    yield _case("another computer's paths", Table({"path": absolute, "label": LABELS}))
    named = tuple(f"images/{LABELS[n]}/{n}.png" for n in range(_COUNT))
    yield _case("no label but in the path", Table({"path": named, "size": _RUNNING}, files=named))
    decomposed = tuple(unicodedata.normalize("NFD", f"bild_ä{n}.png") for n in range(_COUNT))
    composed = tuple(unicodedata.normalize("NFC", each) for each in decomposed)
    yield _case("NFC of NFD files", Table({"path": composed, "label": LABELS}, files=decomposed))


def _one_hot() -> Iterator[Case]:
    hot = {name: tuple(int(label == name) for label in LABELS) for name in NAMES}
    yield _case("one-hot", Table({"image": _paths(), **hot}))
    yield _case("one-hot of ids", Table({"image": tuple(f"img_{n:03}" for n in _RUNNING), **hot}))
    real = {name: tuple(f"{value}.0" for value in values) for name, values in hot.items()}
    yield _case("one-hot 1.0", Table({"image": _paths(), **real}))
    several = {**hot, "cat": (1,) * _COUNT}
    yield _case("several of each", Table({"image": _paths(), **several}))
    rows = tuple(json.dumps([int(label == name) for name in NAMES]) for label in LABELS)
    listed = Table({"image": _paths(), "label": rows}, names=("0", "1", "2"), form=Form("\t"))
    yield _case("one-hot lists", listed)
    names = tuple(json.dumps([label]) for label in LABELS)
    yield _case("lists of one", Table({"image": _paths(), "labels": names}, form=Form("\t")))
    two = tuple(f"{label}|wild" for label in LABELS)
    yield _case("two labels", Table({"image": _paths(), "labels": two}))


def _odd() -> Iterator[Case]:
    yield _case("every label another", Table({"path": _paths(), "label": _paths("", "")}))
    spaced = tuple(f"{label} " if n % 2 else label for n, label in enumerate(LABELS))
    yield _case("spaces behind labels", Table({"path": _paths(), "label": spaced}, form=Form("\t")))
    cased = tuple(label.title() if n % 2 else label for n, label in enumerate(LABELS))
    yield _case("labels in two cases", Table({"path": _paths(), "label": cased}))
    folded = {"path": _paths(), "class": NUMBERS, "name": LABELS}
    yield _case("class number, name", Table(folded))
    ids = {"class id": NUMBERS, "filepaths": _paths(), "labels": LABELS, "data set": PARTS}
    yield _case("birds of a contest", Table(ids, parts=PARTS))
    for word in ("#NV", "#REF!", "-1", "-99", "k.A."):
        gone = tuple(word if n == 4 else label for n, label in enumerate(LABELS))
        yield Case(
            "tables", f"a label is {word}", _Missing({"path": _paths(), "label": gone}).write
        )
    usable = tuple(("yes", "no", "yes", "yes")[n % 4] for n in range(_COUNT))
    for column in ("valid", "train", "test"):
        columns = {"path": _paths(), "label": LABELS, column: usable}
        yield _case(f"{column} says something else", Table(columns))
    wrong = ("dog", *LABELS[1:])
    corrected = {"path": _paths(), "label": wrong, "label_corrected": LABELS}
    yield _case("label, label_corrected", Table(corrected))
    formulas = tuple(f'=""{label}""' for label in LABELS)
    yield _case("formulas of text", Table({"path": _paths(), "label": formulas}))
    unnamed = {"a": _paths(), "b": LABELS}
    yield _case("columns a and b", Table(unnamed))
    missing = tuple("nan" if n == 4 else label for n, label in enumerate(LABELS))
    yield Case("tables", "a label is nan", _Missing({"path": _paths(), "label": missing}).write)


class _Missing(Table):
    """A table in which the image 4 has no label."""

    def write(self, folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        key, params, written = super().write(folder)
        written.images.discard(("train", NUMBERS[4], 4))
        written.unused += 1
        return key, params, written
