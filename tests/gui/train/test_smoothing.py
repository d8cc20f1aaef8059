"""The slider that smooths all plots: where it is, what it says, how it is moved."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSlider

from tests.gui.train.test_plot_overlays import trained
from workbench.gui.kit.theme import Theme
from workbench.gui.train.plots.run_plots import DEFAULT_EPOCHS, position_of
from workbench.gui.train.run_pages import RunPages


@pytest.fixture
def pages(qtbot, qapp):
    pages = RunPages(Theme("light"))
    qtbot.addWidget(pages)
    with qtbot.waitExposed(pages):
        pages.show()
    return pages


@pytest.mark.parametrize("width", [440, 700, 1100])
def test_one_slider_with_its_name_and_unit_at_any_width(qtbot, pages, width):
    pages.resize(width, 520)
    sliders = [slider for slider in pages.findChildren(QSlider) if slider.isVisible()]
    assert sliders == [pages.plots.smoothing.slider]
    name, words = pages.plots.smoothing.findChildren(QLabel)
    assert (name.text(), words.toolTip()) == ("Smoothing", "5% of an epoch")
    assert name.isVisible()
    assert words.isVisible()
    assert words.text() == "5% of an epoch"
    pages.switch.setMinimumWidth(pages.switch.sizeHint().width() + 36)
    pages.resize(min(width, 440), 520)
    qtbot.waitUntil(lambda: words.text() == "5%")  # whole words, not "5% of ..."
    for epochs in (2.5, 10):
        pages.plots.smoothing.slider.setValue(position_of(epochs))
        assert "…" not in words.text()
        assert words.text().endswith(" epochs")


def test_the_curves_need_no_more_room_once_the_classes_were_shown(pages):
    before = pages.minimumSizeHint()
    pages.show_page("classes")
    assert pages.classes.isVisible()
    pages.classes.setMinimumHeight(2_000)  # as with many classes
    pages.show_page("curves")
    assert (pages.plots.isVisible(), pages.classes.isVisible()) == (True, False)
    assert pages.minimumSizeHint().height() == before.height()


def test_keys_move_it_for_both_plots_and_a_double_click_resets_it(qtbot, pages):
    pages.plots.set_history(trained(steps_per_epoch=100))
    pages.plots.redraw()
    control, plots = pages.plots.smoothing, pages.plots.by_key
    before = {key: plots[key].main.smooth.y.tolist() for key in ("loss", "accuracy")}
    control.slider.setFocus()
    qtbot.keyClick(control.slider, Qt.Key.Key_End)
    assert control.words.full_text == "10 epochs"
    pages.plots.redraw()
    assert plots["loss"].main.smooth.y.tolist() != before["loss"]
    qtbot.keyClick(control.slider, Qt.Key.Key_Home)
    assert control.words.full_text == "off"
    assert not any(plots[key].main.is_smooth for key in before)
    qtbot.mouseDClick(control.slider, Qt.MouseButton.LeftButton)
    assert control.slider.value() == position_of(DEFAULT_EPOCHS)
    pages.plots.redraw()
    assert {key: plots[key].main.smooth.y.tolist() for key in before} == before


def test_it_is_hidden_where_there_is_nothing_to_smooth(pages):
    pages.show_page("classes")
    assert not pages.plots.smoothing.isVisible()
    pages.show_page("curves")
    assert pages.plots.smoothing.isVisible()
