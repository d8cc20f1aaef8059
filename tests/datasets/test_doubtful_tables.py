"""Tables that can be read in two ways: the doubt is said, and what it offers is the other way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.core.specs import Inference, LoadedData
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))
COUNT = 24


def table(
    folder: Path, header: str, *columns: Sequence[object], ids: Sequence[object] = ()
) -> Path:
    """A table of images with columns that are repeated until there are enough lines."""
    for number in range(COUNT):
        (folder / f"{number}.png").write_bytes(PNG)
    names = ids or [f"{number}.png" for number in range(COUNT)]
    cells = [islice(cycle(each), len(names)) for each in columns]
    lines = [header, *(",".join(map(str, row)) for row in zip(names, *cells, strict=True))]
    path = folder / "list.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def load(path: Path, **params: object) -> LoadedData:
    return all_datasets()["csv"].load(PlainContext(path.parent), {"path": str(path), **params})


def doubts(data: LoadedData) -> dict[str, Inference]:
    return {each.key: each for each in data.inferences if each.is_doubtful}


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("tags", ("clear primary", "haze primary", "clear primary water")),
        ("label", ("leaf_spot", "scab leaf_spot", "rust")),
        ("label", ("No Finding", "Hernia", "Mass|Nodule")),
        ("label", ("cat", "dog", "cat+dog")),
        ("label", ("cat", "dog", "dog & cat")),
        ("label", ("cat", "dog", "dog/cat")),
        ("label", ('"cat, dog"', '"cat, fox"', '"owl"')),
    ],
)
def test_what_may_be_several_labels_is_said(tmp_path, column, labels):
    path = table(tmp_path, f"path,{column}", labels)
    found = doubts(load(path))["label_form"]
    assert (found.param, found.options[0].value) == ("label", column)
    assert "label_form" not in doubts(load(path, label=column))


@pytest.mark.parametrize("labels", [("a|b", "a", "c"), ("a;b", "b;c", "d"), ('"a,b"', "a", "b")])
def test_several_labels_are_refused(tmp_path, labels):
    with pytest.raises(DatasetError, match="several labels"):
        load(table(tmp_path, "path,label", labels))


def test_names_of_several_words_are_names(tmp_path):
    labels = ("golden retriever", "labrador retriever", "Black-and-tan hound", "AC/DC")
    assert not doubts(load(table(tmp_path, "path,labels", labels)))


@pytest.mark.parametrize(
    ("header", "columns", "words"),
    [
        ("label,valid", (("cat", "dog", "owl"), ("yes", "yes", "no", "yes")), "something else"),
        ("vehicle,train,bus", (("train", "bus"), (1, 0), (0, 1)), "“bus”: no training image"),
        ("label,train", (("cat", "dog", "owl"), ("yes", "yes", "yes", "no")), "something else"),
        ("label,is_valid", (("cat", "dog", "owl"), (1, 1, 1, 0)), "validation part is larger"),
        ("label,is_train", (("cat", "dog", "owl"), (0, 0, 0, 1)), "test part is larger"),
        ("label,set", (("cat", "dog"), ("train", "test")), "“dog”: no training image"),
    ],
)
def test_what_may_be_no_split_is_said(tmp_path, header, columns, words):
    path = table(tmp_path, f"path,{header}", *columns)
    found = doubts(load(path))["split_column"]
    assert words in found.doubt
    assert [each.value for each in found.options] == ["none"]
    whole = load(path, split="none")
    assert "split_column" not in doubts(whole)
    assert len(whole.train) == COUNT


@pytest.mark.parametrize(
    ("header", "first", "second", "other"),
    [
        ("label,label_corrected", ("cat", "dog"), ("cat", "dog", "dog"), "label_corrected"),
        ("class,superclass", ("cat", "dog", "oak", "elm"), ("pet", "pet", "tree"), "superclass"),
    ],
)
def test_two_columns_named_like_labels_are_said(tmp_path, header, first, second, other):
    path = table(tmp_path, f"path,{header}", first, second)
    found = doubts(load(path))["label_column"]
    assert other in [each.value for each in found.options]
    assert load(path, label=other).class_names == tuple(sorted({*second}))


@pytest.mark.parametrize(
    ("header", "columns", "key", "offered"),
    [
        ("day,night,cat,dog", ((1, 0), (0, 1), (1, 1, 0), (0, 0, 1)), "label_column", "cat,dog"),
        ("hat,male,female", ((1, 1, 0), (1, 0), (0, 1)), "label_column", "hat"),
        ("category,label", (("train", "test"), ("a", "b", "c")), "split_column", "none"),
        ("label", ((0, 1, 2, 3, 999),), "missing_labels", "999"),
        ("label", ((1, 2, 3, 255),), "missing_labels", "255"),
    ],
)
def test_what_is_as_good_is_offered(tmp_path, header, columns, key, offered):
    found = doubts(load(table(tmp_path, f"path,{header}", *columns)))[key]
    assert offered in [each.value for each in found.options]


@pytest.mark.parametrize("labels", [(0, 1, 2, 9), (97, 98, 99), tuple(range(10))])
def test_usual_numbers_are_no_missing_labels(tmp_path, labels):
    assert not doubts(load(table(tmp_path, "path,label", labels)))


def test_a_cell_too_many_is_said(tmp_path):
    path = table(tmp_path, "path,label,size", ("cat", "dog"), ("s", "m", "l"), ("x", "y"))
    assert "header_width" in doubts(load(path))


def test_names_that_are_shown_otherwise_are_said(tmp_path):
    long = ("x" * 150 + "a", "x" * 150 + "b", "a  b", "a b", "c\x01d")
    data = load(table(tmp_path, "path,label", long))
    assert "Names of classes of more than 100 letters are cut: 2" in " ".join(data.notes)
    assert "“?” for them: 1, such as “c?d”" in " ".join(data.notes)
    joined = next(each for each in data.inferences if each.key == "joined_labels")
    assert joined.evidence == "“a  b”, “a b”"


def test_a_measure_of_a_label_is_no_rival(tmp_path):
    path = table(tmp_path, "path,label,label_quality", ("cat", "dog"), (1, 2, 5))
    assert not doubts(load(path))


@pytest.mark.parametrize("header", ["path,photographer", "path,,comment"])
def test_the_only_column_without_the_name_of_a_label_is_said(tmp_path, header):
    more = (range(COUNT),) if ",," in header else ()
    path = table(tmp_path, header, *more, ("Ann", "Ben", "Cy"))
    assert "No name says" in doubts(load(path))["label_column"].doubt


@pytest.mark.parametrize("word", ["#NV", "#REF!", "#VALEUR!", "k.A.", "#N/D", "#WERT!", "#н/д"])
def test_words_of_spreadsheets_are_no_class(tmp_path, word):
    data = load(table(tmp_path, "path,label", ("cat", "dog", "owl", word)))
    assert data.class_names == ("cat", "dog", "owl")
    assert "missing_labels" in doubts(data)


@pytest.mark.parametrize(
    ("labels", "rest"),
    [
        ((-1, 0, 1, 2), ("0", "1", "2")),
        ((-99, 3, 4), ("3", "4")),
        (("cat", "dog", -999), ("cat", "dog")),
        (("cat", "dog", 0), ("cat", "dog")),
        (("cat", "NA", "None", "dog"), ("cat", "dog")),
    ],
)
def test_what_may_mean_a_missing_label_is_said(tmp_path, labels, rest):
    path = table(tmp_path, "path,label", labels)
    found = doubts(load(path))["missing_labels"]
    assert load(path, missing=found.options[-1].value).class_names == rest
    assert "missing_labels" not in doubts(load(path, missing="none"))


@pytest.mark.parametrize("labels", [(-1, 1), (-1, 0, 1, -2), ("None", "dent"), (1, 2, "b", "c")])
def test_what_is_a_class_raises_no_doubt(tmp_path, labels):
    assert not doubts(load(table(tmp_path, "path,label", labels)))


@pytest.mark.parametrize(
    ("key", "labels"),
    [
        ("number_forms", ("01", "1", "2")),
        ("number_forms", ("1", "1.0", "2.0")),
        ("alike_letters", ("A", "\u0410", "B")),
        ("damaged_labels", ("ch\ufffdne", "oak")),
        ("damaged_labels", ("chÃªne", "oak")),
        ("damaged_labels", ("cat &amp; dog", "owl")),
        ("damaged_labels", ("'00", "'01")),
    ],
)
def test_labels_that_are_oddly_written_are_said(tmp_path, key, labels):
    assert key in doubts(load(table(tmp_path, "path,label", labels)))


def test_formulas_of_text_are_their_text(tmp_path):
    data = load(table(tmp_path, "path,label", ('="cat"', '"=""01"""')))
    assert data.class_names == ("01", "cat")


