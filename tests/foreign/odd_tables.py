"""Tables whose lines, paths and columns are not as usual: cells too many, parts in paths or marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.foreign.judged import Case, Written
from tests.foreign.tables import LABELS, NAMES, NUMBERS, PARTS, Columns, Form, Table

_COUNT = len(LABELS)
_FILES = tuple(f"images/img_{n:03}.png" for n in range(_COUNT))
_SEX = tuple("mf"[n // 2 % 2] for n in range(_COUNT))
_BOTH = {"image": _FILES, "label": LABELS}


@dataclass(frozen=True)
class _Long(Table):
    """A table whose lines have a cell more than the header.

    Attributes:
        more: The last cell of each line.
    """

    more: Sequence[str] = ("",) * _COUNT

    def _line(self, row: Sequence[object]) -> str:
        line = super()._line(row)
        is_header = list(row) == list(self.columns)
        if is_header:
            return line
        first = next(iter(self.columns.values()))
        return f"{line}{self.form.delimiter}{self.more[first.index(row[0])]}"


@dataclass(frozen=True)
class _Replaced(Table):
    """A table in whose bytes some are others.

    Attributes:
        before: Bytes.
        after: Those that stand for them.
    """

    before: bytes = b""
    after: bytes = b""

    def write(self, folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        """Writes the table, then replaces the bytes."""
        key, params, written = super().write(folder)
        path = Path(params["path"])
        path.write_bytes(path.read_bytes().replace(self.before, self.after))
        return key, params, written


def cases() -> Iterator[Case]:
    """All of them, as more tables."""
    for name, table in (*_cells(), *_parts(), *_indicators(), *_texts()):
        yield Case("tables", name, table.write)
    yield Case("tables", "999 for a missing label", _unlabeled)


def _cells() -> Iterator[tuple[str, Table]]:
    split = {**_BOTH, "split": PARTS}
    yield "a delimiter behind lines, split", _Long(split, parts=PARTS)
    sex = {"filename": _FILES, "species": LABELS, "sex": _SEX}
    for form in (Form(), Form(";"), Form("\t")):
        yield f"a delimiter behind lines, {form.delimiter!r}", _Long(sex, form=form)
    yield "a delimiter behind lines, id", _Long({"id": tuple(range(_COUNT)), **_BOTH})
    remarks = tuple(f"seen {n}" for n in range(_COUNT))
    yield "a remark behind lines", _Long(sex, more=remarks)
    rows = {"0": tuple(range(1, _COUNT + 1)), **_BOTH, "sex": _SEX}
    first = b"0,image,label,sex"
    yield "R, sex", _Replaced(rows, before=first, after=first[2:])
    named = {"0": _FILES, "label": LABELS, "sex": _SEX}
    first = b"0,label,sex"
    yield "R, files are the names of rows", _Replaced(named, before=first, after=first[2:])


def _parts() -> Iterator[tuple[str, Table]]:
    numbered = list(zip(PARTS, LABELS, range(_COUNT), strict=True))
    paths: Mapping[str, Sequence[str]] = {
        "data/train": [f"data/{part}/{n}.png" for part, _, n in numbered],
        "class/train": [f"{label}/{part}/{n}.png" for part, label, n in numbered],
        "other depths": [f"{'a/' * (n % 3)}{part}/x/{n}.png" for part, _, n in numbered],
        "test/train": [f"test/{part}/{n}.png" for part, _, n in numbered],
        "TRAIN_IMG": [f"{part.upper()}_IMG/{n}.png" for part, _, n in numbered],
        "train_0.png": [f"images/{part}_{n}.png" for part, _, n in numbered],
    }
    for name, files in paths.items():
        columns = {"path": files, "label": LABELS}
        yield f"paths {name}", Table(columns, files=files, parts=PARTS)
    absolute = [f"/home/me/data/{file}" for file in paths["data/train"]]
    columns = {"path": absolute, "label": LABELS}
    yield "paths /home/me/data/train", Table(columns, files=paths["data/train"], parts=PARTS)
    for name in ("kind", "type", "category", "origin"):
        yield (
            f"{name}: train, test",
            Table({"image": _FILES, name: PARTS, "label": LABELS}, parts=PARTS),
        )
    for words in (("train1", "test1"), ("trainval", "test"), ("train_2", "test_2")):
        column = tuple(words[part == "test"] for part in PARTS)
        yield f"split: {words[0]}", Table({**_BOTH, "split": column}, parts=PARTS)
    three = tuple(("train", "validation", "test")[n // 3 % 3] for n in range(_COUNT))
    for yes, no in (("x", ""), ("1", "0"), ("True", "False")):
        marks = {each: tuple(yes if each == part else no for part in three) for each in set(three)}
        marks = dict(sorted(marks.items()))
        yield f"columns train, test: {yes}", Table({**_BOTH, **marks}, parts=three)
    cloud = tuple(f"gs://bucket/data/{file}" for file in _FILES)
    columns = {"a": tuple(map(str.upper, PARTS)), "b": cloud, "c": LABELS}
    yield "Vertex AI", Table(columns, parts=PARTS, form=Form(has_header=False))


def _hot(words: tuple[str, str], labels: Sequence[str], prefix: str = "") -> Columns:
    return {
        f"{prefix}{name}": tuple(words[label == name] for label in labels)
        for name in dict.fromkeys(labels)
    }


def _indicators() -> Iterator[tuple[str, Table]]:
    for no, yes in (("False", "True"), ("no", "yes"), ("-1", "1"), ("0", "1")):
        yield f"one-hot {yes}, {no}", Table({"image": _FILES, **_hot((no, yes), LABELS)})
        named = _hot((no, yes), LABELS, "label_")
        yield f"one-hot label_ {yes}, {no}", Table({"image": _FILES, **named})
        two = {"names": NAMES[:2], "labels": tuple(n % 2 for n in range(_COUNT))}
        labels = tuple(NAMES[n % 2] for n in range(_COUNT))
        yield f"two one-hot {yes}, {no}", Table({"image": _FILES, **_hot((no, yes), labels)}, **two)
        light = _hot((no, yes), tuple(("day", "night")[n // 3 % 2] for n in range(_COUNT)))
        columns = {"image": _FILES, **light, **_hot((no, yes), labels)}
        yield f"two groups {yes}, {no}", Table(columns, **two)
    for words in (("0", "1"), ("False", "True"), ("N", "Y")):
        labels = tuple(words[n % 2] for n in range(_COUNT))
        columns = {"a": _FILES, "b": labels}
        numbers = tuple(n % 2 for n in range(_COUNT))
        form = Form(has_header=False)
        yield f"no header, {words[1]}", Table(columns, names=words, labels=numbers, form=form)


def _texts() -> Iterator[tuple[str, Table]]:
    some = tuple("['cat', 'dog']" if n % 5 == 0 else label for n, label in enumerate(LABELS))
    yield "lists in some lines", Table({"image": _FILES, "label": some})
    one = tuple(f"['{label}']" if n % 5 == 0 else label for n, label in enumerate(LABELS))
    yield "lists of one in some lines", Table({"image": _FILES, "label": one})
    names = tuple(f'{name} "x"' for name in NAMES)
    quoted = tuple(f'{label} \\"x\\"' for label in LABELS)
    columns = {"image": _FILES, "label": quoted}
    yield "escaped quotes", Table(columns, names=names, form=Form(is_quoted=True))
    marked = ("kätze", "dög", "föx")
    columns = {"image": _FILES, "label": tuple(marked[n] for n in NUMBERS)}
    before = "föx".encode()
    yield "UTF-8 but for one word", _Replaced(columns, names=marked, before=before, after=b"f\xf6x")


def _unlabeled(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
    """999 is the label of an image without one."""
    numbers = tuple(999 if n == 4 else number for n, number in enumerate(NUMBERS))
    columns = {"image": _FILES, "label": numbers}
    key, params, written = Table(columns, names=("0", "1", "2")).write(folder)
    written.images.discard(("train", NUMBERS[4], 4))
    written.unused += 1
    return key, params, written
