"""The menu of places to train on, and the button that opens it."""

from workbench.core.project import Choice
from workbench.gui.target_menu import TargetMenu
from workbench.targets import all_targets, target_label


def rows(menu):
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions() if not action.isSeparator()}


def test_offers_this_computer_and_some_replicas(window):
    shown = rows(window.top.targets)
    assert any(text.startswith("This computer · ") for text in shown)
    assert {text for text in shown if text.startswith(("4 replicas", "8 replicas"))} == {
        "4 replicas here",
        "8 replicas here",
    }
    assert [text for text, action in shown.items() if action.isChecked()] == [
        text for text in shown if text.startswith("This computer")
    ]


def test_choosing_is_an_edit_that_can_be_undone(window):
    document = window.context.document
    rows(window.top.targets)["8 replicas here"].trigger()
    assert document.project.target == Choice("virtual", {"replicas": 8, "like_tpu": False})
    assert "8 replicas here" in window.top.target.text()
    assert rows(window.top.targets)["8 replicas here"].isChecked()
    document.undo_stack.undo()
    assert document.project.target.key == "this_computer"
    assert "This computer" in window.top.target.text()


def test_a_projects_own_place_is_listed_too(qapp):
    menu = TargetMenu(all_targets(), lambda: Choice("virtual", {"replicas": 5}))
    (own,) = [action for action in rows(menu).values() if action.isChecked()]
    assert own.text().startswith("5 replicas here")


def test_a_place_connected_before_is_listed_once(qapp):
    saved = (
        (Choice("virtual", {"replicas": 3}), "a box"),
        (Choice("virtual", {"replicas": 2}), ""),
    )
    menu = TargetMenu(all_targets(), lambda: Choice("this_computer"), lambda: saved)
    texts = list(rows(menu))
    assert "3 replicas here · a box" in texts
    assert sum(text.startswith("2 replicas") for text in texts) == 1


def test_an_unknown_place_is_told_by_its_key(window):
    window.context.document.set_target(Choice("abacus"))
    assert "abacus (unknown)" in window.top.target.text()
    assert target_label(Choice("abacus")) == "abacus (unknown)"
    assert not [action for action in rows(window.top.targets).values() if action.isChecked()]
