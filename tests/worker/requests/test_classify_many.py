"""Folders classified into tables by a real worker: killed, canceled, continued, compared."""

from __future__ import annotations

import csv
import os
import resource
import signal
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from tests.living import wait_until_gone
from tests.proofs._killed_table import classify_killed
from tests.worker.requests.brightness import brightness_alone
from workbench.core.outside_text import KnownNames
from workbench.inference.many import class_of_path
from workbench.protocol.classify import (
    Classified,
    ClassifiedRows,
    Classify,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)
from workbench.protocol.messages import Cancel, Failed, Progress
from workbench.protocol.service_call import ServiceCall
from workbench.runs.export.classified_table import is_unfinished

pytestmark = pytest.mark.worker

NUM_IMAGES = 1_200
"""So many that a worker is still at work when the first rows of it have come."""


@pytest.fixture(scope="module")
def brightness(tmp_path_factory):
    with brightness_alone(tmp_path_factory.mktemp("brightness")) as brightness:
        yield brightness


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder with folders in it: images of all brightnesses, one empty, one that is none."""
    folder = tmp_path_factory.mktemp("photos")
    for number in range(NUM_IMAGES - 2):
        inner = folder / "Bright" / "deep" if number % 256 > 127 else folder / "dark"
        inner.mkdir(parents=True, exist_ok=True)
        Image.new("L", (6, 4), number % 256).save(inner / f"{number}.png")
    (folder / "dark" / "empty.png").touch()
    (folder / "moon").mkdir()
    (folder / "moon" / "=1+1.jpg").write_text("no image")
    (folder / "notes.txt").write_text("not listed")
    return folder


def many(brightness, folder, **more):
    answers = brightness.answers(
        ClassifyMany, model=brightness.run, sources=[ImageSource(path=str(folder))], **more
    )
    rows = [row for each in answers if isinstance(each, ClassifiedRows) for row in each.rows]
    return rows, answers[-1]


def no_text(folder: Path) -> Path:
    """The name of a folder with bytes in it that are no UTF-8."""
    return Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff"))


def table_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_image_has_the_answer_that_it_has_alone(brightness, photos):
    rows, done = many(brightness, photos, top=0)
    assert (done.num_images, done.num_bad, done.num_earlier) == (NUM_IMAGES, 2, 0)
    files = [row.file for row in rows]
    assert len(set(files)) == len(files) == NUM_IMAGES
    answers = brightness.answers(Classify, model=brightness.run, pictures=files)
    alone = [each for each in answers if isinstance(each, Classified)]
    for one, row in zip(alone, rows, strict=True):
        assert (one.file, one.label, one.error) == (row.file, row.label, row.error)
        assert (one.width, one.height, one.weights) == (row.width, row.height, row.weights)
        for a, b in zip(one.scores, row.scores, strict=True):
            assert (a.name, a.probability) == (b.name, pytest.approx(b.probability, abs=1e-6))


def test_class_folders_give_accuracy_and_a_score_for_each_class(brightness, photos):
    rows, done = many(brightness, photos, has_class_folders=True)
    found = done.agreement
    assert (found.num_right, found.num_wrong, found.num_foreign) == (NUM_IMAGES - 2, 0, 0)
    assert found.accuracy == 1
    assert {score.name: score.recall for score in found.per_class} == {"bright": 1, "dark": 1}
    assert {row.truth for row in rows} == {"Bright", "dark", "moon"}
    assert all(row.is_right is (None if row.error else True) for row in rows)
    Image.new("L", (6, 4), 250).save(photos / "moon" / "2.png")
    try:
        rows, done = many(brightness, photos, has_class_folders=True)
        assert done.agreement.num_foreign == 1
        assert next(row for row in rows if row.file.endswith("moon/2.png")).is_right is None
    finally:
        (photos / "moon" / "2.png").unlink()


def test_killed_twice_the_table_has_every_image_once(brightness, photos, tmp_path):
    whole, path = tmp_path / "whole.csv", tmp_path / "t.csv"
    many(brightness, photos, table=str(whole), has_class_folders=True)
    request = ClassifyMany(
        id=1,
        model=brightness.run,
        sources=[ImageSource(path=str(photos))],
        table=str(path),
        has_class_folders=True,
    )
    sizes = []
    for _ in range(2):
        with ServiceCall() as call:
            new = (
                each
                for each in call.answers(request)
                if isinstance(each, ClassifiedRows) and not each.is_earlier
            )
            next(new)
            os.kill(call.hello.pid, signal.SIGKILL)
            wait_until_gone(call.hello.pid)
        assert is_unfinished(path)
        sizes.append(path.stat().st_size)
        with path.open("ab") as file:
            file.write(b'"a torn')
    assert 0 < sizes[0] < sizes[1] < whole.stat().st_size
    rows, done = many(brightness, photos, table=str(path), has_class_folders=True)
    assert path.read_bytes() == whole.read_bytes()
    assert not is_unfinished(path)
    assert 64 <= done.num_earlier < NUM_IMAGES
    assert len(rows) == done.num_images == NUM_IMAGES
    assert done.num_bad == 2
    assert done.agreement.accuracy == 1
    assert "'" not in "".join(row["file"] for row in table_rows(path))


@pytest.mark.full
def test_the_command_line_killed_twice_has_every_image_once(brightness, tmp_path):
    """The proof `many_images` does it with 20,000."""
    folder, number = tmp_path / "photos", 300
    folder.mkdir()
    for name, value in (("dark", 10), ("bright", 250)):
        Image.new("L", (1_800, 1_800), value).save(tmp_path / f"{name}.png")
        for each in range(number // 2):
            os.link(tmp_path / f"{name}.png", folder / f"{name} {each}.png")
    table = tmp_path / "t.csv"
    found = classify_killed(brightness.run, folder, table, least=[33, 120])
    assert set(found.rows.values()) == {1}
    assert {Path(file).name for file in found.rows} == {each.name for each in folder.iterdir()}
    assert 33 <= found.rows_at_kills[0] < found.rows_at_kills[1] < number
    labels = {Path(row["file"]).stem.split()[0] == row["predicted"] for row in table_rows(table)}
    assert labels == {True}
    assert not is_unfinished(table)


class OnFullDisk:
    """Classifies into a table on a disk that is full after some rows.

    Attributes:
        words: The progress that said so.
    """

    def __init__(self, brightness, folder, path):
        self.path = path
        self.words = []
        self._request = ClassifyMany(
            id=1, model=brightness.run, sources=[ImageSource(path=str(folder))], table=str(path)
        )

    def last_answer(self, then):
        """`then(call, free)` runs when it is said the third time; `free()` makes room."""
        with ServiceCall() as call:
            for answer in call.answers(self._request):
                text = answer.text if isinstance(answer, Progress) else ""
                pid = call.hello.pid
                if text == "Loading the model":
                    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (600, limits[1]))
                if "wait for room" in text:
                    self.words.append(text)
                    if len(self.words) == 3:
                        then(call, partial(resource.prlimit, pid, resource.RLIMIT_FSIZE, limits))
        return answer


def test_a_full_disk_is_reported_and_the_rows_wait_for_room(brightness, photos, tmp_path):
    full = OnFullDisk(brightness, photos, tmp_path / "t.csv")
    done = full.last_answer(lambda _call, free: free())
    assert full.words[0].startswith("t.csv cannot be written")
    assert done.num_images == len(table_rows(full.path)) == NUM_IMAGES


def test_canceled_it_is_continued_by_the_same_request_alone(brightness, photos, tmp_path):
    full = OnFullDisk(brightness, photos, tmp_path / "t.csv")
    last = full.last_answer(lambda call, _free: call.send(Cancel(id=2, target=1)))
    assert isinstance(last, Failed)
    assert full.path.stat().st_size == 600
    _, done = many(brightness, photos, table=str(full.path), has_class_folders=True)
    assert "other columns" in done.error.received
    _, done = many(brightness, photos, table=str(full.path))
    assert isinstance(done, ManyClassified)
    assert 0 < done.num_earlier < done.num_images == len(table_rows(full.path))


def test_what_cannot_be_listed_or_is_not_there_is_named(brightness, photos, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    _, done = many(brightness, folder)
    assert done.error.what == "No images to classify."
    (rows,), done = many(brightness, tmp_path / "missing.png")
    assert "no such" in rows.error.what
    assert done.num_bad == 1


def test_names_that_are_no_unicode_are_written_escaped(brightness, tmp_path):
    name = os.fsdecode(b"caf\xe9.png")
    Image.new("L", (6, 4), 200).save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / name)
    path = tmp_path / "t.csv"
    (row,), _ = many(brightness, tmp_path, table=str(path))
    assert row.label == "bright"
    assert table_rows(path)[0]["file"].endswith("caf\\udce9.png")


def test_names_that_are_no_text_stop_nothing(brightness, tmp_path):
    """Neither as the name of an image that cannot be read, nor as the folder it is in."""
    odd = no_text(tmp_path)
    for folder in (odd, tmp_path / "Bright"):
        folder.mkdir()
        Image.new("L", (6, 4), 200).save(folder / "good.png")
    (odd / "broken.png").write_text("no image")
    rows, done = many(brightness, tmp_path, has_class_folders=True)
    assert isinstance(done, ManyClassified), done
    found = {(row.truth, row.file.rpartition("/")[2], row.error is None) for row in rows}
    expected = {("Bright", "good.png", True), ("odd?", "good.png", True)}
    assert found == expected | {("odd?", "broken.png", False)}
    assert (done.num_bad, done.agreement.num_right, done.agreement.num_foreign) == (1, 1, 1)
    bad = next(row.error for row in rows if row.error is not None)
    assert "odd\\udcff/broken.png" in bad.where


def test_folders_are_named_as_the_classes_of_a_data_set_are():
    """A class has no control characters and at most 100 characters."""
    assert class_of_path("new\nline/a.png", KnownNames(["new?line"])) == "new?line"
    assert class_of_path(f"{'n' * 120}/deep/a.png", KnownNames(["n" * 100])) == "n" * 100
    assert class_of_path("a.png", KnownNames(["a"])) == ""
    assert class_of_path("x/Lo\u0308we/rose/a.png", KnownNames(["Löwe"])) == "Löwe"