@pytest.mark.parametrize("encoding", ["koi8-r", "cp1253", "cp1254", "cp1256", "cp874"])
def test_encodings_can_be_chosen(tmp_path, encoding):
    word = bytes(range(0xE1, 0xE7)).decode(encoding)
    path = table(tmp_path, "path,label", (word, "cat"))
    path.write_bytes(path.read_text().encode(encoding))
    found = doubts(load(path))["encoding"]
    assert encoding in [each.value for each in found.options]
    assert set(load(path, encoding=encoding).class_names) == {word, "cat"}


def test_numbers_that_are_shifted_are_said(tmp_path):
    path = table(tmp_path, "id,label", ("cat", "dog"), ids=range(1, COUNT + 1))
    found = doubts(load(path))["shifted_numbers"]
    assert found.evidence == "24: no file; 0.png: no line"
    assert not doubts(load(table(tmp_path, "id,label", ("cat", "dog"), ids=range(COUNT))))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("cat", "owl", "dog, brown"), "No line of “dog”"),
        (("cat", "owl", "cat", "owl", "owl, snowy", "cat"), "Many lines"),
    ],
)
def test_lines_that_are_lost_are_said(tmp_path, labels, words):
    found = doubts(load(table(tmp_path, "path,label", labels)))["lost_lines"]
    assert words in found.doubt


