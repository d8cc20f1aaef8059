"""From images to a network, in the data view: which one, why, and another one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from tests.class_folders import write_plain
from workbench.backbones import all_backbones
from workbench.core.network.roles import find_outputs
from workbench.gui.common.weights import DownloadWeightsDialog
from workbench.gui.data.network import backbones_of, network_words, reason_of
from workbench.gui.kit.labels import unbroken
from workbench.protocol.bases import ErrorParts
from workbench.protocol.describe_data import ClassDescription, DataDescription
from workbench.protocol.messages import Done, Failed, Progress
from workbench.templates import find_template

WAIT_MS = 30_000


@pytest.fixture
def folder(tmp_path):
    counts = {"champignon": 6, "chanterelle": 5, "fly agaric": 7}
    return write_plain(tmp_path / "mushrooms", counts, side=90)


@pytest.fixture
def box(window, folder, monkeypatch, qtbot):
    view = window.views.view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    window.start.from_folder(str(folder))
    qtbot.waitUntil(lambda: window.views.current_key == "data", timeout=WAIT_MS)
    return view.panels["data_network"]


def described(**classes: tuple[int, int]) -> DataDescription:
    """Images of each class for training and testing."""
    found = [
        ClassDescription(name=name, num_train=train, num_test=test)
        for name, (train, test) in classes.items()
    ]
    return DataDescription(
        id=0,
        title="Class folders",
        classes=found,
        num_train=sum(each.num_train for each in found),
        num_test=sum(each.num_test for each in found),
        is_test_split_off=True,
        shape=[90, 90, 3],
    )


def test_the_network_of_own_images_is_named_with_its_reason(box, window):
    words = network_words(window.context.document.graph)
    assert box.chooser.text() == words
    assert words.endswith(", pretrained")
    assert box.reason.text().startswith(words.removesuffix(", pretrained"))


def test_the_counts_are_those_of_the_images_with_the_edits(box, window):
    state, document = box._state, window.context.document
    why = unbroken(document.project.summary)
    state._on_described(described(champignon=(5, 1), chanterelle=(4, 1), agaric=(6, 1)))
    assert box.reason.text() == unbroken("3 classes, 18 images. ") + why
    document.set_classes({"chanterelle": "champignon"}, "Merge", counts=(3, 2))
    assert box.reason.text() == unbroken("3 classes, 18 images. ") + why, "until it is counted"
    state._on_described(described(champignon=(8, 1), agaric=(6, 1)))
    assert box.reason.text() == unbroken("2 classes, 16 images. ") + why
    document.undo_stack.undo()
    state._on_described(described(champignon=(5, 1), chanterelle=(4, 1), agaric=(6, 1)))
    assert box.reason.text() == unbroken("3 classes, 18 images. ") + why


def test_from_scratch_is_a_click_and_one_step_away_and_so_is_the_way_back(box, window, qtbot):
    document = window.context.document
    before = document.project
    QTest.mouseClick(box.other, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not backbones_of(document.graph), timeout=WAIT_MS)
    assert document.undo_stack.count() == 1
    assert "from scratch" in box.reason.text()
    assert {node.training for node in document.graph.nodes.values()} == {"always"}
    assert document.analysis.is_trainable
    assert document.project.dataset == before.dataset
    document.undo_stack.undo()
    assert (document.graph, document.recipe) == (before.graph, before.recipe)
    assert box.reason.text() == unbroken(before.summary)


def test_another_bundled_network_keeps_the_head_and_the_settings(box, window, qtbot):
    document = window.context.document
    document.set_recipe(epochs=3)
    (present,) = backbones_of(document.graph)
    other = next(s for s in all_backbones().values() if s.is_bundled and s is not present)
    box._fill_menu()
    actions = {action.text(): action for action in box._menu.actions()}
    assert actions[f"{present.title} (pretrained), included"].isChecked()
    actions[f"{other.title} (pretrained), included"].trigger()
    qtbot.waitUntil(lambda: backbones_of(document.graph) == [other], timeout=WAIT_MS)
    assert document.recipe.epochs == 3
    assert (
        document.graph.nodes[find_outputs(document.graph, document.layers)[0]].params["units"] == 3
    )
    assert other.title in box.reason.text()
    assert document.analysis.is_trainable


def test_a_network_that_is_not_here_is_downloaded_after_a_click(box, window, qtbot, monkeypatch):
    spec = next(s for s in all_backbones().values() if not s.is_bundled)
    monkeypatch.setenv("KERAS_HOME", str(window.context.library.home / "keras"))
    box._fill_menu()
    action = next(a for a in box._menu.actions() if a.text().startswith(f"{spec.title} ("))
    assert "downloads" in action.text()
    action.trigger()
    dialog = box.findChild(DownloadWeightsDialog)
    assert dialog.isVisible()
    assert "Download (" in dialog.start.text()
    dialog.stop.click()
    assert backbones_of(window.context.document.graph) != [spec]


@pytest.mark.parametrize("key", ["data", "train", "evaluate", "classify"])
def test_there_is_one_train_button(box, window, key):
    """In the bar, whatever is shown below it; also where a view has nothing to show yet."""
    view = window.show_view(key)
    buttons = [each for each in view.findChildren(QAbstractButton) if each.isVisible()]
    assert [each.text() for each in buttons if each.text().endswith("Train")] == []
    assert window.top.train.isVisible()


def test_the_reason_is_that_of_the_network_that_is_there(box, window):
    document = window.context.document
    assert reason_of(document.project)
    document.use_random_weights(document.graph.nodes)
    assert reason_of(document.project) == ""
    assert "random weights" in box.reason.text()


def test_other_images_have_another_reason(box, window, tmp_path):
    document = window.context.document
    choice = document.project.dataset
    document.set_dataset(replace(choice, params={**choice.params, "fit": "pad"}))
    assert reason_of(document.project)
    document.set_dataset(replace(choice, params={**choice.params, "path": str(tmp_path)}))
    assert reason_of(document.project) == ""
    document.undo_stack.undo()
    assert reason_of(document.project)


def test_a_network_of_other_images_has_no_reason(window):
    window.files.new(find_template("lenet5").project)
    view = window.views.view("data")
    box = view.panels["data_network"]
    assert box.chooser.text() == "From scratch"
    assert not box.other.isVisible()


def test_a_downloaded_network_is_taken_and_a_failure_is_told(box, window, qtbot, monkeypatch):
    spec = next(s for s in all_backbones().values() if not s.is_bundled)
    monkeypatch.setenv("KERAS_HOME", str(window.context.library.home / "keras"))
    asked = []
    send = lambda *request: asked.append(request) or len(asked)  # noqa: E731
    monkeypatch.setattr(window.context.measurer, "send", send)
    monkeypatch.setattr(window.context.measurer, "cancel", lambda _number: None)
    box._choose(spec)
    dialog = box.findChild(DownloadWeightsDialog)
    dialog.start.click()
    request, answer = asked[0]
    assert (request.key, dialog.start.isEnabled()) == (spec.key, False)
    answer(Progress(text="Downloading", fraction=0.5))
    assert dialog.bar.value() == dialog.bar.maximum() // 2
    answer(Failed(error=ErrorParts(what="No connection.", fix="Connect to the internet.")))
    assert dialog.status.text() == "No connection. Connect to the internet."
    dialog.start.click()
    asked[1][1](Done())
    document = window.context.document
    qtbot.waitUntil(lambda: backbones_of(document.graph) == [spec], timeout=WAIT_MS)
    assert document.undo_stack.count() == 1
