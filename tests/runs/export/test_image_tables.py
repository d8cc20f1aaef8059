"""Tables with a row for each image."""

from __future__ import annotations

import csv
import io

import msgspec

from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Score
from workbench.protocol.trained.evaluate import ImageScores
from workbench.runs.export.image_tables import ClassifiedColumns, evaluated_csv
from workbench.runs.export.tables import csv_cells


def scores(**columns):
    places = range(len(columns["actual"]))
    return ImageScores(parts=["test" for _ in places], indices=[*places], **columns)


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
    assert list(one) == ["file", "label", "probability", "error", "unknown", "lily", "rose"]
    assert (one["label"], one["probability"], one["lily"]) == ("rose", "0.750000", "0.250000")
    assert (bad["error"], bad["label"], bad["lily"]) == ("It is empty.", "", "")
    assert (two["label"], two["rose"]) == ("lily", "0.000000")


def test_an_unknown_answer_has_its_reason_in_place_of_a_label():
    columns = ClassifiedColumns.of(["rose", "lily"])
    answer = msgspec.structs.replace(classified("1.png", rose=0.6, lily=0.4), unknown="odd")
    (row,) = rows(text_of(columns, [answer]))
    assert (row["label"], row["unknown"], row["rose"]) == ("", "odd", "0.600000")
    assert columns.answer(columns.cells(answer)) == answer


def test_true_classes_have_a_column_where_they_are_known():
    columns = ClassifiedColumns.of(["rose"], has_truth=True)
    answer = Classified(file="1", label="rose", scores=ROSE, truth="tulip")
    assert rows(text_of(columns, [answer]))[0]["class"] == "tulip"


def test_the_largest_loss_comes_first():
    images = scores(
        files=["a", "b", "c", "d"],
        actual=[0, 1, 0, 1],
        predicted=[0, 0, 1, 1],
        probability=[0.9, 0.8, 0.7, 0.6],
        loss=[-1e-9, 1.5, None, 1.5],
    )
    found = rows(evaluated_csv(images, ["rose", "lily"]))
    assert [row["file"] for row in found] == ["c", "b", "d", "a"]
    assert [row["loss"] for row in found] == ["", "1.500000", "1.500000", "0.000000"]
    assert (found[1]["class"], found[1]["label"]) == ("lily", "rose")


def test_images_without_files_are_numbered_as_classify_takes_them():
    images = scores(files=[], actual=[0, 0], predicted=[0, 0], probability=[1, 1], loss=[1, 2])
    assert [row["file"] for row in rows(evaluated_csv(images, ["x"]))] == [
        "test image 1",
        "test image 0",
    ]


def test_names_are_no_formulas():
    answer = Classified(file="=cmd()", label="@x", scores=[Score(name="@x", probability=1.0)])
    text = text_of(ClassifiedColumns.of(["@x"]), [answer])
    assert all(
        not cell.startswith(("=", "@")) for line in text.splitlines() for cell in line.split(",")
    )
    images = scores(files=["+1"], actual=[0], predicted=[0], probability=[1], loss=[0])
    assert "'+1,'-a,'-a," in evaluated_csv(images, ["-a"])
