"""A classified folder in the window: its table, sorted and filtered, and what is done with it."""

from __future__ import annotations

import errno
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QKeySequence, QPixmap
from PySide6.QtWidgets import QScrollArea

from tests.gui.views.scripted import cat
from tests.looks import wait_until_painted
from workbench.core.calibration import TrueClasses
from workbench.core.format import share
from workbench.gui.classify.folder import results, sorter
from workbench.gui.classify.folder.job import FolderTask
from workbench.gui.classify.folder.model import COLUMNS, NEXT, TRUTH
from workbench.gui.classify.folder.rows import RIGHT, UNKNOWN, UNREADABLE, WRONG
from workbench.gui.classify.result_card import PICTURE_PX
from workbench.gui.classify.sources import folder_table, listed_folder
from workbench.pictures.sorting import Plan
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import (
    Agreement,
    Classified,
    ClassifiedRows,
    Classify,
    ClassifyMany,
    ManyClassified,
    Score,
)
from workbench.protocol.describe_data import MakeThumbnails, ThumbnailsMade
from workbench.protocol.messages import Done, Failed, Progress
from workbench.protocol.trained.evaluate import ClassScore

carry_out = sys.modules["workbench.pictures.sorting.carry_out"]  # its function has its name

SHARES = {"a.png": 0.9, "b.png": 0.6, "c.png": 0.98, "d.png": 0.55}


def row(file, share_of_cat, truth=""):
    """A row: cat or dog, whichever is more probable."""
    shares = {"cat": share_of_cat, "dog": 1 - share_of_cat}
    names = sorted(shares, key=lambda name: -shares[name])
    scores = [Score(name=name, probability=shares[name]) for name in names]
    is_right = TrueClasses(["cat", "dog"]).is_right(names[0], truth, unknown="")
    return Classified(
        file=f"/x/{file}", label=names[0], scores=scores, truth=truth, is_right=is_right
    )


BAD = Classified(file="/x/bad.png", error=ErrorParts(what="It is empty."))
ROWS = [row("a.png", 0.9), row("b.png", 0.4), BAD, row("c.png", 0.98), row("d.png", 0.55)]


class Folder:
    """A folder that is classified in the window."""

    def __init__(self, view, measurer, folder, **task):
        self.results = view.panels["classify_pictures"].results
        self.model = self.results.model
        view.state.classify_folder(FolderTask(folder, **task))
        self.request, self.answer = measurer.take(ClassifyMany)

    def names(self):
        """The first column, as it is shown."""
        return [self.model.index(n, 0).data() for n in range(self.model.rowCount())]

    def column(self, place):
        return [self.model.index(n, place).data() for n in range(self.model.rowCount())]

    def take(self, *rows):
        self.answer(ClassifiedRows(id=1, rows=list(rows)))

    def choose(self, combo, data):
        """As a person does: Qt's `activated` follows the choice."""
        combo.setCurrentIndex(combo.findData(data))
        combo.activated.emit(combo.currentIndex())


@pytest.fixture
def folder(ready, measurer, tmp_path):
    return Folder(ready, measurer, tmp_path)


def test_rows_are_shown_as_they_come_with_their_uncertainty(folder, ready, tmp_path):
    assert folder.results.isVisible()
    folder.take(*ROWS[:2])
    folder.take(*ROWS[2:])
    assert folder.names() == ["a.png", "b.png", "bad.png", "c.png", "d.png"]
    assert folder.column(1) == ["cat", "dog", "cannot be read", "cat", "cat"]
    assert folder.column(2) == ["90.0%", "60.0%", "", "98.0%", "55.0%"]
    assert folder.column(3) == ["80.0%", "20.0%", "", share(0.96), "10.0%"]
    assert folder.column(4) == ["dog", "cat", "", "dog", "dog"]
    assert "It is empty." in folder.model.index(2, 1).data(Qt.ItemDataRole.ToolTipRole)
    heading = folder.results.heading.full_text
    assert heading == f"Predictions of cifar · {tmp_path.name} · 5 images · 1 cannot be read"
    assert folder.results.table.isColumnHidden(TRUTH)
    recent = ready.panels["classify_earlier"]
    assert not recent.isVisible()
    folder.results.close_button.click()
    assert recent.isVisible()
    assert not folder.results.isVisible()


