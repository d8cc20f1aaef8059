"""Feature maps in the classify view: a real network and a real worker."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel

from tests.bright_network import bright_picture
from workbench.gui.classify.channel_tiles import TileGrid, load_tiles
from workbench.gui.common.figure_saver import figure_file
from workbench.pictures.heat import heat_colors
from workbench.protocol.trained.feature_maps import BINS, MOST_CHANNELS, Channel, LayerShown

PATIENCE_MS = 120_000

KEY = "classify_feature_maps"


@pytest.fixture
def view(bright_view):
    return bright_view


@pytest.fixture
def panel(qtbot, view):
    """In front, with the filters of the first convolution: no picture was dropped yet."""
    panel = view.panels[KEY]
    with qtbot.waitSignal(panel.requests.loaded, timeout=PATIENCE_MS):
        view.panels.open(KEY)
    return panel


def shown_next(qtbot, panel):
    return qtbot.waitSignal(panel.requests.loaded, timeout=PATIENCE_MS)


@pytest.mark.worker
def test_filters_without_a_picture_then_its_maps_enlarged_and_saved(qtbot, view, panel, tmp_path):
    assert panel.layers.names == ["input_0", "conv2d_1", "global_average_pooling2d_2", "dense_3"]
    assert (panel.layers.current, panel.layer.answer.what) == ("conv2d_1", "filters")
    assert panel.about.text().endswith("Drop a picture to see what the layer gives for it.")
    with shown_next(qtbot, panel):
        panel.show_layer("dense_3")
    assert (panel.layers.current, panel.grid.count) == ("dense_3", 0)
    assert panel.about.text().startswith("dense_3: output 2. Drop a picture")
    assert not panel.menu_button.isEnabled()
    with shown_next(qtbot, panel):
        panel.show_layer("conv2d_1")

    with shown_next(qtbot, panel):
        view.classify([bright_picture(tmp_path)])
    assert panel.layer.answer.what == "maps"
    colors = panel.layer.own.pixelColor(6, 6), panel.layer.own.pixelColor(20, 20)
    assert [color.getRgb()[:3] for color in colors] == [(253, 231, 37), (68, 1, 84)]

    cell = panel.grid.cell(0)
    qtbot.mouseClick(panel.grid, Qt.MouseButton.LeftButton, pos=cell.center())
    assert panel.page.isVisible()
    assert panel.page.name.text() == "Channel 0"
    assert panel.page.facts.text() == "Min 0.0000, Max 250.0000, Mean 15.6250, Zeros 93.8%"
    for ending in (".png", ".svg", ".csv"):
        with qtbot.waitSignal(view.state.said):
            panel.saver.save(tmp_path / f"maps{ending}")
    table = (tmp_path / "maps.csv").read_text().splitlines()
    assert table == ["channel,min,max,mean,strength,zeros", "0,0.0,250.0,15.625,15.625,0.9375"]
    assert all((tmp_path / f"maps{ending}").stat().st_size > 500 for ending in (".png", ".svg"))
    qtbot.keyClick(panel.page, Qt.Key.Key_Escape)
    assert panel.grid.isVisible()

    with shown_next(qtbot, panel):
        row = panel.layers.visualRect(panel.layers.model().index(3, 0))
        qtbot.mouseClick(
            panel.layers.viewport(), Qt.MouseButton.LeftButton, pos=row.center() - QPoint(20, 0)
        )
    assert panel.layer.answer.layer == "dense_3"
    first, second = panel.layer.answer.channels
    assert (first.index, panel.grid.count) == (0, 2)
    assert first.mean > second.mean


def test_a_thousand_tiles_are_saved_as_a_square(qapp, context, tmp_path):
    channels = [
        Channel(
            index=at, least=0, largest=1, mean=0.5, strength=0.5, zeros=0, low=0, high=1,
            histogram=[1] * BINS,
        )
        for at in range(MOST_CHANNELS)
    ]  # fmt: skip
    levels = np.random.default_rng(1).integers(0, 256, (40 * 7, 40 * 7), np.uint8)
    Image.fromarray(levels).save(tmp_path / "tiles.png")
    answer = LayerShown(
        layer="a", what="maps", layers=[], shape=[7, 7, MOST_CHANNELS], total=MOST_CHANNELS,
        channels=channels, tiles_png=str(tmp_path / "tiles.png"), columns=40, tile=[7, 7],
    )  # fmt: skip
    grid = TileGrid(context.theme)
    grid.resize(260, 500)
    grid.set_layer(load_tiles(answer))
    assert grid.heightForWidth(260) > 20_000
    figure_file(tmp_path / "grid.png", grid.square(), "Tiles", str)()
    with Image.open(tmp_path / "grid.png") as image:
        assert image.size == (2 * (40 * 54 - 4), 2 * (39 * 54 - 4))
        row, column = divmod(MOST_CHANNELS - 1, 40)
        place = 2 * 54 * column + 50, 2 * 54 * row + 50
        assert image.getpixel(place)[:3] == tuple(
            heat_colors(np.maximum(levels[row * 7 + 3, column * 7 + 3], 1))[:3]
        )


@pytest.mark.worker
def test_tiles_by_keyboard_order_and_one_range_of_colors(qtbot, view, panel, tmp_path):
    with shown_next(qtbot, panel):
        view.classify([bright_picture(tmp_path)])
    with shown_next(qtbot, panel):
        panel.show_layer("dense_3")
    panel.grid.setFocus()
    qtbot.keyClick(panel.grid, Qt.Key.Key_Right)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Return)
    assert panel.page.name.text() == "Channel 1"
    qtbot.keyClick(panel.page, Qt.Key.Key_Left)
    assert panel.page.name.text() == "Channel 0"

    high, low = panel.layer.answer.channels
    own, common = panel.layer.own, panel.layer.common
    assert own.pixelColor(0, 0) == own.pixelColor(1, 0)
    assert common.pixelColor(0, 0) != common.pixelColor(1, 0)
    assert panel.layer.common_range() == (low.low, high.high)
    assert not panel.ranges.isEnabled()  # single values have the same

    with shown_next(qtbot, panel):
        panel.order.setCurrentIndex(1)
        panel.order.activated.emit(1)
    assert [each.index for each in panel.layer.answer.channels] == [0, 1]
    assert panel.page.isVisible()  # the enlarged channel stays


@pytest.mark.worker
def test_a_closed_panel_requests_nothing_and_an_error_is_said(qtbot, view, panel, tmp_path):
    view.panels.open("classify_explanation")
    with qtbot.waitSignal(view.state.shown, timeout=PATIENCE_MS):
        view.classify([bright_picture(tmp_path)])
    assert not panel.requests.is_open
    view.panels.open(KEY)
    qtbot.waitUntil(lambda: panel.requests.is_open)
    (tmp_path / "picture.png").unlink()
    with qtbot.waitSignal(panel.requests.failed, timeout=PATIENCE_MS):
        panel.show_layer("input_0")
    assert panel.wait.text()
    assert np.isclose(panel.grid.count, 1)  # what was shown before stays


@pytest.mark.worker
def test_a_layer_that_is_asked_for_opens_the_panel_and_may_be_missing(qtbot, view, tmp_path):
    panel = view.panels[KEY]
    with shown_next(qtbot, panel):
        view.state.layer_chosen.emit("dense_3")
    assert panel.isVisible()
    assert panel.layers.current == "dense_3"
    with shown_next(qtbot, panel):
        view.state.layer_chosen.emit("dense_4")
    assert panel.about.text().startswith("This model has no layer “dense_4”. conv2d_1: kernel")
    with shown_next(qtbot, panel):
        view.classify([bright_picture(tmp_path)])
    with shown_next(qtbot, panel):
        panel.switch.chosen.emit("filters")
    with shown_next(qtbot, panel):
        panel.show_layer("dense_3")
    assert panel.about.text().endswith("It has no filters.")


@pytest.mark.worker
def test_it_says_what_is_waited_for_from_the_start_on(qtbot, view):
    """A worker that starts TensorFlow says nothing for seconds."""
    panel = view.panels[KEY]
    with qtbot.waitSignal(panel.requests.loaded, timeout=PATIENCE_MS):
        view.panels.open(KEY)
        qtbot.waitUntil(lambda: panel.requests.is_open)
        said = panel.wait.text()
    assert said.startswith("Computing the feature maps")
    assert "Feature maps" not in [label.text() for label in panel.findChildren(QLabel)], (
        "tab has it"
    )
