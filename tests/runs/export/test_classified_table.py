"""The table that is written while answers come: continued after a kill, kept on a full disk."""

from __future__ import annotations

import csv
import resource

import pytest

from workbench.errors import SaveError, UsageError
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, ImageSource, Score
from workbench.runs.export import classified_table
from workbench.runs.export.classified_table import ClassifiedTable, TableOf, is_unfinished
from workbench.runs.export.tables import ClassifiedColumns

COLUMNS = ClassifiedColumns.of(["rose", "lily"], has_truth=True)
WHAT = TableOf(model="m", sources=[ImageSource(path="photos")], header=COLUMNS.header())


def quiet(words):
    raise AssertionError(words)


def answer(file, rose=0.75, truth="rose"):
    shares = {"rose": rose, "lily": 1 - rose}
    scores = [Score(name=n, probability=p) for n, p in sorted(shares.items(), key=lambda x: -x[1])]
    return Classified(file=file, label=scores[0].name, scores=scores, truth=truth)


FILES = ['a "1".png', "b\n2.png", "=c.png", "d.png", "'e.png"]
ALL = [*map(answer, FILES), Classified(file="bad.png", error=ErrorParts(what="It is empty."))]


def write(path, answers, *, is_finished=True, **more):
    """Opens a table, writes the answers that it does not have, and returns how many it had."""
    with ClassifiedTable(path, COLUMNS, WHAT, **more) as table:
        list(table.earlier())
        for each in answers:
            if not table.take_earlier(each.file):
                table.append([each], quiet)
        if is_finished:
            table.finish(quiet)
        return table.num_earlier


@pytest.fixture
def whole(tmp_path):
    """The bytes of the uninterrupted table."""
    path = tmp_path / "whole.csv"
    write(path, ALL)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["whole.csv"]
    return path.read_bytes()


def test_cut_off_anywhere_it_is_continued_to_the_same_table(tmp_path, whole):
    path = tmp_path / "t.csv"
    write(path, ALL, is_finished=False)
    assert path.read_bytes() == whole
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        write(path, ALL, is_finished=False)
        assert path.read_bytes() == whole, size
    assert write(path, ALL) == len(ALL)
    assert not is_unfinished(path)


def test_the_earlier_rows_say_what_they_said(tmp_path):
    path = tmp_path / "t.csv"
    write(path, ALL, is_finished=False)
    with ClassifiedTable(path, COLUMNS, WHAT) as table:
        assert list(table.earlier())[:-1] == ALL[:-1]
        assert list(table.earlier())[-1].error.what == "It is empty."


def test_a_repeated_image_is_continued_as_often_as_it_was_repeated(tmp_path):
    path, twice = tmp_path / "t.csv", [answer("a"), answer("a"), answer("b")]
    write(path, twice, is_finished=False)
    assert write(path, [*twice, answer("a")]) == 3
    with path.open() as file:
        assert [row["file"] for row in csv.DictReader(file)] == ["a", "a", "b", "a"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"model": "n"}, "other weights"),
        ({"sources": []}, "other images"),
        ({"header": ["file"]}, "other columns"),
    ],
)
def test_what_was_begun_with_something_else_is_not_continued(tmp_path, other, words):
    path = tmp_path / "t.csv"
    write(path, ALL[:2], is_finished=False)
    before = path.read_bytes()
    what = TableOf(**{"model": WHAT.model, "sources": WHAT.sources, "header": WHAT.header, **other})
    with pytest.raises(UsageError) as caught:
        ClassifiedTable(path, COLUMNS, what)
    assert words in caught.value.received
    assert path.read_bytes() == before
    with ClassifiedTable(path, COLUMNS, what, starts_over=True) as table:
        assert table.num_earlier == 0
    assert path.read_bytes().count(b"\n") == 1


def test_a_complete_table_is_kept_unless_it_is_begun_again(tmp_path, whole):
    path = tmp_path / "whole.csv"
    with pytest.raises(UsageError, match="already exists"):
        write(path, ALL)
    assert path.read_bytes() == whole
    assert not is_unfinished(path)
    write(path, ALL[:1], starts_over=True)
    assert len(path.read_bytes()) < len(whole)


def test_rows_of_another_program_are_reported(tmp_path):
    path = tmp_path / "t.csv"
    write(path, ALL, is_finished=False)
    path.write_text("file;class\n")
    with pytest.raises(UsageError, match="another program"):
        write(path, ALL)
    path.write_text(",".join(COLUMNS.header()) + "\na,b\n")
    with pytest.raises(UsageError, match="2 cells, not 8"):
        write(path, ALL)


def test_two_do_not_write_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr(classified_table, "take_lock", lambda _path: None)
    with pytest.raises(UsageError, match="Another classification"):
        write(tmp_path / "t.csv", ALL)


def test_a_table_is_csv_or_parquet(tmp_path):
    with pytest.raises(UsageError, match="CSV or Parquet"):
        write(tmp_path / "t.xlsx", ALL)


@pytest.fixture
def limit():
    """Limits how long files may get, as a full disk does; None lifts it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def set_limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size is None else size, hard))

    yield set_limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_a_full_disk_has_no_room_for_is_written_later(tmp_path, whole, limit):
    path, words = tmp_path / "t.csv", []

    def wait(text):
        words.append(text)
        if len(words) > len(ALL):
            limit(None)

    with ClassifiedTable(path, COLUMNS, WHAT) as table:
        table.append(ALL[:2], quiet)
        limit(path.stat().st_size + 5)
        for each in ALL[2:]:
            table.append([each], words.append)
        assert len(words) == len(ALL) - 2
        assert "wait for room" in words[0]
        table.finish(wait)
    assert path.read_bytes() == whole


def test_a_disk_that_stays_full_keeps_what_was_written(tmp_path, whole, limit, monkeypatch):
    monkeypatch.setattr(classified_table, "_PATIENCE_S", 0)
    monkeypatch.setattr(classified_table, "_MOST_WAITING_BYTES", 10)
    path = tmp_path / "t.csv"
    with ClassifiedTable(path, COLUMNS, WHAT) as table:
        table.append(ALL[:2], quiet)
        limit(path.stat().st_size + 5)
        with pytest.raises(SaveError, match="are kept"):
            table.append(ALL[2:], lambda _words: None)
    limit(None)
    assert write(path, ALL) == 2
    assert path.read_bytes() == whole


def test_a_disk_without_any_room_has_no_file_left_over(tmp_path, limit):
    limit(0)
    with pytest.raises(SaveError, match="cannot be written"):
        write(tmp_path / "t.csv", ALL)
    limit(None)
    assert not list(tmp_path.iterdir())


def test_a_table_that_is_removed_meanwhile_is_reported(tmp_path):
    path = tmp_path / "t.csv"
    with ClassifiedTable(path, COLUMNS, WHAT) as table:
        table.append(ALL, quiet)
        path.unlink()
        with pytest.raises(SaveError, match="removed"):
            table.finish(quiet)


def test_parquet_is_made_of_the_same_rows_also_after_a_kill(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    write(path, ALL[:3], is_finished=False)
    assert not path.exists()
    assert write(path, ALL) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]
    found = parquet.read_table(path).to_pylist()
    assert [row["file"] for row in found] == [*FILES, "bad.png"]
    assert found[0] == {
        "file": FILES[0], "actual": "rose", "predicted": "rose", "probability": 0.75, "error": "",
        "unknown": "", "lily": 0.25, "rose": 0.75,
    }  # fmt: skip
    assert found[-1]["rose"] is None
    assert found[-1]["error"] == "It is empty."