def test_a_click_on_a_heading_sorts_and_a_third_one_restores_the_order(qtbot, folder, ready):
    folder.take(*ROWS)
    header = folder.results.table.horizontalHeader()
    place = next(n for n, each in enumerate(COLUMNS) if each.key == "margin")
    spot = header.sectionViewportPosition(place) + 10

    def click():
        middle = header.rect().center()
        middle.setX(spot)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=middle)

    click()
    assert folder.names() == ["bad.png", "d.png", "b.png", "a.png", "c.png"]
    click()
    assert folder.names() == ["c.png", "a.png", "b.png", "d.png", "bad.png"]
    folder.take(row("e.png", 0.75))
    assert folder.names()[-1] == "e.png"  # it is moved to its place a moment later
    qtbot.waitUntil(lambda: folder.names()[2] == "e.png")
    click()
    assert folder.names() == ["a.png", "b.png", "bad.png", "c.png", "d.png", "e.png"]


def test_filters_by_class_state_and_uncertainty_hold_for_rows_that_come_later(folder):
    results = folder.results
    folder.take(*ROWS)
    folder.choose(results.labels, "cat")
    assert folder.names() == ["a.png", "c.png", "d.png"]
    folder.choose(results.uncertainties, 0.2)
    assert folder.names() == ["d.png"]
    assert "1 of 5 images" in results.heading.full_text
    folder.take(row("e.png", 0.75), row("f.png", 0.95), row("g.png", 0.3))
    assert folder.names() == ["d.png", "e.png"]
    folder.choose(results.labels, "")
    assert folder.names() == ["b.png", "d.png", "e.png", "g.png"]
    folder.choose(results.uncertainties, 0.0)
    folder.choose(results.states, UNREADABLE)
    assert folder.names() == ["bad.png"]
    assert not results.hint.isVisible()
    folder.choose(results.labels, "dog")
    assert results.hint.isVisible()
    assert results.hint.text() == "No image matches the filters."
    folder.choose(results.labels, "")


def test_the_next_folder_is_not_filtered_by_a_class_of_the_last_one(folder, ready, measurer):
    folder.take(*ROWS)
    folder.answer(ManyClassified(num_images=5, num_bad=1))
    folder.choose(folder.results.uncertainties, 0.05)
    folder.choose(folder.results.labels, "dog")
    ready.state.classify_folder(FolderTask(Path("/y")))
    assert folder.results.labels.currentText() == "All predictions"
    _, folder.answer = measurer.take(ClassifyMany)
    folder.take(row("e.png", 0.75), row("f.png", 0.98))
    assert folder.names() == ["e.png"]  # the other filters still hold, as their boxes say


def test_what_could_not_be_checked_of_the_images_is_said_at_the_end(folder, ready):
    """The column of unknown answers is empty then for another reason than that all are known."""
    blind = "This model was never tested for unknown pictures."
    folder.answer(ManyClassified(num_images=5, num_bad=0, blind=blind))
    assert ready.wait.text() == f"5 images classified. {blind}"


def test_one_image_is_not_called_images(folder):
    folder.take(ROWS[0])
    assert folder.results.heading.full_text.endswith(" · 1 image")


def test_labels_show_what_is_right_and_wrong(ready, measurer, tmp_path):
    folder = Folder(ready, measurer, tmp_path, has_class_folders=True)
    assert folder.request.has_class_folders
    folder.take(row("a.png", 0.9, "Cat"), row("b.png", 0.2, "cat"), row("c.png", 0.9, "horse"))
    assert not folder.results.table.isColumnHidden(TRUTH)
    folder.choose(folder.results.states, RIGHT)
    assert folder.names() == ["a.png"]
    folder.choose(folder.results.states, WRONG)
    assert folder.names() == ["b.png"]  # the model has no class "horse"


