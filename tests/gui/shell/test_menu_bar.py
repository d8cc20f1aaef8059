"""The menus of the window: what is where, and what their entries bring up."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from tests.gui.design.hand import chain
from workbench.core.projects.project import Project
from workbench.gui.design.canvas_actions import CANVAS_ACTIONS
from workbench.gui.train.series.dialogs import CrossValidationDialog, SweepDialog

_ROOM_PX = 640
"""What a screen of 1024 x 700 leaves below a menu bar."""


def plain(action: QAction) -> str:
    return action.text().replace("&", "")


def entries(window) -> dict[str, list[str]]:
    return {
        title: [plain(action) for action in actions if action.text()]
        for title, actions in window.menus.listed()
    }


def test_actions_are_where_they_are_looked_for(cifar):
    cifar.show_view("design")
    menus = entries(cifar)
    assert list(menus) == ["File", "Edit", "View", "Network", "Data", "Run", "Help"]
    assert {"Augmentation…", "Browse images", "Check images", "Check labels"} <= set(menus["Data"])
    assert {"Cross-validate…", "Find learning rate", "Find batch size"} <= set(menus["Run"])
    assert {"Add layer…", "Add layer from the palette", "Group", "Arrange"} <= set(menus["Network"])
    assert menus["Edit"][-2:] == ["Find in the network", "Settings…"]
    assert {"Cut", "Paste", "Select all", "Rename…"} <= set(menus["Edit"])


def test_no_entry_of_a_menu_has_an_icon_as_most_have_none(cifar):
    assert QApplication.testAttribute(Qt.ApplicationAttribute.AA_DontShowIconsInMenus)


def test_every_action_of_the_canvas_is_in_one_menu(cifar):
    canvas = cifar.design().canvas
    listed = [action for _, actions in cifar.menus.listed() for action in actions]
    for spec in CANVAS_ACTIONS:
        num_places = 0 if spec.key == "layer_help" else 1  # Help has it for all selected layers
        assert listed.count(canvas.action(spec.key)) == num_places, spec.key


@pytest.mark.parametrize("size", [13, 16])
def test_no_menu_is_higher_than_a_small_screen(cifar, size):
    cifar.show_view("design")
    for title, menu in cifar.menus.by_title.items():
        font = menu.font()
        font.setPixelSize(size)
        menu.setFont(font)
        assert menu.sizeHint().height() <= _ROOM_PX, title


def test_no_menu_begins_or_ends_with_a_line_or_has_two_in_a_row(cifar):
    for when in ("welcome", "design"):
        cifar.show_view(when)
        for title, actions in cifar.menus.listed():
            lines = [action.isSeparator() for action in actions if action.isVisible()]
            assert lines, title
            assert not lines[0], title
            assert not lines[-1], title
            assert not any(a and b for a, b in pairwise(lines)), title


@pytest.mark.parametrize(
    ("key", "kind"), [("cross_validate", CrossValidationDialog), ("sweep", SweepDialog)]
)
def test_the_run_menu_plans_series(cifar, key, kind):
    cifar.actions_by_key[key].trigger()
    assert cifar.views.current_key == "train"
    (dialog,) = cifar.findChildren(kind)
    assert dialog.isVisible()
    cifar.actions_by_key[key].trigger()
    assert cifar.findChildren(kind) == [dialog]
    dialog.close()


@pytest.mark.parametrize(("key", "kind"), [("find_rate", "Rate"), ("find_batch", "Batch")])
def test_the_run_menu_finds_settings(cifar, key, kind):
    document = cifar.context.document
    document.new(Project(graph=chain(cifar.context.layers, "input")))
    cifar.actions_by_key[key].trigger()  # of a network that cannot be trained
    view = cifar.show_view("train")
    assert view.finders.dialog is None
    assert cifar.status.currentMessage() == document.analysis.reason


def test_the_data_menu_checks_and_browses(cifar, qtbot):
    asked = []
    data = cifar.show_view("data")
    panel = data.panels["data_check"]
    panel.findings.busy_changed.connect(asked.append)
    cifar.show_view("design")
    cifar.actions_by_key["check_images"].trigger()
    assert cifar.views.current_key == "data"
    assert asked == [True]
    cifar.actions_by_key["check_images"].trigger()  # it is being checked already
    assert asked == [True]
    panel.findings.drop()
    cifar.actions_by_key["check_labels"].trigger()
    assert panel.findings.is_busy
    panel.findings.drop()
