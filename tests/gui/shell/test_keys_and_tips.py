"""Keys that desktop programs share, and tooltips that name them."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget

from workbench.gui.files import controller
from workbench.gui.help import SettingsDialog, groups_of
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.dialogs import Answer
from workbench.gui.shell import actions
from workbench.gui.views import project_views

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def active(qtbot, cifar):
    cifar.show_view("design")
    cifar.activateWindow()
    qtbot.waitUntil(cifar.isActiveWindow)
    cifar.design().canvas.view.setFocus()
    return cifar


def press(window, key, modifiers):
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def test_ctrl_tab_goes_around_the_views_and_back(active):
    keys = [spec.key for spec in project_views()]
    seen = []
    for _ in keys:
        press(active, Qt.Key.Key_Tab, CTRL)
        seen.append(active.views.current_key)
    assert seen == [*keys[1:], keys[0]]
    press(active, Qt.Key.Key_Backtab, CTRL | SHIFT)
    assert active.views.current_key == keys[-1]


@pytest.mark.parametrize(("key", "number"), [("next_view", 0), ("previous_view", -1)])
def test_from_the_start_page_the_views_begin_at_either_end(active, key, number):
    active.show_view("welcome")
    active.actions_by_key[key].trigger()
    assert active.views.current_key == project_views()[number].key


def test_undo_is_put_in_words_where_it_cannot_be_seen(active):
    document = active.context.document
    document.add_node("dropout")
    active.show_view("train")
    press(active, Qt.Key.Key_Z, CTRL)
    assert active.status.currentMessage() == "Undid: Add Dropout"
    press(active, Qt.Key.Key_Z, CTRL | SHIFT)
    assert active.status.currentMessage() == "Redid: Add Dropout"
    active.status.clearMessage()
    active.show_view("design")
    press(active, Qt.Key.Key_Z, CTRL)
    assert active.status.currentMessage() == ""


def test_the_focus_is_never_on_the_segment_of_another_view(active, qtbot):
    design, train = (active.top.switch._buttons[key] for key in ("design", "train"))
    qtbot.mouseClick(design, Qt.MouseButton.LeftButton)
    design.setFocus(Qt.FocusReason.TabFocusReason)
    press(active, Qt.Key.Key_3, CTRL)
    assert active.views.current_key == "train"
    assert train.hasFocus()
    press(active, Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier)
    assert active.views.current_key == "evaluate"
    for _ in range(60):
        press(active, Qt.Key.Key_Tab, Qt.KeyboardModifier.NoModifier)
        assert not design.hasFocus()


def test_ctrl_w_closes_the_project_and_then_the_window(active):
    press(active, Qt.Key.Key_W, CTRL)
    assert active.views.current_key == "welcome"
    assert active.isVisible()
    assert not active.context.document.graph.nodes
    press(active, Qt.Key.Key_W, CTRL)
    assert not active.isVisible()


@pytest.mark.parametrize("answer", [Answer.CANCEL, Answer.DISCARD])
def test_ctrl_w_keeps_unsaved_work_unless_it_may_go(active, monkeypatch, answer):
    active.context.document.add_node("dropout")
    monkeypatch.setattr(controller, "ask_unsaved", lambda *_: answer)
    press(active, Qt.Key.Key_W, CTRL)
    is_kept = answer is Answer.CANCEL
    assert active.views.current_key == ("design" if is_kept else "welcome")
    assert bool(active.context.document.graph.nodes) == is_kept


def test_ctrl_b_hides_both_side_panels_and_brings_them_back(active):
    design = active.design()
    docks = design.findChildren(QDockWidget)
    QTest.keyClick(design.panels["palette"].search, Qt.Key.Key_B, CTRL)
    assert all(dock.isHidden() for dock in docks)
    assert design.canvas.view.hasFocus()
    press(active, Qt.Key.Key_B, CTRL)
    assert not any(dock.isHidden() for dock in docks)


def test_ctrl_b_brings_back_only_what_it_hid(active):
    design = active.design()
    palette, inspector = (design.panels[key].parentWidget() for key in ("palette", "inspector"))
    palette.close()
    press(active, Qt.Key.Key_B, CTRL)
    assert inspector.isHidden()
    press(active, Qt.Key.Key_B, CTRL)
    assert not inspector.isHidden()
    assert palette.isHidden()


def test_a_view_without_side_panels_says_so(active):
    active.show_view("data")
    active.actions_by_key["side_panels"].trigger()
    assert active.status.currentMessage() == "This view has no side panels"


def test_the_tooltip_of_every_button_of_an_action_names_its_key(active):
    bar = active.design().canvas.overlays.zoom_bar
    tips = [button.toolTip() for button in bar.findChildren(IconButton)]
    assert tips == ["Zoom out (Ctrl+-)", "Zoom in (Ctrl++)", "Fit (F)", "Arrange (Ctrl+L)"]
    undo, redo = active.top.findChildren(IconButton)
    active.context.document.add_node("dropout")
    assert undo.toolTip() == "Undo Add Dropout (Ctrl+Z)"
    active.actions_by_key["undo"].trigger()
    assert redo.toolTip() == "Redo Add Dropout (Ctrl+Shift+Z)"
    for spec in project_views():
        assert active.top.switch._buttons[spec.key].toolTip().endswith(f"({spec.shortcut})")
    assert active.status.problems.toolTip() == "Show the problems (F8)"
    assert "(F5)" in active.top.train.toolTip()


def test_every_figure_of_the_status_line_has_a_tooltip(active):
    for name, value in active.status._values.values():
        assert name.toolTip() == value.toolTip() != ""
    tip = active.status._values["Parameters"][0].toolTip()
    assert "1,676,912 trainable, 70 non-trainable." in tip


def test_the_sheet_of_shortcuts_has_the_words_of_the_action_not_of_the_moment(window):
    stop = window.actions_by_key["stop_run"]
    stop.setText("Stopping…")
    rows = dict(next(rows for title, rows in groups_of(window.menus.listed()) if title == "Run"))
    assert rows["Shift+F5"] == "Stop"


@pytest.fixture
def started(monkeypatch):
    """The processes that would be started."""
    started = []
    monkeypatch.setattr(
        actions.QProcess,
        "startDetached",
        lambda program, arguments: [started.append((program, arguments)), (True, 1)][1],
    )
    return started


def test_a_restart_for_a_new_text_size_opens_the_project_again(window, started, qtbot, tmp_path):
    path = tmp_path / "a project.workbench"
    window.context.document.save(path)
    dialogs = []

    def choose() -> None:
        dialog = window.findChild(SettingsDialog)
        offered = [dialog.restart.isVisible()]
        window.context.settings.change(display_scale="150")
        dialog.form.value_changed.emit("display_scale", "150")
        dialogs.append([*offered, dialog.restart.isVisible()])
        dialog.restart.click()

    QTimer.singleShot(0, choose)
    window.help.show_settings()
    assert dialogs == [[False, True]]
    assert not window.isVisible()
    assert started == [(sys.executable, ["-P", "-m", "workbench", "gui", str(path)])]


def test_the_window_stays_where_closing_is_refused(window, started):
    window.runs.may_close = lambda: False
    window.help.restart_asked.emit()
    assert window.isVisible()
    assert started == []


def test_another_window_is_a_process_of_its_own(window, started):
    window.actions_by_key["new_window"].trigger()
    assert started == [(sys.executable, ["-P", "-m", "workbench", "gui"])]