def test_a_row_that_is_clicked_is_classified_large(qtbot, folder, ready, service):
    folder.take(row("a.png", 0.9), row("b.png", 0.4, "cat"))
    table = folder.results.table
    rect = table.visualRect(folder.model.index(1, 1))
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    request, answer = service.take(Classify)
    assert request.pictures == ["/x/b.png"]
    answer(cat("/x/b.png"))
    answer(Done(id=1))
    card = ready.panels["classify_result"]
    qtbot.waitUntil(lambda: card.truth.full_text == "Correct (label: cat)")


def test_small_images_are_requested_for_the_rows_that_can_be_seen(
    qtbot, folder, service, ready, tmp_path
):
    Image.new("RGB", (8, 8), "red").save(tmp_path / "t.png")
    folder.take(*(row(f"{number}.png", 0.9) for number in range(2_000)))
    qtbot.waitUntil(lambda: any(isinstance(each, MakeThumbnails) for each, _ in service.asked))
    request, answer = service.take(MakeThumbnails)
    assert 0 < len(request.images) < 60
    assert request.files[0] == "/x/0.png"
    answer(ThumbnailsMade(id=1, images=request.images[:1], paths=[str(tmp_path / "t.png")]))
    icon = lambda: folder.model.index(0, 0).data(Qt.ItemDataRole.DecorationRole)  # noqa: E731
    qtbot.waitUntil(lambda: icon() is not None)
    assert icon().pixmap(QSize(8, 8)).toImage().pixelColor(2, 2).name() == "#ff0000"


def test_a_folder_becomes_a_table(ready, measurer, tmp_path):
    table = tmp_path / "table.csv"
    folder = Folder(ready, measurer, tmp_path, table=table)
    drop = ready.panels["classify_pictures"].drop
    assert drop.stops["listing"].isVisible()
    assert ready.panels["classify_pictures"].sources["folder_table"].reason()
    request, answer = folder.request, folder.answer
    assert (request.sources[0].path, request.table) == (str(tmp_path), str(table))
    answer(Progress(id=1, text="Classifying: 1 of 3 images"))
    assert ready.wait.text() == "Classifying: 1 of 3 images…"
    answer(ManyClassified(num_images=3, num_bad=1, num_earlier=1, table=str(table)))
    words = "2 images classified into table.csv, 1 of them before; 1 image could not be read."
    assert ready.wait.text() == words
    assert not drop.stops
    assert ready.panels["classify_pictures"].sources["folder_table"].reason() == ""


def test_a_folder_is_looked_at_first_and_saved_as_a_table_then(
    qtbot, ready, measurer, tmp_path, monkeypatch
):
    monkeypatch.setattr(listed_folder, "ask_folder", lambda *_, **__: str(tmp_path))
    ready.state.source_chosen.emit("listed_folder")
    shown = ready.panels["classify_pictures"].results
    request, answer = measurer.take(ClassifyMany)
    rows, saved = Path(request.table), tmp_path / "saved.csv"
    assert rows.suffix == ".csv"
    assert tmp_path not in rows.parents
    answer(ClassifiedRows(id=1, rows=ROWS[:1]))
    assert not shown.save_button.isVisible()
    rows.write_text("file,label\n")
    answer(ManyClassified(num_images=1, num_bad=0, table=str(rows)))
    assert ready.wait.text() == "1 image classified."
    assert shown.save_button.isVisible()
    asked = []

    def ask(_parent, _title, name, *_, **__):
        asked.append(name)
        return str(saved), ""

    monkeypatch.setattr(sorter, "ask_save_path", ask)
    shown.save_button.click()
    qtbot.waitUntil(lambda: ready.wait.text() == "Saved as saved.csv.")
    assert saved.read_text() == "file,label\n"
    assert asked == [f"{tmp_path.name}.csv"]
    rows.unlink()
    shown.save_button.click()
    qtbot.waitUntil(lambda: "cannot be read" in ready.wait.text())


