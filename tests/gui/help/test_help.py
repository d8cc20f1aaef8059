"""Every layer has a page of help, made of its SPEC and of words where it has some."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from workbench.assets import help_path, resource_path
from workbench.backbones import all_backbones
from workbench.core.registry import Registry
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.gui.help import (
    AboutDialog,
    HelpViewer,
    ShortcutsSheet,
    balanced,
    groups_of,
    system_info,
)
from workbench.help_pages import BACKBONES, GENERAL_PAGES, found_pages, page_markdown
from workbench.layers import all_layers

LAYERS = all_layers()


PAGES = {path.stem for path in resource_path("help").glob("*.md")}
GENERAL = {key for key, _ in GENERAL_PAGES}


@pytest.mark.parametrize("key", list(LAYERS))
def test_every_layer_has_a_page_with_all_its_parameters(key):
    spec = LAYERS[key]
    page = page_markdown(key, LAYERS)
    assert "It is part of the model." not in page, "a sentence that says nothing by itself"
    assert page.startswith(f"# {spec.title}\n")
    assert spec.summary in page
    for param in spec.params:
        assert f"`{param.key}`" in page


@pytest.mark.parametrize("key", sorted(PAGES - GENERAL))
def test_the_words_of_a_layer_say_what_it_does_and_when_to_use_it(key):
    words = help_path(key).read_text(encoding="utf-8")
    assert "## What it does" in words
    assert "## When to use it" in words
    assert words.strip() in page_markdown(key, LAYERS)


def test_a_layer_without_words_has_a_page_made_of_its_spec(qtbot, context):
    spec = replace(LAYERS["group_normalization"], key="no_words", title="NoWords")
    layers = Registry({spec.key: spec})
    assert "\n\n\n" not in page_markdown(spec.key, layers)
    viewer = HelpViewer(layers, context.theme)
    qtbot.addWidget(viewer)
    viewer.show_page(spec.key)
    text = viewer.page.toPlainText()
    assert text.startswith("NoWords")
    assert spec.summary in text
    assert all(param.key in text for param in spec.params)


def test_each_pretrained_network_is_listed_with_its_license_and_its_file(viewer):
    viewer.show_page(BACKBONES)
    text = viewer.page.toPlainText()
    for spec in all_backbones().values():
        assert spec.title in text
        assert spec.license in text
        assert spec.is_bundled or spec.weights.address in text
    assert text.count("included") >= sum(s.is_bundled for s in all_backbones().values())
    assert "94.8 MB" in text
    assert "0 to 255" in text


def test_no_page_is_left_over():
    assert GENERAL <= PAGES <= GENERAL | set(LAYERS)


@pytest.mark.parametrize("path", sorted(resource_path("help").glob("*.md")), ids=lambda p: p.stem)
def test_links_lead_to_pages(path):
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        assert help_path(target).is_file()


def test_each_training_setting_is_described_in_the_section_that_has_it():
    """Those of the form's first section, which has no title, are above all others."""
    sections = {param.title: param.group for param in RECIPE_PARAMS}
    section, described = "", {}
    _, page = help_path("training").read_text("utf-8").split("## Training settings\n")
    for line in page.splitlines():
        if heading := re.match("##+ ([^:]+)", line):
            section = heading[1]
        if line.startswith("- "):
            described |= dict.fromkeys(re.findall(r"\*\*(.+?)\*\*", line), section)
    found = {title: place for title, place in described.items() if title in sections}
    assert {"Loss", "Top-k accuracy", "Mixup / CutMix", "Random erasing"} <= found.keys()
    assert found == {title: sections[title] for title in found}


def test_menu_entries_that_pages_name_are_in_the_menus_of_the_window():
    menus = tomllib.loads(resource_path("actions.toml").read_text("utf-8"))
    entries = {
        f"{menu} > {action['text'].replace('&', '')}"
        for menu, actions in menus.items()
        for action in actions.values()
    }
    pattern = re.compile(rf"\*((?:{'|'.join(menus)}) > [^*]+…)\*")
    named = {
        entry: path.name
        for path in resource_path("help").glob("*.md")
        for entry in pattern.findall(path.read_text("utf-8"))
    }
    assert "File > Export trained model…" in named
    assert named.keys() - entries == set(), named


def test_viewer_shows_pages_and_follows_links(qtbot, context):
    viewer = HelpViewer(context.layers, context.theme)
    qtbot.addWidget(viewer)
    viewer.show_page("layers_overview")
    assert "Choosing layers" in viewer.page.toPlainText()
    viewer.show_page("conv2d")
    assert "kernel_size" in viewer.page.toPlainText()


def test_mark_up_in_a_page_stays_text(qtbot, context):
    viewer = HelpViewer(context.layers, context.theme)
    qtbot.addWidget(viewer)
    viewer.page.show_markdown('before <img src="/etc/passwd"> after')
    assert "<img" in viewer.page.toPlainText()


