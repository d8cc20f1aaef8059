"""Views and main dialogs in the smallest windows: nothing clipped, covered or out of reach.

All sizes, scales and both themes: `bash packaging/prove.sh sizes`.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from tests import large_text
from tests.looks import flaws_of, wait_until_painted
from tests.staged import VIEWS, Staged
from workbench.gui.train.runs.run_list import LIST_PX

SMALLEST = ((900, 600), (960, 540), (1024, 700))
FRAME_PX = 48
FITTING = ("welcome", "design", "train")
"""Views that fit 1024 x 640 with large text; those of long rows scroll there as a whole."""


@pytest.fixture
def staged(window, tmp_path):
    stage = Staged(window, tmp_path)
    stage.stage()
    return stage


def settled(qtbot, widget):
    """Its flaws, once its layout has come to rest."""
    for _ in range(20):
        qtbot.wait(20)
        if not (found := flaws_of(widget)):
            break
    return [str(flaw) for flaw in found]


@pytest.mark.full_but("size0")
@pytest.mark.parametrize("size", SMALLEST)
def test_every_view_fits_a_small_window(staged, qtbot, size):
    for view in VIEWS:
        staged.window.resize(*size)
        shown = staged.show(view)
        assert settled(qtbot, shown) == [], view
        assert (shown.width(), shown.height()) == size, view


def test_the_counts_of_ten_classes_are_written_in_a_small_window(staged, qtbot):
    staged.window.resize(*SMALLEST[0])
    view = staged.show("evaluate").views.currentWidget()
    matrix = view.panels["evaluate_confusion"].map
    qtbot.waitUntil(lambda: matrix.height() >= matrix.side_px())
    square = matrix.grab(matrix.cell_rect(0, 0).toRect()).toImage()
    points = [(x, y) for x in range(square.width()) for y in range(square.height())]
    white = [1 for point in points if square.pixelColor(*point).lightness() > 230]
    assert 10 < len(white) < len(points) / 2


LONG_RUN = "learning_rate_0.001_cosine_augmented_batch_512_second_repeat"
LONG_CLASSES = [f"Leucanthemum_alpinum_var_minus_field_{at:03}" for at in range(10)]


@pytest.mark.full_but("size0")
@pytest.mark.parametrize("size", SMALLEST[::2])
def test_long_names_of_runs_and_classes_are_elided(window, tmp_path, qtbot, size):
    assert len(LONG_RUN) == 60
    assert {len(name) for name in LONG_CLASSES} == {40}
    runs = LONG_RUN, f"2_{LONG_RUN}"[:60]
    staged = Staged(window, tmp_path, runs, is_named=True, classes=LONG_CLASSES)
    staged.stage()
    found = {}
    for view in VIEWS:
        window.resize(*size)
        shown = staged.show(view)
        found[view] = settled(qtbot, shown)
        assert (shown.width(), shown.height()) == size, view
    result = window.show_view("classify").panels["classify_result"]
    assert LONG_RUN in result.caption.toolTip()
    assert LONG_RUN not in result.caption.text()
    assert all(name in result.bars.toolTip() for name in LONG_CLASSES[:5])
    for name, open_it in staged.dialogs():
        dialog = open_it()
        dialog.resize(min(dialog.width(), size[0]), min(dialog.height(), size[1] - FRAME_PX))
        found[name] = settled(qtbot, dialog)
        assert dialog.width() <= size[0], name
        dialog.close()
    assert {name: flaws for name, flaws in found.items() if flaws} == {}


def test_every_main_dialog_fits_a_small_screen(staged, qtbot):
    width, height = SMALLEST[0]
    for name, open_it in staged.dialogs():
        dialog = open_it()
        dialog.resize(min(dialog.width(), width), min(dialog.height(), height - FRAME_PX))
        assert settled(qtbot, dialog) == [], name
        assert dialog.height() <= height - FRAME_PX, name
        dialog.close()


@pytest.mark.full_but("1.5")
@pytest.mark.parametrize("scale", ["1.5", "1.75"])
def test_with_large_text_the_window_needs_no_more_than_the_screen(tmp_path, scale):
    done = subprocess.run(
        [sys.executable, "-m", "tests.large_text"],
        env=large_text.environment(scale, tmp_path),
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(done.stdout)
    screen, window, train = found["screen"], found["window"], found["train"]
    assert screen[0] == round(large_text.SCREEN[0] / float(scale))
    assert all(length <= room for length, room in zip(window, screen, strict=True))
    assert all(place < length for place, length in zip(train, window, strict=True))
    if scale == "1.5":  # at 1.75 the right edge of Data's contents is cut
        assert found["flaws"] == {}


@pytest.mark.full
def test_large_text_fits_a_screen_of_1024_by_640(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.large_text"],
        env=large_text.environment("1.5", tmp_path, (1024, 640)),
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["window"][0] <= 1024 / 1.5
    assert found["window"][1] <= 640 / 1.5
    assert found["train"][0] < found["window"][0]
    flaws = found["flaws"]
    assert {view: some for view, some in flaws.items() if view.startswith(FITTING)} == {}
    others = [flaw for some in flaws.values() for flaw in some]
    assert [flaw for flaw in others if not flaw.startswith("scroll bar: ")] == []
    assert found["target"] == " This computer"
    assert not found["has_minimap"], "it would lie on the cards"
    assert found["corner"] == 1, "nothing between two scroll bars"


def rail_buttons(view):
    return {
        button.accessibleName(): button
        for rail in view.findChildren(QToolBar)
        for button in rail.findChildren(QAbstractButton)
        if button.isVisible() and button.accessibleName().startswith("Show panel ")
    }


def test_panels_without_room_are_on_rails_and_change_places(staged, qtbot):
    window = staged.window
    window.setMinimumSize(400, 300)
    window.resize(683, 427)
    view = staged.show("design").views.currentWidget()
    palette, inspector = view.panels["palette"], view.panels["inspector"]
    qtbot.waitUntil(lambda: not palette.isVisible())
    assert list(rail_buttons(view)) == ["Show panel Layers"]
    qtbot.mouseClick(rail_buttons(view)["Show panel Layers"], Qt.MouseButton.LeftButton)
    assert palette.isVisible()
    assert not inspector.isVisible()
    qtbot.waitUntil(lambda: list(rail_buttons(view)) == ["Show panel Inspector"])
    palette.parentWidget().close()
    qtbot.waitUntil(lambda: len(rail_buttons(view)) == 2)
    window.resize(1200, 700)
    qtbot.waitUntil(lambda: palette.isVisible() and inspector.isVisible())
    assert rail_buttons(view) == {}


def shown_in(docks):
    """Keys of the panels that can be seen, and of the middle."""
    return [part.parentWidget().objectName() for part in docks.visible()]


@pytest.mark.parametrize("size", [(683, 427), (900, 600), (1024, 700), (1440, 900)])
def test_the_table_of_runs_is_shown_in_any_window(staged, qtbot, size):
    window = staged.window
    window.setMinimumSize(400, 300)
    view = staged.show("train").views.currentWidget()
    docks = view.panels
    runs = docks["train_runs"]
    wait_until_painted(qtbot, view)
    window.resize(*size)
    docks.open("train_runs")
    before = shown_in(docks)
    assert ("train_recipe" in before) is (size[0] >= 900)
    for _ in range(2):
        qtbot.mouseClick(runs.table, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: runs.table.text() == "List")
        assert not any(runs.list.isColumnHidden(section) for section in range(9))
        assert runs.list.viewport().width() >= runs.list.header().sectionPosition(4)
        assert window.width() == size[0]
        qtbot.mouseClick(runs.table, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: runs.table.text() == "Table")
        assert shown_in(docks) == before
        qtbot.waitUntil(lambda: runs.width() <= LIST_PX)


def test_the_table_of_runs_gives_the_room_back_when_it_is_closed_or_reset(staged, qtbot):
    window = staged.window
    window.resize(1024, 700)
    view = staged.show("train").views.currentWidget()
    docks = view.panels
    runs, settings = docks["train_runs"], docks["train_recipe"]
    at_first = docks.save()
    qtbot.mouseClick(runs.table, Qt.MouseButton.LeftButton)
    assert not settings.isVisible()
    assert "Show panel Training settings" in rail_buttons(view)
    runs.parentWidget().close()
    qtbot.waitUntil(settings.isVisible)
    docks.open("train_runs")
    assert not settings.isVisible()
    qtbot.waitUntil(lambda: runs.list.is_table)
    docks.restore(at_first)
    qtbot.waitUntil(lambda: settings.isVisible() and not runs.list.is_table)
    qtbot.mouseClick(runs.table, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(rail_buttons(view)["Show panel Training settings"], Qt.MouseButton.LeftButton)
    assert settings.isVisible()
    assert not runs.isVisible()
    window.resize(1600, 700)
    qtbot.waitUntil(lambda: settings.isVisible() and runs.isVisible() and runs.list.is_table)


def test_panels_that_lack_room_come_back_with_it(staged, qtbot, tmp_path):
    window = staged.window
    window.setMinimumSize(400, 300)
    window.resize(1200, 700)
    view = staged.show("train").views.currentWidget()
    docks = view.panels
    runs, settings = docks["train_runs"], docks["train_recipe"]
    window.resize(760, 500)
    qtbot.waitUntil(lambda: not runs.isVisible())
    assert settings.isVisible()
    narrow = docks.save()
    window.resize(1200, 700)
    qtbot.waitUntil(runs.isVisible)
    docks.restore(narrow)
    assert runs.isVisible(), "what only lacked room is not stored as hidden"
    window.resize(760, 500)
    qtbot.waitUntil(lambda: not runs.isVisible())
    docks.open("train_runs")  # the user's choice counts
    assert runs.isVisible()
    window.resize(1200, 700)
    assert runs.isVisible()


def test_flaws_are_found(qtbot):
    """A planted flaw of each kind: the looks above can fail."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(300, 200)
    label, button = QLabel("A sentence that is too long", window), QPushButton("Press", window)
    label.setGeometry(QRect(0, 0, 40, 20))
    button.setGeometry(QRect(290, 190, 80, 30))
    wide, area = QWidget(), QScrollArea(window)
    wide.setMinimumWidth(500)
    area.setWidget(wide)
    area.setGeometry(QRect(0, 60, 100, 60))
    boxed = QWidget(window)
    boxed.setGeometry(QRect(150, 60, 100, 60))
    column = QVBoxLayout(boxed)
    for name in ("one", "two"):
        part = QLabel(name)
        part.setMinimumHeight(50)
        column.addWidget(part)
    boxed.setMaximumHeight(60)
    window.show()
    qtbot.waitExposed(window)
    column.itemAt(1).widget().move(column.itemAt(0).widget().pos())
    kinds = {flaw.kind for flaw in flaws_of(window)}
    assert kinds == {"clipped", "unreachable", "scroll bar", "overlap"}


@pytest.mark.parametrize("width", [1024, 1280])
def test_the_switch_of_views_stays_where_it_is_when_a_run_starts(window, qtbot, width):
    window.resize(width, 700)
    window.show()
    window.show_view("train")
    top = window.top
    qtbot.waitUntil(lambda: top.width() == width)

    def place() -> int:
        wait_until_painted(qtbot, top)
        return top.switch.mapTo(window, top.switch.rect().topLeft()).x()

    before = place()
    for is_running in (True, False):
        top.show_state(is_running=is_running, reason="", num_waiting=2)
        assert abs(place() - before) <= 1
