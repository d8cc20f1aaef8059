"""Tables of images: delimiters, headers, encodings, parts, and each mistake in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))


@pytest.fixture
def photos(tmp_path) -> Path:
    """A folder with the images that the tables name."""
    (tmp_path / "photos").mkdir()
    for name in ("1.jpg", "2.jpg", "3.jpg", "10.jpg", "ö ü.jpg", "no_ending"):
        (tmp_path / "photos" / name).write_bytes(PNG)
    (tmp_path / "photos" / "notes").write_text("nothing to see")
    return tmp_path


def load(folder: Path, text: str | bytes, ctx: PlainContext | None = None) -> LoadedData:
    path = folder / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return all_datasets()["csv"].load(ctx or PlainContext(folder), {"path": str(path)})


def names(part) -> list[str]:
    return [Path(path).name for path in part.paths]


@pytest.mark.parametrize(
    "text",
    [
        "path,label\nphotos/1.jpg,rose\nphotos/2.jpg,tulip\n",
        "photos/1.jpg,rose\nphotos/2.jpg,tulip",
        "\ufeffpath;label\r\nphotos/1.jpg;rose\r\nphotos/2.jpg;tulip\r\n",
        "id\tclass\tfile\n7\trose\tphotos/1.jpg\n8\ttulip\tphotos/2.jpg\n",
        'Image Name,Species\n"photos/1.jpg","rose"\n\n"photos/2.jpg", "tulip"\n',
        "what,which\nrose,photos/1.jpg\ntulip,photos/2.jpg\n",
        "photos\\1.jpg,rose\nphotos\\2.jpg,tulip\n",
        "path|label\n./photos/1.jpg|rose\nphotos/../photos/2.jpg|tulip\n",
    ],
)
def test_forms_of_tables(photos, text):
    data = load(photos, text)
    assert data.class_names == ("rose", "tulip")
    assert data.train.paths == (str(photos / "photos/1.jpg"), str(photos / "photos/2.jpg"))
    assert data.train.labels.tolist() == [0, 1]
    assert (data.test, data.validation, data.bad_files) == (None, None, ())
    assert data.notes == (("Columns not used: id.",) if text.startswith("id\t") else ())


@pytest.mark.parametrize(
    ("encoding", "is_inferred"), [("utf-8", False), ("utf-16", False), ("cp1252", True)]
)
def test_encodings(photos, encoding, is_inferred):
    text = "path,label\nphotos/ö ü.jpg,Löwe\nphotos/2.jpg,Maus\n"
    data = load(photos, text.encode(encoding))
    assert data.class_names == ("Löwe", "Maus")
    assert names(data.train)[0] == "ö ü.jpg"
    assert ("encoding" in [each.key for each in data.inferences]) == is_inferred


def test_parts(photos):
    data = load(
        photos,
        "path,label,split\nphotos/1.jpg,a,train\nphotos/2.jpg,b,\nphotos/3.jpg,b,VALID\n"
        "photos/10.jpg,a,test\n",
    )
    assert [names(part) for part in data.parts] == [["1.jpg", "2.jpg"], ["10.jpg"], ["3.jpg"]]
    headless = load(photos, "photos/1.jpg,train,a\nphotos/2.jpg,test,b\nphotos/3.jpg,train,b\n")
    assert names(headless.test) == ["2.jpg"]
    assert headless.class_names == ("a", "b")


def test_labels_are_text_naturally_sorted(photos):
    text = "path,label\nphotos/1.jpg,class 10\nphotos/2.jpg,class 9\nphotos/3.jpg,<b>\x1b[31m\n"
    assert load(photos, text).class_names == ("<b>?[31m", "class 9", "class 10")


def test_what_cannot_be_used_is_listed(photos):
    data = load(
        photos,
        "path,label\nphotos/1.jpg,a\nphotos/2.jpg,b\nphotos/missing.jpg,a\nphotos/3.jpg,\n,a\n"
        "photos,a\nphotos/notes,b\nphotos/no_ending,b\n",
    )
    assert names(data.train) == ["1.jpg", "2.jpg", "no_ending"]
    reasons = {Path(file).name: reason for file, reason in data.bad_files}
    assert reasons == {
        "missing.jpg": "There is no such image file.",
        "3.jpg": "The line has no label.",
        "table.csv, line 6": "The line names no image.",
        "photos": "There is no such image file.",
        "notes": "This file is not an image.",
    }


def test_lines_that_repeat_or_contradict_are_noted(photos):
    data = load(
        photos,
        "path,label\nphotos/1.jpg,a\nphotos/2.jpg,b\nphotos/../photos/1.jpg,a\nphotos/1.jpg,b\n",
    )
    assert names(data.train) == ["1.jpg", "2.jpg"]
    assert data.notes[0] == "Lines that repeat an image, not used: 1."
    assert "line 5" in data.notes[1]


@pytest.mark.parametrize(
    ("text", "what", "received"),
    [
        ("", "not a table", "empty"),
        ("path,label\n", "not a table", "without rows"),
        ("one\ntwo\n", "not a table", "1 column"),
        ("a,b\nc,d\n", "not a table", "the columns a, b"),
        (b"path,label\0\n", "not a table", "no text"),
        ("path,label\nphotos/1.jpg,a\nphotos/2.jpg,a\n", "only one class", "2 images with 1"),
        ("path,label\ngone.jpg,a\nlost.jpg,b\n", "no image that is there", "2 lines that cannot"),
        ("path,label,split\nphotos/1.jpg,a,later\nphotos/2.jpg,b,train\n", "unknown word", "later"),
        ("path,label,split\nphotos/1.jpg,a,test\nphotos/2.jpg,b,test\n", "no training", "2 test"),
        ('path,label\n"photos/1.jpg,a\n' + "x" * 200_000, "not a table", "line"),
    ],
)
def test_mistakes(photos, text, what, received):
    with pytest.raises(DatasetError, match=what) as caught:
        load(photos, text)
    assert received in caught.value.received
    assert caught.value.expected


def test_a_table_that_is_not_there(tmp_path):
    source = all_datasets()["csv"]
    for path, words in [
        ("", "No file has been chosen"),
        (str(tmp_path), "folder, not a file"),
        (str(tmp_path / "x.csv"), "no such file"),
        ("/" + "x" * 300, "cannot be opened"),
    ]:
        with pytest.raises(DatasetError, match=words):
            source.load(PlainContext(tmp_path), {"path": path})


def test_reading_can_be_cancelled(photos):
    with pytest.raises(CancelledForTest):
        load(photos, "photos/1.jpg,a\nphotos/2.jpg,b\n", PlainContext(photos, cancel_after=0))


@given(data=st.binary(max_size=300) | st.text(alphabet='a,;"\n\t|/.jpg', max_size=200))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_table_or_a_message(photos, data):
    try:
        loaded = load(photos, data)
    except DatasetError as error:
        assert error.received  # noqa: PT017 - either way is right
    else:
        assert len(loaded.class_names) >= 2