def test_about_shows_the_versions(qtbot):
    dialog = AboutDialog()
    qtbot.addWidget(dialog)
    assert "Workbench" in system_info()
    assert "keras 3" in system_info()


def test_the_shortcuts_sheet_has_even_columns_and_the_keys_of_the_canvas(window):
    window.show_view("design")
    window.show_view("welcome")
    window.context.document.add_node("input")
    groups = groups_of(window.menus.listed())
    assert ("Ctrl+Z", "Undo") in dict(groups)["Edit"]
    left, right = balanced(groups)
    assert sorted(left + right) == sorted(groups)
    heights = [sum(len(rows) + 2 for _, rows in column) for column in (left, right)]
    assert abs(heights[0] - heights[1]) <= 8
    sheet = ShortcutsSheet(groups, window)
    words = {label.text() for label in sheet.findChildren(QLabel)}
    assert {"Ctrl or Alt + arrows", "Nudge selection", "Ctrl+D"} <= words
    sheet.close()


def test_the_shortcuts_sheet_fits_a_screen_with_its_title_bar(window):
    """At large text the Close button lay below the screen."""
    sheet = ShortcutsSheet(groups_of(window.menus.listed()), window)
    assert sheet.screen().availableSize().height() - sheet.height() >= 64
    sheet.close()


@pytest.fixture
def viewer(qtbot, context):
    viewer = HelpViewer(context.layers, context.theme)
    qtbot.addWidget(viewer)
    viewer.show_page("getting_started")
    qtbot.waitExposed(viewer)
    return viewer


def heading(viewer):
    return viewer.page.toPlainText().split("\n")[0]


def test_alt_left_goes_back_and_alt_right_forward(qtbot, viewer):
    viewer.page.anchorClicked.emit("layers_overview")
    viewer.show_page("conv2d")
    for key, shown in (("Left", "Choosing layers"), ("Left", "Getting started"), ("Left", None)):
        QTest.keyClick(viewer.page, getattr(Qt.Key, f"Key_{key}"), Qt.KeyboardModifier.AltModifier)
        assert shown is None or heading(viewer) == shown
    QTest.keyClick(viewer.page, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert heading(viewer) == "Choosing layers"
    viewer.show_page("dense")
    QTest.keyClick(viewer.page, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert heading(viewer) == "Dense"


def test_ctrl_f_searches_all_pages(qtbot, viewer):
    with qtbot.waitActive(viewer):
        viewer.activateWindow()
    QTest.keyClick(viewer.page, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert viewer.search.hasFocus()
    QTest.keyClicks(viewer.search, "fingerprint")
    shown = [viewer.list.item(i) for i in range(viewer.list.count())]
    titles = [item.text() for item in shown if not item.isHidden()]
    assert "Training on another computer" in titles
    assert "Dense" not in titles
    assert viewer.list.currentItem().text() in titles
    assert viewer.page.textCursor().selectedText().casefold() == "fingerprint"
    QTest.keyClicks(viewer.search, " qqqq")
    assert viewer.nothing.isVisible()
    QTest.keyClick(viewer.search, Qt.Key.Key_Escape)
    assert viewer.isVisible()
    assert not viewer.nothing.isVisible()
    assert not any(item.isHidden() for item in shown)


def test_the_window_finds_what_the_command_finds_the_best_first(viewer, context):
    for words in ("kernel filters", "Colab", "DENSE units", "no such words"):
        viewer.search.setText(words)
        found = [key for key, _ in found_pages(words.split(), context.layers)]
        items = [viewer.list.item(place) for place in range(viewer.list.count())]
        listed = [item.data(Qt.ItemDataRole.UserRole) for item in items if not item.isHidden()]
        assert sorted(listed) == sorted(found)
    viewer.show_page("dense")
    viewer.search.setText("colab")
    assert heading(viewer) == "Train on Colab or Kaggle"


def test_layer_help_opens_the_page_of_the_selected_layer(cifar):
    scene = cifar.show_view("design").canvas.scene
    nodes = cifar.context.document.graph.nodes.values()
    conv = [node.id for node in nodes if node.kind == "conv2d"]
    flatten = [node.id for node in nodes if node.kind == "flatten"]
    for selected, shown in ((conv[:2], "Conv2D"), ([], "Choosing layers"), (flatten, "Flatten")):
        scene.select(selected)
        cifar.actions_by_key["layer_help"].trigger()
        assert heading(cifar.help._viewer) == shown
    scene.select([*conv, *flatten])
    cifar.actions_by_key["layer_help"].trigger()
    assert heading(cifar.help._viewer) == "Choosing layers"
    cifar.help._viewer.close()
