"""Another program changes the project's file: it is noticed, and nothing is overwritten unseen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.window_parts import window_context
from workbench.app import make_window
from workbench.core.projects.project_file import read_project, save_project
from workbench.gui.files.controller import CompareWithFile
from workbench.templates import find_template


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(find_template("lenet5").project, path)
    return path


@pytest.fixture
def opened(window, path):
    assert window.files.open(str(path))
    return window


@pytest.fixture
def other(qtbot, tmp_path, path):
    """A second window of the same user, with the same file."""
    with window_context(tmp_path) as context:
        window = make_window(context, tmp_path)
        qtbot.addWidget(window, before_close_func=lambda w: w.context.document.new())
        window.show()
        assert window.files.open(str(path))
        yield window
        context.document.new()
        window.close()


@pytest.fixture
def answers(qapp):
    """Answers to the dialogs that open, in order: the words of buttons. `asked` has what was
    asked.
    """

    class Answers(list):
        """Words of buttons."""

    given = Answers()
    given.asked = []
    timer = QTimer()

    def answer():
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox) and given:
            given.asked.append(box.text())
            wanted = given.pop(0)
            button = next(b for b in box.buttons() if b.text().replace("&", "") == wanted)
            button.click()
        elif isinstance(box, CompareWithFile) and not box.words.text().startswith("Reading"):
            rows = box.tree.topLevelItem(0)
            given.asked.append([rows.child(i).text(0) for i in range(rows.childCount())])
            box.reject()

    timer.timeout.connect(answer)
    timer.start(5)
    yield given
    timer.stop()
    assert given == []


def remove(window, kind):
    document = window.context.document
    document.remove([next(n.id for n in document.graph.nodes.values() if n.kind == kind)])


def kinds(graph):
    return [node.kind for node in graph.nodes.values()]


def activate(window, qtbot):
    """What the window manager does when somebody comes back to a window."""
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    qtbot.waitUntil(lambda: window.context.document.disk.num_looks == 0)


def test_two_windows_on_one_file(opened, other, path, answers, qtbot):
    remove(other, "flatten")
    assert other.files.save()
    remove(opened, "dense")
    answers.append("Cancel")
    assert not opened.files.save()
    assert answers.asked == ["“p.workbench” was changed by another program"]
    assert "flatten" not in kinds(read_project(path).graph)
    assert opened.isWindowModified()
    answers.append("Overwrite")
    assert opened.files.save()
    assert "flatten" in kinds(read_project(path).graph)
    activate(other, qtbot)
    assert other.changed_bar.isVisible()
    assert other.actions_by_key["revert"].isEnabled()
    assert not other.isWindowModified()
    other.actions_by_key["revert"].trigger()
    assert "flatten" in kinds(other.context.document.graph)
    assert not other.changed_bar.isVisible()
    assert not other.actions_by_key["revert"].isEnabled()


def test_the_question_compares_reloads_and_saves_elsewhere(opened, other, path, answers):
    remove(other, "flatten")
    other.files.save()
    opened.context.document.set_recipe(epochs=77)
    answers += ["Compare…", "Reload"]
    assert not opened.files.save()
    assert any("Flatten" in words for words in answers.asked[1])
    assert "flatten" not in kinds(opened.context.document.graph)
    assert not opened.isWindowModified()


def test_a_window_that_becomes_active_shows_the_bar(opened, path, qtbot):
    project = find_template("fashion_convnet").project
    save_project(project, path)
    assert not opened.changed_bar.isVisible()
    activate(opened, qtbot)
    bar = opened.changed_bar
    assert bar.isVisible()
    assert bar.words.text() == "“p.workbench” was changed by another program"
    assert opened.centralWidget().geometry().contains(bar.geometry())
    bar.close_button.click()
    activate(opened, qtbot)
    assert not bar.isVisible()
    path.unlink()
    activate(opened, qtbot)
    assert bar.words.text() == "“p.workbench” was deleted or moved"
    assert opened.isWindowModified()
    assert not opened.actions_by_key["revert"].isEnabled()
    bar.overwrite.click()
    assert not bar.isVisible()
    assert read_project(path).graph == opened.context.document.graph


@pytest.fixture
def coming_back(opened):
    """The window manager activates the window again and again: each time a question closes."""
    timer = QTimer()
    timer.timeout.connect(
        lambda: QApplication.sendEvent(opened, QEvent(QEvent.Type.WindowActivate))
    )
    yield timer
    timer.stop()


def test_no_bar_for_the_save_of_a_window_that_is_closed_and_stays(
    opened, path, answers, coming_back, qtbot
):
    opened.context.document.set_recipe(epochs=77)
    opened.runs.may_close = lambda: False  # "A model is being trained": Cancel
    answers.append("Save")
    coming_back.start(0)
    opened.close()
    coming_back.stop()
    activate(opened, qtbot)
    assert opened.isVisible()
    assert read_project(path).recipe.epochs == 77
    assert not opened.changed_bar.isVisible()
    opened.context.document.set_recipe(epochs=78)
    opened.actions_by_key["save"].trigger()
    activate(opened, qtbot)
    assert not opened.changed_bar.isVisible()


def test_a_confirmed_save_removes_the_bar(opened, path, answers, qtbot):
    save_project(find_template("fashion_convnet").project, path)
    activate(opened, qtbot)
    assert opened.changed_bar.isVisible()
    opened.context.document.set_recipe(epochs=77)
    answers.append("Overwrite")
    opened.actions_by_key["save"].trigger()
    assert not opened.changed_bar.isVisible()
    assert read_project(path).recipe.epochs == 77


def test_a_file_with_the_same_project_and_other_positions_is_noted_quietly(opened, path, qtbot):
    project = opened.context.document.project
    moved = {node: (x + 40.0, y) for node, (x, y) in project.view.positions.items()}
    save_project(replace(project, view=replace(project.view, positions=moved)), path)
    activate(opened, qtbot)
    assert not opened.changed_bar.isVisible()
    assert opened.status.currentMessage().startswith("p was saved by another program, with the")
    opened.context.document.set_recipe(epochs=77)
    assert opened.files.save()


def test_reload_asks_where_there_are_own_changes(opened, path, answers, qtbot):
    save_project(find_template("fashion_convnet").project, path)
    remove(opened, "flatten")
    activate(opened, qtbot)
    graph = opened.context.document.graph
    answers.append("Cancel")
    opened.changed_bar.reload.click()
    assert opened.context.document.graph is graph
    answers.append("Revert")
    opened.changed_bar.reload.click()
    assert opened.context.document.graph == read_project(path).graph
    assert not opened.changed_bar.isVisible()


def test_compare_shows_what_differs(opened, path, qtbot):
    project = opened.context.document.project
    project = replace(project, recipe=project.recipe.with_values(epochs=99))
    save_project(project, path)
    dialog = CompareWithFile(opened.context.document, opened)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.words.text() == "1 difference")
    item = dialog.tree.topLevelItem(0).child(0)
    assert (item.text(0), item.text(2)) == ("Epochs", "99")


def test_another_window_with_the_file_is_noted(opened, other, qtbot):
    activate(opened, qtbot)
    assert opened.windowTitle() == "[*]p — Workbench · also open in another window"
    assert opened.status.currentMessage() == "p is also open in another window."
    timer = opened.files.elsewhere_timer
    assert timer.isActive()
    other.files.new()
    qtbot.waitUntil(lambda: "also open" not in other.windowTitle())
    timer.timeout.emit()  # the window need not become active
    qtbot.waitUntil(lambda: opened.windowTitle() == "[*]p — Workbench")
    assert not timer.isActive()
