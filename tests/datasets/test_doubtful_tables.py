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


def test_a_measure_of_a_label_is_no_rival(tmp_path):
    path = table(tmp_path, "path,label,label_quality", ("cat", "dog"), (1, 2, 5))
    assert not doubts(load(path))


@pytest.mark.parametrize("header", ["path,photographer", "path,,comment"])
def test_the_only_column_without_the_name_of_a_label_is_said(tmp_path, header):
    more = (range(COUNT),) if ",," in header else ()
    path = table(tmp_path, header, *more, ("Ann", "Ben", "Cy"))
    assert "No name says" in doubts(load(path))["label_column"].doubt