def test_what_is_in_a_table_already_is_not_offered_to_be_saved(ready, measurer, tmp_path):
    folder = Folder(ready, measurer, tmp_path, table=tmp_path / "table.csv")
    folder.answer(ManyClassified(num_images=1, num_bad=0, table=str(tmp_path / "table.csv")))
    assert not folder.results.save_button.isVisible()


def test_a_canceled_table_can_be_continued(ready, measurer, tmp_path):
    folder = Folder(ready, measurer, tmp_path, table=tmp_path / "table.csv")
    ready.panels["classify_pictures"].drop.stops["listing"].click()
    folder.answer(Failed(id=1, error=ErrorParts(what="Canceled.")))
    words = "Canceled. Classify the folder into table.csv again to continue."
    assert ready.wait.text() == words


def test_a_second_folder_waits_for_the_first_one_to_end(folder, ready, measurer, tmp_path):
    ready.state.classify_folder(FolderTask(tmp_path / "other"))
    assert ready.wait.text().startswith("A folder is being classified.")
    assert not measurer.asked
    folder.answer(ManyClassified(num_images=1, num_bad=0))
    ready.state.classify_folder(FolderTask(tmp_path / "other"))
    assert measurer.take(ClassifyMany)[0].sources[0].path == str(tmp_path / "other")


def test_a_folder_dropped_before_there_is_a_network_waits_for_it(
    qtbot, view, model, open_library, tmp_path
):
    measurer = view.state.context.measurer
    view.classify_folder(str(tmp_path))
    assert not measurer.asked
    model("cifar")
    open_library()
    qtbot.waitUntil(lambda: bool(measurer.asked))
    assert measurer.take(ClassifyMany)[0].sources[0].path == str(tmp_path)


def test_correct_images_of_class_folders_are_counted(ready, measurer, tmp_path):
    folder = Folder(ready, measurer, tmp_path, has_class_folders=True)
    scores = [ClassScore(name="cat", precision=0.5, recall=1.0, f1=0.667, count=3)]
    agreement = Agreement(
        num_right=3, num_wrong=2, num_foreign=1, num_unlabeled=0, accuracy=0.6, per_class=scores
    )
    folder.answer(ManyClassified(num_images=7, num_bad=1, agreement=agreement))
    assert ready.wait.text() == (
        "6 images classified; 1 image could not be read. 3 of 5 correct (60.0%); 1 image with a "
        "label that is no class of this model."
    )
    page = folder.results
    page.switch.chosen.emit("classes")
    assert page.classes.isVisible()
    assert not page.filters.isVisible()
    shown = [page.classes.model().index(0, place).data() for place in range(5)]
    assert shown == ["cat", "50.0%", "100.0%", "66.7%", "3"]
    ready.state.classify_folder(FolderTask(tmp_path))
    assert page.table.isVisible()  # of the next folder no scores are known
    assert not page.switch.isVisible()


def test_labels_of_a_table_are_compared_with_the_answers(ready, measurer, tmp_path, monkeypatch):
    folder = Folder(ready, measurer, tmp_path)
    folder.take(*ROWS)
    folder.answer(ManyClassified(num_images=5, num_bad=1))
    monkeypatch.setattr(results, "ask_file", lambda *_, **__: "/x/labels.csv")
    folder.results.truth_button.click()
    request, _ = measurer.take(ClassifyMany)
    assert request.truth == "/x/labels.csv"
    assert [source.path for source in request.sources] == [str(tmp_path)]


