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
