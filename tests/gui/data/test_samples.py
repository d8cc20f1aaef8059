"""Samples of a real folder, described by a real worker: a click or Enter shows one large."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip

from workbench.core.projects.project import Choice
from workbench.gui.data.classes import ClassRow
from workbench.gui.images.sample_dialog import SampleDialog

pytestmark = pytest.mark.worker

COLORS = {"ash": (200, 10, 10), "birch": (10, 10, 200)}
LARGE, SMALL = (600, 300), (12, 8)
WAIT_MS = 30_000


@pytest.fixture
def folder(tmp_path):
    for name, color in COLORS.items():
        (tmp_path / "trees" / name).mkdir(parents=True)
        for number in range(3):
            size = SMALL if number == 2 else LARGE
            Image.new("RGB", size, color).save(tmp_path / "trees" / name / f"{number}.png")
    return tmp_path / "trees"


@pytest.fixture
def view(window, context, folder, qtbot):
    context.document.set_dataset(Choice("folder", {"path": str(folder), "fit": "crop"}))
    window.resize(1440, 900)
    view = window.show_view("data")
    qtbot.waitUntil(lambda: len(view.findChildren(ClassRow)) == 2, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(places(view.findChildren(ClassRow)[1])) == 3)
    return view


def places(row):
    return [place.center().toPoint() for _, place in row.picture_places()]


def shown(view):
    """The dialog that is open."""
    return next((d for d in view.findChildren(SampleDialog) if d.isVisible()), None)


def is_loaded(dialog):
    size = dialog.picture.image.size()
    return f"{size.width()} × {size.height()}" in dialog.facts.full_text and not dialog.words.text()


def test_a_click_shows_an_image_and_keys_go_on_to_the_next(view, folder, qtbot):
    row = view.findChildren(ClassRow)[1]
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=places(row)[0])
    dialog = shown(view)
    seen = set()
    assert dialog.number.text() == "4 of 6"
    for number in (4, 5, 6):
        assert dialog.number.text() == f"{number} of 6"
        qtbot.waitUntil(lambda: is_loaded(dialog), timeout=WAIT_MS)
        path = Path(dialog.facts.toolTip())
        with Image.open(path) as file:
            width, height = file.size
        assert (dialog.name.full_text, path.parent) == ("birch", folder / "birch")
        assert dialog.facts.full_text == f"{path.name} · {width} × {height}"
        middle = dialog.picture.grab().toImage().pixelColor(dialog.picture.rect().center())
        assert middle.getRgb()[:3] == COLORS["birch"]
        place = dialog.picture.place()
        assert place.width() == pytest.approx(dialog.picture.width(), abs=1), (
            "as large as there is room"
        )
        seen.add(path.name)
        QTest.keyClick(dialog, Qt.Key.Key_Right)
    assert seen == {"0.png", "1.png", "2.png"}
    assert not dialog.next.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Home)
    assert (dialog.name.full_text, dialog.number.text()) == ("ash", "1 of 6")
    assert not dialog.previous.isEnabled()
    QTest.mouseClick(dialog.next, Qt.MouseButton.LeftButton)
    QTest.keyClick(dialog, Qt.Key.Key_Left)
    assert dialog.number.text() == "1 of 6"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert shown(view) is None


def test_the_keyboard_alone_chooses_an_image(view, window, qtbot):
    row = view.findChildren(ClassRow)[0]
    row.setFocus()
    qtbot.waitUntil(row.hasFocus)
    before = row.grab().toImage()
    QTest.keyClick(row, Qt.Key.Key_Right)
    assert row.grab().toImage() != before, "which one is meant can be seen"
    QTest.keyClick(row, Qt.Key.Key_Return)
    dialog = shown(view)
    assert dialog.number.text() == "2 of 6"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(row.hasFocus)


def test_beside_the_images_a_click_does_nothing(view):
    row = view.findChildren(ClassRow)[0]
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=QPoint(20, row.height() // 2))
    assert shown(view) is None


def test_an_image_that_is_gone_is_reported_in_the_dialog(view, folder, qtbot):
    row = view.findChildren(ClassRow)[0]
    for path in (folder / "ash").iterdir():
        path.unlink()
    large = next(n for n, each in enumerate(row.description.thumbnails) if each.width == LARGE[0])
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=places(row)[large])
    dialog = shown(view)
    qtbot.waitUntil(lambda: "…" not in dialog.words.text(), timeout=WAIT_MS)
    assert dialog.words.property("role") == "bad"
    assert not dialog.picture.image.isNull(), "the thumbnail stays"
    dialog.reject()


def test_another_source_closes_the_image(view, context):
    row = view.findChildren(ClassRow)[0]
    QTest.mouseClick(row, Qt.MouseButton.LeftButton, pos=places(row)[0])
    assert shown(view) is not None
    context.document.set_dataset(Choice("fashion_mnist", {}))
    assert shown(view) is None


def test_rescanning_keeps_the_focus_where_it_is(view, qtbot):
    source = view.panels["data_source"]
    view.window().activateWindow()
    qtbot.waitUntil(view.isActiveWindow, timeout=WAIT_MS)
    qtbot.waitUntil(source.describe_button.isVisible, timeout=WAIT_MS)  # all is decoded
    source.describe_button.setFocus()
    qtbot.waitUntil(source.describe_button.hasFocus)
    QTest.mouseClick(source.describe_button, Qt.MouseButton.LeftButton)
    assert source.cancel_button.hasFocus(), "it is in the same place"
    qtbot.waitUntil(source.describe_button.isVisible, timeout=WAIT_MS)
    assert source.describe_button.hasFocus()


def test_a_folder_that_is_cut_off_is_whole_in_its_tooltip(view, folder, qtbot):
    line = view.panels["data_source"].findChild(QLineEdit)
    place = line.rect().center()
    QApplication.sendEvent(line, QHelpEvent(QEvent.Type.ToolTip, place, line.mapToGlobal(place)))
    assert QToolTip.text() == str(folder)
    QToolTip.hideText()
    assert line.fontMetrics().horizontalAdvance(str(folder)) > line.width()
