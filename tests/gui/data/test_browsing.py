"""All images of a data set in a grid: a real folder, listed and made small by a real worker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest

from workbench.core.projects.project import Choice
from workbench.gui.data.classes import ClassesBox, ClassLine
from workbench.gui.data.image_list import Images, Shown
from workbench.gui.images.grid import _KEPT
from workbench.gui.images.sample_dialog import SampleDialog
from workbench.pictures.png import write_png
from workbench.protocol.describe_data import ListedImages, MakeThumbnails

NAMES = ("ash", "beech", "oak")
COUNT = 40
WAIT_MS = 60_000


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "trees"
    for label, name in enumerate(NAMES):
        (root / name).mkdir(parents=True)
        for number in range(COUNT):
            side = 20 + number
            pixels = np.full((side, side, 3), (80 * label, number, 99), np.uint8)
            pixels[: number + 1, 0] = 255
            write_png(root / name / f"{name}_{number}.png", pixels)
    return root


@pytest.fixture
def view(window, context, folder, qtbot):
    context.document.set_dataset(Choice("folder", {"path": str(folder), "fit": "crop"}))
    window.resize(1200, 800)
    view = window.show_view("data")
    qtbot.waitUntil(lambda: view.findChild(ClassesBox) is not None, timeout=WAIT_MS)
    return view


@pytest.fixture
def browser(view, qtbot):
    view.findChildren(ClassLine)[1].browse.click()
    pages = view.panels["data_contents"]
    qtbot.waitUntil(lambda: pages.browser.rows.rowCount() == COUNT, timeout=WAIT_MS)
    return pages.browser


def name_of(browser, row):
    return browser.rows.index(row, 0).data()


def choose(box, text):
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def is_drawn(browser, row):
    """Whether the image of a row is there with its own color."""
    place = browser.rows.images.place(browser.rows.number(row))
    picture = browser.thumbnails.known_pixmap(place)
    if picture is None or picture.isNull():
        return False
    color = picture.toImage().pixelColor(picture.width() - 3, picture.height() - 3)
    label = browser.rows.images.label(browser.rows.number(row))
    return abs(color.red() - 80 * label) < 12


@pytest.mark.worker
def test_the_data_menu_browses_all_images_once_they_are_known(window, context, folder, qtbot):
    context.document.set_dataset(Choice("folder", {"path": str(folder), "fit": "crop"}))
    action = window.actions_by_key["browse_images"]
    action.trigger()
    pages = window.show_view("data").panels["data_contents"]
    assert pages.browser is None  # they are being loaded
    qtbot.waitUntil(lambda: pages.browser is not None, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: pages.browser.rows.rowCount() == 3 * COUNT, timeout=WAIT_MS)
    pages.setCurrentWidget(pages.contents)
    action.trigger()
    assert pages.currentWidget() is pages.browser


@pytest.mark.worker
def test_the_images_of_a_class_are_drawn(browser, qtbot):
    assert browser.classes.currentText() == "beech"
    assert name_of(browser, 0) == "beech_0.png"
    assert browser.status.text().startswith("40 images of 120.")
    visible = browser.grid.visible_rows()
    assert len(visible) > 5
    qtbot.waitUntil(lambda: all(is_drawn(browser, row) for row in visible), timeout=WAIT_MS)


@pytest.mark.worker
def test_search_sort_and_class_choose_what_is_shown(browser, qtbot):
    choose(browser.classes, "All classes")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 3 * COUNT)
    browser.words.setText("_39")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 3)
    browser.words.setText("OAK_1")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 11)
    browser.words.clear()
    choose(browser.order, "Largest files first")
    sizes = lambda: [browser.rows.images.size(browser.rows.number(r)) for r in range(3 * COUNT)]  # noqa: E731
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 3 * COUNT)
    qtbot.waitUntil(lambda: sizes() == sorted(sizes(), reverse=True))
    browser.words.setText("nothing is called so")
    qtbot.waitUntil(lambda: browser.status.text() == "No image is found.")


@pytest.mark.worker
def test_delete_leaves_images_out_of_the_project_and_undo_brings_them_back(
    browser, window, folder, qtbot
):
    grid = browser.grid
    first = grid.visualRect(browser.rows.index(0, 0)).center()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=first)
    second = grid.visualRect(browser.rows.index(2, 0)).center()
    control = Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, control, second)
    assert browser.selected() == [0, 2]
    QTest.keyClick(grid, Qt.Key.Key_Delete)
    document = window.context.document
    qtbot.waitUntil(lambda: len(document.project.edits.left_out) == 2, timeout=WAIT_MS)
    assert document.undo_stack.undoText() == "Leave out 2 images"
    qtbot.waitUntil(lambda: browser.rows.rowCount() == COUNT - 2, timeout=WAIT_MS)
    assert name_of(browser, 0) == "beech_1.png"
    assert len(list((folder / "beech").iterdir())) == COUNT
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: browser.rows.rowCount() == COUNT, timeout=WAIT_MS)


@pytest.mark.worker
def test_relabel_moves_an_image_into_another_class(browser, window, qtbot):
    browser.grid.setCurrentIndex(browser.rows.index(4, 0))
    menu = browser.menu(4)
    relabel = next(action.menu() for action in menu.actions() if action.menu() is not None)
    assert [action.text() for action in relabel.actions()] == list(NAMES)
    relabel.actions()[2].trigger()
    edits = lambda: window.context.document.project.edits  # noqa: E731
    qtbot.waitUntil(lambda: list(edits().labels.values()) == ["oak"], timeout=WAIT_MS)
    qtbot.waitUntil(lambda: browser.rows.rowCount() == COUNT - 1, timeout=WAIT_MS)
    choose(browser.classes, "oak")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == COUNT + 1)


@pytest.mark.worker
def test_a_double_click_enlarges_and_keys_go_on(browser, qtbot):
    place = browser.grid.visualRect(browser.rows.index(3, 0)).center()
    QTest.mouseClick(browser.grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(browser.grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    dialog = browser.findChild(SampleDialog)
    assert dialog.number.text() == "4 of 40"
    qtbot.waitUntil(lambda: dialog.picture.image.width() == 23, timeout=WAIT_MS)
    QTest.keyClick(dialog, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: dialog.picture.image.width() == 24, timeout=WAIT_MS)
    dialog.reject()


@pytest.mark.worker
def test_an_unreadable_file_is_marked_and_the_others_are_there(view, folder, qtbot):
    (folder / "ash" / "ash_1.png").write_bytes(b"no image")
    view.findChildren(ClassLine)[0].browse.click()
    browser = view.panels["data_contents"].browser
    qtbot.waitUntil(lambda: browser.rows.rowCount() == COUNT, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: is_drawn(browser, 0), timeout=WAIT_MS)
    place = browser.rows.images.place(browser.rows.number(1))
    picture = lambda: browser.thumbnails.known_pixmap(place)  # noqa: E731
    qtbot.waitUntil(lambda: picture() is not None, timeout=WAIT_MS)
    assert picture().isNull()
    view.state.rescan()
    words = "40 images of 120, 1 of them unreadable."
    qtbot.waitUntil(lambda: browser.status.text().startswith(words), timeout=WAIT_MS)
    for row, can_be_relabeled in ((0, True), (1, False)):
        browser.grid.setCurrentIndex(browser.rows.index(row, 0))
        relabel = next(each for each in browser.menu(row).actions() if each.menu() is not None)
        assert relabel.isEnabled() == can_be_relabeled


@pytest.mark.worker
def test_images_in_arrays_are_browsed_too(window, context, tmp_path, qtbot):
    pictures = np.repeat(np.arange(60, dtype=np.uint8), 16 * 16 * 3).reshape(60, 16, 16, 3)
    labels = np.arange(60) % 2
    path = tmp_path / "arrays.npz"
    np.savez(path, x_train=pictures, y_train=labels, x_test=pictures[:8], y_test=labels[:8])
    context.document.set_dataset(Choice("npz", {"path": str(path)}))
    window.resize(1200, 800)
    view = window.show_view("data")
    qtbot.waitUntil(lambda: view.findChild(ClassesBox) is not None, timeout=WAIT_MS)
    view.findChild(ClassesBox).browse.click()
    browser = view.panels["data_contents"].browser
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 68, timeout=WAIT_MS)
    choose(browser.part, "Test part")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 8)
    place = browser.rows.images.place(browser.rows.number(7))
    assert (place.part, place.index) == ("test", 7)
    known = browser.thumbnails.known_pixmap
    qtbot.waitUntil(lambda: known(place) is not None, timeout=WAIT_MS)
    assert known(place).toImage().pixelColor(8, 8).red() == 7


@pytest.mark.worker
def test_the_way_back_and_another_data_set_show_the_classes(browser, view, window):
    pages = view.panels["data_contents"]
    browser.back.click()
    assert pages.currentWidget() is pages.contents
    pages.browse("oak")
    window.context.document.set_dataset(Choice("npz", {"path": "/nowhere.npz"}))
    assert pages.currentWidget() is pages.contents


# many images -----------------------------------------------------------------------------

MANY = 100_000


@pytest.fixture
def many(window, context, monkeypatch, qtbot):
    """A browser with 100,000 listed images, and what it requests."""
    asked = []
    send = lambda request, answer: asked.append((request, answer)) or len(asked)  # noqa: E731
    monkeypatch.setattr(context.service, "send", send)
    monkeypatch.setattr(context.service, "cancel", lambda _number: None)
    window.resize(1200, 800)
    view = window.show_view("data")
    pages = view.panels["data_contents"]
    pages.browse("")
    images = Images()
    for start in range(0, MANY, 1_000):
        files = [f"/photos/{n % 7}/{n * 7919 % MANY:06d}.jpg" for n in range(start, start + 1_000)]
        images.add(
            ListedImages(
                part="train", start=start, labels=[0] * 1_000, files=files, sizes=[9] * 1_000
            )
        )
    pages.browser._on_listed(images)
    qtbot.waitUntil(lambda: pages.browser.rows.rowCount() == MANY)
    asked.clear()
    return pages.browser, asked


def test_of_many_images_only_the_visible_ones_are_requested(many, qtbot):
    browser, asked = many
    bar = browser.grid.verticalScrollBar()
    num_widgets = len(browser.grid.findChildren(object))
    for step in range(0, 100, 5):
        bar.setValue(bar.maximum() * step // 100)
        browser.grid.viewport().repaint()
    bar.setValue(bar.maximum())
    browser.grid.viewport().repaint()
    requests = lambda: [each for each, _ in asked if isinstance(each, MakeThumbnails)]  # noqa: E731
    qtbot.waitUntil(lambda: bool(requests()))
    request, *more = requests()
    visible = {browser.rows.number(row) for row in browser.grid.visible_rows()}
    assert not more
    assert visible <= {image.index for image in request.images}
    assert len(request.images) <= 300
    assert len(browser.grid.findChildren(object)) == num_widgets


def test_the_last_of_many_is_reached_found_and_sorted(many, qtbot):
    browser, _ = many
    browser.grid.setFocus()
    QTest.keyClick(browser.grid, Qt.Key.Key_End)
    assert browser.grid.currentIndex().row() == MANY - 1
    assert browser.grid.currentIndex().row() in browser.grid.visible_rows()
    choose(browser.order, "By name")
    qtbot.waitUntil(lambda: name_of(browser, MANY - 1) == "099999.jpg")
    assert name_of(browser, 0) == "000000.jpg"
    browser.words.setText("01234")
    qtbot.waitUntil(lambda: browser.rows.rowCount() == 11)
    assert browser.rows.images.file(browser.rows.number(0)).startswith("/photos/")


def test_a_narrower_grid_keeps_the_first_visible_image_in_sight(many, window, qtbot):
    browser, _ = many
    browser.grid.verticalScrollBar().setValue(200_000)
    first = browser.grid.visible_rows()[0]
    window.resize(900, 800)
    qtbot.waitUntil(lambda: browser.grid.columns < 6)
    assert first in browser.grid.visible_rows()


def test_the_pixmaps_in_memory_are_bounded(many):
    browser, _ = many
    thumbnails = browser.thumbnails
    from PySide6.QtGui import QImage

    image = QImage(8, 8, QImage.Format.Format_RGB32)
    for start in range(0, 4 * _KEPT, 500):
        places = [browser.rows.images.place(number) for number in range(start, start + 500)]
        thumbnails._take(places, [image] * 500)
    assert len(thumbnails._known) == _KEPT


def test_a_rubber_band_selects_the_cells_it_touches(many):
    browser, _ = many
    grid = browser.grid
    columns = grid.columns
    start = grid.visualRect(browser.rows.index(1, 0)).center()
    end = grid.visualRect(browser.rows.index(columns + 2, 0)).center()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=start)
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, shift, end)
    assert browser.selected() == [1, 2, columns + 1, columns + 2]


def test_tips_and_names_for_readers(many):
    browser, _ = many
    index = browser.rows.index(0, 0)
    assert index.data(Qt.ItemDataRole.ToolTipRole).startswith("000000.jpg")
    assert Path(index.data()).suffix == ".jpg"
    browser.grid.viewport().event(QEvent(QEvent.Type.Leave))
    assert browser.grid.indexAt(QPoint(-5, -5)).row() == -1


def test_orders_and_filters_are_values():
    images = Images()
    rows = [("b.png", 5, 0), ("A.png", 9, 1), ("c.png", 1, 0)]
    files, sizes, labels = ([row[place] for row in rows] for place in range(3))
    images.add(ListedImages(part="train", start=0, labels=labels, files=files, sizes=sizes))
    assert images.chosen(Shown()).tolist() == [0, 1, 2]
    assert images.chosen(Shown(order="name")).tolist() == [1, 0, 2]
    assert images.chosen(Shown(order="large", label=0)).tolist() == [0, 2]
    assert images.chosen(Shown(order="small")).tolist() == [2, 0, 1]
    assert images.chosen(Shown(part="test")).tolist() == [0, 1, 2], "there is no such part"
