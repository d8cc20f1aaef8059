"""Tables with a row for each image."""

from __future__ import annotations

import csv
import io

import msgspec
import numpy as np
import pytest

from workbench.core.outside_text import csv_cells
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Score
from workbench.runs.export.tables import (
    ClassifiedColumns,
    EvaluatedImages,
    class_columns,
    write_evaluated,
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def classified(file: str, **shares: float) -> Classified:
    scores = [Score(name=name, probability=share) for name, share in shares.items()]
    return Classified(file=file, label=scores[0].name, scores=scores)


def text_of(columns: ClassifiedColumns, answers: list[Classified]) -> str:
    cells = [columns.header(), *map(columns.cells, answers)]
    return "".join(f"{csv_cells(each)}\n" for each in cells)


ROSE = [Score(name="rose", probability=1.0)]
BAD = Classified(file="bad.png", error=ErrorParts(what="It is empty."))


def test_every_class_has_a_column():
    answers = [classified("1.png", rose=0.75, lily=0.25), BAD, classified("2", lily=1, rose=0)]
    one, bad, two = rows(text_of(ClassifiedColumns.of(["rose", "lily"]), answers))
    assert list(one) == ["file", "predicted", "probability", "error", "unknown", "lily", "rose"]
    assert (one["predicted"], one["probability"], one["lily"]) == ("rose", "0.75", "0.25")
    assert (bad["error"], bad["predicted"], bad["lily"]) == ("It is empty.", "", "")
    assert (two["predicted"], two["rose"]) == ("lily", "0.0")


def test_an_unknown_answer_has_its_reason_in_place_of_a_label():
    columns = ClassifiedColumns.of(["rose", "lily"])
    answer = msgspec.structs.replace(classified("1.png", rose=0.6, lily=0.4), unknown="odd")
    (row,) = rows(text_of(columns, [answer]))
    assert (row["predicted"], row["unknown"], row["rose"]) == ("", "odd", "0.6")
    assert columns.answer(columns.cells(answer)) == answer


def test_true_classes_have_a_column_where_they_are_known():
    columns = ClassifiedColumns.of(["rose"], has_truth=True)
    answer = Classified(file="1", label="rose", scores=ROSE, truth="tulip")
    assert rows(text_of(columns, [answer]))[0]["actual"] == "tulip"


@pytest.fixture
def table(tmp_path):
    """Writes the table of an evaluation and reads it back."""

    def written(rows, actual, names, files=(), loss=None):
        shares, labels = np.array(rows, np.float32), np.array(actual)
        own = np.take_along_axis(shares, labels[:, None], axis=1)[:, 0].astype(np.float64)
        losses = -np.log(np.maximum(own, 1e-38)) if loss is None else np.array(loss)
        images = EvaluatedImages(files, labels, shares.argmax(axis=1), losses, shares)
        path = tmp_path / "table.csv"
        write_evaluated(path, images, names, "test")
        return path.read_text(encoding="utf-8")

    return written


def test_the_largest_loss_comes_first(table):
    shares = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
    losses = [-1e-9, 1.5, np.inf, 1.5]
    found = rows(table(shares, [0, 1, 0, 1], ["rose", "lily"], ["a", "b", "c", "d"], losses))
    columns = ["file", "actual", "predicted", "probability", "loss", "rose", "lily"]
    assert list(found[0]) == columns
    assert [row["file"] for row in found] == ["c", "b", "d", "a"]
    assert [row["loss"] for row in found] == ["", "1.5", "1.5", "0.0"]
    assert (found[1]["actual"], found[1]["predicted"]) == ("lily", "rose")


def test_numbers_are_read_back_as_they_were(table):
    generator = np.random.default_rng(4)
    shares = generator.dirichlet(np.full(5, 0.01), 40).astype(np.float32)
    labels = generator.integers(0, 5, 40)
    found = rows(table(shares, labels, list("abcde"), [f"{n}" for n in range(40)]))
    for row in found:
        own = shares[int(row["file"])]
        assert [np.float32(row[name]) for name in "abcde"] == own.tolist()
        assert float(row["probability"]) == float(own.max())


def test_images_without_files_are_numbered_as_classify_takes_them(table):
    found = rows(table([[0.9, 0.1], [0.5, 0.5]], [0, 0], ["x", "y"]))
    assert [row["file"] for row in found] == ["test image 1", "test image 0"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["rose", "lily"], ["rose", "lily"]),
        (["file", "loss", "rose"], ["file (class)", "loss (class)", "rose"]),
        (["file", "file (class)"], ["file (class 2)", "file (class)"]),
        (["=a", "'=a"], ["=a (class)", "'=a (class)"]),
        (["a", "a", "a"], ["a (class)", "a (class 2)", "a (class 3)"]),
    ],
)
def test_no_column_has_the_name_of_another(names, expected):
    fixed = ["file", "actual", "predicted", "probability", "loss"]
    found = class_columns(fixed, names)
    assert found == expected or names[0] == "=a"
    (header,) = csv.reader(io.StringIO(csv_cells([*fixed, *found])))
    assert len({*header}) == len(fixed) + len(names)


def test_names_are_no_formulas(table):
    answer = Classified(file="=cmd()", label="@x", scores=[Score(name="@x", probability=1.0)])
    text = text_of(ClassifiedColumns.of(["@x"]), [answer])
    assert all(
        not cell.startswith(("=", "@")) for line in text.splitlines() for cell in line.split(",")
    )
    assert "'+1,'-a,'-a," in table([[1.0, 0.0]], [0], ["-a", "b"], ["+1"])
