"""The menu of places to train on, and the button that opens it."""

from __future__ import annotations

import pytest

from workbench.core.projects.project import Choice
from workbench.gui.targets.controller import TargetMenu
from workbench.gui.train import run_controller as run_flow
from workbench.targets import all_targets, target_label

EIGHT = "8 simulated devices on this computer (tests TPU data parallelism)"


def rows(menu):
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions() if not action.isSeparator()}


def test_offers_this_computer_and_some_replicas(window):
    shown = rows(window.top.targets)
    assert any(text.startswith("This computer · ") for text in shown)
    assert {text for text in shown if text.startswith(("4 simulated", "8 simulated"))} == {
        "4 simulated devices on this computer (tests TPU data parallelism)",
        EIGHT,
    }
    assert [text for text, action in shown.items() if action.isChecked()] == [
        text for text in shown if text.startswith("This computer")
    ]


def test_choosing_is_an_edit_that_can_be_undone(window):
    document = window.context.document
    rows(window.top.targets)[EIGHT].trigger()
    assert document.project.target == Choice("virtual", {"replicas": 8, "like_tpu": False})
    assert "8 simulated devices" in window.top.target.text()
    assert rows(window.top.targets)[EIGHT].isChecked()
    document.undo_stack.undo()
    assert document.project.target.key == "this_computer"
    assert "This computer" in window.top.target.text()


def test_a_projects_own_place_is_listed_too(qtbot):
    menu = TargetMenu(all_targets(), lambda: Choice("virtual", {"replicas": 5}))
    qtbot.addWidget(menu)
    (own,) = [action for action in rows(menu).values() if action.isChecked()]
    assert own.text().startswith("5 simulated devices")


def test_a_place_connected_before_is_listed_once(qtbot):
    saved = (
        (Choice("virtual", {"replicas": 3}), "a box"),
        (Choice("virtual", {"replicas": 2}), ""),
    )
    menu = TargetMenu(all_targets(), lambda: Choice("this_computer"), lambda: saved)
    qtbot.addWidget(menu)
    texts = list(rows(menu))
    assert "3 simulated devices · a box" in texts
    assert sum(text.startswith("2 simulated") for text in texts) == 1


def test_an_unknown_place_is_reported_by_its_key(window):
    window.context.document.set_target(Choice("abacus"))
    assert "abacus (unknown)" in window.top.target.text()
    assert target_label(Choice("abacus")) == "abacus (unknown)"
    assert not [action for action in rows(window.top.targets).values() if action.isChecked()]


@pytest.fixture
def answers(monkeypatch):
    """What is chosen of a box, and what the boxes said."""
    said = []
    monkeypatch.setattr(
        run_flow,
        "ask_choice",
        lambda _parent, *words, **_kw: said.append(words) or len(words[2]) - 1,
    )
    return said


def test_a_place_that_is_not_ready_is_reported_when_it_is_chosen(cifar, qtbot):
    cifar.top.targets.chosen.emit(Choice("tpu", {"address": "local", "zone": "", "project": ""}))
    qtbot.waitUntil(lambda: cifar.check.problem is not None)
    assert "No TPU in this computer" in cifar.top.train.toolTip()
    assert "No TPU in this computer" in cifar.top.target.toolTip()
    said = cifar.status.currentMessage()
    assert "by Run > Connect a TPU or another computer. " in said
    assert "by Run > “Will it train on a TPU?”." in said
    assert "`" not in said
    cifar.context.document.undo_stack.undo()
    assert cifar.check.problem is None
    assert "no TPU" not in cifar.top.target.toolTip()


def test_training_where_it_cannot_be_starts_nothing_and_offers_a_way(cifar, qtbot, answers):
    library = cifar.context.library
    cifar.context.document.set_target(Choice("tpu", {"address": "local"}))
    cifar.runs.start()
    qtbot.waitUntil(lambda: bool(answers))
    what, more, choices = answers[0]
    assert "No TPU" in what
    assert "tpu:local" in more
    assert choices[0].startswith("Connect")
    assert not library.is_starting
    assert not cifar.runs.is_running
    assert not list(library.home.glob("*/request.json"))


def test_a_tpu_vm_named_to_the_environment_is_connected_first(cifar, monkeypatch):
    monkeypatch.setenv("TPU_NAME", "my-tpu")
    monkeypatch.setenv("CLOUDSDK_COMPUTE_ZONE", "us-central1-a")
    shown = rows(cifar.top.targets)
    (text,) = [text for text in shown if "TPU_NAME" in text]
    shown[text].trigger()
    dialog = cifar.places.dialogs["connect"]
    assert (dialog.address.name.text(), dialog.address.zone.text()) == ("my-tpu", "us-central1-a")
    assert dialog.address.cloud.is_open
    assert dialog.address.ask.isEnabled()
    assert cifar.context.document.project.target.key == "this_computer"
    cifar.places.close()


def test_the_dialogs_lead_to_their_pages(cifar):
    cifar.places.ask("connect")
    cifar.places.dialogs["connect"].head.learn.click()
    assert "Training on another computer" in cifar.help._viewer.page.toPlainText()
    cifar.help._viewer.close()
    cifar.places.close()


def test_a_long_address_leaves_the_other_buttons_their_room(cifar, qtbot):
    host = "ec2-54-123-45-67.eu-central-1.compute.example.com"
    params = {"host": host, "user": "researcher", "port": 2222, "target": "gpu"}
    top = cifar.top
    cifar.context.document.set_target(Choice("ssh", params))
    cifar.resize(900, 560)

    def has_room():
        right = top.train.mapTo(cifar, top.train.rect().bottomRight()).x()
        whole = all(
            part.width() >= part.minimumSizeHint().width() for part in (top.switch, top.train)
        )
        return whole and top.width() == 900 and right < 900

    for is_running in (False, True):
        top.show_state(is_running=is_running, reason="", num_waiting=2)
        qtbot.waitUntil(lambda is_running=is_running: top.next.isVisible() == is_running)
        qtbot.waitUntil(has_room)
        ends = top.target.shown_text().strip().split("…")
        assert ends[0]
        assert "researcher@".startswith(ends[0][:5])
        assert "GPUs".endswith(ends[1][-4:])
        assert f"{host}:2222" in top.target.toolTip()
        assert top.target.accessibleName().startswith(f"Target: researcher@{host}:2222, GPUs")
    top.show_state(is_running=False, reason="")
    cifar.context.document.set_target(Choice("ssh", {"host": "vm", "user": "me", "port": 2222}))
    assert top.target.shown_text() == " me@vm:2222"  # whole, although the bar is narrow


def test_colab_and_kaggle_are_among_the_targets(cifar, monkeypatch):
    asked = []
    monkeypatch.setattr(cifar.notebooks, "_ask", lambda *words: asked.append(words[1]))
    rows(cifar.top.targets)["Colab or Kaggle (notebook)…"].trigger()
    assert asked == ["Train on Colab or Kaggle"]