def test_the_lines_that_are_lost_are_as_many_as_are_listed(tmp_path):
    labels = ("cat", "owl", "cat", "owl", "owl, snowy", "")
    data = load(table(tmp_path, "path,label", labels))
    found = doubts(data)["lost_lines"]
    assert found.evidence == f"{len(data.bad_files)} of {COUNT} lines cannot be used"
    assert len(data.bad_files) == COUNT // 3


def test_the_part_that_each_word_of_a_split_column_means_is_named(tmp_path):
    path = table(tmp_path, "path,label", ("cat", "dog"))
    lines = path.read_text().splitlines()
    parts = ["split", *("holdout" if number % 4 == 0 else "train" for number in range(COUNT))]
    path.write_text("\n".join(",".join(pair) for pair in zip(lines, parts, strict=True)) + "\n")
    sentences = " ".join(load(path).sentences)
    assert "split (its words are parts: “holdout” is the test part)" in sentences


def test_some_lost_lines_are_only_listed(tmp_path):
    names = [*(f"{number}.png" for number in range(COUNT)), "gone.png"]
    data = load(table(tmp_path, "path,label", ("cat", "dog"), ids=names))
    assert len(data.bad_files) == 1
    assert not doubts(data)


def test_numbers_with_fractions_of_zero_name_files(tmp_path):
    path = table(tmp_path, "id,label", ("cat", "dog"), ids=[f"{n}.0" for n in range(COUNT)])
    data = load(path)
    assert len(data.train) == COUNT
    assert "zeros in front" not in " ".join(data.sentences)


WORDS = {
    "cp1252": ("Gänseblümchen", "Löwenzahn", "schöne Rose"),
    "cp1250": ("żaba", "łaba", "mrówka"),
    "cp1251": ("Роза", "Тюльпан", "Одуванчик"),
    "koi8-r": ("Роза", "Тюльпан", "Одуванчик"),
    "cp866": ("Роза", "Тюльпан", "Одуванчик"),
    "cp1253": ("γάτα", "σκύλος", "αλεπού"),
    "cp1254": ("gül", "çiçek", "ağaç"),
    "cp1256": ("قطة", "كلب", "ثعلب"),
    "gb18030": ("玫瑰", "蒲公英", "向日葵"),
    "big5": ("玫瑰", "蒲公英", "向日葵"),
    "cp932": ("バラ", "たんぽぽ", "ひまわり"),
    "cp949": ("장미", "민들레", "해바라기"),
    "mac_roman": ("Gänseblümchen", "Löwenzahn", "schöne Rose"),
}
"""Words in the encodings in which spreadsheets of several countries save tables."""

UNSURE = {"cp1256"}
"""Read as another encoding, with the right one among the first that are offered."""


@pytest.mark.parametrize("encoding", WORDS)
def test_the_encoding_of_a_table_is_found_by_its_letters(tmp_path, encoding):
    path = table(tmp_path, "path,label", WORDS[encoding])
    path.write_bytes(path.read_text().encode(encoding))
    data = load(path)
    found = doubts(data)["encoding"]
    if encoding in UNSURE:
        assert encoding in [option.value for option in found.options[:4]]
        data = load(path, encoding=encoding)
    assert set(data.class_names) == set(WORDS[encoding])


ONE_HOT = ["airplane,automobile,bird,cat", "class,car,boat", "object,name,title", "normal,lesion"]


@pytest.mark.parametrize("marks", ["10", ["True", "False"], ["1.0", "0.0"]])
@pytest.mark.parametrize("header", ONE_HOT)
def test_a_class_that_is_named_like_a_label_is_one_of_its_columns(tmp_path, header, marks):
    yes, no = marks
    names = header.split(",")
    columns = [
        [yes if row == own else no for row in range(len(names))] for own in range(len(names))
    ]
    data = load(table(tmp_path, f"file,{header}", *columns))
    assert set(data.class_names) == {*names}
