"""The classify view with a scripted worker: its requests, what it shows, and its errors."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace
from PIL import Image
from PySide6.QtCore import QMimeData, QRectF, Qt, QUrl
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QScrollArea

from tests.gui.combos import shown_text
from tests.gui.views.scripted import cat, words_below
from tests.looks import wait_until_painted
from workbench.gui.classify.picture_strip import TILE, WORDS_PX, _fit
from workbench.gui.classify.pictures import NUM_PICTURES
from workbench.gui.classify.result_card import ROW_PX
from workbench.gui.common.model_chooser import MAX_PX, MIN_PX
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Classify, Score, WarmUp
from workbench.protocol.messages import Done, Failed
from workbench.protocol.trained.evaluate import PickTestPictures, TestPicture, TestPictures
from workbench.protocol.weights import KeptWeights, LoadWeights


def test_without_a_network_it_says_what_can_be_done(view):
    assert view.empty.isVisible()
    assert "Train, in the top right corner" in view.empty.text.text()
    assert not view.empty.action.isVisible()  # there is one Train button, in the bar


def test_the_network_is_got_ready_when_it_appears(ready, service):
    request, answer = service.take(WarmUp)
    assert request.model == str(ready.chooser.path)
    assert ready.wait.is_waiting
    answer(Done(id=1))
    assert ready.wait.text() == "Ready"


def test_pictures_dropped_before_there_is_a_network_wait_for_it(
    qtbot, view, service, model, open_library
):
    view.classify(["/x/a.png"])
    assert not any(isinstance(request, Classify) for request, _ in service.asked)
    model("cifar")
    open_library()
    with qtbot.waitSignal(view.state.classified):
        service.answer_pictures()


def test_an_answer_is_shown_large_with_bars_and_both_pictures(qtbot, ready, service, tmp_path):
    Image.new("RGB", (60, 40), "red").save(tmp_path / "picture.png")
    Image.new("RGB", (32, 32), "blue").save(tmp_path / "input.png")
    ready.classify(["/x/photo.jpg"])
    request, answer = service.take(Classify)
    assert request.previews
    pictures = {
        "picture_bitmap": str(tmp_path / "picture.png"),
        "input_bitmap": str(tmp_path / "input.png"),
    }
    with qtbot.waitSignal(ready.state.classified):
        answer(cat("/x/photo.jpg", weights=KeptWeights(epoch=40), **pictures))
        answer(Done(id=1))
    result = ready.panels["classify_result"]
    assert result.label.text() == "cat"
    assert result.figure.text() == "90.0%"
    assert result.bars.scores == [("cat", 0.9), ("dog", 0.1)]
    assert result.picture.image.pixelColor(5, 5) == QColor("red")
    assert result.seen.image.pixelColor(5, 5) == QColor("blue")
    assert result.caption.text() == "cifar · weights: last epoch (40) · 6 ms"
    assert result.caption.font().capitalization() == QFont.Capitalization.MixedCase
    assert words_below(ready.panels["classify_earlier"].strip) == ["cat 90.0%"]
    qtbot.waitUntil(lambda: not ready.wait.is_waiting)


def test_several_pictures_fill_the_strip_and_a_click_shows_one_again(qtbot, ready, service):
    paths = [f"/x/{number}.png" for number in range(40)]
    ready.classify(paths)
    asked = service.answer_pictures().pictures
    qtbot.waitUntil(lambda: ready.panels["classify_earlier"].strip.num_tiles == len(asked))
    asked = asked + service.answer_pictures().pictures
    qtbot.waitUntil(lambda: ready.panels["classify_earlier"].strip.num_tiles == 40)
    assert asked == paths
    assert ready.panels["classify_result"].entry.name == "0.png"
    strip = ready.panels["classify_earlier"].strip
    strip.clicked.emit(strip.model().index(40 - 1 - 7, 0))  # the latest is first
    assert ready.panels["classify_result"].entry.name == "7.png"


def test_an_unreadable_picture_is_explained_and_stops_nothing(qtbot, ready, service):
    ready.classify(["/x/bad.png", "/x/good.png"])
    _, answer = service.take(Classify)
    error = ErrorParts(what="This file is not a picture.", received="text", fix="Open another.")
    answer(Classified(file="/x/bad.png", error=error))
    answer(cat("/x/good.png"))
    answer(Done(id=1))
    qtbot.waitUntil(lambda: ready.panels["classify_earlier"].strip.num_tiles == 2)
    label = ready.panels["classify_result"].label
    qtbot.waitUntil(lambda: label.text() == "Cannot be read")  # once it is laid out
    assert (
        ready.panels["classify_result"].message.text()
        == "This file is not a picture: text. Open another."
    )
    assert words_below(ready.panels["classify_earlier"].strip) == ["cat 90.0%", "cannot be read"]


def test_a_worker_that_fails_is_reported_and_called_again_next_time(qtbot, ready, service):
    ready.classify(["/x/a.png"])
    _, answer = service.take(Classify)
    answer(Failed(id=1, error=ErrorParts(what="The worker was killed.")))
    assert ready.wait.text() == "The worker was killed."
    ready.classify(["/x/b.png"])
    with qtbot.waitSignal(ready.state.classified):
        service.answer_pictures()


def test_an_unknown_answer_gives_its_reason_and_is_neither_right_nor_wrong(qtbot, ready, service):
    ready.classify(["/x/photo.jpg"])
    _, answer = service.take(Classify)
    with qtbot.waitSignal(ready.state.classified):
        answer(cat("/x/photo.jpg", unknown="unlike the training images", truth="dog"))
        answer(Done(id=1))
    result = ready.panels["classify_result"]
    assert (result.label.full_text, result.figure.text()) == ("Unknown", "")
    assert result.reason.text() == "unlike the training images"
    assert result.reason.isVisible()
    assert result.entry.words() == "Unknown"
    assert result.entry.is_right is None
    assert not result.classes.isHidden()  # all classes, as far as they go
    ready.classify(["/x/other.jpg"])
    with qtbot.waitSignal(ready.state.classified):
        service.answer_pictures()
    assert result.label.full_text == "cat"
    assert not result.reason.isVisible()


def test_a_test_picture_shows_its_true_class_and_whether_it_is_right(
    qtbot, ready, service, tmp_path
):
    Image.new("RGB", (8, 8)).save(tmp_path / "t.png")
    ready.panels["classify_pictures"].drop.buttons["from_test_set"].click()
    _, answer = service.take(PickTestPictures)
    picture = TestPicture(index=111, path=str(tmp_path / "t.png"), label="dog")
    answer(TestPictures(id=1, pictures=[picture], total=10_000))
    qtbot.waitUntil(lambda: ready.panels["classify_pictures"].picker.strip.num_tiles == 1)
    strip = ready.panels["classify_pictures"].picker.strip
    strip.clicked.emit(strip.model().index(0, 0))
    with qtbot.waitSignal(ready.state.classified):
        service.answer_pictures()
    assert ready.panels["classify_result"].truth.full_text == "Wrong (label: dog)"
    assert ready.panels["classify_result"].picture.caption.toolTip().startswith("test image 111")


def test_one_test_picture_can_be_asked_for_by_its_number(ready, service):
    ready.panels["classify_pictures"].drop.buttons["from_test_set"].click()
    service.take(PickTestPictures)
    ready.panels["classify_pictures"].picker.number.set_value(111)
    assert ready.panels["classify_pictures"].picker.show_number.text() == "Image no."
    ready.panels["classify_pictures"].picker.show_number.click()
    assert service.take(PickTestPictures)[0].indices == [111]


def test_a_number_beyond_the_test_set_keeps_the_images_shown(qtbot, ready, service, tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "t.png")
    ready.panels["classify_pictures"].drop.buttons["from_test_set"].click()
    picker = ready.panels["classify_pictures"].picker
    picker.number.selectAll()
    qtbot.keyClicks(picker.number, "99,999")  # before the size of the test set is known
    _, answer = service.take(PickTestPictures)
    picture = TestPicture(index=1, path=str(tmp_path / "t.png"), label="dog")
    answer(TestPictures(id=1, pictures=[picture], total=10_000))
    qtbot.waitUntil(lambda: picker.strip.num_tiles == 1)
    one_row_px = picker.strip.height()
    qtbot.mouseClick(picker.show_number, Qt.MouseButton.LeftButton)
    assert not any(isinstance(request, PickTestPictures) for request, _ in service.asked)
    assert picker.number.text() == "99,999"
    assert picker.wait.text() == "Test images are numbered 0 to 9,999."
    assert picker.strip.num_tiles == 1
    picker.others.click()
    _, answer = service.take(PickTestPictures)
    answer(TestPictures(id=2, pictures=[picture] * NUM_PICTURES, total=10_000))
    qtbot.waitUntil(lambda: picker.strip.num_tiles == NUM_PICTURES)
    # All rows, whole: the view scrolls, not the strip within it.
    num_columns = picker.strip.viewport().width() // picker.strip.sizeHintForColumn(0)
    assert picker.strip.height() == -(-NUM_PICTURES // num_columns) * one_row_px > one_row_px
    assert picker.strip.verticalScrollBar().maximum() == 0


def test_the_caption_of_the_model_input_fits_below_it(qtbot, ready, service):
    ready.resize(1440, 760)
    ready.show()
    ready.classify(["/x/a.png"])
    request, answer = service.take(Classify)
    answer(cat(request.pictures[0], input_shape=[192, 192, 1]))
    answer(Done(id=1))
    seen = ready.panels["classify_result"].seen
    qtbot.waitUntil(lambda: seen.caption.text() == "Model input, 192 × 192")
    assert seen.caption.text() == seen.caption.full_text
    assert "192 × 192, grayscale" in seen.caption.toolTip()


def test_the_recent_predictions_have_a_hint_and_a_mark_on_what_is_shown(qtbot, ready, service):
    strip = ready.panels["classify_earlier"].strip
    assert strip._hint == "Classified images appear here."
    ready.classify(["/x/a.png", "/x/b.png"])
    service.answer_pictures()
    qtbot.waitUntil(lambda: strip.num_tiles == 2)
    assert strip.currentIndex().data() == "cat 90.0%"
    assert strip.currentIndex().row() == 1  # the first one is shown, the second came after
    ready.classify(["/x/c.png"])
    service.answer_pictures()
    qtbot.waitUntil(lambda: strip.num_tiles == 3)
    assert strip.currentIndex().row() == 0


def test_the_tile_of_the_picture_that_is_shown_stays_in_sight(qtbot, ready, service):
    """The first of many is shown; the others come before it."""
    strip = ready.panels["classify_earlier"].strip
    ready.classify([f"/x/{number}.png" for number in range(20)])
    service.answer_pictures()
    qtbot.waitUntil(lambda: strip.num_tiles == 20)
    shown = strip.currentIndex()
    assert shown.row() == 19
    assert strip.viewport().rect().contains(strip.visualRect(shown).center())


def test_an_error_goes_when_something_else_is_done(ready, service):
    QGuiApplication.clipboard().clear()
    ready.state.source_chosen.emit("from_clipboard")
    assert "clipboard" in ready.wait.text()
    ready.panels["classify_pictures"].drop.buttons["from_test_set"].click()
    assert ready.wait.text() == ""


@pytest.mark.parametrize("size", [(28, 28), (300, 100), (20, 90)])
def test_a_tile_shows_the_whole_image(size):
    tile = QRectF(1, 1, 108, 70)
    place = _fit(QImage(*size, QImage.Format.Format_RGB32), tile)
    assert tile.contains(place)
    assert place.width() / place.height() == pytest.approx(size[0] / size[1])
    assert (place.width(), place.height()) == pytest.approx((108, 36)) or place.height() == 70
    assert place.center() == tile.center()


@pytest.mark.parametrize("size", [(1440, 760), (1024, 590), (900, 490)])
def test_in_a_low_view_all_stays_within_reach_beside_the_test_images(qtbot, ready, size):
    """A second click on the button closes them."""
    ready.resize(*size)
    pictures, recent = ready.panels["classify_pictures"], ready.panels["classify_earlier"]
    area = ready.findChild(QScrollArea)
    qtbot.mouseClick(pictures.drop.buttons["from_test_set"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pictures.picker.strip.height() >= TILE.height() + WORDS_PX)
    for button in (
        *pictures.drop.buttons.values(),
        pictures.drop.more,
        pictures.picker.close_button,
    ):
        assert not button.visibleRegion().isEmpty()
    bar = area.verticalScrollBar()
    is_whole = lambda: recent.visibleRegion().boundingRect().size() == recent.size()  # noqa: E731
    qtbot.waitUntil(lambda: is_whole() is not bar.isVisible())
    bar.setValue(bar.maximum())
    qtbot.waitUntil(is_whole)
    bar.setValue(0)
    qtbot.mouseClick(pictures.drop.buttons["from_test_set"], Qt.MouseButton.LeftButton)
    assert not pictures.picker.isVisible()
    assert not ready.state.is_picking


@pytest.mark.parametrize("height", [900, 840, 780, 737, 700, 690])
def test_the_drop_area_gives_way_before_the_recent_predictions_are_cut(qtbot, ready, height):
    ready.resize(1424, height)
    recent, bar = ready.panels["classify_earlier"], ready.findChild(QScrollArea).verticalScrollBar()
    is_whole = lambda: recent.visibleRegion().boundingRect().size() == recent.size()  # noqa: E731
    qtbot.waitUntil(lambda: is_whole() and not bar.isVisible())


def test_files_are_pasted_by_their_paths(ready, service):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x/one.png"), QUrl("https://example.org/two.png")])
    QGuiApplication.clipboard().setMimeData(data)
    next(action for action in ready.actions() if action.text() == "Paste").trigger()
    assert service.take(Classify)[0].pictures == ["/x/one.png"]


def test_a_pasted_picture_is_classified_from_a_lossless_copy(qtbot, ready, service):
    image = QImage(5, 4, QImage.Format.Format_RGB32)
    image.fill(QColor(1, 2, 3))
    QGuiApplication.clipboard().setImage(image)
    ready.state.source_chosen.emit("from_clipboard")
    qtbot.waitUntil(lambda: any(isinstance(r, Classify) for r, _ in service.asked))
    (path,) = service.take(Classify)[0].pictures
    assert QImage(path).pixelColor(2, 2) == QColor(1, 2, 3)


@pytest.mark.parametrize("wrap", ["{}", '"{}"', "file://{}", "  {}\n"])
def test_the_path_of_a_picture_is_pasted_as_text(ready, service, tmp_path, wrap):
    path = tmp_path / "a daisy.png"
    path.write_bytes(b"any")
    QGuiApplication.clipboard().setText(wrap.format(path))
    ready.state.source_chosen.emit("from_clipboard")
    assert service.take(Classify)[0].pictures == [str(path)]


def test_a_text_that_names_no_file_is_no_picture(ready, tmp_path):
    (tmp_path / "a.png").write_bytes(b"any")
    for text in ("a daisy", f"{tmp_path / 'a.png'}\n{tmp_path / 'gone.png'}", str(tmp_path)):
        QGuiApplication.clipboard().setText(text)
        ready.state.source_chosen.emit("from_clipboard")
        assert ready.wait.text().startswith("The clipboard contains no image.")
        assert "path or web address" in ready.wait.text()


def test_an_empty_clipboard_is_reported(ready):
    QGuiApplication.clipboard().clear()
    ready.state.source_chosen.emit("from_clipboard")
    assert "clipboard contains no image" in ready.wait.text()


def test_the_current_run_answers_unless_another_was_chosen(qtbot, ready, context, service, model):
    first = ready.chooser.path
    second = model("newer")
    context.library.refresh()
    context.library.select(second.path)
    qtbot.waitUntil(lambda: ready.chooser.path == second.path)
    ready.chooser.choose(first)
    third = model("newest")
    context.library.refresh()
    qtbot.waitUntil(lambda: ready.chooser.box.count() == 3)
    assert ready.chooser.path == first
    assert third.path != first


def test_loading_weights_makes_the_new_run_the_network(qtbot, ready, service, model, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/x/x.weights.h5", ""))
    ready.ask_weights()
    request, answer = service.take(LoadWeights)
    assert request.weights.endswith("x.weights.h5")
    assert '"format"' in request.project
    loaded = model("from weights")
    answer(Done(id=1, text="Loaded.", path=str(loaded.path)))
    qtbot.waitUntil(lambda: ready.chooser.path == loaded.path)


@pytest.mark.parametrize("title", ["cats", "Pictures of all my cats and dogs", "x " * 99])
def test_the_network_is_named_whole_or_with_an_ellipsis(qtbot, ready, model, open_library, title):
    run = model(title)
    ready._context.library.refresh()
    ready.resize(1200, 700)
    box = ready.chooser.box
    qtbot.waitUntil(lambda: ready.chooser.box.findData(str(run.folder.path)) >= 0)
    ready.chooser.choose(run.folder.path)
    qtbot.waitUntil(lambda: box.width() == min(MAX_PX, max(MIN_PX, box.sizeHint().width())))
    assert box.currentText().startswith(title.strip()[:20])
    assert box.toolTip().replace("\n", " ") == box.currentText()
    is_long = len(title) > 100
    assert shown_text(box).endswith("…") is is_long
    assert is_long or shown_text(box) == box.currentText()


def test_a_new_answer_is_scrolled_to_but_not_one_that_another_model_gives_again(
    qtbot, ready, service, model, open_library
):
    ready.resize(900, 500)
    ready.classify(["/x/first.png"])
    with qtbot.waitSignal(ready.state.predicted):
        service.answer_pictures()
    card = ready.panels["classify_result"]
    area = next(each for each in ready.findChildren(QScrollArea) if each.isAncestorOf(card))
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > card.height())
    is_seen = lambda: card.visibleRegion().boundingRect() == card.rect()  # noqa: E731
    bar.setValue(bar.maximum())
    assert not is_seen()
    image = QImage(20, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    ready.state.classify_image(image, "screen region")
    qtbot.waitUntil(lambda: any(isinstance(r, Classify) for r, _ in service.asked))
    with qtbot.waitSignal(ready.state.predicted):
        service.answer_pictures()
    assert is_seen()
    bar.setValue(bar.maximum())
    before = bar.value()
    second = model("dense").path
    open_library()
    ready.chooser.choose(second)
    with qtbot.waitSignal(ready.state.reclassified):
        service.answer_pictures()
    assert bar.value() == before


def test_words_without_an_answer_begin_where_answers_begin(qtbot, ready):
    card = ready.panels["classify_result"]
    assert card.label.full_text == "No prediction yet"
    qtbot.waitUntil(lambda: card.label.width() > 100)
    assert card.label.x() == card.message.x() == card.caption.x()


def test_before_the_first_picture_there_is_one_large_place_to_drop_it(qtbot, ready, service):
    """Then the sources are a row above all that moves, and what is about a picture is there."""
    drop, panels = ready.state.sources, ready.panels
    about = [panels[key] for key in ("classify_result", "classify_nearest", "classify_what_if")]
    assert drop.title.isVisible()
    assert drop.title.text() == "Drop a picture here"
    assert drop.height() > 0.4 * ready.height()
    assert drop.property("role") == "drop"
    assert not any(panel.isVisible() for panel in about)
    ready.classify(["/x/photo.jpg"])
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    assert all(panel.isVisible() for panel in about)
    assert not drop.title.isVisible()
    assert drop.property("role") == ""
    qtbot.waitUntil(lambda: drop.height() < 60)
    before = drop.mapTo(ready, drop.rect().topLeft())
    panels["classify_what_if"].section.head.click()
    bar = ready.findChild(QScrollArea).verticalScrollBar()
    bar.setValue(bar.maximum())
    assert drop.mapTo(ready, drop.rect().topLeft()) == before, "nothing moves the sources"
    ready.state.cleared.emit()
    assert drop.title.isVisible()
    assert not any(panel.isVisible() for panel in about)


def test_what_is_below_the_answer_stands_in_equal_distances(qtbot, ready, service):
    """A list of images that is not there takes no room, and its place is there again with it."""
    ready.classify(["/x/photo.jpg"])
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    keys = ("result", "compare", "nearest", "what_if", "earlier")
    panels = [ready.panels[f"classify_{key}"] for key in keys]
    gaps = lambda: {  # noqa: E731
        below.y() - above.geometry().bottom() for above, below in pairwise(panels)
    }
    qtbot.waitUntil(lambda: panels[0].height() > 100 and len(gaps()) == 1)
    ready.state.set_picking(is_picking=True)
    assert ready.panels["classify_pictures"].isVisible()
    ready.state.set_picking(is_picking=False)
    qtbot.waitUntil(lambda: len(gaps()) == 1)


def test_a_panel_that_was_closed_does_not_come_with_the_picture(qtbot, ready, service):
    action = next(each for each in ready.panels.actions() if each.text() == "What-if")
    action.setChecked(False)
    ready.classify(["/x/photo.jpg"])
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    assert ready.panels["classify_result"].isVisible()
    assert not ready.panels["classify_what_if"].isVisible()


def test_picture_and_classes_take_the_room_that_there_is(qtbot, ready, service):
    """All classes up to ten without a scroll bar; in a small view all is as small as before."""
    scores = [Score(name=f"class {number}", probability=0.1) for number in range(10)]
    ready.classify(["/x/a.png"])
    _, answer = service.take(Classify)
    answer(cat("/x/a.png", label="class 0", scores=scores))
    answer(Done(id=1))
    card = ready.panels["classify_result"]
    qtbot.waitUntil(lambda: len(card.bars.scores) == 10)
    ready.resize(1424, 780)
    qtbot.waitUntil(lambda: card.picture.width() > 1.5 * card.seen.width())
    qtbot.waitUntil(lambda: not card.classes.verticalScrollBar().isVisible())
    bars = card.bars
    assert bars.visibleRegion().boundingRect() == bars.rect()
    assert bars.width() > 240, "the answer keeps its width"
    ready.resize(1024, 560)
    qtbot.waitUntil(lambda: card.picture.width() == card.seen.width())
    assert card.height() == card.minimumHeight()
    assert card.classes.viewport().height() % ROW_PX == 0, "no row is cut"


@pytest.mark.parametrize("size", [(1008, 300), (1008, 370), (1024, 600)])
def test_the_first_answer_is_shown_from_its_top(qtbot, ready, service, size):
    ready.setMinimumSize(1, 1)
    ready.resize(*size)
    ready.classify(["/x/first.png"])
    with qtbot.waitSignal(ready.state.predicted):
        service.answer_pictures()
    card = ready.panels["classify_result"]
    area = next(each for each in ready.findChildren(QScrollArea) if each.isAncestorOf(card))
    wait_until_painted(qtbot, area)
    assert area.verticalScrollBar().value() == 0
    for _ in range(2):
        ready.classify(["/x/next.png"])
        with qtbot.waitSignal(ready.state.predicted):
            service.answer_pictures()
        wait_until_painted(qtbot, area)
        assert area.verticalScrollBar().value() == 0


@pytest.mark.parametrize("num_classes", [1, 2, 3, 5])
def test_classes_that_are_all_shown_have_no_scroll_bar(qtbot, ready, service, num_classes):
    ready.resize(1008, 530)
    ready.classify(["/x/first.png"])
    _, answer = service.take(Classify)
    scores = [Score(name=f"class {at}", probability=1 / num_classes) for at in range(num_classes)]
    blind = "Pictures that show none of the classes get one of them. " * 2
    with qtbot.waitSignal(ready.state.predicted):
        answer(replace(cat("/x/first.png"), scores=scores, blind=blind))
        answer(Done(id=1))
    card = ready.panels["classify_result"]
    classes = card.classes
    assert (card.message.text(), card.message.isVisible()) == (blind, True)
    wait_until_painted(qtbot, classes)
    has_bar = classes.verticalScrollBar().isVisible()
    assert has_bar is (classes.viewport().height() < num_classes * ROW_PX)
    assert not has_bar or num_classes > 3
