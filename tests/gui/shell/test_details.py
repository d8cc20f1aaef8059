"""Small things of the look, measured on what is painted: margins, alignment, lines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from tests.looks import wait_until_painted
from tests.staged import CLASSES, VIEWS, Staged
from workbench.gui.kit.widgets import TextBox
from workbench.gui.train.runs.run_list import RunListPanel
from workbench.gui.train.runs.run_model import COLUMNS
from workbench.protocol.trained.evaluate import ClassScore, Evaluation

BEARING_PX = 2
"""What a letter may keep free beside its ink."""


@pytest.fixture
def staged(window, tmp_path):
    stage = Staged(window, tmp_path)
    stage.stage()
    window.resize(1440, 900)
    return stage


def ink(image, place):
    """Columns of an image's rectangle that are not all of one color: where something is drawn."""
    background = image.pixel(place.right(), place.bottom() - 1)
    rows = range(place.top() + 1, place.bottom() - 1)
    return [
        x
        for x in range(place.left(), place.right() + 1)
        if any(image.pixel(x, y) != background for y in rows)
    ]


def heading_ink(header, section):
    """The columns of a heading's words."""
    return ink(header.grab().toImage(), header.words_rect(section).adjusted(-4, 0, 4, 0))


def cell_ink(view, index):
    return ink(view.viewport().grab().toImage(), view.visualRect(index).adjusted(1, 0, -1, -2))


def test_the_bar_stays_where_it_is_at_the_first_change_of_theme(staged, context, qtbot):
    window = staged.show("train")
    top = window.top

    def shade():
        return top.grab().toImage().pixelColor(1, 1).lightness()

    def places():
        wait_until_painted(qtbot, top)
        return top.geometry(), top.switch.mapTo(window, QPoint()), window.views.geometry()

    before, light = places(), shade()
    context.theme.set_mode("dark")
    assert places() == before
    assert shade() < light
    context.theme.set_mode("light")
    assert places() == before
    assert shade() == light


class Strays(QObject):
    """Notes each window that is shown."""

    def __init__(self):
        super().__init__()
        self.found = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.found.append(repr(watched))
        return False


def test_no_part_of_a_view_is_ever_a_window_of_its_own(window, tmp_path, qapp):
    """A part that is shown before it has its place flashes on the screen."""
    strays = Strays()
    qapp.installEventFilter(strays)
    staged = Staged(window, tmp_path)
    staged.stage()
    for view in VIEWS:
        staged.show(view)
    qapp.processEvents()
    qapp.removeEventFilter(strays)
    assert strays.found == []


def test_headings_of_scores_are_over_their_numbers(staged, qtbot):
    view = staged.show("evaluate").views.currentWidget()
    table = view.panels["evaluate_classes"].table
    header = table.horizontalHeader()
    qtbot.waitUntil(lambda: bool(cell_ink(table, table.model().index(0, 0))))
    for section in range(table.model().columnCount()):
        heading, cell = (
            heading_ink(header, section),
            cell_ink(table, table.model().index(0, section)),
        )
        side = 0 if section == 0 else -1
        assert abs(heading[side] - cell[side]) <= BEARING_PX, section


def test_headings_of_runs_are_over_their_figures(staged, qtbot):
    panel = staged.show("train").findChild(RunListPanel)
    panel.table.click()
    qtbot.waitUntil(panel.list.header().isVisible)
    header, model = panel.list.header(), panel.list.model()
    panel.list.clearSelection()
    shown = [at for at in range(len(COLUMNS)) if header.sectionViewportPosition(at) < 500]
    assert any(COLUMNS[section].is_number for section in shown)
    for section in shown[1:]:
        heading, cell = heading_ink(header, section), cell_ink(panel.list, model.index(0, section))
        side = -1 if COLUMNS[section].is_number else 0
        assert abs(heading[side] - cell[side]) <= BEARING_PX, COLUMNS[section].title


@pytest.mark.parametrize("order", [Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder])
def test_the_sort_arrow_covers_no_words(staged, qtbot, order):
    view = staged.show("evaluate").views.currentWidget()
    header = view.panels["evaluate_classes"].table.horizontalHeader()
    plain = header.grab().toImage()
    for section in range(header.count()):
        header.setSortIndicator(section, order)
        sorted_by = header.grab().toImage()
        words, arrow = header.words_rect(section), header.arrow_rect(section)
        assert plain.copy(words) == sorted_by.copy(words)
        assert len(ink(sorted_by, arrow.adjusted(-1, -2, 1, 3))) >= arrow.width()
        left = header.sectionViewportPosition(section)
        assert QRect(left, 0, header.sectionSize(section), header.height()).contains(arrow)


@pytest.mark.parametrize("num_classes", [2, 5, 10])
def test_the_confusion_matrix_fills_its_card(staged, qtbot, num_classes):
    view = staged.show("evaluate").views.currentWidget()
    names = CLASSES[:num_classes]
    scores = [ClassScore(name=each, precision=1, recall=1, f1=1, count=9) for each in names]
    counts = [[9] * num_classes] * num_classes
    view.state.evaluated.emit(
        Evaluation(
            id=1, loss=0.1, accuracy=1, classes=names, per_class=scores, confusion=counts
        )
    )  # fmt: skip
    chart = view.panels["evaluate_confusion"].map
    first, last = chart.cell_rect(0, 0), chart.cell_rect(num_classes - 1, num_classes - 1)
    assert chart.height() - last.bottom() < 1, "down to the lower edge: the height is the limit"
    assert first.top() < 0.2 * chart.height(), "above are only the names"
    assert first.left() >= 0
    assert last.right() <= chart.width()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_an_open_list_has_one_thin_line_around_it(staged, context, qtbot, mode):
    context.theme.set_mode(mode)
    window = staged.show("train")
    boxes = [box for box in window.findChildren(QComboBox) if box.isVisible() and box.count() > 2]
    assert boxes
    for box in boxes:
        box.showPopup()
        popup = box.view().window()
        qtbot.waitUntil(popup.isVisible)
        image = popup.grab().toImage()
        right, bottom = image.width() - 1, image.height() - 1
        x, y = 12, 12  # beside the corners
        line, panel = context.theme.colors.line, context.theme.colors.panel
        edges = [(x, 0), (x, bottom), (0, y), (right, y)]
        inside = [(x, 1), (x, bottom - 1), (1, y), (right - 1, y)]
        assert {image.pixelColor(*at).name() for at in edges} == {line}
        assert {image.pixelColor(*at).name() for at in inside} == {panel}
        longest = max(box.view().sizeHintForIndex(box.model().index(row, 0)).width()
                      for row in range(box.count()))  # fmt: skip
        assert box.view().viewport().width() >= longest, "no entry is cut off"
        box.hidePopup()


def test_a_note_of_the_data_has_no_empty_line(staged):
    window = staged.show("data")
    box = next(each for each in window.findChildren(TextBox) if "imbalanced" in each.text.text())
    assert [label for label in box.findChildren(QLabel) if label.isVisible()] == [box.text]
    parts = [0, box.text.geometry().top(), box.text.geometry().bottom() + 1, box.height()]
    above, _, below = (b - a for a, b in pairwise(parts))
    assert above == below