@pytest.mark.parametrize(("choice", "starts_over"), [(0, False), (1, True), (2, None)])
def test_an_unfinished_table_is_continued_or_begun_again(
    ready, tmp_path, monkeypatch, choice, starts_over
):
    measurer, table = ready.state.context.measurer, tmp_path / "table.csv"
    for path in (table, tmp_path / "table.csv.unfinished"):
        path.write_text("begun")
    monkeypatch.setattr(folder_table, "ask_folder", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(folder_table, "ask_save_path", lambda *_, **__: (str(table), ""))
    monkeypatch.setattr(folder_table, "ask_choice", lambda *_, **__: choice)
    ready.state.source_chosen.emit("folder_table")
    assert [each.starts_over for each, _ in measurer.asked] == (
        [] if starts_over is None else [starts_over]
    )


class Sorted:
    """Three images on disk that are classified, and a folder to sort them into."""

    def __init__(self, view, measurer, tmp_path):
        self.photos, self.out = tmp_path / "photos", tmp_path / "out"
        self.photos.mkdir()
        self.view, self.folder = view, Folder(view, measurer, self.photos)
        self.results = self.folder.results
        rows = []
        for name, share_of_cat in (("a.png", 0.9), ("b.png", 0.2), ("c.png", 0.95)):
            (self.photos / name).write_bytes(name.encode())
            rows.append(row(name, share_of_cat))
        rows.append(cat(self.photos / "u.png", unknown="unlike the training images"))
        (self.photos / "u.png").write_bytes(b"u")
        rows = [replace(each, file=str(self.photos / Path(each.file).name)) for each in rows]
        self.folder.take(*rows)
        self.folder.answer(ManyClassified(num_images=4, num_bad=0))

    def found(self, place):
        return {str(each.relative_to(place)) for each in place.rglob("*.png")}


@pytest.fixture
def sorted_photos(ready, measurer, tmp_path, monkeypatch):
    found = Sorted(ready, measurer, tmp_path)
    found.out.mkdir()
    monkeypatch.setattr(sorter, "ask_folder", lambda *_, **__: str(found.out))
    return found


ALL = {"a.png", "b.png", "c.png", "u.png"}
SORTED = {"cat/a.png", "dog/b.png", "cat/c.png"}


def answer_with(monkeypatch, choice):
    """What is answered to each question; the questions."""
    questions = []

    def ask(_widget, what, more, choices):
        questions.append((what, more, choices))
        return choice

    monkeypatch.setattr(sorter, "ask_choice", ask)
    return questions


def files_of(results):
    """Where the images are, as the table has it."""
    rows = results.model.rows
    return {rows.file(row) for row in range(len(rows))}


@pytest.mark.parametrize(("choice", "verb"), [(0, "copied"), (1, "moved")])
def test_images_are_sorted_into_class_folders_and_taken_back(
    qtbot, sorted_photos, monkeypatch, choice, verb
):
    view, results, photos = sorted_photos.view, sorted_photos.results, sorted_photos.photos
    questions, counted_in, real = answer_with(monkeypatch, choice), set(), Plan.counts

    def counts(plan):
        counted_in.add(threading.current_thread())
        return real(plan)

    monkeypatch.setattr(Plan, "counts", counts)
    results.sort_button.click()
    words = f"3 images {verb} into out."
    qtbot.waitUntil(lambda: view.wait.text() == words)
    assert questions[0][0] == "Sort 3 images into out?"
    assert questions[0][1].splitlines()[:4] == ["Predictions of cifar:", "", "cat: 2", "dog: 1"]
    assert counted_in
    assert threading.main_thread() not in counted_in
    assert "Skipped (no predicted class): 1" in questions[0][1]
    assert sorted_photos.found(sorted_photos.out) == SORTED
    assert sorted_photos.found(photos) == (ALL if verb == "copied" else {"u.png"})
    files = files_of(results)
    place = sorted_photos.out / "cat" if verb == "moved" else photos
    assert str(place / "a.png") in files
    answer_with(monkeypatch, 0)
    assert results.undo_button.isVisible()
    results.undo_button.click()
    qtbot.waitUntil(lambda: view.wait.text().startswith("3 images"))
    qtbot.waitUntil(lambda: sorted_photos.found(photos) == ALL)
    qtbot.waitUntil(lambda: not results.undo_button.isVisible())
    assert str(photos / "a.png") in files_of(results)
    assert list(sorted_photos.out.iterdir()) == []


def test_the_keys_of_undo_take_the_sorting_back(qtbot, sorted_photos, monkeypatch):
    results, photos = sorted_photos.results, sorted_photos.photos
    answer_with(monkeypatch, 1)
    results.sort_button.click()
    qtbot.waitUntil(results.undo_button.isVisible)
    assert sorted_photos.found(photos) == {"u.png"}
    questions = answer_with(monkeypatch, 0)
    results.table.setFocus()
    qtbot.keySequence(results.table, QKeySequence.StandardKey.Undo)
    qtbot.waitUntil(lambda: sorted_photos.found(photos) == ALL)
    assert len(questions) == 1
    qtbot.waitUntil(lambda: not results.undo_button.isVisible())


def test_what_was_done_after_the_sorting_is_undone_before_it(
    qtbot, sorted_photos, monkeypatch, context
):
    results = sorted_photos.results
    answer_with(monkeypatch, 0)
    results.sort_button.click()
    qtbot.waitUntil(results.undo_button.isVisible)
    context.document.edited.emit()
    questions = answer_with(monkeypatch, 1)
    results.table.setFocus()
    qtbot.keySequence(results.table, QKeySequence.StandardKey.Undo)
    wait_until_painted(qtbot, results)
    assert not questions
    assert results.undo_button.isVisible()


def test_on_a_full_disk_what_was_moved_is_known_and_can_be_taken_back(
    qtbot, sorted_photos, monkeypatch
):
    real = carry_out._place

    def full_later(into, each, undo, *, is_move):
        if each.source.endswith("b.png"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(into, each, undo, is_move=is_move)

    monkeypatch.setattr(carry_out, "_place", full_later)
    answer_with(monkeypatch, 1)
    results, photos = sorted_photos.results, sorted_photos.photos
    results.sort_button.click()
    qtbot.waitUntil(lambda: "Not enough disk space" in sorted_photos.view.wait.text())
    assert str(sorted_photos.out / "cat" / "a.png") in files_of(results)
    assert str(photos / "b.png") in files_of(results)
    monkeypatch.setattr(carry_out, "_place", real)
    questions = answer_with(monkeypatch, 0)
    assert results.undo_button.isVisible()
    results.undo_button.click()
    qtbot.waitUntil(lambda: sorted_photos.found(photos) == ALL)
    what, more, _choices = questions[0]
    assert what == "Put 1 image back?"
    assert more == "What was changed since stays where it is."


def test_only_the_images_shown_are_sorted_and_nothing_without_an_answer(
    qtbot, sorted_photos, monkeypatch
):
    results = sorted_photos.results
    sorted_photos.folder.choose(results.labels, "dog")
    questions = answer_with(monkeypatch, 2)
    results.sort_button.click()
    qtbot.waitUntil(lambda: bool(questions))
    assert questions[0][0] == "Sort 1 image into out?"
    assert list(sorted_photos.out.iterdir()) == []
    assert not results.undo_button.isVisible()


def test_unknown_answers_are_marked_and_can_be_filtered(sorted_photos):
    folder, results = sorted_photos.folder, sorted_photos.results
    assert folder.column(1)[-1] == "unknown (cat)"  # the percentage beside it is of that class
    tip = folder.model.index(3, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "Unknown: unlike the training images" in tip
    folder.choose(results.states, UNKNOWN)
    assert folder.names() == ["u.png"]


@pytest.mark.parametrize("width", [1440, 1024, 900])
def test_in_a_narrow_window_the_table_is_not_cut(qtbot, folder, ready, width):
    folder.take(*ROWS)
    ready.resize(width, 600)
    results = folder.results
    qtbot.waitUntil(lambda: results.table.isColumnHidden(NEXT) is (results.width() < 780))
    area = next(each for each in ready.findChildren(QScrollArea) if each.isAncestorOf(results))
    qtbot.waitUntil(lambda: not area.horizontalScrollBar().isVisible())
    assert not results.table.horizontalScrollBar().isVisible()


def test_while_images_are_classified_none_is_sorted(folder):
    folder.take(*ROWS)
    assert not folder.results.sort_button.isEnabled()
    folder.answer(ManyClassified(num_images=5, num_bad=1))
    assert folder.results.sort_button.isEnabled()


def test_all_classes_of_one_image_can_be_scrolled_to(qtbot, ready, service):
    names = [f"class {number}" for number in range(100)]
    scores = [Score(name=name, probability=0.01) for name in names]
    ready.classify(["/x/a.png"])
    _, answer = service.take(Classify)
    answer(cat("/x/a.png", label=names[0], scores=scores))
    answer(Done(id=1))
    card = ready.panels["classify_result"]
    qtbot.waitUntil(lambda: len(card.bars.scores) == 100)
    bar = card.classes.verticalScrollBar()
    qtbot.waitUntil(bar.isVisible)
    before = card.classes.grab().toImage()
    bar.setValue(bar.maximum())
    assert card.bars.visibleRegion().boundingRect().bottom() == card.bars.height() - 1
    after = card.classes.grab().toImage()
    assert QImage(before) != after
    recent = ready.panels["classify_earlier"]
    assert recent.visibleRegion().boundingRect() == recent.rect(), "the card leaves it its room"


def test_arrow_keys_walk_the_rows_and_a_pause_classifies(qtbot, folder, ready, service):
    folder.take(*ROWS)
    table = folder.results.table
    qtbot.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(folder.model.index(0, 1)).center(),
    )
    assert service.take(Classify)[0].pictures == ["/x/a.png"]
    ready.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    for _press in range(3):
        qtbot.keyClick(table, Qt.Key.Key_Down)
    chosen = []
    folder.results.chosen.connect(lambda file, _label: chosen.append(file))
    qtbot.waitUntil(lambda: bool(chosen))
    assert chosen == ["/x/c.png"], "the rows that were passed are not classified"


def test_a_row_that_is_chosen_leaves_the_table_where_it_is(qtbot, folder, ready, service):
    folder.take(*ROWS)
    told = []
    ready.state.predicted.connect(lambda: told.append(1))
    folder.results.chosen.emit("/x/a.png", "")
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    assert told == []
    ready.classify(["/x/elsewhere.png"])
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    assert told == [1]


def test_sorting_shows_the_first_rows(qtbot, folder):
    folder.take(*(row(f"{n}.png", 0.5 + n / 1000) for n in range(200)))
    table = folder.results.table
    bar = table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert bar.value() == 0


def test_the_table_has_what_the_picture_leaves_of_the_view(qtbot, folder, ready):
    ready.resize(1400, 840)
    folder.take(*(row(f"{n}.png", 0.5 + n / 1000) for n in range(200)))
    table = folder.results.table
    qtbot.waitUntil(lambda: table.viewport().height() >= 8 * results.ROW_PX)


def test_the_picture_is_small_beside_a_table_and_large_again_without(qtbot, ready, service, folder):
    ready.resize(1400, 840)
    card = ready.panels["classify_result"]
    folder.take(*ROWS)
    folder.results.chosen.emit("/x/a.png", "")
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    qtbot.waitUntil(lambda: card.isVisible() and card.picture.width() == PICTURE_PX)
    folder.results.close_button.click()
    qtbot.waitUntil(lambda: card.picture.width() > 1.5 * PICTURE_PX)


def test_a_selected_thumbnail_is_not_tinted(qtbot, folder, monkeypatch):
    image = QPixmap(30, 30)
    image.fill(QColor("#ff0000"))
    monkeypatch.setattr(folder.model._thumbnails, "pixmap", lambda *_place: image)
    folder.take(*ROWS)
    icon = folder.model.index(0, 0).data(Qt.ItemDataRole.DecorationRole)
    shown = icon.pixmap(30, 30, QIcon.Mode.Selected).toImage()
    assert shown.pixelColor(15, 15) == QColor("#ff0000")
