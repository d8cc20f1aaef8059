"""The window: views, titles, buttons, menus, themes."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QAbstractButton, QDockWidget, QLabel, QScrollArea

from tests.window_parts import window_context
from tests.written_runs import WrittenRun
from workbench.app import make_window
from workbench.gui.common.context import WindowState
from workbench.gui.help import groups_of
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import DARK
from workbench.gui.kit.widgets import Card
from workbench.gui.shell.actions import ACTIONS
from workbench.gui.views import all_views, project_views
from workbench.settings.store import SettingsStore
from workbench.templates import find_template


def card(window, title):
    cards = window.views.view("welcome").cards()
    return next(each for each in cards if each.accessibleName() == title)


def test_opens_with_the_welcome_page(window):
    assert window.isVisible()
    assert window.views.current_key == "welcome"
    assert "Workbench" in window.windowTitle()
    assert set(window.views.built) == {"welcome"}


def test_one_click_on_a_card_opens_its_network(window, qtbot):
    qtbot.mouseClick(card(window, "Fashion-MNIST convnet"), Qt.MouseButton.LeftButton)
    assert window.views.current_key == "design"
    assert window.status.text("Parameters") == "108,810"
    assert window.context.document.analysis.is_trainable
    assert not window.context.document.is_dirty


def test_the_folder_of_runs_is_the_one_of_the_settings(qapp, tmp_path, monkeypatch):
    store = SettingsStore(tmp_path)
    store.change(runs_folder=str(tmp_path / "elsewhere"))
    store.close()
    with window_context(tmp_path) as context:
        window = make_window(context, tmp_path)
        opened = []
        monkeypatch.setattr(window.handlers, "open_path", opened.append)
        window.actions_by_key["open_runs"].trigger()
        assert opened == [str(tmp_path / "elsewhere")]
        shiboken6.delete(window)


def test_cards_answer_to_the_keyboard(window, qtbot):
    target = card(window, "Blank canvas")
    target.setFocus()
    qtbot.keyClick(target, Qt.Key.Key_Return)
    assert window.views.current_key == "design"
    assert len(window.context.document.graph.nodes) == 0


VIEW_KEYS = [spec.key for spec in project_views()]


@pytest.mark.parametrize("key", VIEW_KEYS)
def test_every_view_opens_from_its_segment_and_its_action(cifar, qtbot, key):
    qtbot.mouseClick(cifar.top.switch._buttons[key], Qt.MouseButton.LeftButton)
    assert cifar.views.current_key == key
    assert cifar.actions_by_key[key].isChecked()
    other = next(each for each in VIEW_KEYS if each != key)
    cifar.actions_by_key[other].trigger()
    assert cifar.views.current_key == other
    assert not cifar.actions_by_key[key].isChecked()
    assert cifar.actions_by_key[other].isChecked()


def test_every_action_has_a_handler(window):
    assert set(window.handlers.by_key()) == {spec.key for spec in ACTIONS}


@pytest.mark.parametrize("spec", all_views().values(), ids=lambda spec: spec.key)
def test_a_view_is_an_action_of_the_view_menu(window, spec):
    action = window.actions_by_key[spec.key]
    assert action in dict(window.menus.listed())["View"]
    assert action.shortcut().toString() == spec.shortcut
    assert not action.icon().isNull()
    assert action.statusTip().endswith(".")


def test_no_two_window_actions_share_a_key(cifar):
    cifar.show_view("design")
    actions = [*cifar.actions_by_key.values(), *cifar.design().canvas.actions()]
    keys = [keys.toString() for action in actions for keys in action.shortcuts()]
    doubled = {key for key in keys if keys.count(key) > 1}
    assert doubled == set()


def test_every_icon_button_has_a_name(cifar):
    for key in VIEW_KEYS:
        cifar.show_view(key)
    nameless = [
        button.objectName() or repr(button)
        for button in cifar.findChildren(QAbstractButton)
        if not button.text() and not button.icon().isNull() and not button.accessibleName()
    ]
    assert nameless == []


def test_labels_never_read_mark_up(cifar):
    for key in VIEW_KEYS:
        cifar.show_view(key)
    rich = [
        label.text()
        for label in cifar.findChildren(QLabel)
        if label.text() and label.textFormat() != Qt.TextFormat.PlainText
    ]
    assert rich == []


def test_title_shows_the_name_and_whether_it_is_saved(cifar):
    assert cifar.windowTitle().startswith("[*]CIFAR-10")
    assert not cifar.isWindowModified()
    cifar.context.document.add_node("dropout")
    assert cifar.isWindowModified()


def test_train_is_blocked_with_the_reason(cifar, qtbot):
    flatten = next(n for n in cifar.context.document.graph.nodes.values() if n.kind == "flatten")
    assert not cifar.runs.reason()
    cifar.context.document.remove([flatten.id])
    assert "flat input" in cifar.top.train.toolTip()
    assert "error" in cifar.status.problems.text()
    with qtbot.assertNotEmitted(cifar.context.library.run_started):
        qtbot.mouseClick(cifar.top.train, Qt.MouseButton.LeftButton)
    assert cifar.popup.isVisible()
    cifar.popup.close()


def test_a_fix_in_the_list_mends_the_network(cifar, qtbot):
    flatten = next(n for n in cifar.context.document.graph.nodes.values() if n.kind == "flatten")
    cifar.context.document.remove([flatten.id])
    cifar.show_problems()
    fix = next(
        b
        for b in cifar.popup.findChildren(QAbstractButton)
        if b.accessibleName() == "Insert Flatten"
    )
    qtbot.mouseClick(fix, Qt.MouseButton.LeftButton)
    cifar.popup.close()
    assert cifar.context.document.undo_stack.undoText() == "Insert Flatten"


def test_the_list_of_problems_is_as_large_as_what_it_shows(cifar, qtbot):
    qtbot.mouseClick(cifar.status.problems, Qt.MouseButton.LeftButton)
    small = cifar.popup.geometry()
    assert small.height() < 90
    bar = cifar.popup.findChild(QScrollArea).verticalScrollBar()
    assert bar.maximum() == 0
    flatten = next(n for n in cifar.context.document.graph.nodes.values() if n.kind == "flatten")
    cifar.context.document.remove([flatten.id])
    assert cifar.popup.height() > small.height()
    assert cifar.popup.geometry().bottomRight() == small.bottomRight()
    cifar.popup.close()


def test_undo_names_what_it_undoes(cifar):
    cifar.context.document.add_node("dropout")
    assert cifar.actions_by_key["undo"].text() == "Undo Add Dropout"
    cifar.actions_by_key["undo"].trigger()
    assert not cifar.isWindowModified()


def test_the_theme_is_chosen_and_kept(window, qtbot):
    with qtbot.waitSignal(window.context.theme.changed):
        window.help.keep_theme("dark")
    assert window.palette().window().color().name() == DARK.background
    assert window.context.settings.settings.values["theme"] == "dark"
    window.help.keep_theme("light")


def test_panels_can_be_hidden_and_reset(cifar):
    design = cifar.show_view("design")
    docks = design.findChildren(QDockWidget)
    assert {dock.objectName() for dock in docks} == {"palette", "inspector"}
    docks[0].hide()
    cifar.layouts.save()
    assert docks[0].isHidden()
    cifar.layouts.reset()
    assert not any(dock.isHidden() for dock in docks)


@pytest.mark.parametrize("key", VIEW_KEYS)
def test_the_panels_of_every_view_can_be_hidden_and_stay_so(cifar, key):
    panels = cifar.show_view(key).panels
    first, *others = panels.actions()
    first.trigger()
    saved = panels.save()
    panels.show_all()
    assert first.isChecked()
    panels.restore(saved)
    assert not first.isChecked()
    assert all(other.isChecked() for other in others)
    panels.restore(QByteArray(b"damaged"))
    assert not first.isChecked()
    cifar.layouts.reset()
    assert first.isChecked()


def test_panels_stay_where_they_were_left(cifar, tmp_path):
    design = cifar.show_view("design")
    palette = design.findChild(QDockWidget, "palette")
    design.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, palette)
    cifar.layouts.save()
    again = WindowState(cifar.context.settings, tmp_path / "window.ini")
    assert not again.bytes("layout/design").isEmpty()


def test_the_shortcuts_sheet_lists_the_keys(cifar):
    cifar.show_view("design")
    groups = dict(groups_of(cifar.menus.listed()))
    assert ("Ctrl+S", "Save") in groups["File"]
    assert ("Ctrl+1", "Design") in groups["View"]
    assert any(words == "Duplicate" for _, words in groups["Edit"])


def test_status_line_follows_the_network(cifar):
    assert cifar.status.text("Parameters") == "1,676,982"
    assert cifar.status.problems.text() == "No problems"
    cifar.context.document.set_recipe(batch_size=8)
    assert "8" in cifar.status._values["Memory"][0].text()


def test_cards_are_named(window):
    for each in window.findChildren(Card):
        assert each.accessibleName()
        assert each.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_training_that_went_on_is_one_click_away(window, qtbot):
    run = WrittenRun("night run").begin().train(1)
    welcome = window.views.view("welcome")
    with qtbot.waitSignal(window.context.library.runs_changed):
        window.context.library.open()
    qtbot.waitUntil(lambda: welcome._running.text() == "night run is training")
    assert welcome._running.isVisible()
    welcome._running.click()
    qtbot.waitUntil(lambda: window.views.current_key == "train")
    assert window.context.library.current.run.path == run.path
    run.finish()
    window.context.library.refresh()
    qtbot.waitUntil(lambda: not welcome._running.text())
    library = window.context.library
    qtbot.waitUntil(lambda: library.summary(run.path).is_over)  # else closing would ask


def test_the_welcome_page_leads_back_to_the_open_project(window, qtbot):
    welcome = window.views.view("welcome")
    assert not welcome.back.isVisible()
    assert window.windowTitle() == "Workbench[*]"
    window.files.new(find_template("lenet5").project)
    window.context.document.add_node("dropout")
    window.show_view("train")
    window.show_view("welcome")
    assert window.windowTitle() == "[*]LeNet-5 — Workbench"
    assert welcome.back.text() == "Back to LeNet-5"
    qtbot.mouseClick(welcome.back, Qt.MouseButton.LeftButton)
    assert window.views.current_key == "train"
    window.context.document.new()


@pytest.mark.parametrize("width", [900, 1024, 1440])
def test_the_welcome_page_never_scrolls_sideways(cifar, width, qtbot):
    welcome = cifar.show_view("welcome")
    cifar.resize(width, 600)
    qtbot.waitUntil(lambda: cifar.width() == width and not welcome._targets.isEmpty())
    assert welcome.back.isVisible()
    qtbot.waitUntil(lambda: welcome.horizontalScrollBar().maximum() == 0)


def test_no_two_entries_of_a_menu_share_a_mnemonic(cifar):
    cifar.show_view("design")
    for title, menu in cifar.menus.by_title.items():
        words = [action.text() for action in menu.actions() if action.text()]
        keys = [text[text.index("&") + 1].casefold() for text in words if "&" in text]
        assert sorted(set(keys)) == sorted(keys), title


def test_a_long_sentence_ends_in_dots_and_has_a_tooltip(window, qtbot):
    window.show_view("design")
    words = "Wrote a file. " * 40 + "<b>end</b>"
    window.say(words)
    status = window.status
    assert status.elided(status.currentMessage()).endswith("…")
    assert status.toolTip() == plain_tip(words)
    qtbot.wait(0)  # laid out
    image = status.grab().toImage()
    ends = range(status.message_rect.right() + 1, status._found.geometry().left())
    assert len({image.pixel(x, y) for x in ends for y in range(4, 20)}) == 1
    assert status.elided("Wrote a.onnx.\n") == "Wrote a.onnx."
    window.say("Short.")
    assert status.toolTip() == "Short."
    status.clearMessage()
    assert status.toolTip() == ""


def test_while_a_view_is_built_the_one_before_is_not_shown_under_its_name(window):
    before = window.show_view("design")
    seen = []
    window.views.was_built.connect(lambda key, _view: seen.append((key, before.isVisible())))
    evaluate = window.show_view("evaluate")
    assert seen == [("evaluate", False)]
    assert window.views.currentWidget() is evaluate
