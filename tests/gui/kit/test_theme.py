"""Colors can be read, icons can be drawn, the theme can be switched."""

from __future__ import annotations

from itertools import product

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFrame,
    QListView,
    QListWidget,
    QListWidgetItem,
    QSlider,
    QSplitter,
    QToolButton,
)

from workbench.assets import resource_path
from workbench.core.specs import CATEGORIES
from workbench.gui.kit.theme import CATEGORY_COLORS, DARK, LIGHT, Theme, style_sheet

THEMES = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
READ = ("text", "dim")
GROUNDS = ("background", "panel", "canvas", "field", "hover", "accent_soft")


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""

    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(v) for v in QColor(color).getRgbF()[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@THEMES
def test_text_can_be_read_on_every_ground(colors):
    pairs = [*product(READ, GROUNDS), ("text", "bad_soft")]
    pairs += [("accent_text", "accent"), ("accent", "panel"), ("accent", "background")]
    pairs += [(sign, "panel") for sign in ("good", "warning", "bad")]
    pairs += [("bad", "bad_soft")]
    low = {
        pair: round(contrast(getattr(colors, pair[0]), getattr(colors, pair[1])), 2)
        for pair in pairs
        if contrast(getattr(colors, pair[0]), getattr(colors, pair[1])) < 4.5
    }
    assert low == {}


@THEMES
def test_style_sheet_has_no_token_left(colors):
    assert "@" not in style_sheet(colors, is_dark=colors is DARK)


@pytest.fixture
def theme(qapp):
    theme = Theme("light")
    theme.apply(qapp)
    return theme


def test_every_icon_is_drawn(theme):
    names = sorted(path.stem for path in resource_path("icons").glob("*.svg"))
    names.remove("app")  # the application's own: a filled square
    assert set(CATEGORIES) <= set(names)
    for name in names:
        image = theme.icon(name).pixmap(24, 24).toImage()
        inked = sum(image.pixelColor(x, y).alpha() > 40 for x in range(24) for y in range(24))
        assert 4 < inked < 24 * 24 * 0.8, name


def test_icon_takes_the_color_asked_for(theme):
    image = theme.icon("stop", "#c62828").pixmap(24, 24).toImage()
    assert image.pixelColor(12, 12).name() == "#c62828"


def test_categories_have_colors():
    assert set(CATEGORY_COLORS) == {*CATEGORIES, "backbone"}


def test_switching_emits_and_repaints(theme, qtbot):
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("dark")
    assert theme.is_dark
    assert QApplication.palette().window().color().name() == DARK.background
    assert DARK.panel in QApplication.instance().styleSheet()
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("light")
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_mode("light")


def test_an_unknown_mode_is_refused(theme):
    with pytest.raises(ValueError, match="purple"):
        theme.set_mode("purple")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_arrows_of_the_file_dialog_can_be_seen(qapp, qtbot, mode):
    theme = Theme()
    theme.set_mode(mode)
    theme.apply(qapp)
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    for name in ("toParentButton", "backButton", "forwardButton"):
        image = dialog.findChild(QToolButton, name).icon().pixmap(16, 16).toImage()
        drawn = [image.pixelColor(x, y) for x in range(16) for y in range(16)]
        darkest = min(color.lightness() for color in drawn if color.alpha() > 200)
        assert (darkest > 180) == (mode == "dark"), name


def test_the_places_of_the_file_dialog_are_not_cut(qapp, qtbot):
    theme = Theme("light")
    theme.apply(qapp)
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.findChild(QSplitter).setSizes([40, 700])  # Qt keeps how narrow the list once was
    places = dialog.findChild(QListView, "sidebar")
    assert places.model().rowCount() > 0
    assert places.sizeHintForColumn(0) <= places.viewport().width()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_check_boxes_of_lists_and_sliders_can_be_seen(qapp, qtbot, mode):
    theme = Theme()
    theme.set_mode(mode)
    theme.apply(qapp)
    colors = theme.colors
    boxes, slider = QListWidget(), QSlider(Qt.Orientation.Horizontal)
    boxes.setFrameShape(QFrame.Shape.NoFrame)
    item = QListWidgetItem(" ")
    item.setCheckState(Qt.CheckState.Unchecked)
    boxes.addItem(item)
    slider.setRange(0, 10)
    slider.setValue(5)
    for widget, size in ((boxes, QSize(60, 40)), (slider, QSize(120, 24))):
        qtbot.addWidget(widget)
        widget.resize(size)
        image = widget.grab().toImage()
        drawn = {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in range(image.height())
        }
        ground = image.pixelColor(image.width() - 3, image.height() - 3).name()
        assert max(contrast(each, ground) for each in drawn) >= 3.0
    assert contrast(colors.accent, colors.faint) >= 1.2  # the handle on its groove
    for sign, ground in product(("dim", "faint", "accent"), ("panel", "background")):
        assert contrast(getattr(colors, sign), getattr(colors, ground)) >= 2.8, (sign, ground)
